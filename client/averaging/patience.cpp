#include "client/averaging/patience.h"

#include <algorithm>
#include <utility>

namespace starling::averaging {
namespace {

// A member that would have lost another one itself within this time has seen enough to say so.
constexpr Duration kCorroborates = std::chrono::seconds(1);

}  // namespace

Patience::Patience(const AllReduceOptions& options, const Roster& roster, const PeerProgress& progress)
    : options_(options),
      roster_(roster),
      progress_(progress),
      watch_(options, roster.size()),
      suspicions_(roster.size()) {}

void Patience::start(TimePoint now, Duration begin_within) {
  begin_within_ = begin_within;
  begin_deadline_ = now + begin_within;
  wake_at_ = now;
  watch_.start(now);
}

Duration Patience::notice_oversleeping(TimePoint now) {
  if (wake_at_ == kNever || now <= wake_at_ + options_.ping_interval) return Duration::zero();
  const Duration slept = now - wake_at_;
  watch_.on_overslept(slept);
  begin_deadline_ += slept;
  for (Suspicion& suspicion : suspicions_) {
    if (suspicion.at != kNever) suspicion.at += slept;
  }
  wake_at_ = now;
  return slept;
}

Duration Patience::yield(Rank rank) const {
  return rank < roster_.self() && roster_.survivors() > 2 ? options_.yield_delay : Duration::zero();
}

void Patience::suspect(TimePoint now, LostMember member, wire::Fault fault) {
  Suspicion& suspicion = suspicions_[member.rank];
  if (suspicion.at != kNever) return;
  suspicion = {now + yield(member.rank), std::move(member.reason), fault};
  wake_by(suspicion.at);
}

Watch::Deadline Patience::deadline(TimePoint now, Rank rank, bool owes_results) const {
  const Suspicion& suspicion = suspicions_[rank];
  if (suspicion.at <= now) return {suspicion.at, suspicion.reason, suspicion.fault};
  Watch::Deadline due;
  if (!roster_.begun(rank)) {
    due = {begin_deadline_, "did not begin in time", wire::Fault::absent};
  } else {
    Watch::Waits waits;
    waits.life = !progress_.owes_nothing(rank);
    waits.answer = progress_.owes_answer(rank);
    waits.results = owes_results && roster_.unbegun() == 0;  // nobody can have results before all have begun
    waits.done = progress_.result().has_value() && roster_.waits_for_done_of(rank);
    due = watch_.deadline(rank, waits);
  }
  // Both ends of a dead link run into their limits at about the same time: within a ping of each other.
  if (due.at != kNever && yields_to(rank)) due.at += yield(rank) + 2 * options_.ping_interval;
  if (suspicion.at < due.at) due = {suspicion.at, suspicion.reason, suspicion.fault};
  return due;
}

std::vector<Patience::Due> Patience::casualties(TimePoint now, const std::vector<Due>& due) const {
  std::size_t others = 0;
  std::size_t quiet = 0;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    const bool among = std::any_of(due.begin(), due.end(), [rank](const Due& d) { return d.rank == rank; });
    if (among || !roster_.live(rank) || !roster_.begun(rank) || progress_.may_be_silent(rank)) continue;
    ++others;
    if (!watch_.hears(now, rank)) ++quiet;
  }
  std::vector<Due> casualties;
  for (const Due& each : due) {
    const bool in_doubt = quiet * 2 > others && !watch_.hears(now, each.rank);
    if (in_doubt && now < each.deadline.at + options_.silence_floor) continue;
    casualties.push_back(each);
  }
  return casualties;
}

std::optional<wire::Fault> Patience::about_to_complain(TimePoint now, Rank rank, bool owes_results) const {
  if (!roster_.live(rank)) return std::nullopt;
  const Watch::Deadline due = deadline(now, rank, owes_results);
  return due.at <= now + kCorroborates ? std::optional(due.fault) : std::nullopt;
}

bool Patience::is_well(TimePoint now, Rank rank) const {
  if (!roster_.live(rank) || !roster_.begun(rank)) return false;
  return watch_.hears(now, rank) || (progress_.may_be_silent(rank) && !progress_.left(rank));
}

Patience::Health Patience::health(TimePoint now, Rank rank, bool owes_results) const {
  if (rank == roster_.self()) return Health::well;
  if (!roster_.linked(rank)) return Health::unknown;
  if (progress_.severed(rank) || progress_.left(rank) || suspicions_[rank].at != kNever) return Health::unwell;
  if (progress_.result() && progress_.done(rank) && progress_.done(rank) != progress_.result()) return Health::unwell;
  if (!roster_.begun(rank)) return now >= begin_deadline_ ? Health::unwell : Health::unknown;
  // It may have come too late for members that began earlier.
  const TimePoint last_moments = begin_deadline_ - std::min(begin_within_ / 2, kCorroborates);
  if (watch_.begun_at(rank) > last_moments && now < begin_deadline_ + kCorroborates) return Health::unwell;
  return deadline(now, rank, owes_results).doubt <= now ? Health::unwell : Health::well;
}

bool Patience::is_false_accusation(TimePoint now, const wire::RankSet& accused) const {
  if (!accused.test(roster_.self())) return false;
  Votes left = roster_.all_votes();
  std::size_t others = 0;
  std::size_t well = 0;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!accused.test(rank) || roster_.late(rank)) continue;  // late members are lost without a complaint
    left -= roster_.votes(rank);
    if (!roster_.live(rank) || !roster_.begun(rank)) continue;
    ++others;
    if (is_well(now, rank)) ++well;
  }
  return !roster_.is_majority(left) && well * 2 > others;
}

}  // namespace starling::averaging
