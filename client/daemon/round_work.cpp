#include "client/daemon/round_work.h"

#include <fmt/core.h>

#include <utility>
#include <variant>

#include "client/daemon/average_request.h"

namespace starling::daemon {

using averaging::AveragingOutcome;

Averager averager_of(transport::PeerNetwork& network) {
  return {[&network](transport::AverageRequest request) { return network.average(std::move(request)); },
          [&network] { network.abandon(); }};
}

Averager averager_of(transport::PeerNetwork& network, wire::CellIndex cell) {
  const auto bucket = static_cast<std::size_t>(cell);
  return {[&network, bucket](transport::AverageRequest request) { return network.mix(bucket, std::move(request)); },
          [&network, bucket] { network.end_gossip(bucket); }};
}

RoundWork::RoundWork(RunThreads& threads, const wire::RunManifest& manifest, Averager averager, Listener listener)
    : threads_(threads), averager_(std::move(averager)), listener_(std::move(listener)), payload_(manifest) {}

rounds::BatchOrder RoundWork::next_batch(const rounds::BatchTarget& target) {
  if (payload_.is_undone_by(target)) {
    averager_.abandon();
    payload_.undo();
  }
  return payload_.next_batch(target);
}

void RoundWork::average(const wire::GroupInfo& group, averaging::Rank self, const averaging::ContributionTerms& terms,
                        std::span<const float> state) {
  averager_.abandon();  // the round before may still read memory that changes now
  members_planned_ = group.members.size();
  Result<rounds::Move> move = payload_.contribute(group, self, terms, state);
  if (!move.ok()) return refuse(move.error());
  follow(threads_.now(), std::move(move).value());
}

void RoundWork::follow(TimePoint now, rounds::Move move) {
  if (auto* const computation = std::get_if<rounds::Computation>(&move)) {
    threads_.on_trainer([this, run = std::move(computation->run)] {
      run();
      threads_.deliver([this](TimePoint computed) { follow(computed, payload_.on_computed()); });
    });
  } else if (const auto* const leg = std::get_if<rounds::Leg>(&move)) {
    begin(*leg);
  } else {
    listener_.averaged(now, std::get<AveragingOutcome>(move));
  }
}

void RoundWork::begin(const rounds::Leg& leg) {
  transport::AverageRequest request = average_request(leg, threads_.now());
  request.done = [this, group = leg.group](const AveragingOutcome& outcome) {
    for (const averaging::ScaledMember& scaled : outcome.scaled) {
      scaled_.info(threads_.now(),
                   fmt::format("averaging: what {} brought to round {} was unusually large, and counted {:.2g} times",
                               group.members[scaled.rank].endpoint.peer.hex(), group.round, scaled.factor));
    }
    threads_.deliver([this, outcome](TimePoint now) { follow(now, payload_.on_leg(outcome)); });
  };
  if (listener_.contribution) listener_.contribution(request);
  if (const Status begun = averager_.average(std::move(request)); !begun.ok()) refuse(begun.error());
}

void RoundWork::refuse(const Error& why) {
  refused_.warning(threads_.now(), "averaging: " + why.message);
  AveragingOutcome outcome;
  outcome.verdict = AveragingOutcome::Verdict::expelled;
  outcome.samples.assign(members_planned_, 0);
  threads_.deliver([this, outcome](TimePoint now) { listener_.averaged(now, outcome); });
}

void RoundWork::on_stepped(double distance, bool stepped) {
  consensus_distance_ = distance;
  if (stepped) payload_.on_stepped();
}

}  // namespace starling::daemon
