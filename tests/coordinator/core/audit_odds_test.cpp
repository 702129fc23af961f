// The odds of false verdicts: very many honest audits, with the differences between honest computers that were
// measured, and auditors that lie in one voice.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "coordinator/core/audit_case.h"
#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::core;

namespace {

constexpr std::size_t kMembers = 16;
constexpr std::size_t kColluders = 3;  // the first of them
constexpr std::size_t kParts = 2;
constexpr std::size_t kFloats = kParts * wire::kSketchFloats;
constexpr double kTolerance = 1e-4;
constexpr std::size_t kAgreeing = 4;

PeerId peer(std::size_t number) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(number);
  return id;
}

// How far a computer's gradient is from the exact one: transformers and convolutions, with wide and narrow vectors, one
// thread or two, micro-batches of any size were found between 2e-7 and 1.5e-6; wider here, since a swarm has more kinds
// of computers.
double difference(swarm::RandomStream& random) { return 1e-7 * std::exp(4 * random.uniform()); }

std::vector<float> noisy(const std::vector<double>& truth, swarm::RandomStream& random) {
  const double scale = difference(random) * std::sqrt(3.0);
  std::vector<float> sketches(kFloats);
  for (std::size_t i = 0; i < kFloats; ++i) {
    sketches[i] = static_cast<float>(truth[i] * (1 + scale * (2 * random.uniform() - 1)));
  }
  return sketches;
}

struct Odds {
  int clean = 0, missed = 0, other = 0;
  int contradicted = 0;  // honest auditors
};

Odds audit_many(int audits, bool honest_member, bool colluders) {
  Odds odds;
  swarm::RandomStream random(honest_member ? 1 : 2);
  std::vector<std::size_t> order(kMembers);
  for (int n = 0; n < audits; ++n) {
    std::vector<double> truth(kFloats);
    for (double& value : truth) value = random.uniform() - 0.5;
    std::vector<double> sent = truth;
    if (!honest_member) {
      for (double& value : sent) value = -value;
    }
    const std::vector<float> seen = noisy(sent, random);
    std::vector<ToldPart> parts(kParts);
    for (std::size_t part = 0; part < kParts; ++part) {
      parts[part].part = {static_cast<std::int64_t>(part), 1, {}};
      parts[part].told_by = 100 + static_cast<AccountId>(part);
      std::copy_n(seen.begin() + static_cast<std::ptrdiff_t>(part * wire::kSketchFloats), wire::kSketchFloats,
                  parts[part].sketch.begin());
    }
    const AuditedClaim claim{peer(kMembers - 1), kMembers, 8, 8, {{0, 0, 0, 8, 0}}};
    AuditCase work(claim, parts, {claim.samples},
                   {.tolerance = kTolerance, .agreeing = kAgreeing, .wanted = kAgreeing, .owners = kParts});
    for (std::size_t i = 0; i < kMembers; ++i) order[i] = i;
    random.shuffle(std::span(order));
    std::vector<double> lie = truth;
    for (double& value : lie) value = honest_member ? -3 * value : -value;
    std::size_t next = 0;
    std::int64_t number = 0;
    std::optional<AuditCase::Finding> finding;
    while (!(finding = work.finding(next >= kMembers))) {
      if (work.wanted().empty()) break;
      const Auditor auditor{peer(order[next]), static_cast<AccountId>(order[next]) + 1};
      const bool lies = colluders && order[next] < kColluders;
      ++next;
      if (!work.may_ask(0, auditor)) continue;
      work.ask(0, auditor, ++number);
      work.on_answer(number, noisy(lies ? lie : truth, random));
    }
    REQUIRE(finding);
    if (finding->verdict == AuditCase::Verdict::clean) ++odds.clean;
    if (finding->verdict == AuditCase::Verdict::missed) ++odds.missed;
    if (finding->verdict != AuditCase::Verdict::clean && finding->verdict != AuditCase::Verdict::missed) ++odds.other;
    for (const Auditor& one : finding->contradicted) {
      odds.contradicted += colluders && static_cast<std::size_t>(one.account) <= kColluders ? 0 : 1;
    }
  }
  return odds;
}

// A million in the long suite.
int audits_to_play() {
  const char* const long_suite = std::getenv("STARLING_LONG");
  return long_suite != nullptr && *long_suite != '\0' ? 1'000'000 : 30'000;
}

}  // namespace

TEST_CASE(
    "honest work is never found false, whatever computers there are, and three of sixteen who blame it together") {
  const int audits = audits_to_play();
  const Odds honest = audit_many(audits, true, false);
  CHECK(honest.clean == audits);
  CHECK(honest.contradicted == 0);
  const Odds blamed = audit_many(audits, true, true);
  CHECK(blamed.missed == 0);
  CHECK(blamed.contradicted == 0);
  CHECK(blamed.clean == audits);
}

TEST_CASE("false work is found, though three of sixteen confirm it") {
  const Odds odds = audit_many(20'000, false, true);
  CHECK(odds.missed > 0.95 * 20'000);
  CHECK(odds.contradicted < 0.05 * 20'000);  // where the first two auditors confirm it, nobody asks further
}
