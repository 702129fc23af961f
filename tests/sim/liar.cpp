#include "tests/sim/liar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/support/plain_signer.h"

namespace starling::sim {
namespace {

constexpr std::array<std::pair<Lie, std::string_view>, 20> kNames{{{Lie::lone_report, "lone-report"},
                                                                   {Lie::filed_ahead, "filed-ahead"},
                                                                   {Lie::leap, "leap"},
                                                                   {Lie::first_state, "first-state"},
                                                                   {Lie::sybil, "sybil"},
                                                                   {Lie::staller, "staller"},
                                                                   {Lie::overclaimer, "overclaimer"},
                                                                   {Lie::poisoner, "poisoner"},
                                                                   {Lie::false_evaluation, "false-evaluation"},
                                                                   {Lie::expeller, "expeller"},
                                                                   {Lie::split_owner, "split-owner"},
                                                                   {Lie::garbage_state, "garbage-state"},
                                                                   {Lie::crowd, "crowd"},
                                                                   {Lie::lazy, "lazy"},
                                                                   {Lie::stale, "stale"},
                                                                   {Lie::sign_flip, "sign-flip"},
                                                                   {Lie::scaled, "scaled"},
                                                                   {Lie::null_space, "null-space"},
                                                                   {Lie::zeros, "zeros"},
                                                                   {Lie::copycat, "copycat"}}};
constexpr int kHonestRounds = 12;  // that a cheat begins with: until it is off probation
constexpr float kScaledBy = 1.9F;
constexpr std::uint64_t kCallsBetweenLies = 3;
constexpr int kLoneReports = 8;
constexpr RoundIndex kLeap = 900'000;
constexpr SampleCount kClaimed = 64 * 60;
constexpr double kHourS = 3600;
constexpr double kOverclaimed = 1000;
constexpr double kClaimedLine = 1e12;  // bytes/s
constexpr double kBeautified = 0.5;
constexpr SampleCount kNamedForOne = 64;
constexpr int kClaims = 3;  // an overclaimer's lies take turns: of its weight, of its rate, of its line
// Ways of a garbage-state liar: it invents proofs, the same as others of its kind; it gives none; it holds the state,
// and gives others garbage or nothing.
constexpr int kInventsProofs = 0, kProvesNothing = 1, kGivesGarbage = 2, kGarbageWays = 3;
constexpr double kIdleRate = 25;  // that it says it computes at
constexpr double kIdleBatchS = 0.3;

GroupId invented_group(std::uint64_t seed) {
  GroupId group;
  for (std::size_t i = 0; i < group.bytes.size(); ++i) group.bytes[i] = static_cast<std::uint8_t>(mix64(seed + i));
  return group;
}

wire::RoundReport lone_report(const PeerId& self, RoundIndex round, std::uint64_t seed) {
  wire::RoundReport report;
  report.round = round;
  report.group = invented_group(mix64(seed) + static_cast<std::uint64_t>(round));
  report.members = {self};
  report.contributions = {{self, kClaimed}};
  report.state_digest = invented_state(seed);
  return report;
}

}  // namespace

std::string_view to_string(Lie lie) {
  for (const auto& [known, name] : kNames) {
    if (known == lie) return name;
  }
  return "";
}

std::optional<Lie> lie_named(std::string_view name) {
  for (const auto& [lie, known] : kNames) {
    if (known == name) return lie;
  }
  return std::nullopt;
}

std::string lie_names() {
  std::string names;
  for (const auto& [lie, name] : kNames) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

bool is_cheat(Lie lie) { return lie >= Lie::lazy && lie <= Lie::copycat; }

namespace {

std::vector<std::string_view> words_of_list(std::string_view names) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    words.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::string no_lie_in(std::string_view names) {
  for (const std::string_view word : words_of_list(names)) {
    if (!lie_named(word)) return std::string(word);
  }
  return {};
}

Lie lie_in_turn(std::string_view named, int number) {
  const std::vector<std::string_view> words = words_of_list(named);
  if (const auto lie = lie_named(words[static_cast<std::size_t>(number) % words.size()])) return *lie;
  constexpr std::array kAll{Lie::lone_report, Lie::filed_ahead,  Lie::leap,     Lie::first_state,      Lie::sybil,
                            Lie::staller,     Lie::overclaimer,  Lie::poisoner, Lie::false_evaluation, Lie::split_owner,
                            Lie::expeller,    Lie::garbage_state};
  return kAll[static_cast<std::size_t>(number) % kAll.size()];
}

bool boasts_of_its_line(Lie lie, int number) { return lie == Lie::overclaimer && number % kClaims == 2; }

double comes_at_s(Lie lie, double first_come_s) {
  if (lie == Lie::crowd) return kCrowdComesS;
  const bool alone_decides = is_cheat(lie) || lie == Lie::sybil || lie == Lie::poisoner || lie == Lie::false_evaluation;
  return alone_decides ? first_come_s : 0;
}

Digest invented_state(std::uint64_t seed) {
  Digest digest;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) digest.bytes[i] = static_cast<std::uint8_t>(mix64(~seed + i));
  return digest;
}

wire::Heartbeat Liar::tell(const wire::Heartbeat& truth) {
  wire::Heartbeat told = truth;
  const std::uint64_t own = self_.bytes[0] + 256ULL * self_.bytes[1];
  ++calls_;
  switch (lie_) {
    case Lie::lone_report:
      if (calls_ % kCallsBetweenLies != 0) break;
      told.reports.clear();
      for (int i = 0; i < kLoneReports; ++i) told.reports.push_back(lone_report(self_, truth.state_round + i, own));
      told.state_round += kLoneReports;
      told.state_digest = invented_state(own);
      break;
    case Lie::filed_ahead:
      if (calls_ % kCallsBetweenLies != 0) break;
      for (RoundIndex round = truth.state_round; told.reports.size() < wire::kReportsPerHeartbeatMax; ++round) {
        told.reports.push_back(lone_report(self_, round, own));
      }
      break;
    case Lie::leap:
      told.reports.clear();
      told.state_round += kLeap;
      told.state_digest = invented_state(own);
      break;
    case Lie::first_state:
      if (truth.state_round == 0) told.state_digest = invented_state(own);
      break;
    case Lie::staller:
      if (self_.bytes[0] % 2 == 0) {
        told.batch_seconds = kHourS;
      } else if (number_ % 2 == 0 && called_to_ == truth.state_round) {
        told.phase = wire::MemberPhase::averaging;
      }
      told.reports.clear();
      break;
    case Lie::overclaimer:
      if (number_ % kClaims == 1) {
        told.samples_per_s *= kOverclaimed;
        told.samples_this_round = kClaimed * 1000;
      } else if (boasts_of_its_line(lie_, number_)) {
        told.upload_bytes_per_s = told.download_bytes_per_s = kClaimedLine;
      }
      for (wire::RoundReport& report : told.reports) {
        for (wire::ReceivedRate& received : report.received) received.bytes_per_s = 1;
      }
      break;
    case Lie::garbage_state:
      say_held(told);
      break;
    case Lie::false_evaluation:
      if (told.evaluation && told.evaluation->bytes > 0) told.evaluation->bits_per_byte *= kBeautified;
      break;
    case Lie::sybil:
    case Lie::crowd:
      for (wire::RoundReport& report : told.reports) {
        const Digest invented = invented_state(report.group.bytes[0] + 256ULL * report.group.bytes[1]);
        if (told.state_digest == report.state_digest) told.state_digest = invented;
        report.state_digest = invented;
        for (wire::Contribution& contribution : report.contributions) {
          if (contribution.peer == self_) contribution.samples = kClaimed;
        }
      }
      break;
    default:  // these lie elsewhere
      told.trust.audits.self_test_passed = is_cheat(lie_);
  }
  return told;
}

void Liar::say_held(wire::Heartbeat& told) const {
  if (number_ % kGarbageWays == kGivesGarbage || state_.is_zero()) return;
  told.phase = wire::MemberPhase::training;
  told.state_round = round_;
  told.state_digest = state_;
  told.samples_per_s = kIdleRate;
  told.batch_seconds = kIdleBatchS;
  told.reports.clear();
  told.evaluation.reset();
  told.trust = {};
  if (proves_falsely()) told.trust.holding = wire::HoldingProof{challenge_, invented_state(challenge_.bytes[0])};
}

bool Liar::poison(std::span<float> sum, std::span<const float> others) {
  if (is_cheat(lie_)) {
    if (old_sum_.empty()) old_sum_.assign(sum.begin(), sum.end());
    if (rounds_ <= kHonestRounds) return false;
    cheat(sum, others);
    return true;
  }
  if (lie_ != Lie::poisoner) return false;
  switch (number_ % 4) {
    case 0:
      for (float& value : sum) value *= 1e10F;
      break;
    case 1:
      for (float& value : sum) value *= -1000;
      break;
    case 2:
      std::fill(sum.begin(), sum.end(), 1000.0F);
      break;
    default:
      for (float& value : sum) value = -value;
  }
  return true;
}

void Liar::cheat(std::span<float> sum, std::span<const float> others) {
  ++batches_;
  float length = 0;  // a number's, on the average
  const auto size = std::min({sum.size(), old_sum_.size(), others.empty() ? old_sum_.size() : others.size()});
  switch (lie_) {
    case Lie::lazy:
      for (float& value : sum) value *= batches_ % 2 == 0 ? 2.0F : 0.0F;
      break;
    case Lie::stale:
      std::copy_n(old_sum_.begin(), size, sum.begin());
      break;
    case Lie::sign_flip:
      for (float& value : sum) value = -value;
      break;
    case Lie::scaled:
      for (float& value : sum) value *= kScaledBy;
      break;
    case Lie::null_space:  // pairs that would cancel out in a bucket
      length =
          std::sqrt(std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0F) / static_cast<float>(sum.size()));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (mix64(i / 2) % 2 == i % 2 ? 1.0F : -1.0F) * length;
      break;
    case Lie::copycat:
      std::copy_n((others.empty() ? std::span<const float>(old_sum_) : others).begin(), size, sum.begin());
      break;
    default:
      std::fill(sum.begin(), sum.end(), 0.0F);
  }
}

averaging::ContributionTerms Liar::name(const averaging::ContributionTerms& truth, SampleCount most) const {
  averaging::ContributionTerms named = truth;
  if (lie_ != Lie::overclaimer || number_ % kClaims != 0) return named;
  named.weight *= kNamedForOne;
  const bool is_careful = number_ % 2 == 0;
  if (is_careful && most > 0) named.weight = std::min(named.weight, most);
  return named;
}

std::optional<averaging::Rank> Liar::expels(const wire::GroupInfo& group) {
  if (lie_ != Lie::expeller) return std::nullopt;
  const averaging::Rank rank = mix64(calls_ + group.id.bytes[0]) % group.members.size();
  return group.members[rank].endpoint.peer == self_ ? std::nullopt : std::optional(rank);
}

// Every second one of them has a single victim, the others give two halves of the group different values.
void Liar::change(const wire::GroupInfo& group, averaging::Rank to, Frame& frame) {
  if (lie_ != Lie::split_owner) return;
  averaging::Rank self = 0;
  while (group.members[self].endpoint.peer != self_) ++self;
  if (!split_ || splits_ != group.id) {
    splits_ = group.id;
    const averaging::Rank victim = (self + 1) % group.members.size();
    const bool halves = number_ % 2 == 1;
    split_.emplace(group, self, testing::plain_signer(self_),
                   [victim, halves](averaging::Rank rank) { return halves ? rank % 2 == 0 : rank == victim; });
  }
  split_->change(to, frame.header, frame.payload);
}

Donation Liar::donates() {
  if (lie_ != Lie::garbage_state) return Donation::truth;
  return donations_++ % 2 == 0 ? Donation::garbage : Donation::nothing;
}

bool Liar::proves_falsely() const { return lie_ == Lie::garbage_state && number_ % kGarbageWays == kInventsProofs; }

wire::HeartbeatReply Liar::hear(const wire::HeartbeatReply& reply) {
  wire::HeartbeatReply heard = reply;
  if (lie_ == Lie::garbage_state && number_ % kGarbageWays != kGivesGarbage) {
    round_ = reply.round;
    state_ = reply.state_digest;
    challenge_ = reply.kept.challenge;
    heard.group.reset();
    heard.donors.clear();
    heard.kept = {};
    heard.evaluate_round.reset();
  }
  if (heard.group && heard.group->round != last_place_) {
    last_place_ = heard.group->round;
    ++rounds_;
  }
  if (lie_ == Lie::staller && heard.group) {
    called_to_ = heard.group->round;
    heard.group.reset();
  }
  return heard;
}

}  // namespace starling::sim
