// Volunteers that train a model in cells together: real links over TLS, and real trainers.
#include "client/daemon/cell_work.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "shared/run/cells.h"
#include "shared/state/initial_state.h"
#include "tests/client/trainer_link/decoder_run.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::daemon;
using transport::testing::kPatience;
using transport::testing::Member;
using transport::testing::wait_until;

namespace {

constexpr std::size_t kVolunteers = 3;
constexpr std::size_t kHolders = 2;
constexpr SampleCount kBatch = 12;

trainer_link::TrainerProcessOptions run_of(wire::ModelPiece piece) {
  return trainer_link::testing::decoder_run(STARLING_TRAINER, piece, kBatch);
}

trainer_link::TrainerProcessOptions trunk_with(wire::CellUpdate update) {
  trainer_link::TrainerProcessOptions options = run_of(wire::kTrunk);
  options.manifest.model.experts.cells.update = update;
  return options;
}

wire::SampleRange samples_of(std::size_t volunteer) {
  return {0, static_cast<int>(volunteer), 0, kBatch, wire::kNoEpoch};
}

bool holds(std::size_t volunteer, std::size_t cell) {
  return (volunteer + kVolunteers - cell % kVolunteers) % kVolunteers < kHolders;
}

class Volunteer {
 public:
  Volunteer(std::size_t number, const Member& member, const wire::CellOptions& choices)
      : number_(number), update_(choices.update) {
    auto made = trainer_link::TrainerProcess::create(trunk_with(choices.update));
    REQUIRE(made.ok());
    trainer_ = std::move(*made);
    REQUIRE(trainer_->initialize().ok());
    CellWorkOptions options{.trunk = trunk_with(choices.update).manifest, .self = member.id};
    options.trunk.model.experts.cells.codec = choices.codec;
    work_ = std::make_unique<CellWork>(
        std::move(options), *member.net, *trainer_, clock_,
        CellWork::Listener{[this] { calls_wait_ = true; }, [this](wire::CellIndex) { ++weights_came; }});
    REQUIRE(work_->prepare().ok());
    gradient.resize(trainer_->layout().parameter_count);
  }
  ~Volunteer() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    work_.reset();
  }

  void take_cells(const std::vector<std::unique_ptr<Member>>& members) {
    const std::size_t cells = wire::cells_of(run_of(wire::kTrunk).manifest.model).size();
    std::map<wire::CellIndex, std::vector<PeerId>> holders;
    for (std::size_t i = 0; i < cells; ++i) {
      const auto cell = static_cast<wire::CellIndex>(i);
      for (std::size_t other = 0; other < members.size(); ++other) {
        if (holds(other, i)) holders[cell].push_back(members[other]->id);
      }
      if (!holds(number_, i)) continue;
      const auto state = work_->hold(cell);
      REQUIRE(state.ok());
      state::fill_initial_state(wire::piece_of(trunk_with(update_).manifest, cell), *state);
      work_->serve_cell(cell, 0);
      held.push_back(cell);
      agreed[cell] = *state;
    }
    work_->set_holders(holders);
  }

  // Trains one batch, some times, on a work thread of its own, which answers others' calls afterwards.
  void begin(int times = 1) {
    thread_ = std::thread([this, times] {
      for (int i = 0; i < times; ++i) {
        outcome = work_->train(samples_of(number_), gradient);
        if (!outcome.ok()) break;
        losses.push_back(outcome->loss_sum);
      }
      is_done = true;
      while (!stop_) {
        if (calls_wait_.exchange(false)) {
          while (work_->serve()) {
          }
        }
        std::this_thread::yield();
      }
    });
  }
  void end() {
    stop_ = true;
    thread_.join();
    stop_ = false;
  }
  // On the work thread's behalf, when that has ended.
  CellWork& work() { return *work_; }
  [[nodiscard]] int trainer_pid() const { return trainer_->view().pid; }

