#include <algorithm>

#include "client/averaging/all_reduce_impl.h"

namespace starling::averaging {
namespace {

// A member that would have lost another one itself within this time has seen enough to say so.
constexpr Duration kCorroborates = std::chrono::seconds(1);

}  // namespace

// Timers that fire much too late mean that this process was stopped or starved. Frames that the others sent meanwhile
// may still wait in the sockets, so their limits move by as much.
void AllReduce::Impl::notice_oversleeping(TimePoint now) {
  if (next_tick_ == kNever || now <= next_tick_ + options_.ping_interval) return;
  const Duration slept = now - next_tick_;
  watch_.on_overslept(slept);
  for (TimePoint* limit : {&begin_deadline_, &late_heard_, &late_fed_}) *limit += slept;
  for (Peer& peer : peers_) {
    if (peer.suspect_at != kNever) peer.suspect_at += slept;
  }
  next_tick_ = now;
}

// While members are lost, the inventory of `rank` is needed as well.
bool AllReduce::Impl::finished_with(Rank rank) const {
  return digest_ && peers_[rank].done == digest_ && (!recovery_.in_view() || recovery_.noted(rank));
}

// A member that owes nothing need not give a sign of life either: it is silent from the time it settles, however long
// other members' results take to come.
bool AllReduce::Impl::owes_nothing(Rank rank) const {
  const Peer& peer = peers_[rank];
  const bool gave_all = peer.done && table_.missing(rank) == 0 && peer.wants_open == 0;
  return gave_all && (!recovery_.in_view() || recovery_.noted(rank));
}

Duration AllReduce::Impl::yield(Rank rank) const {
  return rank < self_ && roster_.survivors() > 2 ? options_.yield_delay : Duration::zero();
}

void AllReduce::Impl::on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault) {
  VERIFY(peer < roster_.size());
  if (!started_) return;
  // A member that only serves a deferred member may leave when that one no longer needs it.
  peers_[peer].severed = !finished_with(peer) && !(roster_.deferred(self_) && owes_nothing(peer));
  if (late_ && !outcome_) return check_late(now);
  if (!roster_.live(peer)) return;
  peers_[peer].left = peers_[peer].left || !peers_[peer].severed;
  if (outcome_) return;
  notice_oversleeping(now);
  if (!peers_[peer].severed) return;
  if (!fault || yield(peer) == Duration::zero()) {
    if (fault) witness(peer, *fault);
    return lose(now, {{peer, std::move(reason)}});
  }
  if (peers_[peer].suspect_at != kNever) return;
  peers_[peer].suspect_at = now + yield(peer);
  peers_[peer].suspicion = std::move(reason);
  peers_[peer].suspected = *fault;
  next_tick_ = std::min(next_tick_, peers_[peer].suspect_at);
}

std::vector<bool> AllReduce::Impl::owing_results() const {
  std::vector<bool> owing(roster_.size());
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (table_.missing(rank) == 0) continue;
    if (!roster_.lost(rank)) {
      owing[rank] = true;
      continue;
    }
    for (SegmentIndex segment = table_.first(rank); segment < table_.first(rank + 1); ++segment) {
      if (!table_.held(segment)) owing[roster_.new_owner(segment)] = true;
    }
  }
  return owing;
}

Watch::Deadline AllReduce::Impl::deadline(TimePoint now, Rank rank, bool owes_results) const {
  const Peer& peer = peers_[rank];
  if (peer.suspect_at <= now) return {peer.suspect_at, peer.suspicion, peer.suspected};
  Watch::Deadline due;
  if (!roster_.begun(rank)) {
    due = {begin_deadline_, "did not begin in time", wire::Fault::absent};
  } else {
    Watch::Waits waits;
    waits.life = !owes_nothing(rank);
    waits.answer = peer.wants_open > 0 || (recovery_.in_view() && !recovery_.noted(rank));
    waits.results = owes_results && roster_.unbegun() == 0;  // nobody can have results before all have begun
    waits.done = digest_.has_value() && roster_.waits_for_done_of(rank);
    due = watch_.deadline(rank, waits);
  }
  // Both ends of a dead link run into their limits at about the same time: within a ping of each other.
  if (due.at != kNever && yield(rank) > Duration::zero()) due.at += yield(rank) + 2 * options_.ping_interval;
  if (peer.suspect_at < due.at) due = {peer.suspect_at, peer.suspicion, peer.suspected};
  return due;
}

void AllReduce::Impl::corroborate(TimePoint now, Rank rank, bool owes_results) {
  if (!roster_.live(rank)) return;
  const Watch::Deadline due = deadline(now, rank, owes_results);
  if (due.at <= now + kCorroborates) witness(rank, due.fault);
}

void AllReduce::Impl::leave_stragglers_behind(TimePoint now) {
  const SegmentIndex own = table_.first(self_ + 1) - table_.first(self_);
  if (table_.missing(self_) == 0 || roster_.unbegun() > 0) return;
  const Duration pace = watch_.pace(awaited_);
  bool left = false;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!peers_[rank].awaited || peers_[rank].contributed == own) continue;
    const TimePoint at = watch_.straggler_deadline(rank, pace);
    if (at <= now) {
      witness(rank, wire::Fault::slow);
      stop_awaiting(rank);
      left = true;
    } else {
      next_tick_ = std::min(next_tick_, at);
    }
  }
  if (left) close_complete(now);
}

std::vector<LostMember> AllReduce::Impl::casualties(TimePoint now, const std::vector<Due>& due) {
  std::size_t others = 0;
  std::size_t quiet = 0;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    const bool among = std::any_of(due.begin(), due.end(), [rank](const Due& d) { return d.rank == rank; });
    if (among || !roster_.live(rank) || !roster_.begun(rank) || silent_by_right(rank)) continue;
    ++others;
    if (!watch_.hears(now, rank)) ++quiet;
  }
  std::vector<LostMember> casualties;
  for (const auto& [rank, deadline] : due) {
    const bool in_doubt = quiet * 2 > others && !watch_.hears(now, rank);
    if (in_doubt && now < deadline.at + options_.silence_floor) continue;
    witness(rank, deadline.fault);
    casualties.push_back({rank, std::string(deadline.reason)});
  }
  return casualties;
}

void AllReduce::Impl::on_timer(TimePoint now) {
  notice_oversleeping(now);
  if (!started_ || outcome_) return;
  next_tick_ = now + options_.ping_interval;
  if (late_) return check_late(now);
  std::vector<Due> overdue;
  const std::vector<bool> owing = owing_results();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (outbox_.listens(rank) && watch_.quiet(now, rank)) outbox_.send_ping(rank);
    if (!roster_.live(rank) || finished_with(rank)) continue;
    const Watch::Deadline due = deadline(now, rank, owing[rank]);
    if (due.at <= now) {
      overdue.push_back({rank, due});
      continue;
    }
    next_tick_ = std::min(next_tick_, due.at);
    if (roster_.begun(rank) && watch_.quiet(now, rank)) outbox_.send_ping(rank);
  }
  lose(now, casualties(now, overdue));
  leave_stragglers_behind(now);
  outbox_.wake(now);
  next_tick_ = std::min(next_tick_, outbox_.wake_at());
  if (outcome_) next_tick_ = kNever;
}

}  // namespace starling::averaging
