#include "client/rounds/bucket_gossip.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "shared/base/words.h"
#include "tests/shared/swarm/gossip_round.h"

using namespace starling;
using namespace starling::rounds;
using namespace starling::swarm::testing;
using averaging::AveragingOutcome;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{};

wire::LocalOptions with(wire::GossipPartners partners, int mix_every = 1, double consensus_bound = 0) {
  wire::LocalOptions options;
  options.partners = partners;
  options.mix_every = mix_every;
  options.consensus_bound = consensus_bound;
  return options;
}

AveragingOutcome met(SampleCount members) {
  AveragingOutcome outcome;
  outcome.weight_total = members;
  return outcome;
}

// The other one of two did not come, or had gone on.
AveragingOutcome alone(averaging::Rank other, bool went_on) {
  AveragingOutcome outcome;
  outcome.verdict = AveragingOutcome::Verdict::minority;
  outcome.weight_total = 1;
  outcome.lost.push_back({other, "a test's"});
  if (!went_on) outcome.faults.push_back({other, wire::Fault::absent});
  return outcome;
}

// Volunteers that step on quadratics of equal curvature around different minima, one after the other, over lines that
// are faster than batches.
struct Quadratics {
  explicit Quadratics(wire::GossipPartners partners, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      members.emplace_back(with(partners), gossip_peer(k), gossip_bucket(gossip_round(count)));
      members.back().begin_round(now, gossip_round(count), peers_of(gossip_round(count)), 1, Digest());
      minima.push_back(static_cast<double>(k * k));
    }
    own.resize(count);
    sent.resize(count);
    pending.resize(count);
  }

  // away: this one computes, but is in no meeting.
  void step(std::size_t away = SIZE_MAX) {
    now += 1s;
    std::map<GroupId, std::vector<std::size_t>> meetings;
    for (std::size_t k = 0; k < members.size(); ++k) {
      own[k] -= kRate * (own[k] - minima[k]);
      if (k == away) continue;
      const BucketGossip::Order order = members[k].on_stepped(now);
      if (order.take_in) own[k] += pending[k];
      pending[k] = 0;
      if (!order.send_out) continue;
      sent[k] = own[k];
      if (const auto gossip = members[k].on_sent_out(now)) meetings[gossip->group.id].push_back(k);
    }
    for (const auto& [id, who] : meetings) {
      double sum = 0;
      for (const std::size_t k : who) sum += sent[k];
      for (const std::size_t k : who) {
        pending[k] = sum / static_cast<double>(who.size()) - sent[k];
        const bool lone = who.size() == 1;
        CHECK(!members[k].on_mixed(now + 100ms, id, lone ? alone(away > k ? 1 : 0, false) : met(std::ssize(who))));
      }
    }
  }
  // Includes averages that are not taken in yet.
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (std::size_t k = 0; k < own.size(); ++k) sum += own[k] + pending[k];
    return sum / static_cast<double>(own.size());
  }
  [[nodiscard]] double consensus_distance() const {
    double most = 0;
    for (const double value : own) most = std::max(most, std::abs(value - mean()));
    return most;
  }

  static constexpr double kRate = 0.05;
  std::vector<BucketGossip> members;
  std::vector<double> minima, own, sent, pending;
  TimePoint now = kStart;
};

}  // namespace

TEST_CASE("of two that mix at every step, the mean goes the way of all-reduce, and each is half a step beside it") {
  Quadratics swarm(wire::GossipPartners::exponential, 2);
  double all_reduce = 0;
  for (int step = 0; step < 200; ++step) {
    swarm.step();
    all_reduce -= Quadratics::kRate * (all_reduce - 0.5);
    CHECK(swarm.mean() == doctest::Approx(all_reduce));
  }
  // x_i = mean of the values before - rate * own gradient, and the gradients differ by 1 - d where the members differ
  // by d. So d = rate (1 - d).
  CHECK(swarm.consensus_distance() == doctest::Approx(Quadratics::kRate / (1 + Quadratics::kRate) / 2));
  CHECK(swarm.members[0].mixed() == 200);
}

