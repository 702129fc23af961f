#include "coordinator/core/audit_book.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>

#include "shared/base/permutation.h"
#include "shared/state/audit_number.h"
#include "shared/swarm/measured_members.h"
#include "shared/swarm/owner_check.h"

using namespace starling;
using namespace starling::core;

namespace {

constexpr std::size_t kFloats = 512;
constexpr SampleCount kSamples = 24;  // by each member, in each round

template <typename Id>
Id id(std::uint64_t number) {
  Id id;
  for (std::size_t i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  id.bytes[9] = 1;
  return id;
}

using Vector = std::vector<float>;

// The gradient of one sample: a direction that all share, and noise.
Vector gradient_of(std::int64_t place) {
  swarm::RandomStream random(static_cast<std::uint64_t>(place) + 77);
  Vector values(kFloats);
  for (std::size_t i = 0; i < kFloats; ++i) {
    values[i] = static_cast<float>(0.3 * std::sin(static_cast<double>(i)) + random.uniform() - 0.5);
  }
  return values;
}

Vector sum_of(const std::vector<wire::SampleRange>& samples) {
  Vector sum(kFloats, 0.F);
  for (const wire::SampleRange& range : samples) {
    for (SampleCount k = 0; k < range.count; ++k) {
      const Vector one = gradient_of(range.first + k);
      for (std::size_t i = 0; i < kFloats; ++i) sum[i] += one[i];
    }
  }
  return sum;
}

// Each number off by up to `relative`, as another processor's is.
Vector rounded(Vector values, double relative, std::uint64_t number) {
  swarm::RandomStream random(number);
  for (float& value : values) value *= static_cast<float>(1 + relative * (2 * random.uniform() - 1));
  return values;
}

// A group that trains and audits itself for as long as asked. Members do their work honestly unless told otherwise.
struct Group {
  explicit Group(std::size_t size, const AuditRules& rules = {1.0 / 32}, std::uint64_t seed = 1)
      : members(size), book(rules, id<Digest>(seed * 1000)) {}

  struct Behaviour {
    // The vector that it contributes, and the count of samples that it says the vector is the mean of.
    std::function<Vector(const std::vector<wire::SampleRange>&)> contributes = sum_of;
    // The vector whose sketches it tells as an auditor.
    std::function<Vector(const wire::AuditOrder&)> recomputes = [](const auto& order) { return sum_of(order.samples); };
    bool answers = true;
    bool sketches_its_own = true;
    std::function<Vector(Vector)> says{};  // the vector that it says it has contributed; empty: the one that it sent
    // Another vector of this member's is told by it as an owner.
    std::function<Vector(std::size_t from, Vector)> measures = [](std::size_t, Vector vector) { return vector; };
    std::optional<std::size_t> leaves_out{};  // a member that it does not tell of, as an owner
    bool decides = false;
    bool watched = false;
    // In this round; nothing: it tells none.
    std::function<std::optional<wire::OwnTerms>(RoundIndex)> terms = [](RoundIndex) {
      return wire::OwnTerms{kSamples, kSamples};
    };
  };

  [[nodiscard]] std::vector<wire::SampleRange> samples_of(std::size_t member) const {
    return {{round, 0, round * 10'000 + static_cast<SampleCount>(member) * 100, kSamples, 0}};
  }

  void play_round() {
    AuditedRound facts;
    facts.checks_owners = checks_owners;
    facts.round = round;
    facts.group = id<GroupId>(static_cast<std::uint64_t>(round) + 1);
    facts.number = book.number(facts.group);
    facts.result_digest = id<Hash128>(static_cast<std::uint64_t>(round) * 31);
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (book.owners().may_own(account_of(i), round)) owners.push_back(i);
    }
    const std::size_t part = kFloats / owners.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      RoundMember member{id<PeerId>(i + 1), account_of(i), "net" + std::to_string(i), "", true};
      const auto place = static_cast<std::size_t>(std::find(owners.begin(), owners.end(), i) - owners.begin());
      member.part_first = static_cast<std::int64_t>(place < owners.size() ? place * part : kFloats);
      if (place < owners.size()) {
        member.part_floats = static_cast<std::int64_t>(place + 1 < owners.size() ? part : kFloats - place * part);
      }
      member.samples = book.keeps_out(member.peer, round) || banned.contains(i) ? 0 : kSamples;
      for (const wire::SampleRange& range : samples_of(i)) member.drawn.push_back({range});
      member.may_audit = member.samples > 0;
      member.decides = members[i].decides;
      member.watched = members[i].watched;
      facts.members.push_back(member);
      wire::GroupMember planned;
      planned.endpoint.peer = member.peer;
      planned.part_floats = member.part_floats;
      facts.plan.members.push_back(planned);
    }
    facts.plan.vector_floats = kFloats;
    facts.plan.segment_floats = 64;
    std::vector<Vector> sent;
    for (std::size_t i = 0; i < members.size(); ++i) {
      sent.push_back(members[i].contributes(samples_of(i)));
      if (facts.members[i].samples > 0) false_rounds[i] += sent[i] != sum_of(samples_of(i)) ? 1 : 0;
    }
    for (std::size_t owner = 0; owner < members.size(); ++owner) {
      const auto first = static_cast<std::size_t>(facts.members[owner].part_first);
      const auto floats = static_cast<std::size_t>(facts.members[owner].part_floats);
      wire::RoundReport report;
      report.round = round;
      report.group = facts.group;
      wire::MeasuredParts measured;
      measured.seed = id<Hash128>(mix64(static_cast<std::uint64_t>(round) * 100 + owner));
      for (std::size_t from = 0; from < members.size(); ++from) {
        if (from == owner || from == members[owner].leaves_out || facts.members[from].samples == 0) continue;
        measured.members.push_back(static_cast<std::int64_t>(from));
        append(measured.sketches, measured.seed, first, floats, members[owner].measures(from, sent[from]));
      }
      report.measured = std::move(measured);
      report.own = members[owner].terms(round);
      book.on_report(facts.members[owner].peer, report);
    }
    const AuditedRound kept = facts;
    book.on_decided(now, std::move(facts));
    for (int call = 0; call < 6; ++call) {
      answer(kept, sent);
      now += std::chrono::seconds(3);
    }
    ++round;
  }

  void answer(const AuditedRound& facts, const std::vector<Vector>& sent) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].answers) continue;
      const PeerId peer = id<PeerId>(i + 1);
      const wire::AuditsDue due = book.due(peer);
      wire::AuditAnswers answers;
      if (due.sketches && due.sketches->round == facts.round && members[i].sketches_its_own) {
        answers.own = checks_owners ? own_sketches_of(facts, sent, i) : wire::OwnSketches{facts.round, {}, {}, {}};
        answers.own->whole.clear();
        append(answers.own->whole, state::audit_seed(facts.number, facts.result_digest), 0, kFloats,
               members[i].says ? members[i].says(sent[i]) : sent[i]);
      }
      for (const wire::AuditOrder& order : due.orders) {
        CHECK(std::count(due.keep_states.begin(), due.keep_states.end(), order.round) == 1);
        CHECK(due.keep_states.size() <= wire::kAuditStatesMax);
        const Vector vector = members[i].recomputes(order);
        wire::AuditResult result{order.number, {}};
        for (const wire::SketchedPart& one : order.parts) {
          append(result.sketches, one.seed, static_cast<std::size_t>(one.first), static_cast<std::size_t>(one.floats),
                 vector);
        }
        answers.results.push_back(result);
      }
      book.on_answers(peer, answers);
    }
    std::vector<AuditFinding> closed = book.sweep(now);
    for (OwnersFinding& finding : book.check_owners(now)) owners.push_back(std::move(finding));
    for (AuditFinding& finding : closed) {
      if (finding.consequence == AuditStanding::Consequence::banned) {
        banned.insert(static_cast<std::size_t>(finding.claim.account - 1));
      }
      findings.push_back(std::move(finding));
    }
  }

  [[nodiscard]] wire::OwnSketches own_sketches_of(const AuditedRound& facts, const std::vector<Vector>& sent,
                                                  std::size_t self) const {
    Vector result(kFloats, 0.F);
    SampleCount weight = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (facts.members[i].samples == 0) continue;
      weight += facts.members[i].samples;
      for (std::size_t k = 0; k < kFloats; ++k) result[k] += sent[i][k];
    }
    for (float& value : result) value /= static_cast<float>(weight);
    if (false_owner) result[static_cast<std::size_t>(facts.members[*false_owner].part_first) + 3] += 0.01F;
    wire::OwnSketches own;
    own.round = facts.round;
    const Hash128 seed = state::audit_seed(facts.number, facts.result_digest);
    for (const std::size_t owner : swarm::sketched_parts(seed, facts.plan)) {
      const auto tell = [&](const Vector& vector, std::vector<float>& sketches) {
        swarm::Sketch sketch{};
        const auto part = std::span(vector).subspan(static_cast<std::size_t>(facts.members[owner].part_first),
                                                    static_cast<std::size_t>(facts.members[owner].part_floats));
        swarm::add_to_sketch(seed, facts.members[owner].part_first, part, sketch);
        for (const float bucket : swarm::shortened(sketch)) sketches.push_back(bucket);
      };
      tell(members[self].says ? members[self].says(sent[self]) : sent[self], own.contributed);
      tell(result, own.result);
    }
    return own;
  }

  static void append(std::vector<float>& sketches, const Hash128& seed, std::size_t first, std::size_t floats,
                     const Vector& vector) {
    swarm::Sketch sketch{};
    swarm::add_to_sketch(seed, static_cast<std::int64_t>(first), std::span(vector).subspan(first, floats), sketch);
    for (const double bucket : sketch) sketches.push_back(static_cast<float>(bucket));
  }

  [[nodiscard]] static AccountId account_of(std::size_t member) { return static_cast<AccountId>(member) + 1; }
  [[nodiscard]] bool is_out(std::size_t member) const {
    return book.keeps_out(id<PeerId>(member + 1), round) || banned.contains(member);
  }
  [[nodiscard]] int count(AuditCase::Verdict verdict) const {
    return static_cast<int>(std::count_if(findings.begin(), findings.end(), [&](const AuditFinding& finding) {
      return finding.finding.verdict == verdict;
    }));
  }

  std::vector<Behaviour> members;
  AuditBook book;
  RoundIndex round = 0;
  TimePoint now{};
  bool checks_owners = false;
  // Adds to the result of the part of which this rank is the owner.
  std::optional<std::size_t> false_owner{};
  std::vector<AuditFinding> findings;
  std::vector<OwnersFinding> owners;
  std::set<std::size_t> banned;
  std::map<std::size_t, int> false_rounds;
};

}  // namespace

