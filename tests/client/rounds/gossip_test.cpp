#include "client/rounds/gossip.h"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "shared/run/model_layout.h"
#include "tests/shared/swarm/gossip_round.h"

using namespace starling;
using namespace starling::rounds;
using namespace starling::swarm::testing;
using namespace std::chrono_literals;

namespace {

wire::RunManifest manifest_of_gossip() {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.local.emplace().partners = wire::GossipPartners::exponential;
  return manifest;
}

wire::RoundReport report_of(const wire::GroupInfo& plan) {
  wire::RoundReport report;
  for (const wire::GroupMember& member : plan.members) report.contributions.push_back({member.endpoint.peer, 1});
  return report;
}

}  // namespace

TEST_CASE("a run without partners has no gossip") {
  wire::RunManifest manifest = manifest_of_gossip();
  manifest.local->partners.reset();
  CHECK(Gossip::make(manifest, gossip_peer(0)) == nullptr);
  manifest.local.reset();
  CHECK(Gossip::make(manifest, gossip_peer(0)) == nullptr);
}

TEST_CASE("two who gossip move to their mean, bucket by bucket, and keep the steps that they take meanwhile") {
  const wire::RunManifest manifest = manifest_of_gossip();
  const std::size_t parameters = wire::parameter_count(manifest.model);
  const wire::GroupInfo plan = gossip_round(2);
  const std::vector<float> agreed(parameters, 1.0F);
  std::array<std::vector<float>, 2> own{std::vector<float>(parameters, 2.0F), std::vector<float>(parameters, 4.0F)};
  std::array<std::unique_ptr<Gossip>, 2> gossips;
  TimePoint now{};
  for (std::size_t who = 0; who < 2; ++who) {
    gossips[who] = Gossip::make(manifest, gossip_peer(who));
    gossips[who]->on_round_planned(plan);
    gossips[who]->begin_round(now, report_of(plan), 0);
    gossips[who]->begin_steps();
  }
  for (const wire::Bucket& bucket : gossips[0]->buckets()) {
    std::array<Leg, 2> legs;
    now += 1s;
    for (std::size_t who = 0; who < 2; ++who) {
      const BucketGossip::Order order = gossips[who]->on_stepped(now, bucket.number, false);
      CHECK(order.send_out);
      (void)gossips[who]->carry_out(order, bucket.number, own[who], agreed);
      const auto leg = gossips[who]->on_sent_out(now, bucket.number);
      REQUIRE(leg);
      CHECK(!leg->engine.latecomers);
      legs[who] = *leg;
    }
    CHECK(legs[0].group.id == legs[1].group.id);
    averaging::AveragingOutcome outcome;
    outcome.weight_total = 2;
    for (std::size_t i = 0; i < bucket.count; ++i) {
      const float mean = (legs[0].vectors.input[i] + legs[1].vectors.input[i]) / 2;
      for (const Leg& leg : legs) leg.vectors.output[i] = mean;
    }
    for (std::size_t who = 0; who < 2; ++who) {
      CHECK(!gossips[who]->on_met(now, bucket.number, legs[who].group.id, outcome));
      for (std::size_t i = 0; i < bucket.count; ++i) own[who][bucket.begin + i] += 0.25F;  // a step meanwhile
      const BucketGossip::Order order = gossips[who]->on_stepped(now, bucket.number, false);
      CHECK(order.take_in);
      (void)gossips[who]->carry_out(order, bucket.number, own[who], agreed);
    }
  }
  for (const std::vector<float>& parameters_of_one : own) {
    for (const float value : parameters_of_one) REQUIRE(value == 3.25F);
  }
  CHECK(gossips[0]->mixed() == 1);
  CHECK(gossips[0]->missed() == 0);
}

TEST_CASE("nothing that was sent before a round is taken in after it, nor after the trainer has begun again") {
  for (const bool round : {false, true}) {
    const wire::RunManifest manifest = manifest_of_gossip();
    const wire::GroupInfo plan = gossip_round(2);
    Gossip gossip(manifest, gossip_peer(0));
    TimePoint now{};
    std::vector<float> own(wire::parameter_count(manifest.model));
    const std::vector<float> agreed(own.size());
    gossip.on_round_planned(plan);
    gossip.begin_round(now, report_of(plan), 0);
    (void)gossip.carry_out(gossip.on_stepped(now += 1s, 0, false), 0, own, agreed);
    const auto leg = gossip.on_sent_out(now, 0);
    REQUIRE(leg);
    averaging::AveragingOutcome outcome;
    outcome.weight_total = 2;
    if (round) gossip.on_round_planned(plan);
    (void)gossip.on_met(now, 0, leg->group.id, outcome);
    CHECK(!gossip.on_stepped(now += 1s, 0, true).take_in);
  }
}
