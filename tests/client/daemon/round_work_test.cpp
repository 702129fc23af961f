// Rounds of a run with real links between computers on this one.
#include "client/daemon/round_work.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/daemon/run_threads.h"
#include "shared/run/low_rank.h"
#include "tests/client/daemon/played_threads.h"
#include "tests/client/trainer_link/tiny_run.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::daemon;
using averaging::AveragingOutcome;
using transport::testing::Member;
using Verdict = AveragingOutcome::Verdict;

namespace {

constexpr rounds::BatchTarget kFirst{false, true, true};
constexpr rounds::BatchTarget kMore{false, false, false};
constexpr SampleCount kBatch = 8;

wire::RunManifest manifest() { return trainer_link::testing::tiny_manifest(); }

struct Computer {
  explicit Computer(const transport::testing::Project& project, const wire::RunManifest& run = manifest())
      : member(project),
        work(threads.run, run, averager_of(*member.net),
             {[this](transport::AverageRequest& request) { offered += request.weight; },
              [this](TimePoint, const AveragingOutcome& outcome) { averaged.set(outcome); }}) {}
  ~Computer() { threads.end(); }

  // A batch that brings `value` for every sample and coordinate. Returns the sum's memory.
  std::span<float> train(const rounds::BatchTarget& target, float value) {
    rounds::BatchOrder order;
    threads.on_control([&] {
      order = work.next_batch(target);
      if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
      for (float& each : order.into) each += static_cast<float>(kBatch) * value;
      work.on_batch(kBatch);
    });
    return order.into;
  }
  void average(const wire::GroupInfo& group, averaging::Rank self, std::span<const float> state = {}) {
    threads.on_control([&] { work.average(group, self, {kBatch, 0}, state); });
  }
  rounds::RoundPayload::State state() {
    rounds::RoundPayload::State now{};
    threads.on_control([&] { now = work.payload().state(); });
    return now;
  }

  daemon::testing::PlayedThreads threads;
  Member member;
  std::atomic<SampleCount> offered{0};
  daemon::testing::Awaited<AveragingOutcome> averaged;
  RoundWork work;
};

wire::GroupInfo group_of(const std::vector<const Computer*>& computers, std::int64_t floats) {
  std::vector<wire::Endpoint> endpoints;
  for (const Computer* computer : computers) endpoints.push_back(computer->member.endpoint());
  return transport::testing::plan_of(endpoints, floats);
}

}  // namespace

TEST_CASE("two computers average what their batches brought, and step to the next round") {
  const transport::testing::Project project;
  Computer a(project);
  Computer b(project);
  const wire::GroupInfo group = group_of({&a, &b}, wire::averaged_floats(manifest()));
  a.train(kFirst, 1);
  b.train(kFirst, 3);
  a.average(group, 0);
  b.average(group, 1);
  for (Computer* computer : {&a, &b}) {
    const AveragingOutcome outcome = computer->averaged.wait();
    CHECK(outcome.verdict == Verdict::averaged);
    CHECK(outcome.weight_total == 2 * kBatch);
    CHECK(computer->offered == kBatch);
    CHECK(computer->work.payload().average().front() == doctest::Approx(2).epsilon(0.01));
    computer->threads.on_control([&] { computer->work.on_stepped(0.5, true); });
    CHECK(computer->state() == rounds::RoundPayload::State::beginning);
    CHECK(computer->work.consensus_distance() == 0.5);
  }
}

TEST_CASE("a plan that does not fit the model is refused as if the others had gone on without this computer") {
  const transport::testing::Project project;
  Computer computer(project);
  computer.train(kFirst, 1);
  computer.average(group_of({&computer}, wire::averaged_floats(manifest()) + 1), 0);
  const AveragingOutcome outcome = computer.averaged.wait();
  CHECK(outcome.verdict == Verdict::expelled);
  CHECK(outcome.samples == std::vector<SampleCount>{0});
  CHECK(computer.offered == 0);
}

TEST_CASE("a contribution that turns out not to count ends its averaging, and its samples are brought again") {
  const transport::testing::Project project;
  Computer here(project);
  Computer silent(project);  // never begins
  const std::int64_t floats = wire::averaged_floats(manifest());
  here.train(kFirst, 1);
  here.average(group_of({&here, &silent}, floats), 0);
  const std::span<const float> sum = here.train(kMore, 1);
  CHECK(sum.front() == 2 * kBatch);
  CHECK(here.state() == rounds::RoundPayload::State::growing);
  CHECK_FALSE(here.averaged.has_come());
  wire::GroupInfo alone = group_of({&here}, floats);
  alone.id.bytes[1] = 1;
  here.average(alone, 0);
  CHECK(here.averaged.wait().verdict == Verdict::averaged);
}

TEST_CASE("the momentum goes to the network as the center around which contributions are bounded") {
  const transport::testing::Project project;
  wire::RunManifest run = manifest();
  run.round.averaging.formation = wire::Formation::one_group;
  run.round.averaging.aggregation = wire::Aggregation::centered_clip;
  Computer near(project, run);
  Computer far(project, run);
  const std::int64_t floats = wire::averaged_floats(run);
  const std::vector<float> state(3 * static_cast<std::size_t>(floats), 1);
  const wire::GroupInfo group = group_of({&near, &far}, floats);
  near.train(kFirst, 1);
  far.train(kFirst, 3);
  near.average(group, 0, state);
  far.average(group, 1, state);
  CHECK(near.averaged.wait().verdict == Verdict::averaged);
  CHECK(far.averaged.wait().verdict == Verdict::averaged);
  // Each of two believes itself: the one that brings the momentum leaves out what is anywhere else.
  CHECK(far.work.payload().average().front() == doctest::Approx(1).epsilon(0.01));
  CHECK(near.work.payload().average().back() == doctest::Approx(2).epsilon(0.01));
}