TEST_CASE("honest work is checked, rarer and rarer, and found right") {
  Group group(8);
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    group.members[i].contributes = [i](const auto& samples) { return rounded(sum_of(samples), 1e-6, i + 1); };
    group.members[i].recomputes = [i](const auto& order) { return rounded(sum_of(order.samples), 1e-6, i + 100); };
  }
  for (int i = 0; i < 300; ++i) group.play_round();
  const int on_auditors = group.count(AuditCase::Verdict::unchecked);
  CHECK(group.count(AuditCase::Verdict::clean) + on_auditors == static_cast<int>(group.findings.size()));
  CHECK(on_auditors < 10);
  CHECK(group.findings.size() > 100);
  for (std::size_t i = 0; i < 8; ++i) {
    const AuditStanding& standing = group.book.standings().at(id<PeerId>(i + 1));
    CHECK(standing.checks >= 10);
    CHECK(standing.misses == 0);
  }
  for (const AuditFinding& finding : group.findings) {
    CHECK(finding.finding.agreed.size() >= 2);  // a few have been asked for, to check auditors
    CHECK(finding.finding.agreed.size() <= 3);
    CHECK(finding.finding.distance < 1e-5);
  }
  const std::size_t before = group.findings.size();
  for (int i = 0; i < 200; ++i) group.play_round();
  CHECK(group.findings.size() - before < 8 * 200 / 16);  // one in 32 of each, give or take
}

