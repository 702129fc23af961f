#include <fmt/core.h>

#include "client/averaging/all_reduce_impl.h"

namespace starling::averaging {
namespace {

using wire::FrameType;

}  // namespace

Status AllReduce::Impl::on_frame(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload) {
  VERIFY(started_at_ && from < roster_.size());
  notice_oversleeping(now);
  bytes_.received += static_cast<std::int64_t>(wire::kFrameHeaderBytes + payload.size());
  if (outcome_ && outcome_->verdict == Verdict::expelled) return {};
  if (late_.late()) {
    Status status = outcome_ ? Status() : late_.receive(now, from, header, payload);
    settle_late(now);
    return status;
  }
  if (progress_.severed(from)) return on_return(now, from, header, payload);
  if (progress_.left(from) && header.type == FrameType::begin) return {};  // a new process of a member that was done
  if (!roster_.live(from)) {
    // A lost member's late frames change nothing. A member that begins too late has to learn that it is too late.
    if (roster_.linked(from) && header.type == FrameType::begin && !roster_.begun(from))
      return on_late_begin(from, payload);
    if (!roster_.linked(from) || !roster_.begun(from)) return {};
    if (header.type == FrameType::listen) return on_listen(now, from);
    if (header.type == FrameType::want && outbox_.listens(from)) return on_late_want(from, header.segment);
    return {};
  }
  const bool of_round = !wire::is_sign_of_life(header.type);
  const bool of_others = header.type == FrameType::begin || header.type == FrameType::lost_set;
  if (roster_.begun(from)) patience_.watch().on_heard(now, from, of_round && !of_others);
  if (!of_round) return {};
  const std::size_t survivors = roster_.survivors();
  Status status = receive(now, from, header, payload);
  if (!status.ok()) {
    losses_.saw(from, wire::Fault::nonsense);
    lose(now, {{from, status.error().message}});
  }
  if (roster_.survivors() != survivors) judge_accusations(now);  // words about others may be decided now
  return status;
}

Status AllReduce::Impl::receive(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload) {
  if (header.type != FrameType::begin && !roster_.begun(from)) return nonsense("it sent frames before its begin");
  switch (header.type) {
    case FrameType::begin:
      return on_begin(now, from, payload);
    case FrameType::contribution:
    case FrameType::result:
    case FrameType::want:
      if (header.segment >= table_.size()) return nonsense(fmt::format("there is no segment {}", header.segment));
      STARLING_TRY(values_.check_codec(from, header));
      if (header.type == FrameType::contribution) return on_contribution(now, from, header.segment, payload);
      if (header.type == FrameType::result) return on_result(now, from, header.segment, payload);
      return on_want(from, header.segment);
    case FrameType::inventory:
      return on_inventory(now, from, payload);
    case FrameType::lost_set: {
      STARLING_ASSIGN(const wire::LostSet said, wire::decode_lost_set(payload, roster_.size()));
      return on_lost_set(now, from, said);
    }
    case FrameType::done:
      return on_done(now, from, payload);
    case FrameType::seal:
      return on_seal(now, from, payload);
    case FrameType::listen:
      return on_listen(now, from);
    default:
      return nonsense(fmt::format("frame type {} does not belong in a round", static_cast<int>(header.type)));
  }
}

Status AllReduce::Impl::on_begin(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(wire::Begin begin, wire::decode_begin(payload));
  const Rank rank = begin.rank;
  const bool relayed = rank != from;
  if (rank >= roster_.size() || (relayed && (rank == self_ || !roster_.begun(from)))) {
    return nonsense("it speaks for a member that speaks for itself");
  }
  STARLING_TRY(begins_.check(begin));
  const ContributionTerms terms{begin.weight, begin.draw};
  if (relayed) {
    const bool first = !begins_.has(rank);
    begins_.keep(std::move(begin));
    // A survivor with a link speaks for itself. Nobody else does, whatever others have said of it.
    if (first && !roster_.live(rank)) roster_.set_terms(rank, terms);
    check_settled(now);
    return {};
  }
  if (!roster_.begin(from, terms)) {
    return roster_.terms(from) == terms ? Status() : nonsense("it began twice, with different weights");
  }
  STARLING_TRY(bound_.begin(from, begin.weight, begin.norms));
  const bool contributes = begin.weight > 0;
  begins_.keep(std::move(begin));
  patience_.watch().on_begun(now, from);
  if (contributes) sums_.await(from);
  // The sender may not have been there yet when this member's begin went out.
  outbox_.send_begin(from);
  if (roster_.dialable(self_) && !roster_.dialable(from)) outbox_.relay_begin(from);
  close_complete(now);
  return {};
}

Status AllReduce::Impl::on_late_begin(Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Begin begin, wire::decode_begin(payload));
  if (begin.rank != from || !begins_.check(begin).ok()) return {};
  roster_.begin(from, {begin.weight, begin.draw});
  outbox_.send_begin(from);
  return {};
}