TEST_CASE("any number of members follows the mean of all, with a spread that stays small, whoever is away") {
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    for (const std::size_t count : {3U, 4U, 7U}) {
      CAPTURE(word_of(partners));
      CAPTURE(count);
      Quadratics swarm(partners, count);
      double all_reduce = 0;
      double target = 0;
      for (const double minimum : swarm.minima) target += minimum / static_cast<double>(count);
      for (int step = 0; step < 300; ++step) {
        swarm.step(step % 5 == 4 ? static_cast<std::size_t>(step / 5) % count : SIZE_MAX);
        all_reduce -= Quadratics::kRate * (all_reduce - target);
      }
      CHECK(swarm.mean() == doctest::Approx(all_reduce).epsilon(0.01));
      // Apart, everybody would be at its own minimum by now.
      CHECK(swarm.consensus_distance() < 0.6 * std::abs(swarm.minima.back() - target));
    }
  }
}

namespace {

BucketGossip gossip_of(const wire::LocalOptions& options, std::size_t self, std::size_t members) {
  const wire::GroupInfo round = gossip_round(members);
  BucketGossip gossip(options, gossip_peer(self), gossip_bucket(round));
  gossip.begin_round(kStart, round, peers_of(round), 1, Digest());
  return gossip;
}

}  // namespace

TEST_CASE("who did not come is waited for as long as mixings take, and the next time hardly at all") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::exponential), 0, 2);
  TimePoint now = kStart + 3s;
  CHECK(gossip.on_stepped(now).send_out);
  auto meeting = gossip.on_sent_out(now);
  REQUIRE(meeting);
  CHECK(meeting->group.begin_within_ms == 12'000);  // four batches: the other one may be in the middle of its own
  CHECK(!gossip.on_stepped(now + 3s).send_out);
  CHECK(!gossip.on_mixed(now + 12s, meeting->group.id, alone(1 - meeting->self, false)));
  CHECK(gossip.missed() == 1);
  now += 13s;
  const BucketGossip::Order again = gossip.on_stepped(now);
  CHECK(!again.take_in);
  CHECK(again.send_out);
  meeting = gossip.on_sent_out(now);
  REQUIRE(meeting);
  CHECK(meeting->group.begin_within_ms == 250);
  CHECK(!gossip.on_mixed(now + 100ms, meeting->group.id, met(2)));
  CHECK(gossip.on_stepped(now + 3s).take_in);
  CHECK(gossip.on_sent_out(now + 3s)->group.begin_within_ms > 2000);
}

TEST_CASE("who comes late passes the numbers of those who have gone on, with what it has sent out") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::exponential), 1, 4);
  CHECK(gossip.on_stepped(kStart + 1s).send_out);
  auto meeting = gossip.on_sent_out(kStart + 1s);
  for (int passed = 0; passed < 5; ++passed) {
    REQUIRE(meeting);
    const GroupId before = meeting->group.id;
    meeting = gossip.on_mixed(kStart + 1s, before, alone(1 - meeting->self, true));
    REQUIRE(meeting);
    CHECK(meeting->group.id != before);
    CHECK(!gossip.on_mixed(kStart + 1s, before, met(2)));  // the end of an earlier meeting comes too late
  }
  CHECK(!gossip.on_mixed(kStart + 2s, meeting->group.id, met(2)));
  CHECK(gossip.on_stepped(kStart + 2s).take_in);
  CHECK(gossip.missed() == 5);
  CHECK(gossip.mixed() == 1);
}

TEST_CASE("nothing of a round is taken in after it, or after the trainer has begun anew") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::exponential), 0, 2);
  (void)gossip.on_stepped(kStart + 1s);
  auto meeting = gossip.on_sent_out(kStart + 1s);
  REQUIRE(meeting);
  (void)gossip.on_mixed(kStart + 2s, meeting->group.id, met(2));
  gossip.forget();
  const BucketGossip::Order anew = gossip.on_stepped(kStart + 3s);
  CHECK(!anew.take_in);
  CHECK(anew.send_out);
  meeting = gossip.on_sent_out(kStart + 3s);
  REQUIRE(meeting);
  gossip.end_round();
  CHECK(!gossip.on_mixed(kStart + 4s, meeting->group.id, met(2)));
  CHECK(!gossip.on_stepped(kStart + 4s).send_out);
}