TEST_CASE("false work of any kind is found, and its author is out soon") {
  using Samples = std::vector<wire::SampleRange>;
  const std::map<std::string, std::function<Vector(const Samples&)>> kinds = {
      {"zeros", [](const Samples&) { return Vector(kFloats, 0.F); }},
      {"lazy",
       [](Samples samples) {
         samples.front().count /= 2;
         return sum_of(samples);
       }},
      {"stale",
       [](Samples samples) {
         samples.front().first -= 10'000;
         return sum_of(samples);
       }},
      {"sign-flip",
       [](const Samples& samples) {
         Vector v = sum_of(samples);
         for (float& x : v) x = -x;
         return v;
       }},
      {"scaled",
       [](const Samples& samples) {
         Vector v = sum_of(samples);
         for (float& x : v) x *= 1.01F;
         return v;
       }},
      {"one number",
       [](const Samples& samples) {
         Vector v = sum_of(samples);
         v[300] += 1;
         return v;
       }},
  };
  for (const auto& [name, contributes] : kinds) {
    CAPTURE(name);
    Group group(8);
    group.members[3].contributes = contributes;
    while (!group.is_out(3) && group.round < 200) group.play_round();
    CHECK(group.round < 60);
    for (std::size_t i = 0; i < 8; ++i) CHECK(group.is_out(i) == (i == 3));
    for (const AuditFinding& finding : group.findings) {
      if (finding.finding.verdict == AuditCase::Verdict::unchecked) continue;  // auditors were checked
      CHECK((finding.finding.verdict == AuditCase::Verdict::clean) == (finding.claim.peer != id<PeerId>(4)));
      if (finding.finding.verdict == AuditCase::Verdict::missed) CHECK(finding.finding.agreed.size() >= 3);
    }
  }
}

