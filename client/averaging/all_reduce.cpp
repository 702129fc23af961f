#include "client/averaging/all_reduce.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "client/averaging/all_reduce_impl.h"
#include "client/averaging/contributors.h"
#include "client/averaging/own_parts.h"

namespace starling::averaging {
namespace {

// Whether the member has made all of the owner's part; `made`: by segment.
bool has_made(const SegmentTable& table, Rank owner, const std::vector<bool>& made) {
  const auto end = made.begin() + table.first(owner + 1);
  return std::find(made.begin() + table.first(owner), end, false) == end;
}

}  // namespace

AllReduce::AllReduce(wire::GroupInfo group, Rank self, const RoundVectors& vectors, AllReduceOptions options)
    : impl_(std::make_unique<Impl>(std::move(group), self, vectors, options)) {}
AllReduce::~AllReduce() = default;

void AllReduce::start(TimePoint now) { impl_->start(now); }
bool AllReduce::next_frame(TimePoint now, Rank to, OutgoingFrame& frame) { return impl_->next_frame(now, to, frame); }
std::vector<Rank> AllReduce::take_ready() { return impl_->outbox().take_ready(); }
bool AllReduce::has_ready() const { return impl_->outbox().has_ready(); }
Status AllReduce::on_frame(TimePoint now, Rank from, const wire::FrameHeader& header,
                           std::span<const std::uint8_t> payload) {
  return impl_->on_frame(now, from, header, payload);
}
void AllReduce::on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault) {
  impl_->on_link_lost(now, peer, std::move(reason), fault);
}
void AllReduce::on_timer(TimePoint now) { impl_->on_timer(now); }
TimePoint AllReduce::next_deadline() const { return impl_->next_deadline(); }
bool AllReduce::finished_with(Rank rank) const { return impl_->finished_with(rank); }
const AveragingOutcome* AllReduce::outcome() const { return impl_->outcome(); }
std::span<const std::uint8_t> AllReduce::note(Rank rank) const { return impl_->note(rank); }

AllReduce::Impl::Impl(wire::GroupInfo group, Rank self, const RoundVectors& vectors, const AllReduceOptions& options)
    : group_(std::move(group)),
      self_(self),
      options_(options),
      table_(group_),
      values_(group_, table_, vectors),
      roster_(group_, self, {vectors.weight, vectors.draw}),
      begins_(group_, table_, self, options),
      sums_(table_, self, vectors, {group_, self, options.sketch_seed}),
      bound_(group_, table_, self, options),
      recovery_(table_, roster_),
      seals_(group_, table_, roster_, options),
      outbox_(table_, roster_, vectors.weight > 0),
      progress_(table_, roster_, recovery_),
      losses_(roster_),
      patience_(options, roster_, progress_),
      accusations_(options, {group_, roster_, begins_, progress_, seals_, losses_, patience_}),
      late_(options, {group_, table_, roster_, outbox_, progress_, values_, patience_.watch(), accusations_.sets()}) {
  VERIFY(self < group_.members.size());
}

void AllReduce::Impl::start(TimePoint now) {
  VERIFY(!started_at_);
  started_at_ = now;
  patience_.start(now, from_ms(group_.begin_within_ms));
  const RoundVectors& own = values_.vectors();
  const OwnParts parts = own_parts(table_, self_, own, values_.contribution_codec(self_), bound_.bounds());
  begins_.start(own, parts);
  bound_.start(own.weight, parts.norms, own.center);
  if (!parts.summable) {
    losses_.add({self_, "its own values are not finite, or too large to be added up"});
    settle(now, Verdict::expelled);
    outcome_->unsound = true;
    return;
  }
  outbox_.touch_all();
  close_complete(now);
  check_settled(now);
}

bool AllReduce::Impl::mark_lost(const LostMember& casualty) {
  const Rank rank = casualty.rank;
  if (!roster_.lose(rank)) return false;
  if (casualty.judged) accusations_.sets().judge(rank);
  sums_.stop_awaiting(rank);
  losses_.add(casualty);
  if (const std::optional<ContributionTerms> terms = begins_.terms(rank)) {
    roster_.learn_terms(rank, *terms);
    outbox_.send_begin_of_lost(rank);
  }
  return true;
}

