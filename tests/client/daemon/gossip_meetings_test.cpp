// Gossip between rounds: buckets that real trainer processes have stepped, over real links.
#include "client/daemon/gossip_meetings.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <vector>

#include "shared/run/low_rank.h"
#include "tests/client/daemon/played_threads.h"
#include "tests/client/trainer_link/tiny_run.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::daemon;
using transport::testing::Member;
using transport::testing::wait_until;

namespace {

trainer_link::TrainerProcessOptions options_of_gossip() {
  trainer_link::TrainerProcessOptions options = trainer_link::testing::tiny_options(TEST_CHILD);
  options.manifest.local.emplace().optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
  options.manifest.local->partners = wire::GossipPartners::ring;
  return options;
}

struct Computer {
  explicit Computer(const transport::testing::Project& project, bool gossips = true) : member(project) {
    threads.trainer.run_and_wait([&] {
      auto options = options_of_gossip();
      auto gossip = gossips ? rounds::Gossip::make(options.manifest, member.id) : nullptr;
      auto made = trainer_link::TrainerProcess::create(std::move(options));
      REQUIRE(made.ok());
      trainer = std::move(*made);
      REQUIRE(trainer->initialize().ok());
      meetings.emplace(threads.run, std::move(gossip), *trainer, *member.net);
    });
  }
  ~Computer() {
    threads.on_control([this] { threads.run.stop(); });
    member.leave();
    threads.trainer.run_and_wait([this] { trainer.reset(); });
    threads.end();
  }

  // The group's round is over, and all brought something to it.
  void begin_after(const wire::GroupInfo& group) {
    wire::RoundReport report;
    for (const wire::GroupMember& other : group.members) report.contributions.push_back({other.endpoint.peer, 1});
    threads.on_control([&] {
      meetings->on_round_planned(group);
      meetings->begin_round(report, 0);
    });
  }
  void train() {
    threads.trainer.run_and_wait([this] {
      std::vector<float> sum(trainer->layout().parameter_count);
      CHECK(trainer->train_batch({0, 0, 0, 8}, sum).ok());
    });
  }
  std::int64_t mixed() {
    std::int64_t count = 0;
    threads.on_control([&] { count = meetings->mixed(); });
    return count;
  }

  daemon::testing::PlayedThreads threads;
  Member member;
  std::unique_ptr<trainer_link::TrainerProcess> trainer;
  std::optional<GossipMeetings> meetings;
};

wire::GroupInfo group_of(const std::vector<const Computer*>& computers) {
  std::vector<wire::Endpoint> endpoints;
  for (const Computer* computer : computers) endpoints.push_back(computer->member.endpoint());
  return transport::testing::plan_of(endpoints, wire::averaged_floats(options_of_gossip().manifest));
}

}  // namespace

TEST_CASE("two computers average their buckets between rounds, until the next round is planned") {
  const transport::testing::Project project;
  Computer a(project);
  Computer b(project);
  const wire::GroupInfo group = group_of({&a, &b});
  a.train();  // before the first round is over nobody is met
  CHECK(a.mixed() == 0);
  for (Computer* computer : {&a, &b}) computer->begin_after(group);
  wait_until([&] {
    a.train();
    b.train();
    return a.mixed() > 0 && b.mixed() > 0;
  });
  CHECK(a.member.net->stats().round_bytes_sent > 0);
  for (Computer* computer : {&a, &b}) {
    computer->threads.on_control([&] { computer->meetings->on_round_planned(group); });
    computer->threads.settle();
  }
  const std::int64_t before = a.mixed();
  a.train();
  b.train();
  a.threads.settle();
  CHECK(a.mixed() == before);
}

TEST_CASE("a run without gossip trains and meets nobody") {
  const transport::testing::Project project;
  Computer computer(project, false);
  computer.begin_after(group_of({&computer}));
  computer.train();
  computer.threads.on_control([&] { computer.meetings->end_round(); });
  CHECK(computer.mixed() == 0);
  CHECK(computer.member.net->stats().round_bytes_sent == 0);
}