TEST_CASE("one number that is false, and not admitted, puts its author at odds with one owner after the other") {
  Group group(8);
  group.checks_owners = true;
  group.members[3].contributes = [](const auto& samples) {
    Vector vector = sum_of(samples);
    vector[300] += 1;
    return vector;
  };
  group.members[3].says = [](Vector vector) {
    vector[300] -= 1;
    return vector;
  };
  while (!group.is_out(3) && group.round < 300) group.play_round();
  CHECK(group.round < 200);
  for (std::size_t i = 0; i < 8; ++i) CHECK(group.is_out(i) == (i == 3));
}

TEST_CASE("an auditor that tells something else is contradicted by two, and the member's work stays right") {
  Group group(6);
  group.members[2].recomputes = [](const auto&) { return Vector(kFloats, 1.F); };
  for (int i = 0; i < 60; ++i) group.play_round();
  CHECK(group.count(AuditCase::Verdict::missed) == 0);
  std::size_t contradicted = 0;
  for (const AuditFinding& finding : group.findings) {
    for (const Auditor& auditor : finding.finding.contradicted) {
      CHECK(auditor.peer == id<PeerId>(3));
      ++contradicted;
    }
  }
  CHECK(contradicted >= 1);
  CHECK(contradicted <= 3);  // it is asked for nothing after that
}