void AllReduce::Impl::lose(TimePoint now, const std::vector<LostMember>& casualties) {
  bool grew = false;
  for (const LostMember& casualty : casualties) grew = mark_lost(casualty) || grew;
  if (!grew) return;
  for (const LostMember& missing : roster_.late_and_missing())
    mark_lost(missing);  // every survivor then has to say what it holds
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (progress_.left(rank)) mark_lost({rank, "left when it was done, before others were"});
  }
  const bool reachable = roster_.dialable(self_) || roster_.hub() != self_;
  for (Rank rank = 0; !reachable && rank < roster_.size(); ++rank) {
    if (rank != self_) mark_lost({rank, "nobody is left with a link to it"});
  }
  sums_.drop_adopted();
  bound_.forget_adopted();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (progress_.owes_nothing(rank)) patience_.watch().on_awaited(now, rank);  // its inventory is awaited now
  }
  recovery_.enter_view(accusations_.sets().sign_own(now));
  outbox_.send_inventories();
  patience_.watch().on_view(now);
  progress_.forget_wants();
  for (const auto& [from, inventory] : recovery_.take_put_off()) {
    roster_.learn_terms_of_lost(inventory);
    recovery_.note(from, inventory);
  }
  const std::size_t survivors = roster_.survivors();
  close_complete(now);
  // A contribution that was put off may turn out to be nonsense now: the loss of its sender has done the rest.
  if (roster_.survivors() != survivors) return;
  if (recovery_.complete()) recover(now);
  check_settled(now);
}

void AllReduce::Impl::judge_accusations(TimePoint now) {
  while (!late_.late()) {
    accusations_.note(now);
    const std::string out = outcome_ ? std::string() : accusations_.out(now);
    if (!out.empty()) return fall_behind(now, out);
    lose(now, accusations_.confirmed(now));
    accusations_.note(now);
    const std::vector<LostMember> casualties = accusations_.ended(now);
    if (casualties.empty()) return;
    lose(now, casualties);
  }
}

void AllReduce::Impl::close_complete(TimePoint now) {
  if (late_.late() || roster_.unbegun() > 0) return;
  bound_.settle();
  sums_.set_own_factor(bound_.factor(self_));
  add_waiting(now);
  if (late_.late()) return;
  for (const SegmentIndex segment : sums_.open_segments()) {
    if (!sums_.complete(segment)) continue;
    if (const std::vector<LostMember> missing = roster_.late_and_missing(); !missing.empty()) return lose(now, missing);
    close(segment);
  }
  check_settled(now);
}

void AllReduce::Impl::close(SegmentIndex segment) {
  const Payload contributors = sums_.finish(segment);
  hold(segment, contributors, values_.make_result(segment, sums_.weight(segment)));
  if (table_[segment].owner != self_) return;
  outbox_.send_result_to_all(segment);
  if (table_.missing(self_) > 0) return;
  seals_.seal_own();
  outbox_.send_seal_to_all();
}

void AllReduce::Impl::hold(SegmentIndex segment, Payload contributors, const Hash128& digest) {
  table_.hold(segment, contributors, digest);
  if (!recovery_.complete()) return;
  for (const Rank rank : recovery_.lacking(recovery_.position(segment))) outbox_.answer(rank, segment);
}

void AllReduce::Impl::recover(TimePoint now) {
  if (late_.late()) return;
  const auto want = [this](Rank from, SegmentIndex segment) {
    outbox_.want(from, segment);
    progress_.on_want_sent(from);
  };
  for (std::size_t i = 0; i < recovery_.mine().size(); ++i) {
    const SegmentIndex segment = recovery_.mine()[i];
    if (table_.held(segment)) {
      for (const Rank rank : recovery_.lacking(i)) outbox_.answer(rank, segment);
    } else if (const Rank holder = recovery_.holder(i); holder != Recovery::kNobody) {
      want(holder, segment);
    } else {
      sums_.adopt(segment);
      for (Rank rank = 0; rank < roster_.size(); ++rank) {
        if (roster_.live(rank) && roster_.weight(rank) > 0) want(rank, segment);
      }
    }
  }
  close_complete(now);
}

void AllReduce::Impl::check_settled(TimePoint now) {
  if (outcome_ || late_.late() || !started_at_ || table_.missing() > 0) return;
  if (!progress_.result()) {
    if (seals_.awaits_any()) return;
    if (const std::optional<Rank> liar = seals_.contradicted()) {
      losses_.saw(*liar, wire::Fault::nonsense);
      late_.distrust(*liar);
      return fall_behind(now, fmt::format("member {} sent it other values than it has sealed", *liar));
    }
    progress_.set_result(table_.result_digest());
    patience_.watch().on_all_held(now);
    for (Rank rank = 0; rank < roster_.size(); ++rank) {
      if (!outbox_.listens(rank)) outbox_.send_done(rank);  // for a listener the round is over only when it has settled
    }
  }
  std::vector<LostMember> different;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!roster_.live(rank)) continue;
    const std::optional<Hash128>& done = progress_.done(rank);
    if (!done && roster_.waits_for_done_of(rank)) return;
    if (done && done != progress_.result()) different.push_back({rank, "holds different bits"});
  }
  if (!contributors_known(table_, roster_, recovery_.complete())) return;
  if (!different.empty()) return settle_dispute(now, std::move(different));
  const bool majority = roster_.is_majority(roster_.surviving_votes());
  settle(now, majority ? Verdict::averaged : Verdict::minority);
}