// A member that begins again is a new process and has nothing of the round. It has to learn that it is too late.
Status AllReduce::Impl::on_return(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload) {
  if (header.type != FrameType::begin) return {};
  if (!outcome_) {
    losses_.saw(from, wire::Fault::gone);
    lose(now, {{from, "it came back with nothing of the round"}});
  }
  if (!roster_.lost(from) || (outcome_ && outcome_->verdict != Verdict::averaged)) return {};
  progress_.on_return(from);
  outbox_.send_inventory(from);
  return on_late_begin(from, payload);
}

Status AllReduce::Impl::on_contribution(TimePoint now, Rank from, SegmentIndex segment, Payload payload) {
  STARLING_TRY(values_.check_contribution(from, segment, payload));
  if (roster_.weight(from) == 0) return nonsense("it contributes although it said that it only listens");
  // Around a change of view, contributions to segments that are not (or no longer) owned here are to be expected. An
  // orphan is adopted with all inventories in, so contributions to it were sent in this view.
  if (!sums_.open(segment) || sums_.contributed(segment, from)) return {};
  STARLING_TRY(begins_.check_contribution(from, segment, payload));
  if (!bound_.known(from)) {
    bound_.wait({from, segment, {payload.begin(), payload.end()}});
    return {};
  }
  sums_.set_own_factor(bound_.factor(self_));
  STARLING_ASSIGN(const double square,
                  sums_.add(segment, {from, roster_.weight(from), values_.contribution_codec(from), payload,
                                      bound_.factor(from), bound_.allowance(from, segment)}));
  bound_.count(from, segment, square);
  const bool own = table_[segment].owner == self_;
  if (own && sums_.gave_all(from)) patience_.watch().on_contributed(now, from);
  if (!own) progress_.on_answered(from);
  if (roster_.unbegun() > 0 || !sums_.complete(segment)) return {};
  if (const std::vector<LostMember> missing = roster_.late_and_missing(); !missing.empty()) {
    lose(now, missing);
  } else {
    close(segment);
    check_settled(now);
  }
  return {};
}

void AllReduce::Impl::add_waiting(TimePoint now) {
  for (const NormBound::Waiting& each : bound_.take_waiting()) {
    if (outcome_ || late_.late()) return;
    const Status status = on_contribution(now, each.rank, each.segment, each.payload);
    if (status.ok()) continue;
    losses_.saw(each.rank, wire::Fault::nonsense);
    lose(now, {{each.rank, status.error().message}});
  }
}

Status AllReduce::Impl::on_result(TimePoint now, Rank from, SegmentIndex segment, Payload payload) {
  STARLING_TRY(values_.check_result(segment, payload));
  const Rank owner = table_[segment].owner;
  if (owner != from && !roster_.lost(owner)) return nonsense("it sent the result of another member's segment");
  if (table_.held(segment)) return {};
  if (sums_.open(segment)) return nonsense("it sent a result that nobody can have");
  STARLING_ASSIGN(const Hash128 digest, values_.take_result(segment, payload));
  if (owner != from) progress_.on_answered(from);
  hold(segment, values_.contributors(payload), digest);
  check_settled(now);
  return {};
}