TEST_CASE("an owner that lies about what it received harms nobody, and owns nothing for most of the time") {
  Group group(8);
  group.members[5].measures = [](std::size_t from, Vector vector) { return from < 4 ? Vector(kFloats, 0.5F) : vector; };
  int owned = 0;
  for (int i = 0; i < 200; ++i) {
    owned += group.book.owners().may_own(Group::account_of(5), group.round) ? 1 : 0;
    group.play_round();
  }
  CHECK(owned < 50);
  CHECK(group.count(AuditCase::Verdict::missed) == 0);
  CHECK(group.count(AuditCase::Verdict::disputed) > 0);
  for (std::size_t i = 0; i < 8; ++i) CHECK_FALSE(group.is_out(i));
}

TEST_CASE("three owners who lie together about one member's work take nothing from it") {
  Group group(12);
  for (const std::size_t liar : {3, 5, 7}) {
    group.members[liar].measures = [](std::size_t from, Vector vector) {
      return from == 1 ? Vector(kFloats, 0.5F) : vector;
    };
  }
  for (int i = 0; i < 300; ++i) group.play_round();
  CHECK(group.count(AuditCase::Verdict::missed) == 0);
  CHECK(group.count(AuditCase::Verdict::disputed) > 0);
  for (std::size_t i = 0; i < 12; ++i) CHECK_FALSE(group.is_out(i));
}

TEST_CASE("whoever spoils single owners' parts only is at odds with one after the other, and is found") {
  Group group(8);
  group.members[4].contributes = [&group](const auto& samples) {
    Vector vector = sum_of(samples);
    const std::size_t owner = static_cast<std::size_t>(group.round) % 8;
    for (std::size_t i = 0; i < kFloats / 8; ++i) vector[owner * (kFloats / 8) + i] = 5;
    return vector;
  };
  group.members[4].says = [&group](const Vector&) { return sum_of(group.samples_of(4)); };
  while (!group.is_out(4) && group.round < 300) group.play_round();
  CHECK(group.round < 150);
  for (std::size_t i = 0; i < 8; ++i) CHECK(group.is_out(i) == (i == 4));
}

TEST_CASE("orders that nobody answers go to others, and a case that nobody can decide is unchecked") {
  Group group(5);
  for (const std::size_t silent : {1, 2}) group.members[silent].answers = false;
  for (int i = 0; i < 60; ++i) group.play_round();
  CHECK(group.count(AuditCase::Verdict::missed) == 0);
  CHECK(group.count(AuditCase::Verdict::clean) > 0);
  Group alone(2);
  for (int i = 0; i < 30; ++i) alone.play_round();
  CHECK(alone.findings.empty());  // nobody could be asked
}

TEST_CASE("credit waits for the oldest round whose work is being checked") {
  Group group(5);
  for (Group::Behaviour& member : group.members) member.answers = false;
  CHECK_FALSE(group.book.oldest_open());
  for (int i = 0; i < 30; ++i) {
    group.play_round();
    const auto oldest = group.book.oldest_open();
    if (!oldest) continue;
    CHECK(*oldest < group.round);
    CHECK(group.round - *oldest < 40);  // orders that nobody answers end
  }
  CHECK(group.findings.size() > 0);
  for (Group::Behaviour& member : group.members) member.answers = true;
  group.play_round();
  group.play_round();
  for (int i = 0; i < 30 && group.book.oldest_open(); ++i) group.play_round();
  CHECK_FALSE(group.book.oldest_open());
}

TEST_CASE("a check that takes rounds still takes back all that was not final when its round was decided") {
  constexpr double kRate = 1.0 / 4;
  Group group(5, {kRate});
  group.members[0].contributes = [&](const std::vector<wire::SampleRange>& samples) {
    return group.round < 60 ? sum_of(samples) : Vector(kFloats, 0.F);
  };
  RoundIndex final = 0;
  int misses = 0;
  while (group.round < 80) {
    for (Group::Behaviour& member : group.members) member.answers = group.round % 3 == 2;
    final = std::max(final, group.book.final_below(group.round));
    group.findings.clear();
    group.play_round();
    for (const AuditFinding& finding : group.findings) {
      if (finding.finding.verdict != AuditCase::Verdict::missed) continue;
      ++misses;
      CHECK(final <= final_below(kRate, finding.round));
    }
  }
  CHECK(misses > 0);
  CHECK(final > 0);
}