// Members with different bits are lost if the others are a clear majority. Otherwise nobody can say who is right, but
// many can say who lied. Only where no owner did are the few to blame.
void AllReduce::Impl::settle_dispute(TimePoint now, std::vector<LostMember> different) {
  for (const LostMember& odd : different) {
    if (!seals_.dispute_with(now, odd.rank)) continue;
    for (Rank owner = 0; owner < roster_.size(); ++owner) {
      if (seals_.of(owner)) outbox_.send_seal(odd.rank, owner);
    }
  }
  // The others have called the round off, or gone on: whoever of the few is right, no result of theirs counts.
  if (!roster_.is_majority(roster_.surviving_votes())) return settle(now, Verdict::minority);
  const Seals::Dispute dispute = seals_.dispute(now);
  if (dispute == Seals::Dispute::open) return patience_.wake_by(seals_.dispute_ends());
  const bool proven = dispute == Seals::Dispute::proven;
  Votes alike = roster_.surviving_votes();
  std::map<Hash128, Votes> others;
  for (const LostMember& odd : different) {
    alike -= roster_.votes(odd.rank);
    others[*progress_.done(odd.rank)] += roster_.votes(odd.rank);
  }
  // After a proven lie the round goes on only where it has few victims: all of them would get their result late.
  const auto goes_on = [&](Votes votes) {
    return roster_.is_majority(votes) && (!proven || 4 * votes >= 3 * roster_.surviving_votes());
  };
  if (!goes_on(alike)) {
    if (!proven) return settle(now, Verdict::diverged);
    const bool called_off =
        std::none_of(others.begin(), others.end(), [&](const auto& held) { return goes_on(held.second); });
    if (called_off) return settle(now, Verdict::called_off);
    for (const wire::OwnerProof& proof : seals_.proofs()) late_.distrust(proof.one.rank);
    return fall_behind(now, "it was given another result than most of the group");
  }
  for (const LostMember& odd : different) {
    if (!proven) losses_.saw(odd.rank, wire::Fault::nonsense);
  }
  for (const wire::OwnerProof& proof : seals_.proofs()) different.push_back({proof.one.rank, "sealed two results"});
  lose(now, different);
}

void AllReduce::Impl::settle(TimePoint now, Verdict verdict) {
  if (outcome_) return;
  patience_.stop();
  outbox_.stop_resting();
  const Duration pace = patience_.watch().pace(sums_.awaited());
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (patience_.watch().was_slow(rank, pace)) losses_.saw(rank, wire::Fault::slow);
  }
  // An owner waits for everybody at least this long, and says whom it has lost.
  const bool in_time = now - *started_at_ < options_.straggler_floor && !roster_.late(self_) && !late_.late();
  if (verdict == Verdict::averaged && in_time && values_.vectors().weight > 0) {
    for (const Rank owner : owners_without_self(table_, roster_)) losses_.saw(owner, wire::Fault::nonsense);
  }
  AveragingOutcome outcome;
  outcome.verdict = verdict;
  outcome.lost = losses_.lost();
  outcome.faults = losses_.faults();
  outcome.bytes_sent = bytes_.sent;
  outcome.bytes_received = bytes_.received;
  outcome.elapsed = now - *started_at_;
  outcome.accusations = losses_.accusations();
  outcome.proofs = seals_.proofs();
  outcome.scaled = bound_.scaled();
  outcome.usual = bound_.usual();
  outcome.result_digest = progress_.result().value_or(Hash128{});
  count_samples(table_, roster_, group_.vector_floats, outcome);
  outcome.contributors = contributor_runs(table_);
  outcome.reduced = values_.made_here();
  if (verdict == Verdict::averaged && has_made(table_, self_, outcome.reduced)) {
    outcome.measured = sums_.measured(bound_);
    // A column's result is not the round's, by which members are drawn (staged_reduce.h).
    if (outcome.measured && !group_.grid) {
      outcome.measured = drawn_of(*outcome.measured, outcome.result_digest, roster_.size());
    }
  }
  outcome_ = std::move(outcome);
  if (late_.late() || verdict != Verdict::averaged) return;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (outbox_.listens(rank)) outbox_.serve_listener(rank, recovery_.mine());
  }
}

