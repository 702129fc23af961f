// Keeping the replica at the swarm's state: the coordinator's verdicts on it and on its reports, and the downloads.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "client/session/session.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::session {

void Session::take_sync_verdict(TimePoint now, const wire::HeartbeatReply& reply) {
  if (cycle_.is_busy() || reply.state_digest.is_zero()) return;  // it is judged when that is over
  switch (replica_.judge(now, reply, !reports_.empty())) {
    case Replica::Verdict::open:
    case Replica::Verdict::current:
    case Replica::Verdict::foreign:
      break;
    case Replica::Verdict::unproven:
      if (replica_.wants_proof()) link_.hurry(now);
      break;
    case Replica::Verdict::superseded:
      fetch(replica_.source());
      break;
    case Replica::Verdict::lost:
      if (left_out_ == LeftOut::by_most) replica_.lose_sync(now, "the group went on without this computer");
      on_sync_lost(now);
      break;
    case Replica::Verdict::renumbered:
      cycle_.forget_last_group();
      // Samples that were drawn for a round may have counted in it.
      if (options_.leased) {
        computation_.discard();
        begin_round(now);
      }
      break;
  }
}

// The coordinator has settled all rounds below acknowledged_rounds. It has given up those from its current round on:
// their results are void, and their samples are computed again.
void Session::settle_reports(TimePoint now, const wire::HeartbeatReply& reply) {
  const RoundIndex counted = std::min(reply.acknowledged_rounds, reply.round);
  const bool is_void = reply.acknowledged_rounds > reply.round && !cycle_.is_busy();
  reports_.settle(counted);
  mediator_.forget_reports(counted);
  if (replica_.forget_previous(counted)) mediator_.forget_previous_state();
  if (!is_void || reports_.empty()) return;
  totals_.rounds_failed += static_cast<std::int64_t>(reports_.size());
  told_.void_results.warning(
      now, fmt::format("{} result(s) from round {} on do not count: their groups came to no decision", reports_.size(),
                       reports_.first_round()));
  reports_.clear();
  mediator_.withdraw_reports(reply.round);
  if (!replica_.synced()) return;
  replica_.lose_sync(now, "the last round's group came to no decision");
  on_sync_lost(now);
}

void Session::fetch(const StateSource& source) {
  const auto [round, digest] = replica_.wanted();
  if (const auto* from = std::get_if<FromDonors>(&source)) {
    mediator_.fetch_state(from->donors, round, digest);
  } else if (const auto* copy = std::get_if<FromCopy>(&source)) {
    mediator_.fetch_checkpoint(copy->file, round, digest);
  } else if (std::holds_alternative<FromSeed>(source)) {
    mediator_.make_initial_state(digest);
  } else if (std::holds_alternative<FromPreviousStep>(source)) {
    mediator_.restore_previous_state(round, digest);
  }
}

void Session::on_state_fetched(TimePoint now, RoundIndex round, const Digest& digest, const Status& status) {
  const Replica::FetchEnd end = replica_.on_fetched(now, {round, digest}, status);
  if (end == Replica::FetchEnd::ignored) return;
  if (end != Replica::FetchEnd::failed) begin_round(now);
  if (end == Replica::FetchEnd::restored) draws_.return_to_last_round();
  link_.hurry(now);
  advance(now);
}

}  // namespace starling::session