TEST_CASE("a member that does not tell what its work is made of is out, and one that rarely does not is not") {
  using Terms = std::optional<wire::OwnTerms>;
  const std::vector<std::function<Terms(RoundIndex)>> lies = {
      [](RoundIndex) { return Terms(); },
      [](RoundIndex) {
        return wire::OwnTerms{kSamples, kSamples - 1};
      },
      [](RoundIndex) {
        return wire::OwnTerms{kSamples, 65 * kSamples};
      },
      [](RoundIndex) {
        return wire::OwnTerms{kSamples, 2 * kSamples};
      },  // more than it drew
      [](RoundIndex) {
        return wire::OwnTerms{kSamples - 1, kSamples};
      },
      [](RoundIndex) {
        return wire::OwnTerms{kSamples + 1, kSamples + 1};
      },
  };
  for (const auto& lie : lies) {
    Group group(6);
    group.members[2].contributes = [](const auto&) { return Vector(kFloats, 0.F); };
    group.members[2].terms = lie;
    group.members[4].terms = [](RoundIndex round) {
      return round % 8 == 3 ? Terms() : Terms(wire::OwnTerms{kSamples, kSamples});
    };
    for (int i = 0; i < 80; ++i) {
      group.play_round();
      if (!group.is_out(2) || group.round > 64) continue;
      CHECK(group.book.advice(id<PeerId>(3), group.round).find("does not tell") != std::string::npos);
    }
    CHECK(std::ranges::count_if(group.findings, [](const AuditFinding& one) {
            return one.untold_too_often && one.claim.account == 3;
          }) > 0);
    CHECK(group.false_rounds[2] < 40);
    for (const AuditFinding& one : group.findings) CHECK((one.claim.account == 3 || !one.untold_too_often));
    CHECK(group.count(AuditCase::Verdict::missed) == 0);
    CHECK_FALSE(group.is_out(4));
  }
}

TEST_CASE("owners are checked in each round, and one that goes on changing its part owns nothing for a while") {
  Group group(6);
  group.checks_owners = true;
  for (int i = 0; i < 20; ++i) group.play_round();
  REQUIRE(group.owners.size() == 20);
  for (const OwnersFinding& finding : group.owners) {
    CHECK(finding.checked == 6);
    CHECK(finding.off.empty());
  }
  group.false_owner = 2;
  for (int i = 0; i < 3; ++i) {
    group.play_round();
    CHECK(group.owners.back().off == std::vector{id<PeerId>(3)});
  }
  CHECK_FALSE(group.book.owners().may_own(Group::account_of(2), group.round));
  CHECK(group.book.owners().may_own(Group::account_of(1), group.round));
  CHECK(group.book.owners().may_own(Group::account_of(2), group.round + 100));
  // Nobody knows who has lied: the work of all is checked in the rounds that follow.
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(group.book.standings().at(id<PeerId>(i + 1)).probability(1.0 / 32, group.round) == 1);
  }
}

TEST_CASE("an auditor that has members tell it their own sums is found out, and nobody else is touched") {
  Group group(8, {0.5});
  int copied = 0;
  group.members[2].recomputes = [&](const wire::AuditOrder& order) {
    const bool told = order.samples.front().first % 100 == 0 && order.samples.front().count == kSamples;
    copied += told ? 1 : 0;
    return told ? sum_of(order.samples) : Vector(kFloats, 0.F);
  };
  for (int i = 0; i < 400; ++i) group.play_round();
  CHECK(copied > 0);
  CHECK(group.count(AuditCase::Verdict::missed) == 0);
  std::size_t contradicted = 0;
  for (const AuditFinding& finding : group.findings) {
    for (const Auditor& auditor : finding.finding.contradicted) {
      CHECK(auditor.peer == id<PeerId>(3));
      ++contradicted;
    }
  }
  CHECK(contradicted > 0);
  for (std::size_t i = 0; i < 8; ++i) CHECK_FALSE(group.is_out(i));
}