  std::vector<float> gradient;  // the trunk's
  std::vector<wire::CellIndex> held;
  std::map<wire::CellIndex, std::span<float>> agreed;  // the states that they share with others
  Result<session::BatchReport> outcome = Error{ErrorCode::unavailable, "not trained yet"};
  std::vector<double> losses;  // by window
  std::atomic<bool> is_done = false;
  std::atomic<int> weights_came = 0;

 private:
  std::size_t number_;
  wire::CellUpdate update_;
  SystemClock clock_;
  std::unique_ptr<trainer_link::TrainerProcess> trainer_;
  std::atomic<bool> calls_wait_ = false;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<CellWork> work_;
  std::thread thread_;
};

struct Swarm {
  explicit Swarm(wire::Codec codec = wire::Codec::fp32, wire::CellUpdate update = wire::CellUpdate::round) {
    wire::CellOptions choices;
    choices.codec = codec;
    choices.update = update;
    std::vector<wire::Endpoint> endpoints;
    for (std::size_t i = 0; i < kVolunteers; ++i) members.push_back(std::make_unique<Member>(project));
    for (const auto& member : members) endpoints.push_back(member->endpoint());
    for (std::size_t i = 0; i < kVolunteers; ++i) {
      members[i]->net->link_with_holders(endpoints, members[i]->endpoint());
      volunteers.push_back(std::make_unique<Volunteer>(i, *members[i], choices));
    }
    for (const auto& volunteer : volunteers) volunteer->take_cells(members);
    for (const auto& member : members) {
      wait_until([&member] { return member->net->stats().links_up == kVolunteers - 1; });
    }
  }

  void run(const std::function<void()>& meanwhile = {}, int times = 1) {
    for (const auto& volunteer : volunteers) volunteer->begin(times);
    if (meanwhile) meanwhile();
    for (const auto& volunteer : volunteers) {
      wait_until([&volunteer] { return volunteer->is_done.load(); });
    }
  }

  // The whole model's gradient, summed over all samples. It waits until each cell has the weight of all of them.
  std::vector<float> gradient(SampleCount samples) {
    for (const auto& volunteer : volunteers) volunteer->end();
    const std::vector<wire::Cell> cells = wire::cells_of(run_of(wire::kTrunk).manifest.model);
    std::vector<float> whole(cells.back().offset + cells.back().count, 0.0F);
    std::vector<SampleCount> weights(cells.size(), 0);
    for (const auto& volunteer : volunteers) {
      for (std::size_t i = 0; i < volunteer->gradient.size(); ++i) whole[i] += volunteer->gradient[i];
    }
    const auto take = [&](Volunteer& volunteer, wire::CellIndex cell) {
      const wire::Cell& place = cells[static_cast<std::size_t>(cell)];
      std::vector<float> part(place.count);
      weights[static_cast<std::size_t>(cell)] += *volunteer.work().take_gradient(cell, part);
      for (std::size_t i = 0; i < part.size(); ++i) whole[place.offset + i] += part[i];
    };
    wait_until([&] {
      for (const auto& volunteer : volunteers) {
        for (const wire::CellIndex cell : volunteer->held) take(*volunteer, cell);
      }
      return std::ranges::all_of(weights, [samples](SampleCount weight) { return weight >= samples; });
    });
    CHECK(weights == std::vector<SampleCount>(cells.size(), samples));
    return whole;
  }

  transport::testing::Project project;
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::unique_ptr<Volunteer>> volunteers;
};

// One process with the whole model, which computes for these volunteers' samples.
struct Whole {
  explicit Whole(const std::vector<std::size_t>& volunteers) {
    auto made = trainer_link::TrainerProcess::create(run_of(wire::kWholeModel));
    REQUIRE(made.ok());
    REQUIRE((*made)->initialize().ok());
    gradient.resize((*made)->layout().parameter_count);
    for (const std::size_t volunteer : volunteers) {
      const auto report = (*made)->train_batch(samples_of(volunteer), gradient);
      REQUIRE_MESSAGE(report.ok(), report.error().message);
      losses.push_back(report->loss_sum);
    }
  }
  std::vector<float> gradient;
  std::vector<double> losses;
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(squares);
}

