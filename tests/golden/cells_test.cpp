// Compares a model in cells with a single process: volunteers that each have the trunk and some of the cells, and call
// one another for the rest, must end where a process ends that has the whole model and takes all their samples.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>
// Included after torch, whose CHECK must give way.
#include <doctest/doctest.h>

#include "client/models/model.h"
#include "client/optim/optimizer.h"
#include "client/routing/window.h"
#include "client/training/batches.h"
#include "client/training/cell_tasks.h"
#include "client/training/tensor_views.h"
#include "client/training/trunk_tasks.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/golden/tiny_text.h"

using namespace starling;
using averaging::AveragingOutcome;
using averaging::InMemoryGroup;

namespace {

constexpr RoundIndex kRounds = 50;
constexpr std::size_t kVolunteers = 3;
constexpr std::size_t kHolders = 2;
constexpr SampleCount kMicroBatch = 4;
constexpr std::size_t kMicroBatches = 3;  // a volunteer's, in a round

wire::RunManifest tiny_run() {
  wire::RunManifest manifest;
  manifest.optimizer = wire::default_optimizer(wire::OptimizerKind::adamw);
  manifest.optimizer.clip_norm = 0;  // pieces are clipped by norms of their own
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = 32, .heads = 2, .context = 16};
  manifest.model.mlp_width = 48;
  manifest.model.experts.rows = 4;
  manifest.model.experts.cells.experts = 2;
  manifest.peers_max = 8;
  manifest.micro_batch_size = kMicroBatch;
  manifest.schedule.warmup_rounds = 10;
  manifest.schedule.total_rounds = kRounds;
  return manifest;
}

PeerId peer(std::size_t number) {
  PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return id;
}

bool holds(std::size_t volunteer, std::size_t cell) {
  return (volunteer + kVolunteers - cell % kVolunteers) % kVolunteers < kHolders;
}

// A piece of the model at one volunteer: its state, and a round's gradient.
struct Piece {
  explicit Piece(const wire::RunManifest& run, wire::ModelPiece piece) : manifest(run) {
    manifest.model.experts.piece = piece;
    optimizer = std::make_unique<optim::Optimizer>(manifest);
    state.resize(optimizer->state_size());
    gradient.resize(optimizer->parameter_count());
    state::fill_initial_state(manifest, state);
  }
  [[nodiscard]] std::span<float> parameters() { return std::span(state).first(gradient.size()); }

  wire::RunManifest manifest;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::vector<float> state, gradient;
  SampleCount weight = 0;
};

