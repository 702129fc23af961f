#include "client/session/replica.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "client/session/retry.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::session {
namespace {

// Donors move on with every round: a member that comes late asks again soon, and a few times at once for a newer state.
constexpr Duration kFetchRetryMax = std::chrono::seconds(10);
constexpr int kFetchPatience = 8;
constexpr std::string_view kOtherBeginning =
    "the coordinator names another model to begin with than the one that the project has signed, so nothing is trained "
    "here: tell the project's operator";

}  // namespace

Replica::Replica(StateName held, const Digest& initial_state_digest, StateTrust trust)
    : initial_state_digest_(initial_state_digest),
      chain_(std::move(trust)),
      held_(held),
      unsynced_reason_("waiting for the coordinator's first answer") {}

void Replica::on_step(const Digest& new_state) {
  previous_ = held_;
  held_ = {held_.round + 1, new_state};
}

bool Replica::forget_previous(RoundIndex counted) {
  if (!previous_ || previous_->round >= counted) return false;
  previous_.reset();
  return true;
}

void Replica::lose_sync(TimePoint now, std::string reason) {
  if (synced()) {
    losses_.info(now, fmt::format("round {}: {}; loading the swarm's state", held_.round, reason));
    sync_ = Sync::unsynced;
  }
  unsynced_reason_ = std::move(reason);
}

// The state at the start of round 0 is the project's choice, which it has signed; no coordinator's word changes that.
bool Replica::refuses_beginning(const wire::HeartbeatReply& reply) const {
  return reply.round == 0 && !initial_state_digest_.is_zero() && reply.state_digest != initial_state_digest_;
}

Replica::Verdict Replica::refuse_beginning(TimePoint now, const wire::HeartbeatReply& reply) {
  if (synced() || unsynced_reason_ != kOtherBeginning) {
    beginnings_.warning(now, fmt::format("refused: {} ({} instead of {})", kOtherBeginning, reply.state_digest.brief(),
                                         initial_state_digest_.brief()));
  }
  return refuse(now, std::string(kOtherBeginning));
}

Replica::Verdict Replica::refuse(TimePoint now, std::string reason) {
  const Verdict verdict = synced() ? Verdict::lost : Verdict::foreign;
  lose_sync(now, std::move(reason));
  source_ = FromNobody{};
  return verdict;
}

// The swarm may have moved on: then the state that is being fetched is of no use any more.
Replica::Verdict Replica::judge_while_fetching(const wire::HeartbeatReply& reply) {
  if (reply.round < wanted_.round || reply.state_digest == wanted_.digest || reply.donors.empty()) return Verdict::open;
  wanted_ = {reply.round, reply.state_digest};
  source_ = FromDonors{reply.donors};
  return Verdict::superseded;
}

Replica::Verdict Replica::judge(TimePoint now, const wire::HeartbeatReply& reply, bool reports_wait) {
  if (refuses_beginning(reply)) return refuse_beginning(now, reply);
  const bool beginning = reply.round == 0 && reply.state_digest == initial_state_digest_;
  const StateChain::Verdict proof = beginning ? StateChain::Verdict::known : chain_.judge(now, held_.digest, reply);
  if (proof == StateChain::Verdict::unknown) return Verdict::unproven;
  if (proof == StateChain::Verdict::refused) return fetching() ? Verdict::open : refuse(now, chain_.refusal());
  if (fetching()) return judge_while_fetching(reply);
  if (reply.round < held_.round) {
    // The coordinator is behind our reports, which are on their way; unless there are none, and it has heard of our
    // state.
    if (reports_wait || told_ != held_) return Verdict::open;
  } else if (reply.state_digest == held_.digest) {
    const bool same_round = held_.round == reply.round;  // the swarm may have renumbered this very state after a loss
    held_.round = reply.round;
    sync_ = Sync::synced;
    source_ = FromNobody{};
    return same_round ? Verdict::current : Verdict::renumbered;
  }
  const Verdict verdict = synced() ? Verdict::lost : Verdict::foreign;
  if (synced()) lose_sync(now, "the model here differs from everybody else's");
  note_source(now, reply);
  return verdict;
}

void Replica::note_source(TimePoint now, const wire::HeartbeatReply& reply) {
  // A donor that no longer had the old state says nothing about a newer one.
  if (reply.state_digest != wanted_.digest && fetch_failures_ < kFetchPatience) fetch_not_before_ = now;
  wanted_ = {reply.round, reply.state_digest};
  const bool has_copy = reply.kept.checkpoint && reply.kept.checkpoint->state_digest == reply.state_digest;
  const bool copy_is_next = fetch_failures_ % 2 == 1;  // members that nobody vouches for may have nothing to give
  if (reply.round == 0 && reply.state_digest == initial_state_digest_) {
    source_ = FromSeed{};
  } else if (!reply.donors.empty() && !(has_copy && copy_is_next)) {
    source_ = FromDonors{reply.donors};
  } else if (has_copy) {
    source_ = FromCopy{reply.kept.checkpoint->file};
  } else {
    source_ = FromNobody{};
    fetch_failures_ = 0;  // the next source is asked at once
    unsynced_reason_ = reply.notice.empty() ? "waiting for a member that can hand over the model" : reply.notice;
  }
}

StateSource Replica::begin_fetch(TimePoint now) {
  if (sync_ != Sync::unsynced || now < fetch_not_before_) return FromNobody{};
  if (previous_is_wanted()) source_ = FromPreviousStep{};
  if (!std::holds_alternative<FromNobody>(source_)) sync_ = Sync::fetching;
  return source_;
}

Replica::FetchEnd Replica::on_fetched(TimePoint now, const StateName& state, const Status& status) {
  if (!fetching()) return FetchEnd::ignored;
  if (status.ok()) held_ = state;
  if (state.digest != wanted_.digest) return FetchEnd::ignored;  // a newer one is under way
  const bool is_previous = previous_is_wanted();
  source_ = FromNobody{};
  previous_.reset();
  if (status.ok()) {
    fetch_failures_ = 0;
    sync_ = Sync::synced;
    return is_previous ? FetchEnd::restored : FetchEnd::loaded;
  }
  ++fetch_failures_;
  fetch_not_before_ = now + retry_delay(fetch_failures_, kFetchRetryMax);
  sync_ = Sync::unsynced;
  unsynced_reason_ = status.error().message;
  downloads_.warning(now, "download of the swarm's state: " + status.error().message);
  return FetchEnd::failed;
}

}  // namespace starling::session
