// Keeping the replica at the swarm's state: the coordinator's verdict on it, and the download when it is off.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "client/session/retry.h"
#include "client/session/session.h"
#include "shared/base/log.h"

namespace starling::session {
namespace {

// Donors move on with every round: a member that comes late asks again soon, and a few times at once for a newer state.
constexpr Duration kFetchRetryMax = std::chrono::seconds(10);
constexpr int kFetchPatience = 8;
constexpr std::string_view kOtherBeginning =
    "the coordinator names another model to begin with than the one that the project has signed, so nothing is trained "
    "here: tell the project's operator";

}  // namespace

void Session::take_sync_verdict(TimePoint now, const wire::HeartbeatReply& reply) {
  if (averaging_ || stepping_ || reply.state_digest.is_zero()) return;  // it is judged when that is over
  if (refuse_initial_state(now, reply)) return;
  if (fetching_) return fetch_newer(reply);
  const bool same_state = reply.state_digest == state_digest_;
  if (reply.round < state_round_) {
    // The coordinator is behind our reports, which are on their way; unless there are none, and it has heard of our
    // state.
    if (!reports_.empty() || told_state_round_ != state_round_ || told_state_digest_ != state_digest_) return;
  } else if (same_state) {
    if (state_round_ != reply.round) {  // the swarm may have renumbered this very state after a loss
      last_group_.reset();
      // Samples that were drawn for a round may have counted in it.
      if (options_.leased) {
        discard_batch_ = true;
        begin_round(now);
      }
    }
    state_round_ = reply.round;
    synced_ = true;
    donors_.clear();
    kept_.reset();
    makes_initial_ = false;
    return;
  }
  if (synced_) lose_sync(now, "the model here differs from everybody else's");
  if (outcome_.has_value()) outcome_.reset();
  // A donor that no longer had the old state says nothing about a newer one.
  if (reply.state_digest != fetch_digest_ && fetch_failures_ < kFetchPatience) fetch_not_before_ = now;
  donors_ = reply.donors;
  kept_.reset();
  if (reply.checkpoint && reply.checkpoint->state_digest == reply.state_digest) kept_ = reply.checkpoint->file;
  fetch_round_ = reply.round;
  fetch_digest_ = reply.state_digest;
  makes_initial_ = reply.round == 0 && reply.state_digest == options_.initial_state_digest;
  if (makes_initial_ || !donors_.empty() || kept_) return;
  fetch_failures_ = 0;  // the next source is asked at once
  unsynced_reason_ = reply.notice.empty() ? "waiting for a member that can hand over the model" : reply.notice;
}

// The state at the start of round 0 is the project's choice, which it has signed; no coordinator's word changes that.
bool Session::refuse_initial_state(TimePoint now, const wire::HeartbeatReply& reply) {
  const Digest& known = options_.initial_state_digest;
  if (reply.round != 0 || known.is_zero() || reply.state_digest == known) return false;
  if (synced_ || unsynced_reason_ != kOtherBeginning) {
    log_warning("refused: {} ({} instead of {})", kOtherBeginning, reply.state_digest.brief(), known.brief());
  }
  if (synced_) lose_sync(now, std::string(kOtherBeginning));
  unsynced_reason_ = kOtherBeginning;
  donors_.clear();
  kept_.reset();
  makes_initial_ = false;
  return true;
}

// The coordinator has settled all rounds below acknowledged_rounds. It has given up those from its current round on:
// their results are void, and their samples are computed again.
void Session::settle_reports(TimePoint now, const wire::HeartbeatReply& reply) {
  const RoundIndex counted = std::min(reply.acknowledged_rounds, reply.round);
  const bool is_void = reply.acknowledged_rounds > reply.round && !averaging_ && !stepping_;
  while (!reports_.empty() && reports_.front().round < counted) reports_.pop_front();
  mediator_.forget_reports(counted);
  if (previous_ && previous_->round < counted) {
    previous_.reset();
    mediator_.forget_previous_state();
  }
  if (!is_void || reports_.empty()) return;
  rounds_failed_ += std::ssize(reports_);
  log_warning("{} result(s) from round {} on do not count: their groups came to no decision", reports_.size(),
              reports_.front().round);
  reports_.clear();
  mediator_.withdraw_reports(reply.round);
  if (synced_) lose_sync(now, "the last round's group came to no decision");
}

void Session::lose_sync(TimePoint now, std::string reason) {
  if (synced_) log_info("round {}: {}; loading the swarm's state", state_round_, reason);
  synced_ = false;
  unsynced_reason_ = std::move(reason);
  discard_batch_ = true;
  outcome_.reset();
  last_group_.reset();  // a member that meets its group again must still be at the state they made together
  begin_round(now);
  link_.hurry(now);
}

void Session::fetch_if_possible(TimePoint now) {
  const bool is_previous = previous_ && previous_->digest == fetch_digest_;
  const bool possible = is_previous || makes_initial_ || !donors_.empty() || kept_;
  if (synced_ || fetching_ || paused_ || !possible || now < fetch_not_before_) return;
  fetching_ = true;
  if (is_previous) return mediator_.restore_previous_state(fetch_round_, fetch_digest_);
  if (makes_initial_) return mediator_.make_initial_state(fetch_digest_);
  if (donors_.empty()) return mediator_.fetch_checkpoint(*kept_, fetch_round_, fetch_digest_);
  mediator_.fetch_state(donors_, fetch_round_, fetch_digest_);
}

// The swarm has moved on: the state that is being downloaded is of no use any more.
void Session::fetch_newer(const wire::HeartbeatReply& reply) {
  if (reply.round < fetch_round_ || reply.state_digest == fetch_digest_ || reply.donors.empty()) return;
  fetch_round_ = reply.round;
  fetch_digest_ = reply.state_digest;
  donors_ = reply.donors;
  mediator_.fetch_state(donors_, fetch_round_, fetch_digest_);
}

void Session::on_state_fetched(TimePoint now, RoundIndex round, const Digest& digest, const Status& status) {
  if (!fetching_) return;
  if (status.ok()) {
    state_round_ = round;
    state_digest_ = digest;
  }
  if (digest != fetch_digest_) return;  // a newer one is under way
  fetching_ = false;
  donors_.clear();
  kept_.reset();
  makes_initial_ = false;
  const bool is_previous = previous_ && previous_->digest == digest;
  previous_.reset();
  if (status.ok()) {
    fetch_failures_ = 0;
    synced_ = true;  // until the next answer says otherwise
    begin_round(now);
    if (is_previous) draws_.return_to_last_round();
  } else {
    ++fetch_failures_;
    fetch_not_before_ = now + retry_delay(fetch_failures_, kFetchRetryMax);
    unsynced_reason_ = status.error().message;
    log_warning("download of the swarm's state: {}", status.error().message);
  }
  link_.hurry(now);
  advance(now);
}

}  // namespace starling::session