double norm(const std::vector<float>& a) { return distance(a, std::vector<float>(a.size(), 0.0F)); }

}  // namespace

TEST_CASE("three volunteers with some cells each compute the gradient of the whole model") {
  for (const auto& [codec, error_max] : {std::pair{wire::Codec::fp32, 1e-6}, {wire::Codec::int8, 0.05}}) {
    Swarm swarm(codec);
    const Whole whole({0, 1, 2});
    swarm.run();
    for (std::size_t i = 0; i < kVolunteers; ++i) {
      const Result<session::BatchReport>& outcome = swarm.volunteers[i]->outcome;
      REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
      CHECK(outcome->samples == kBatch);
      CHECK(outcome->loss_sum == doctest::Approx(whole.losses[i]).epsilon(error_max));
    }
    const std::vector<float> gradient = swarm.gradient(kVolunteers * kBatch);
    const double error = distance(gradient, whole.gradient) / norm(whole.gradient);
    MESSAGE(wire::to_string(codec) << ": relative error of the gradient " << error);
    CHECK(error < error_max);
  }
}

TEST_CASE("holders that step on arrival learn before any round, each by itself") {
  Swarm swarm(wire::Codec::fp32, wire::CellUpdate::arrival);
  constexpr int kWindows = 3;
  swarm.run({}, kWindows);
  std::vector<double> losses(kWindows);
  for (const auto& volunteer : swarm.volunteers) {
    REQUIRE_MESSAGE(volunteer->outcome.ok(), volunteer->outcome.error().message);
    volunteer->end();
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] += volunteer->losses[i];
  }
  CHECK(losses[1] < losses[0]);
  CHECK(losses[2] < losses[1]);
  const double all = static_cast<double>(kWindows) * kVolunteers * kBatch;
  std::map<int, double> samples;  // by layer
  std::map<int, double> cells;
  for (const auto& volunteer : swarm.volunteers) {
    for (const wire::CellIndex cell : volunteer->held) {
      const wire::RunManifest piece = wire::piece_of(trunk_with(wire::CellUpdate::arrival).manifest, cell);
      std::vector<float> way(wire::parameter_count(piece.model));
      const SampleCount counted = *volunteer->work().take_gradient(cell, way);
      CHECK((counted > 0) == (norm(way) > 0));
      const std::vector<float> agreed(volunteer->agreed.at(cell).begin(), volunteer->agreed.at(cell).end());
      std::vector<float> initial(agreed.size());
      state::fill_initial_state(piece, initial);
      CHECK((agreed == initial));
      const int layer = wire::cells_of(piece.model)[static_cast<std::size_t>(cell)].layer;
      samples[layer] += static_cast<double>(counted);
      cells[layer] += 0.5;  // each is held twice
    }
  }
  // Samples follow from units, and those of a layer are as many as if all experts had the same load.
  for (const auto& [layer, counted] : samples) {
    CHECK(counted <= all * cells[layer] * 1.0001);
    CHECK(counted >= (all - 2) * cells[layer]);
  }
}

TEST_CASE("a trainer that is killed costs its own window, and nothing of the others'") {
  Swarm swarm;
  swarm.run([&swarm] {
    // It has computed a segment, or for others.
    wait_until([&] { return swarm.members[0]->net->stats().call_bytes_sent > 0; });
    CHECK(::kill(swarm.volunteers[0]->trainer_pid(), SIGKILL) == 0);
  });
  for (std::size_t i = 1; i < kVolunteers; ++i) {
    const Result<session::BatchReport>& outcome = swarm.volunteers[i]->outcome;
    CHECK_MESSAGE(outcome.ok(), outcome.error().message);
  }
}