TEST_CASE("an owner of whose part others cannot know enough owns nothing for a while") {
  for (const bool hides : {true, false}) {
    CAPTURE(hides);
    Group group(6);
    group.checks_owners = true;
    if (hides) {
      group.members[2].sketches_its_own = false;
    } else {
      group.members[2].leaves_out = 4;
    }
    for (int i = 0; i < 24; ++i) {
      CHECK(group.book.owners().may_own(Group::account_of(2), group.round));
      group.play_round();
    }
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(group.book.owners().may_own(Group::account_of(i), group.round) == (i != 2));
    for (int i = 0; i < 50; ++i) group.play_round();
    CHECK(group.count(AuditCase::Verdict::missed) == 0);
  }
}

TEST_CASE("a scaled contribution is the mean of all that was computed") {
  AuditedClaim claim{id<PeerId>(1), 1, 8, 16, {{0, 0, 0, 16, 0}}};
  Vector sum = sum_of(claim.samples);
  for (float& value : sum) value *= 0.5F;
  const Hash128 seed = id<Hash128>(5);
  ToldPart part{{0, kFloats, seed}, 2, {}};
  swarm::add_to_sketch(seed, 0, sum, part.sketch);
  AuditCase work(claim, {part}, {claim.samples}, {.agreeing = 3, .wanted = 3});
  std::vector<float> sketches;
  Group::append(sketches, seed, 0, kFloats, sum_of(claim.samples));
  CHECK(work.wanted() == std::vector<std::size_t>{0, 0});
  for (const std::int64_t number : {1, 2}) {
    work.ask(0, {id<PeerId>(static_cast<std::uint64_t>(number) + 10), number + 10}, number);
    work.on_answer(number, sketches);
  }
  REQUIRE(work.finding(false));
  CHECK(work.finding(false)->verdict == AuditCase::Verdict::clean);
}

TEST_CASE("one account is asked once about a slice, and never about itself") {
  AuditedClaim claim{id<PeerId>(1), 1, 8, 8, {{0, 0, 0, 8, 0}}};
  AuditCase work(claim, {}, {claim.samples}, {.agreeing = 3, .wanted = 3});
  CHECK_FALSE(work.may_ask(0, {id<PeerId>(9), 1}));
  CHECK(work.may_ask(0, {id<PeerId>(2), 2}));
  work.ask(0, {id<PeerId>(2), 2}, 1);
  CHECK_FALSE(work.may_ask(0, {id<PeerId>(3), 2}));
}

TEST_CASE("the first miss is told, the second puts a computer out until its self-test, the third is for the operator") {
  AuditStanding standing;
  for (int i = 0; i < 64; ++i) standing.on_clean();
  CHECK(standing.probability(1.0 / 64, 100) == doctest::Approx(1.0 / 64));
  CHECK(standing.on_miss(100, 102, true) == AuditStanding::Consequence::told);
  for (const RoundIndex same : {99, 101, 103}) {  // it computed these before it knew
    CHECK(standing.on_miss(same, 104, true) == AuditStanding::Consequence::none_further);
  }
  CHECK(standing.probability(1.0 / 64, 101) == 1);
  CHECK(standing.probability(1.0 / 64, 132) == 1);
  CHECK(standing.probability(1.0 / 64, 133) == doctest::Approx(1.0 / 8));
  CHECK(standing.advice(110).find("taken back") != std::string::npos);
  CHECK(standing.advice(140).empty());
  CHECK(standing.on_miss(120, 122, true) == AuditStanding::Consequence::out_until_self_test);
  CHECK(standing.is_out(1000));
  CHECK(standing.advice(1000).find("self-test") != std::string::npos);
  standing.on_self_test_passed();
  CHECK_FALSE(standing.is_out(121));
  for (int i = 0; i < 9; ++i) standing.on_clean();
  CHECK(standing.probability(1.0 / 64, 1000) == 1);
  standing.on_clean();
  CHECK(standing.probability(1.0 / 64, 1000) < 1);
  CHECK(standing.on_miss(140, 142, true) == AuditStanding::Consequence::banned);
}