Status AllReduce::Impl::on_want(Rank from, SegmentIndex segment) {
  if (outbox_.listens(from)) return on_late_want(from, segment);  // it fell behind when this member had settled
  // The want was sent in a view that one of the two members has left already: the new owner will ask again.
  if (!recovery_.noted(from)) return {};
  if (!roster_.lost(table_[segment].owner) || roster_.new_owner(segment) != from) {
    return nonsense("it asked for a segment that is not its own");
  }
  if (outbox_.answers(from) >= table_.size()) return nonsense("it asked for more segments than there are");
  outbox_.answer(from, segment);
  return {};
}

Status AllReduce::Impl::on_inventory(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Inventory inventory, wire::decode_inventory(payload, roster_.size(), table_.size()));
  if (inventory.lost.test(from)) return nonsense("it believes itself lost");
  std::size_t told = 0;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!inventory.lost.test(rank)) continue;
    if (inventory.weights[told++] > begins_.weight_max(rank)) {
      return nonsense("it tells of more samples than are plausible");
    }
  }
  STARLING_TRY(on_lost_set(now, from, accusations_.sets().in(from, inventory)));
  if (late_.late() || roster_.lost(from)) return {};
  roster_.learn_terms_of_lost(inventory);
  if (recovery_.note(from, inventory) && recovery_.complete()) recover(now);
  check_settled(now);
  return {};
}

Status AllReduce::Impl::on_lost_set(TimePoint now, Rank from, const wire::LostSet& said) {
  STARLING_ASSIGN(const bool news, accusations_.take(now, from, said));
  // Nobody else may have heard it, and whoever is lost here by that word is lost by it elsewhere, too.
  if (news && accusations_.pass_on(said.rank)) outbox_.send_lost_set(said.rank);
  const bool is_false = said.rank == from && patience_.is_false_accusation(now, said.lost);
  if (is_false) {
    losses_.saw(from, wire::Fault::silent);
    lose(now, {{from, "it complains about members that are well", true}});
  }
  if (news || is_false) judge_accusations(now);
  return {};
}

Status AllReduce::Impl::on_done(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Done done, wire::decode_done(payload, roster_.size()));
  if (progress_.done(from) && progress_.done(from) != done.result_digest) {
    return nonsense("it was done twice, differently");
  }
  progress_.set_done(from, done.result_digest);
  check_settled(now);
  return {};
}

// The seal may be another owner's, passed on by one that holds other bits. A member that has settled shows it its own
// copy: with both it knows who lied, and whose result is the group's.
Status AllReduce::Impl::on_seal(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Seal seal, wire::decode_seal(payload));
  STARLING_ASSIGN(const std::optional<Rank> liar, seals_.take(seal));
  if (liar) losses_.saw(*liar, wire::Fault::nonsense);
  const bool knows = outcome_ && (outcome_->verdict == Verdict::averaged || outcome_->verdict == Verdict::called_off);
  if (knows && seals_.contradicts(seal)) outbox_.send_seal(from, seal.rank);
  check_settled(now);
  return {};
}

// The sender may be lost here already, or not yet.
Status AllReduce::Impl::on_listen(TimePoint now, Rank from) {
  if (!options_.latecomers || outbox_.listens(from) || (outcome_ && outcome_->verdict != Verdict::averaged)) return {};
  if (!outcome_) lose(now, {{from, "it says that it is too late"}});
  outbox_.add_listener(from);
  if (outcome_ && outcome_->verdict == Verdict::averaged) outbox_.serve_listener(from, recovery_.mine());
  return {};
}

// A late member asks for a segment that another member should have sent: it asks those who said that they hold
// everything.
Status AllReduce::Impl::on_late_want(Rank from, SegmentIndex segment) {
  if (segment >= table_.size()) return nonsense(fmt::format("there is no segment {}", segment));
  if (!table_.held(segment) || outbox_.answers(from) >= 2 * table_.size()) return {};
  outbox_.answer(from, segment);
  return {};
}

}  // namespace starling::averaging