TEST_CASE("a holder that is gone is replaced by the other one") {
  Swarm swarm;
  const Whole whole({0, 1});
  swarm.volunteers[0]->begin();
  swarm.volunteers[1]->begin();
  wait_until([&] { return swarm.members[2]->net->stats().call_bytes_received > 0; });
  swarm.members[2]->net->deny(std::vector{swarm.members[0]->id, swarm.members[1]->id});  // its links end
  for (std::size_t i = 0; i < 2; ++i) {
    wait_until([&] { return swarm.volunteers[i]->is_done.load(); });
    const Result<session::BatchReport>& outcome = swarm.volunteers[i]->outcome;
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    CHECK(outcome->samples == kBatch);
    CHECK(outcome->loss_sum == doctest::Approx(whole.losses[i]).epsilon(1e-6));  // each result came from somebody
  }
}

TEST_CASE("a volunteer that pauses refuses calls at once, ends its window, and goes on when it is over") {
  Swarm swarm;
  const Whole whole({0, 1});
  swarm.volunteers[2]->work().pause(true);
  for (std::size_t i = 0; i < kVolunteers; ++i) swarm.volunteers[i]->begin();
  for (const auto& volunteer : swarm.volunteers) {
    wait_until([&volunteer] { return volunteer->is_done.load(); });
  }
  REQUIRE_FALSE(swarm.volunteers[2]->outcome.ok());
  CHECK(swarm.volunteers[2]->outcome.error().code == ErrorCode::unavailable);
  for (std::size_t i = 0; i < 2; ++i) {
    const Result<session::BatchReport>& outcome = swarm.volunteers[i]->outcome;
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    CHECK(outcome->loss_sum == doctest::Approx(whole.losses[i]).epsilon(1e-6));
  }
  Volunteer& paused = *swarm.volunteers[2];
  paused.end();
  paused.work().pause(false);
  paused.is_done = false;
  paused.begin();
  wait_until([&paused] { return paused.is_done.load(); });
  CHECK_MESSAGE(paused.outcome.ok(), paused.outcome.error().message);
}

TEST_CASE("samples that callers name count once, and not at a state that has taken the place of theirs") {
  Swarm swarm;
  swarm.run();
  (void)swarm.gradient(kVolunteers * kBatch);  // takes what has come
  Volunteer& volunteer = *swarm.volunteers[0];
  const wire::CellIndex cell = volunteer.held.front();
  wire::Weights told;
  told.cells = {cell};
  told.samples = {5};
  std::vector<float> part(wire::cells_of(run_of(wire::kTrunk).manifest.model)[static_cast<std::size_t>(cell)].count);
  const int before = volunteer.weights_came;
  REQUIRE(volunteer.work().weighed(swarm.members[1]->id, told).ok());
  CHECK(volunteer.weights_came == before + 1);
  CHECK(*volunteer.work().take_gradient(cell, part) == 5);
  CHECK(*volunteer.work().take_gradient(cell, part) == 0);
  REQUIRE(volunteer.work().weighed(swarm.members[1]->id, told).ok());
  volunteer.work().stop_serving(cell);
  volunteer.work().serve_cell(cell, 1);
  CHECK(*volunteer.work().take_gradient(cell, part) == 0);
}

TEST_CASE("nothing is trained while a layer has no holders") {
  Swarm swarm;
  swarm.volunteers[0]->work().set_holders({{0, {swarm.members[1]->id}}, {1, {swarm.members[1]->id}}});
  swarm.volunteers[0]->begin();
  wait_until([&swarm] { return swarm.volunteers[0]->is_done.load(); });
  REQUIRE_FALSE(swarm.volunteers[0]->outcome.ok());
  CHECK(swarm.volunteers[0]->outcome.error().code == ErrorCode::failed_precondition);
}