TEST_CASE("a third miss that too few have found for a ban puts a computer out for longer and longer") {
  AuditStanding standing;
  for (const RoundIndex round : {10, 20}) (void)standing.on_miss(round, round, false);
  standing.on_self_test_passed();
  CHECK(standing.on_miss(30, 30, false) == AuditStanding::Consequence::out_until_self_test);
  standing.on_self_test_passed();
  CHECK(standing.is_out(94));
  CHECK(standing.advice(94).find("before round 95. ") != std::string::npos);  // there is nothing more to do
  CHECK_FALSE(standing.is_out(95));
  CHECK(standing.on_miss(100, 100, false) == AuditStanding::Consequence::out_until_self_test);
  standing.on_self_test_passed();
  CHECK(standing.is_out(228));
  CHECK_FALSE(standing.is_out(229));
}

TEST_CASE("where many confirm each other, an auditor of the operator's decides") {
  const auto zeros = [](const auto&) { return Vector(kFloats, 0.F); };
  for (const bool decides : {false, true}) {
    CAPTURE(decides);
    Group group(4);
    group.members[0].contributes = zeros;
    for (const std::size_t friendly : {1, 2}) group.members[friendly].recomputes = zeros;
    group.members[3].decides = decides;
    while (!group.is_out(0) && group.round < 300) group.play_round();
    CHECK(group.is_out(0) == decides);
    for (const std::size_t other : {1, 2, 3}) CHECK((decides && group.is_out(other)) == false);
  }
}

TEST_CASE("an operator's auditor that is the only other one is enough, and finds honest work right") {
  Group group(2);
  group.members[0].watched = true;
  group.members[1].decides = true;
  for (int i = 0; i < 20; ++i) group.play_round();
  CHECK(group.count(AuditCase::Verdict::clean) == static_cast<int>(group.findings.size()));
  CHECK(group.findings.size() >= 18);
  group.members[0].contributes = [](const auto&) { return Vector(kFloats, 1.F); };
  while (!group.is_out(0) && group.round < 40) group.play_round();
  CHECK(group.is_out(0));
}

TEST_CASE("each round of a member that the operator wants to be checked is checked") {
  Group group(8);
  for (int i = 0; i < 100; ++i) group.play_round();
  const auto checks = [&](std::size_t member) { return group.book.standings().at(id<PeerId>(member + 1)).checks; };
  const auto before = checks(2);
  group.members[2].watched = true;
  for (int i = 0; i < 50; ++i) group.play_round();
  CHECK(checks(2) - before == 50);
}

TEST_CASE("where the run bans nobody, a third miss puts a computer out for many rounds") {
  Group group(8, {1.0 / 32, 1e-4, false});
  group.members[3].contributes = [](const auto&) { return Vector(kFloats, 0.F); };
  const auto misses = [&] {
    const auto standing = group.book.standings().find(id<PeerId>(4));
    return standing == group.book.standings().end() ? 0 : standing->second.misses;
  };
  while (group.round < 400 && misses() < 3) {
    group.play_round();
    if (group.is_out(3)) group.book.on_answers(id<PeerId>(4), {{}, true, {}});
  }
  CHECK(misses() == 3);
  CHECK(group.banned.empty());
  CHECK(group.is_out(3));
}

TEST_CASE("credit is pending for more than three times as many rounds as a cheat takes to be caught") {
  CHECK(rounds_pending(0) == 0);
  CHECK(rounds_pending(1.0 / 32) == 128);
  CHECK(rounds_pending(1) == 35);
}