TEST_CASE("who is alone mixes with nobody") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::random), 0, 1);
  (void)gossip.on_stepped(kStart + 1s);
  CHECK(!gossip.on_sent_out(kStart + 1s));
}

namespace {

// Plays the first of two members. It takes a step a second, and its partner comes `partner_after` later. Returns how
// many steps after each other own parameters were sent out.
std::vector<int> intervals_of(BucketGossip& gossip, Duration partner_after, double distance, int batches,
                              TimePoint from = kStart) {
  gossip.begin_round(from, gossip_round(2), peers_of(gossip_round(2)), 1, Digest());
  std::vector<int> intervals;
  TimePoint comes = kNever;
  GroupId meeting;
  int sent_at = 0;
  for (int batch = 1; batch < batches; ++batch) {
    const TimePoint now = from + batch * 1s;
    if (now >= comes) {
      CHECK(!gossip.on_mixed(now, meeting, met(2)));
      comes = kNever;
    }
    const BucketGossip::Order order = gossip.on_stepped(now);
    if (order.measure) gossip.on_measured(distance);
    if (!order.send_out) continue;
    intervals.push_back(batch - std::exchange(sent_at, batch));
    meeting = gossip.on_sent_out(now)->group.id;
    comes = now + partner_after;
  }
  return intervals;
}

}  // namespace

TEST_CASE("mixings are so many own steps apart, and come later only where one takes longer than that") {
  BucketGossip seldom = gossip_of(with(wire::GossipPartners::random, 5), 0, 2);
  CHECK(intervals_of(seldom, 100ms, 0, 21) == std::vector<int>{5, 5, 5, 5});
  BucketGossip slow = gossip_of(with(wire::GossipPartners::random, 5), 0, 2);
  CHECK(intervals_of(slow, 6500ms, 0, 20) == std::vector<int>{5, 7, 7});
}

TEST_CASE("where many steps lie between mixings a partner is waited for as long as about so many take") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::random, 20), 0, 2);
  for (int batch = 1; batch < 20; ++batch) CHECK(!gossip.on_stepped(kStart + batch * 1s).send_out);
  REQUIRE(gossip.on_stepped(kStart + 20s).send_out);
  const auto meeting = gossip.on_sent_out(kStart + 20s);
  REQUIRE(meeting);
  CHECK(meeting->group.begin_within_ms == 40'000);
  // It has not come: the next number is tried as many steps after this one as if it had.
  CHECK(!gossip.on_stepped(kStart + 21s).send_out);
  CHECK(!gossip.on_mixed(kStart + 22s, meeting->group.id, alone(1, false)));
  for (int batch = 22; batch < 40; ++batch) CHECK(!gossip.on_stepped(kStart + batch * 1s).send_out);
  CHECK(gossip.on_stepped(kStart + 40s).send_out);
}

TEST_CASE("mixings that find replicas near to each other become rarer, and those that find them apart more frequent") {
  BucketGossip near = gossip_of(with(wire::GossipPartners::random, 1, 0.04), 0, 2);
  // Half of the bound: each of two is sqrt(1 / 2) of the consensus distance away from their mean.
  CHECK(intervals_of(near, 100ms, 0.02 / std::sqrt(2.0), 17) == std::vector<int>{1, 1, 2, 4, 8});
  BucketGossip apart = gossip_of(with(wire::GossipPartners::random, 4, 0.04), 0, 2);
  CHECK(intervals_of(apart, 100ms, 0.08, 20) == std::vector<int>{4, 4, 4, 4});  // never below the least
}

TEST_CASE("where no mixing fits into a round any more, the round itself tells when there have to be some again") {
  BucketGossip gossip = gossip_of(with(wire::GossipPartners::random, 1, 0.04), 0, 2);
  CHECK(intervals_of(gossip, 100ms, 0.001, 12) ==
        std::vector<int>{1, 1, 2, 4});  // the next one after 8, not in this round
  gossip.on_averaged(0.001, 2);
  CHECK(intervals_of(gossip, 100ms, 0.001, 6, kStart + 20s).empty());
  gossip.on_averaged(0.08, 2);  // after 5 steps
  CHECK(intervals_of(gossip, 100ms, 0.08, 6, kStart + 40s) == std::vector<int>{3, 2});
}