// Averages the piece's gradients among those who have it, and has them step.
void average(const std::vector<Piece*>& members, RoundIndex round) {
  averaging::GroupOptions options;
  options.members = members.size();
  options.vector_floats = static_cast<std::int64_t>(members.front()->gradient.size());
  options.segment_floats = 2048;
  options.seed = static_cast<unsigned>(round);
  options.weights.clear();
  for (const Piece* member : members) options.weights.push_back(member->weight);
  InMemoryGroup group(options);
  for (averaging::Rank rank = 0; rank < members.size(); ++rank) group.input(rank) = members[rank]->gradient;
  group.run();
  for (averaging::Rank rank = 0; rank < members.size(); ++rank) {
    Piece& member = *members[rank];
    REQUIRE(group.outcome(rank) != nullptr);
    REQUIRE(group.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
    REQUIRE(member.optimizer->step(round, group.output(rank), member.state, *member.journal).ok());
    std::fill(member.gradient.begin(), member.gradient.end(), 0.0F);
    member.weight = 0;
    CHECK(member.state == members.front()->state);
  }
}

// Tasks and calls that have been started end in any order.
class Events {
 public:
  void add(std::function<void(TimePoint)> event) { events_.push_back(std::move(event)); }
  void run() {
    while (!events_.empty()) {
      const std::size_t next = chance_() % events_.size();
      std::swap(events_[next], events_.front());
      const std::function<void(TimePoint)> event = std::move(events_.front());
      events_.pop_front();
      now_ += std::chrono::milliseconds(1);
      event(now_);
    }
  }

 private:
  std::deque<std::function<void(TimePoint)>> events_;
  std::mt19937 chance_{7};
  TimePoint now_{std::chrono::hours(1)};
};

class Swarm;

class Volunteer final : public routing::Window::Mediator {
 public:
  Volunteer(Swarm& swarm, std::size_t number);

  void begin_window(RoundIndex round);
  void start_task(const routing::TrunkTask& task) override;
  void send_call(const routing::OutgoingCall& call) override;

  Swarm& swarm;
  std::size_t number;
  Piece trunk;
  std::map<wire::CellIndex, Piece> cells;
  training::TrunkTasks trunk_tasks;
  training::CellTasks cell_tasks;
  routing::Holders holders;
  std::vector<float> tray;
  std::unique_ptr<routing::Window> window;
  // Inputs that came on the way forth, by caller and exchange and cell.
  std::map<std::tuple<std::size_t, routing::ExchangeId, wire::CellIndex>, std::vector<float>> kept;

 private:
  Result<double> compute(const routing::TrunkTask& task);
};

class Swarm {
 public:
  explicit Swarm(const wire::RunManifest& run, std::span<const std::uint8_t> text)
      : manifest(run), cells(wire::cells_of(run.model)), data(training::Dataset::open(run, text, 1).value()) {
    for (std::size_t number = 0; number < kVolunteers; ++number) {
      volunteers.push_back(std::make_unique<Volunteer>(*this, number));
    }
  }

  static std::vector<wire::SampleRange> samples(std::size_t volunteer, RoundIndex round) {
    std::vector<wire::SampleRange> ranges;
    for (std::size_t i = 0; i < kMicroBatches; ++i) {
      // The last one is smaller.
      ranges.push_back({round, static_cast<int>(volunteer), static_cast<SampleCount>(i) * kMicroBatch,
                        i + 1 < kMicroBatches ? kMicroBatch : kMicroBatch - 1});
    }
    return ranges;
  }

  double round(RoundIndex round) {
    for (const auto& volunteer : volunteers) volunteer->begin_window(round);
    events.run();
    double loss = 0;
    std::vector<Piece*> trunks;
    std::map<wire::CellIndex, std::vector<Piece*>> holders;
    for (const auto& volunteer : volunteers) {
      const routing::Window& window = *volunteer->window;
      REQUIRE(window.is_done());
      CHECK(window.outcome().units_lost == 0);
      CHECK(window.outcome().units > 0);
      CHECK(volunteer->trunk_tasks.under_way() == 0);
      loss += window.outcome().loss_sum;
      volunteer->trunk.weight = window.outcome().samples;
      trunks.push_back(&volunteer->trunk);
      for (const auto& [where, samples] : window.outcome().weights) {
        const auto& [cell, holder] = where;
        for (const auto& other : volunteers) {
          if (peer(other->number) == holder) other->cells.at(cell).weight += samples;
        }
      }
      for (auto& [cell, piece] : volunteer->cells) holders[cell].push_back(&piece);
    }
    average(trunks, round);
    REQUIRE(holders.size() == cells.size());
    for (const auto& [cell, members] : holders) average(members, round);
    return loss / static_cast<double>(kVolunteers * (kMicroBatches * kMicroBatch - 1));
  }

  // The whole model's parameters.
  std::vector<float> parameters() {
    std::vector<float> whole(wire::parameter_count(manifest.model));
    const std::span<float> trunk = volunteers.front()->trunk.parameters();
    std::copy(trunk.begin(), trunk.end(), whole.begin());
    for (const auto& volunteer : volunteers) {
      for (auto& [cell, piece] : volunteer->cells) {
        const std::span<float> part = piece.parameters();
        std::copy(part.begin(), part.end(),
                  whole.begin() + static_cast<std::ptrdiff_t>(cells[static_cast<std::size_t>(cell)].offset));
      }
    }
    return whole;
  }

  wire::RunManifest manifest;
  std::vector<wire::Cell> cells;
  training::Dataset data;
  Events events;
  std::vector<std::unique_ptr<Volunteer>> volunteers;
};

routing::WindowOptions window_options(const wire::RunManifest& manifest) {
  return {.model = manifest.model, .in_flight_max = 2};
}

Volunteer::Volunteer(Swarm& in, std::size_t which)
    : swarm(in),
      number(which),
      trunk(in.manifest, wire::kTrunk),
      trunk_tasks(trunk.manifest.model, trunk.parameters(), trunk.gradient, /*bf16=*/false),
      cell_tasks(in.manifest.model, /*bf16=*/false),
      tray(routing::Window::tray_floats(window_options(in.manifest), kMicroBatch)) {
  for (std::size_t i = 0; i < swarm.cells.size(); ++i) {
    const auto cell = static_cast<wire::CellIndex>(i);
    std::vector<PeerId> who;
    for (std::size_t other = 0; other < kVolunteers; ++other) {
      if (holds(other, i)) who.push_back(peer(other));
    }
    holders.set(cell, who);
    if (!holds(number, i)) continue;
    Piece& piece = cells.try_emplace(cell, swarm.manifest, cell).first->second;
    REQUIRE(cell_tasks.hold(cell, piece.parameters(), piece.gradient).ok());
  }
}

void Volunteer::begin_window(RoundIndex round) {
  window = std::make_unique<routing::Window>(window_options(swarm.manifest), Swarm::samples(number, round), holders,
                                             tray, *this);
  window->start();
}

Result<double> Volunteer::compute(const routing::TrunkTask& task) {
  const auto id = static_cast<training::MicroBatchId>(task.step.micro_batch);
  const training::TrunkTasks::Answers answers{task.experts, task.places, task.results};
  switch (task.step.way) {
    case routing::Way::forth:
      if (task.step.segment > 0) {
        STARLING_TRY(trunk_tasks.go_on(id, answers, {task.inputs, task.outputs}));
        return 0.0;
      } else {
        STARLING_ASSIGN(models::Batch batch, training::sample_batch(swarm.manifest, swarm.data, task.samples));
        STARLING_TRY(trunk_tasks.begin(id, std::move(batch), {task.inputs, task.outputs}));
        return 0.0;
      }
    case routing::Way::turn:
      return trunk_tasks.turn(id, answers);
    case routing::Way::back:
      STARLING_TRY(trunk_tasks.back(id, task.inputs_gradient, task.results));
      return 0.0;
    case routing::Way::judge:
      break;  // nobody measures here
  }
  return 0.0;
}

void Volunteer::start_task(const routing::TrunkTask& task) {
  swarm.events.add([this, task](TimePoint now) {
    const Result<double> loss = compute(task);
    REQUIRE_MESSAGE(loss.ok(), loss.error().message);
    window->on_computed(now, *loss);
  });
}

void Volunteer::send_call(const routing::OutgoingCall& call) {
  Volunteer* holder = nullptr;
  for (const auto& other : swarm.volunteers) {
    if (peer(other->number) == call.send.holder) holder = other.get();
  }
  REQUIRE(holder != nullptr);
  const auto copy = [](const auto& span) { return std::vector(span.begin(), span.end()); };
  swarm.events.add([this, holder, send = call.send, cell = call.cell, is_back = call.is_back,
                    counts = copy(call.counts), rows = copy(call.rows), inputs = copy(call.inputs),
                    upstream = copy(call.upstream), exchange = call.kept.value_or(call.send.exchange),
                    is_kept = call.kept.has_value()](TimePoint) {
    std::vector<float>& input = holder->kept[{number, exchange, cell}];
    if (!is_kept) input = inputs;
    const training::CellTasks::Units units{counts, rows, input};
    std::vector<float> answer(is_back ? input.size()
                                      : rows.size() * static_cast<std::size_t>(swarm.manifest.model.width));
    const Status done = is_back ? holder->cell_tasks.backward(cell, units, upstream, answer)
                                : holder->cell_tasks.forward(cell, units, answer);
    REQUIRE_MESSAGE(done.ok(), done.error().message);
    swarm.events.add(
        [this, send, answer](TimePoint now) { window->on_answer(now, send.exchange, send.part, send.holder, answer); });
  });
}

// One process with the whole model, one batch a round.
struct SingleProcess {
  explicit SingleProcess(const wire::RunManifest& run) : whole(run, wire::kWholeModel) {
    model =
        models::make_model(run.model, training::vector_view(whole.parameters()), training::vector_view(whole.gradient));
  }

  double round(RoundIndex round, const training::Dataset& data) {
    std::fill(whole.gradient.begin(), whole.gradient.end(), 0.0F);
    double loss = 0;
    SampleCount samples = 0;
    for (std::size_t volunteer = 0; volunteer < kVolunteers; ++volunteer) {
      for (const wire::SampleRange& range : Swarm::samples(volunteer, round)) {
        const at::Tensor lost = model->loss(training::sample_batch(whole.manifest, data, range).value());
        lost.backward();
        loss += lost.item<double>();
        samples += range.count;
      }
    }
    for (float& value : whole.gradient) value /= static_cast<float>(samples);
    REQUIRE(whole.optimizer->step(round, whole.gradient, whole.state, *whole.journal).ok());
    return loss / static_cast<double>(samples);
  }

  Piece whole;
  std::unique_ptr<models::Model> model;
};

double distance(std::span<const float> a, std::span<const float> b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

}  // namespace

TEST_CASE("fifty rounds of a model in cells end where one process with the whole model ends") {
  const std::vector<std::uint8_t> text = golden::words(3000);
  const wire::RunManifest manifest = tiny_run();
  Swarm swarm(manifest, text);
  SingleProcess single(manifest);
  const std::vector<float> initial = swarm.parameters();
  CHECK(distance(initial, single.whole.parameters()) == 0);
  double first = 0, last = 0;
  for (RoundIndex round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    last = swarm.round(round);
    CHECK(last == doctest::Approx(single.round(round, swarm.data)).epsilon(1e-4));
    if (round == 0) first = last;
    if (round % 10 == 9) {
      MESSAGE("after " << round + 1 << " rounds, loss " << last << ", largest difference of a parameter: "
                       << distance(swarm.parameters(), single.whole.parameters()));
    }
  }
  CHECK(last < 0.8 * first);
  CHECK(distance(swarm.parameters(), single.whole.parameters()) <= 1e-5);
  CHECK(distance(swarm.parameters(), initial) > 1e-2);
}
