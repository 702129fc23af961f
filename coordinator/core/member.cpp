#include "coordinator/core/member.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/base/upper_median.h"
#include "shared/protocol/heartbeat.h"

namespace starling::core {
namespace {

constexpr Duration kMissedCallSlack = std::chrono::milliseconds(750);
constexpr double kRateSmoothing = 0.4;  // weight of the newest rate
constexpr double kGrowthRoundsMax = 64;
constexpr double kGrowthMax = 2;      // a member is believed this many times the rate that it was credited with
constexpr double kRoundsAhead = 0.5;  // rounds that a member may have computed ahead, while it averaged
// A proven rate at most doubles with a round, up to this many rates of a usual member; beyond that in this time. It
// falls slowly: a computer that is busy with something else for a while keeps its place.
constexpr double kProvenAtOnce = 16;
constexpr double kProvenDoublesS = 600;
constexpr double kProvenKept = 0.98;
constexpr SampleCount kBatchesFree = 2;  // micro-batches that everybody is believed beyond its rate
constexpr double kVanishingMemoryS = 4 * 3600;
constexpr double kUsualStayS = 8 * 3600;       // a member's usual stay, as long as nothing else is known
constexpr std::size_t kDonorSearchMax = 1024;  // members looked at for one answer
constexpr std::size_t kGoneMax = 4096;         // those with the oldest absences are dropped first

// True if a member that was away for many rounds has more reports than one call carries: the oldest go first.
bool leaves_reports(const wire::Heartbeat& heartbeat) {
  return !heartbeat.reports.empty() && heartbeat.reports.back().round + 1 < heartbeat.state_round;
}

// The place of a claim among sources of the state; nothing if it is none.
std::optional<std::size_t> rank_of(const Holding& claim) {
  using Verdict = Holding::Verdict;
  if (claim.verdict == Verdict::agreed) return 0;
  if (claim.verdict == Verdict::alone) return 1;
  return claim.verdict == Verdict::open && claim.unanswered == 0 ? std::optional<std::size_t>(2) : std::nullopt;
}

}  // namespace

bool missed_its_call(const Member& member, TimePoint now) {
  return now > member.next_call() + std::max(member.told / 2, kMissedCallSlack);
}

wire::Endpoint Member::endpoint() const {
  if (dialable()) return {who.peer, who.address, reported.listen_port};
  const bool posted = relay.endpoint && reported.posted_at == relay.endpoint->relay;
  return posted ? *relay.endpoint : wire::Endpoint{who.peer, "", 0};
}

wire::MemberInfo Member::info() const {
  return {endpoint(),
          lane,
          speeds.samples_per_s,
          speeds.batch_seconds,
          speeds.upload_bytes_per_s,
          speeds.download_bytes_per_s,
          standing.reliance};
}

Member& MemberTable::touch(TimePoint now, const MemberIdentity& who, const wire::Heartbeat& heartbeat) {
  const auto [entry, is_new] = members_.try_emplace(who.peer);
  Member& member = entry->second;
  if (is_new) {
    if (const auto kept = gone_.extract(who.peer)) {
      member.away = kept.mapped().away;
      member.seat = kept.mapped().seat;
    }
  }
  if (member.ready() && member.reported.phase == wire::MemberPhase::training) member.was_training = true;
  stop_counting(member);  // judge() counts it again with the new figures
  member.who = who;
  // Bounded: otherwise one member's claim would drown the others' in the forecast's sum, even after it is gone.
  const SampleCount samples = std::min(heartbeat.samples_this_round, kMemberSamplesMax);
  member.reported = {
      heartbeat.phase,           heartbeat.state_round,        heartbeat.state_digest,    samples,
      heartbeat.listen_port,     heartbeat.relaying.posted_at, leaves_reports(heartbeat), heartbeat.computing.failure,
      heartbeat.computing.device};
  if (!member.should_compute() && std::exchange(member.was_training, false)) departed_ += 1;
  Speeds& speeds = member.speeds;
  if (heartbeat.samples_per_s > 0) {  // 0: not measured yet, or not now
    const double rate = std::min({heartbeat.samples_per_s, kMemberSamplesPerSecondMax, rate_max(member, now)});
    const double weight = is_new || speeds.samples_per_s <= 0 ? 1.0 : kRateSmoothing;
    speeds.samples_per_s += weight * (rate - speeds.samples_per_s);
  }
  speeds.batch_seconds = heartbeat.batch_seconds;
  speeds.batch_jitter = heartbeat.batch_jitter;
  speeds.upload_bytes_per_s = heartbeat.upload_bytes_per_s;
  speeds.download_bytes_per_s = heartbeat.download_bytes_per_s;
  speeds.relay_bytes_per_s = heartbeat.relaying.bytes_per_s;
  speeds.round_trip_s = heartbeat.round_trip_s;
  member.seen = now;
  member.told = {};
  return member;
}

Member* MemberTable::find(const PeerId& peer) {
  const auto entry = members_.find(peer);
  return entry == members_.end() ? nullptr : &entry->second;
}

const Member* MemberTable::find(const PeerId& peer) const {
  const auto entry = members_.find(peer);
  return entry == members_.end() ? nullptr : &entry->second;
}

void MemberTable::remove(const PeerId& peer) {
  const auto entry = members_.find(peer);
  if (entry == members_.end()) return;
  part_with(entry->second);
  members_.erase(entry);
}

// Who fell silent while a plan waited for it, like a computer that crashed, is a newcomer when it is back; who called
// on has stayed away until it comes.
void MemberTable::part_with(Member& member) {
  stop_counting(member);
  if (member.away.last < 0 && member.seat.plan == 0) return;
  member.away.stayed_away = member.away.stayed_away && member.away.called_on;
  gone_.insert_or_assign(member.who.peer, GoneMember{member.away, member.seat});
  if (gone_.size() <= kGoneMax) return;
  gone_.erase(std::min_element(gone_.begin(), gone_.end(),
                               [](const auto& a, const auto& b) { return a.second.away.last < b.second.away.last; }));
}

Absences* MemberTable::absences_of(const PeerId& peer) {
  if (Member* member = find(peer)) return &member->away;
  const auto entry = gone_.find(peer);
  return entry == gone_.end() ? nullptr : &entry->second.away;
}

PlannedSeat* MemberTable::seat_of(const PeerId& peer) {
  if (Member* member = find(peer)) return &member->seat;
  const auto entry = gone_.find(peer);
  return entry == gone_.end() ? nullptr : &entry->second.seat;
}

void MemberTable::forget_gone(RoundIndex before) {
  std::erase_if(gone_,
                [before](const auto& entry) { return entry.second.away.last < std::max<RoundIndex>(0, before); });
}

void MemberTable::forget_silent(TimePoint now, Duration floor, const Patience& patience) {
  const double passed_s = counted_at_ == kNever ? 0 : to_seconds(now - counted_at_);
  counted_at_ = now;
  const double kept = std::exp(-passed_s / kVanishingMemoryS);
  vanished_ *= kept;
  departed_ *= kept;
  member_s_ *= kept;
  for (auto entry = members_.begin(); entry != members_.end();) {
    Member& member = entry->second;
    if (member.counted && missed_its_call(member, now)) stop_counting(member);
    if (member.works()) member_s_ += passed_s;
    const Duration least = member.averages() ? std::max(floor, member.told + patience.quorum) : floor;
    if (now - member.seen > std::max(3 * member.told, least)) {
      if (member.works()) {
        vanished_ += 1;
        departed_ += 1;
      }
      part_with(member);
      entry = members_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void MemberTable::note_credit(std::span<const wire::Contribution> credited, Duration round_took) {
  round_took_ = round_took;
  if (round_took <= Duration{}) return;
  for (const wire::Contribution& line : credited) {
    Member* member = find(line.peer);
    if (member == nullptr) continue;
    const double rate = static_cast<double>(line.samples) / to_seconds(round_took);
    double& own = member->speeds.credited_per_s;
    own += (rate < own ? kRateSmoothing : 1.0) * (rate - own);
  }
  std::vector<double> rates;
  std::vector<double> with_voice;
  for (const auto& [peer, member] : members_) {
    if (member.speeds.credited_per_s <= 0) continue;
    rates.push_back(member.speeds.credited_per_s);
    if (member.voice) with_voice.push_back(member.speeds.credited_per_s);
  }
  usual_credited_per_s_ = rates.empty() ? 0 : upper_median(std::move(rates));
  if (!with_voice.empty()) usual_credited_per_s_ = std::min(usual_credited_per_s_, upper_median(std::move(with_voice)));
  for (const wire::Contribution& line : credited) {
    if (Member* member = find(line.peer)) prove(*member, static_cast<double>(line.samples) / to_seconds(round_took));
  }
}

double MemberTable::provable_max(const Member& member) const {
  const double usual = usual_credited_per_s_;
  const double proven = member.speeds.proven_per_s;
  const double at_once = std::min(kProvenAtOnce * usual, kGrowthMax * std::max(proven, usual));
  return std::max(at_once, std::exp2(std::min(1.0, to_seconds(round_took_) / kProvenDoublesS)) * proven);
}

void MemberTable::prove(Member& member, double rate) const {
  double& proven = member.speeds.proven_per_s;
  proven = std::max(kProvenKept * proven, std::min(rate, provable_max(member)));
}

// Members compute ahead while they average, and begin before their round is decided here.
SampleCount MemberTable::samples_max(const Member& member, TimePoint then, SampleCount micro_batch) const {
  const double rate = provable_max(member);
  if (rate <= 0) return kMemberSamplesMax;
  const double time_s = std::max(0.0, to_seconds(then - judged_at_)) + kRoundsAhead * to_seconds(round_took_);
  const double most = rate * time_s + static_cast<double>(kBatchesFree * micro_batch);
  return static_cast<SampleCount>(std::min(most, static_cast<double>(kMemberSamplesMax)));
}

// A round that takes longer than the last one shows that the rates are not what they were: the limit grows with it.
double MemberTable::rate_max(const Member& member, TimePoint now) const {
  if (round_took_ <= Duration{}) return kMemberSamplesPerSecondMax;
  const double rounds = std::max(0.0, to_seconds(now - judged_at_) / to_seconds(round_took_));
  const double growth = std::pow(kGrowthMax, std::min(rounds, kGrowthRoundsMax));
  const double credited = member.speeds.credited_per_s;
  if (credited > 0) return kGrowthMax * growth * credited;
  return usual_credited_per_s_ > 0 ? growth * usual_credited_per_s_ : kMemberSamplesPerSecondMax;
}

double MemberTable::vanishings_per_s() const { return (vanished_ + 1) / (member_s_ + kUsualStayS); }
double MemberTable::departures_per_s() const { return (departed_ + 1) / (member_s_ + kUsualStayS); }

void MemberTable::judge(TimePoint now, const Digest& canonical, const std::vector<PeerId>& averaged,
                        TimePoint assumed_until) {
  judged_at_ = now;
  for (auto& [peer, member] : members_) judge(now, member, canonical);
  for (const PeerId& peer : averaged) {
    Member* member = find(peer);
    if (member == nullptr || member->ready() || member->holding.refuted()) continue;
    // It stepped with the others and is on the new round by now; its own word follows with its next call.
    member->holding.copy = Copy::assumed;
    count_as(*member, {now, 0, member->speeds.samples_per_s, member->voice});
  }
  assumed_until_ = assumed_until;
}

void MemberTable::judge(TimePoint now, Member& member, const Digest& canonical) {
  stop_counting(member);
  const bool holds_it = !canonical.is_zero() && member.reported.state_digest == canonical && !member.holding.refuted();
  member.holding.copy = holds_it ? Copy::canonical : Copy::other;
  if (!holds_it || !member.works() || member.is_out() || missed_its_call(member, now)) return;
  const double longest_s = to_seconds(member.seen - judged_at_) + kRoundsAhead * to_seconds(round_took_);
  const double possible = rate_max(member, member.seen) * std::max(0.0, longest_s);
  const auto samples = static_cast<SampleCount>(std::min(static_cast<double>(member.reported.samples), possible));
  count_as(member, {member.seen, samples, member.speeds.samples_per_s, member.voice});
}

void MemberTable::end_assumptions(TimePoint now, const Digest& canonical) {
  if (!assumed_until_ || now <= *assumed_until_) return;
  assumed_until_.reset();
  for (auto& [peer, member] : members_) {
    if (member.holding.copy == Copy::assumed) judge(now, member, canonical);
  }
}

std::vector<wire::Endpoint> MemberTable::donors(const PeerId& asking, std::size_t count) {
  std::array<std::vector<wire::Endpoint>, 3> by_proof;
  const std::size_t steps = std::min(members_.size(), kDonorSearchMax);
  auto entry = members_.upper_bound(last_donor_);
  for (std::size_t i = 0; i < steps && by_proof.front().size() < count; ++i) {
    if (entry == members_.end()) entry = members_.begin();
    const Member& member = entry->second;
    const wire::Endpoint endpoint = member.endpoint();
    const bool callable = wire::dialable(endpoint) && endpoint.relay != asking && member.who.peer != asking;
    const std::optional<std::size_t> rank = rank_of(member.holding);
    if (member.ready() && callable && rank && by_proof.at(*rank).size() < count) by_proof.at(*rank).push_back(endpoint);
    ++entry;
  }
  const auto best = std::find_if(by_proof.begin(), by_proof.end(), [](const auto& some) { return !some.empty(); });
  if (best == by_proof.end()) return {};
  last_donor_ = best->front().peer;  // the next newcomer starts with the next donor
  return *best;
}

void MemberTable::count_as(Member& member, const Growth& growth) {
  stop_counting(member);
  member.counted = growth;
  forecast_.add(growth);
}

void MemberTable::stop_counting(Member& member) {
  if (!member.counted) return;
  forecast_.remove(*member.counted);
  member.counted.reset();
}

std::string failing_text(const FailingMembers& failing) {
  if (failing.count == 0) return "";
  const std::string whose = failing.of == 1 ? "the trainer of the only computer that should train fails"
                            : failing.all() ? fmt::format("the trainers of all {} computers fail", failing.of)
                            : failing.count == 1
                                ? fmt::format("the trainer of 1 of {} computers fails", failing.of)
                                : fmt::format("the trainers of {} of {} computers fail", failing.count, failing.of);
  return failing.why.empty() ? whose : whose + ": " + failing.why;
}

FailingMembers MemberTable::failing() const {
  FailingMembers failing;
  std::map<std::string_view, int> reasons;
  for (const auto& [peer, member] : members_) {
    failing.of += member.should_compute() ? 1 : 0;
    if (!member.fails()) continue;
    failing.count += 1;
    reasons[member.reported.failure] += 1;
  }
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != reasons.end()) failing.why = most->first;
  return failing;
}

DeviceSums MemberTable::device_sums() const {
  DeviceSums sums;
  for (const auto& [peer, member] : members_) {
    if (!member.should_compute()) continue;
    const std::optional<wire::ComputeDevice>& device = member.reported.device;
    (!device ? sums.untold : device->is_processor() ? sums.on_processors : sums.on_cards) += 1;
  }
  return sums;
}

DevicesInUse MemberTable::devices() const {
  const auto is_before = [](const wire::ComputeDevice* a, const wire::ComputeDevice* b) {
    const auto parts = [](const wire::ComputeDevice& device) {
      return std::tie(device.kind, device.name, device.count, device.precision, device.backend, device.card_unused);
    };
    return parts(*a) < parts(*b);
  };
  DevicesInUse devices;
  std::map<const wire::ComputeDevice*, DevicesAlike, decltype(is_before)> kinds(is_before);
  for (const auto& [peer, member] : members_) {
    if (!member.should_compute()) continue;
    const std::optional<wire::ComputeDevice>& device = member.reported.device;
    devices.untold += device ? 0 : 1;
    if (!device) continue;
    DevicesAlike& alike = kinds.try_emplace(&*device, DevicesAlike{*device}).first->second;
    alike.members += 1;
    alike.some_have_more |= alike.device.memory_bytes != device->memory_bytes;
    if (device->memory_bytes < alike.device.memory_bytes) alike.device = *device;
  }
  for (auto& [device, alike] : kinds) devices.alike.push_back(std::move(alike));
  std::stable_sort(devices.alike.begin(), devices.alike.end(),
                   [](const DevicesAlike& a, const DevicesAlike& b) { return a.members > b.members; });
  while (devices.alike.size() > kDevicesShownMax) {
    devices.others += devices.alike.back().members;
    devices.alike.pop_back();
  }
  return devices;
}

}  // namespace starling::core
