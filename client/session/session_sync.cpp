// Keeping the replica at the swarm's state: the coordinator's verdicts on it and on its reports, and the downloads.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "client/session/session.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::session {
namespace {

bool is_known(Replica::Verdict verdict) {
  using enum Replica::Verdict;
  return verdict == current || verdict == renumbered || verdict == foreign || verdict == lost;
}

void settle_below(RoundIndex round, ReportQueue& reports, Replica& replica, Session::Mediator& mediator) {
  reports.settle(round);
  mediator.forget_reports(round);
  if (replica.forget_previous(round)) mediator.forget_previous_state();
}

// Results from this round on do not count. Returns how many there are.
std::size_t withdraw(RoundIndex from, ReportQueue& reports, Session::Mediator& mediator) {
  const std::size_t dropped = reports.drop(from);
  if (dropped > 0) mediator.withdraw_reports(from);
  return dropped;
}

std::string void_results(std::size_t count, RoundIndex from, std::string_view why) {
  return fmt::format("{} result(s) from round {} on do not count: {}", count, from, why);
}

}  // namespace

void Session::take_sync_verdict(TimePoint now, const wire::HeartbeatReply& reply) {
  if (cycle_.is_busy() || reply.state_digest.is_zero()) return;  // it is judged when that is over
  const Replica::Verdict verdict = replica_.judge(now, reply, !reports_.empty());
  if (is_known(verdict)) {
    // So are the results that the swarm has gone on from. One of another group does not count, even if this member was
    // too busy to be told so while its round lasted.
    if (const auto apart = reports_.first_apart([this](RoundIndex round) { return replica_.result_of(round); })) {
      const std::size_t dropped = withdraw(*apart, reports_, mediator_);
      totals_.rounds_failed += static_cast<std::int64_t>(dropped);
      told_.void_results.warning(now, void_results(dropped, *apart, "the others went on from other results"));
    }
    settle_below(std::min(reply.acknowledged_rounds, reply.round), reports_, replica_, mediator_);
  }
  switch (verdict) {
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
  const StateName swarm{reply.round, reply.state_digest};
  const RoundIndex sure = swarm.digest.is_zero() ? reply.round : reports_.sure_below(swarm);
  settle_below(std::min({reply.acknowledged_rounds, reply.round, sure}), reports_, replica_, mediator_);
  if (reply.acknowledged_rounds <= reply.round || cycle_.is_busy()) return;
  reports_.settle(reply.round);
  const std::size_t dropped = withdraw(reply.round, reports_, mediator_);
  if (dropped == 0) return;
  totals_.rounds_failed += static_cast<std::int64_t>(dropped);
  told_.void_results.warning(now, void_results(dropped, reply.round, "their groups came to no decision"));
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