void AllReduce::Impl::fall_behind(TimePoint now, std::string why) {
  losses_.add({self_, std::move(why)});
  if (!options_.latecomers || outcome_) return settle(now, Verdict::expelled);
  LostSets& sets = accusations_.sets();
  // Those whom it has lost by itself may be among those who go on.
  if (sets.at_odds_since(self_) != kNever) roster_.forget_losses();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (rank != self_ && sets.accused(rank) && sets.believed(rank)) roster_.lose(rank);
  }
  late_.begin(now);
  sets.sign_off();
  outbox_.send_lost_set(self_);
  late_.check(now);
  settle_late(now);
}

void AllReduce::Impl::settle_late(TimePoint now) {
  if (outcome_ || !late_.ending()) return;
  if (late_.ending()->has_result) return settle(now, Verdict::averaged);
  losses_.explain(", and ");
  losses_.explain(late_.ending()->why);
  settle(now, Verdict::expelled);
}

void AllReduce::Impl::on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault) {
  VERIFY(peer < roster_.size());
  if (!started_at_) return;
  progress_.on_link_lost(peer);
  if (late_.late() && !outcome_) {
    late_.check(now);
    return settle_late(now);
  }
  if (!roster_.live(peer)) return;
  if (!progress_.severed(peer)) progress_.set_left(peer);
  if (!outcome_) notice_oversleeping(now);
  const bool complains = !outcome_ && progress_.severed(peer) && !accusations_.sets().accuses(peer, self_);
  if (!complains) return judge_accusations(now);
  if (fault && patience_.yields_to(peer)) {
    patience_.suspect(now, {peer, std::move(reason)}, *fault);
    return judge_accusations(now);
  }
  if (fault) losses_.saw(peer, *fault);
  lose(now, {{peer, std::move(reason)}});
  judge_accusations(now);
}

void AllReduce::Impl::notice_oversleeping(TimePoint now) {
  const Duration slept = patience_.notice_oversleeping(now);
  late_.on_overslept(slept);
  accusations_.on_overslept(slept);
}

void AllReduce::Impl::leave_stragglers_behind(TimePoint now) {
  if (table_.missing(self_) == 0 || roster_.unbegun() > 0) return;
  const Watch& watch = patience_.watch();
  const Duration pace = watch.pace(sums_.awaited());
  bool left = false;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!sums_.awaits(rank) || sums_.gave_all(rank)) continue;
    const TimePoint at = watch.straggler_deadline(rank, pace);
    if (at <= now) {
      losses_.saw(rank, wire::Fault::slow);
      sums_.stop_awaiting(rank);
      left = true;
    } else {
      patience_.wake_by(at);
    }
  }
  if (left) close_complete(now);
}

void AllReduce::Impl::on_timer(TimePoint now) {
  notice_oversleeping(now);
  if (!started_at_) return;
  if (outcome_) {
    patience_.stop();
    return judge_accusations(now);
  }
  patience_.on_woken(now);
  if (late_.late()) {
    late_.check(now);
    return settle_late(now);
  }
  if (seals_.dispute_ends() <= now) check_settled(now);
  judge_accusations(now);
  if (outcome_ || late_.late()) return;
  std::vector<Patience::Due> overdue;
  std::vector<bool> owing = progress_.owing_results();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    const bool quiet = patience_.watch().quiet(now, rank);
    if (outbox_.listens(rank) && quiet) outbox_.send_ping(rank);
    if (!roster_.live(rank) || progress_.finished_with(rank)) continue;
    if (accusations_.sets().accuses(rank, self_)) continue;  // one of the two goes soon
    owing[rank] = owing[rank] || seals_.awaits(rank);
    const Watch::Deadline due = patience_.deadline(now, rank, owing[rank]);
    if (due.at <= now) {
      overdue.push_back({rank, due});
      continue;
    }
    patience_.wake_by(due.at);
    if (roster_.begun(rank) && quiet) outbox_.send_ping(rank);
  }
  std::vector<LostMember> casualties;
  for (const auto& [rank, deadline] : patience_.casualties(now, overdue)) {
    losses_.saw(rank, deadline.fault);
    casualties.push_back({rank, std::string(deadline.reason)});
  }
  lose(now, casualties);
  if (!casualties.empty()) judge_accusations(now);
  if (late_.late()) return;
  leave_stragglers_behind(now);
  outbox_.wake(now);
  patience_.wake_by(outbox_.wake_at());
  if (!outcome_) return;
  patience_.stop();
  judge_accusations(now);
}

}  // namespace starling::averaging
