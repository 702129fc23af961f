#include "tests/sim/emulated_cells.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "client/optim/optimizer.h"
#include "shared/base/clock.h"
#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/swarm/random_stream.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {
namespace {

constexpr int kAroundQuarter = 4;  // checkpoints on each side of a quarter that its accuracy is the mean of

// Independent streams of random numbers, of one seed.
enum class Stream : std::uint64_t { parameters = 1, pictures, delays, failures, evaluation };

swarm::RandomStream stream(std::uint64_t seed, Stream which, std::uint64_t index = 0) {
  return swarm::RandomStream(mix64(mix64(seed) ^ static_cast<std::uint64_t>(which)) ^ index);
}

optim::Optimizer optimizer_of(std::size_t parameters, double rate, int updates) {
  const wire::ScheduleOptions schedule{.kind = wire::ScheduleKind::cosine,
                                       .learning_rate = rate,
                                       .warmup_rounds = 0,
                                       .total_rounds = updates,
                                       .final_fraction = 0};
  wire::ParameterInfo all;
  all.shape = {static_cast<std::int64_t>(parameters)};
  all.count = parameters;
  return {TeacherProblem::optimizer(wire::OptimizerKind::adamw), schedule, {all}};
}

// An expert at its holder, beside its vectors.
struct Holding {
  int inputs = 0;          // gathered since the last step
  int updates_waited = 0;  // since the first of them
  RoundIndex steps = 0;
  std::int64_t inputs_ever = 0;
};

// The experts of a layer.
struct Layer {
  std::vector<std::vector<float>> states;  // [parameters | moments]
  std::vector<std::vector<float>> gradients;
  std::vector<Holding> holdings;
};

// A caller and its step.
struct Caller {
  std::vector<float> trunk;                         // the parameters that the step found
  std::vector<float> gradient;                      // the trunk's
  std::vector<std::vector<float>> dense_gradients;  // a dense model's experts', by layer
  std::vector<std::size_t> pictures;
  std::vector<PictureWay> ways;
  std::vector<RoundIndex> steps_before;  // their steps when experts were called, [layers, pictures, active]
  std::int64_t updates_before = 0;       // when the step began
  bool is_calling = false;
  std::size_t calls = 0;  // made in this step
  Duration between{};     // time from one call to the next
};

class CellsTraining {
 public:
  CellsTraining(const CellsSetup& setup, const Fashion& data, std::uint64_t seed)
      : setup_(setup),
        data_(data),
        seed_(seed),
        trunk_optimizer_(optimizer_of(setup.shape.trunk_parameters(), setup.trunk_rate, setup.updates)),
        expert_optimizer_(optimizer_of(setup.shape.expert_parameters(), setup.expert_rate, setup.updates)),
        trunk_(trunk_optimizer_.state_size()),
        layers_(setup.shape.layers),
        callers_(static_cast<std::size_t>(setup.callers)),
        failures_(stream(seed, Stream::failures)),
        held_(setup.shape.experts()),
        pixels_(kFashionPixels) {
    draw_parameters();
    for (std::size_t i = 0; i < callers_.size(); ++i) {
      Caller& caller = callers_[i];
      caller.ways.assign(static_cast<std::size_t>(setup.batch), PictureWay(setup.shape));
      caller.pictures.resize(caller.ways.size());
      caller.steps_before.resize(caller.ways.size() * layers_.size() * static_cast<std::size_t>(setup.shape.active));
      const double part = static_cast<double>(i) / static_cast<double>(callers_.size());
      queue_.push(TimePoint{} + from_seconds(kComputingMs / 1e3 * part), static_cast<std::uint32_t>(i));
    }
  }

  Result<CellsResult> run(const std::function<void()>& on_update) {
    CellsResult result;
    while (updates_ < setup_.updates) {
      VERIFY(queue_.ready(kNever));
      const EventQueue::Due due = queue_.pop();
      Caller& caller = callers_[due.place];
      const std::int64_t before = updates_;
      STARLING_ASSIGN(const Duration wait, go_on(caller));
      queue_.push(due.when + wait, due.place);
      if (updates_ == before) continue;
      if (on_update) on_update();
      if (updates_ % (setup_.updates / kCellsCheckpoints) == 0) {
        result.accuracies.push_back(accuracy(setup_.evaluated / 10));
      }
    }
    constexpr int kQuarter = kCellsCheckpoints / 4 - 1;
    for (int k = kQuarter - kAroundQuarter; k <= kQuarter + kAroundQuarter; ++k) {
      result.at_quarter += result.accuracies[static_cast<std::size_t>(k)] / (2 * kAroundQuarter + 1);
    }
    result.at_end = accuracy(setup_.evaluated);
    result.trunk_staleness = static_cast<double>(trunk_steps_missed_) / static_cast<double>(updates_);
    result.expert_staleness = static_cast<double>(expert_steps_missed_) / static_cast<double>(expert_inputs_);
    result.busiest = busiest();
    return result;
  }

 private:
  void draw_parameters() {
    swarm::RandomStream random = stream(seed_, Stream::parameters);
    draw_trunk(setup_.shape, random, std::span(trunk_).first(trunk_optimizer_.parameter_count()));
    for (Layer& layer : layers_) {
      layer.holdings.resize(setup_.shape.experts());
      layer.states.assign(setup_.shape.experts(), std::vector<float>(expert_optimizer_.state_size()));
      layer.gradients.assign(setup_.shape.experts(), std::vector<float>(expert_optimizer_.parameter_count()));
      for (std::vector<float>& state : layer.states) {
        draw_expert(setup_.shape, random, std::span(state).first(expert_optimizer_.parameter_count()));
      }
    }
  }

  // Does what is due at a caller. Returns how long it waits for the next thing.
  Result<Duration> go_on(Caller& caller) {
    if (!caller.is_calling) {
      begin(caller);
      return caller.between;
    }
    if (caller.calls < 2 * layers_.size()) {
      STARLING_TRY(call(caller, caller.calls++));
      return caller.between;
    }
    STARLING_TRY(end(caller));
    return from_seconds(kComputingMs / 1e3);
  }

  void begin(Caller& caller) {
    const auto number = static_cast<std::uint64_t>(steps_begun_++);
    swarm::RandomStream pictures = stream(seed_, Stream::pictures, number);
    const std::span<const float> trunk = std::span(trunk_).first(trunk_optimizer_.parameter_count());
    caller.trunk.assign(trunk.begin(), trunk.end());
    caller.gradient.assign(trunk.size(), 0.0F);
    for (std::size_t k = 0; k < caller.ways.size(); ++k) {
      caller.pictures[k] = pictures.below(static_cast<std::uint32_t>(data_.training.size()));
      data_.training.read(caller.pictures[k], pixels_);
      caller.ways[k].begin(caller.trunk, pixels_);
    }
    caller.updates_before = updates_;
    caller.is_calling = true;
    caller.calls = setup_.is_dense ? 2 * layers_.size() : 0;
    if (setup_.is_dense) compute_dense(caller);
    // The delay's last part brings the last call's result back.
    const double delay_ms = -setup_.delay_ms * std::log(1 - stream(seed_, Stream::delays, number).uniform());
    const auto parts = static_cast<double>(setup_.is_dense ? 1 : 2 * layers_.size() + 1);
    caller.between = from_seconds(delay_ms / 1e3 / parts);
  }

  // Goes all the way with the model as it is now. The experts' gradient is kept until the step ends.
  void compute_dense(Caller& caller) {
    caller.dense_gradients.assign(layers_.size(), std::vector<float>(expert_optimizer_.parameter_count()));
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) call_there(caller, layer);
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
      call_back(caller, layer, std::span(&caller.dense_gradients[layer], 1));
    }
  }

  // The call with this number: through the layers, and back again.
  Status call(Caller& caller, std::size_t number) {
    if (number < layers_.size()) {
      call_there(caller, number);
      return {};
    }
    const std::size_t at = 2 * layers_.size() - 1 - number;
    Layer& layer = layers_[at];
    call_back(caller, at, layer.gradients);
    for (const PictureWay& way : caller.ways) {
      for (const std::int32_t expert : way.chosen(at)) ++layer.holdings[static_cast<std::size_t>(expert)].inputs;
    }
    for (std::size_t e = 0; e < layer.holdings.size(); ++e) {
      if (layer.holdings[e].inputs >= setup_.inputs_to_step) STARLING_TRY(step(layer, e));
    }
    return {};
  }

  void call_there(Caller& caller, std::size_t layer) {
    std::size_t place = layer * caller.ways.size() * static_cast<std::size_t>(setup_.shape.active);
    for (PictureWay& way : caller.ways) {
      draw_failures(failures_);
      way.choose(caller.trunk, layer, held_);
      way.forward(layer, layers_[layer].states);
      for (const std::int32_t expert : way.chosen(layer)) {
        caller.steps_before[place++] = layers_[layer].holdings[static_cast<std::size_t>(expert)].steps;
      }
    }
  }

  void call_back(Caller& caller, std::size_t layer, std::span<std::vector<float>> gradients) {
    for (std::size_t k = 0; k < caller.ways.size(); ++k) {
      PictureWay& way = caller.ways[k];
      if (layer + 1 == layers_.size()) {
        way.end(caller.trunk, data_.training.classes[caller.pictures[k]], caller.gradient);
      }
      way.backward(layer, caller.trunk, layers_[layer].states, caller.gradient, gradients);
    }
    if (!setup_.is_dense) count_inputs(caller, layer);
  }

  // Counts inputs of a layer's experts whose gradient they get now.
  void count_inputs(const Caller& caller, std::size_t layer) {
    std::size_t place = layer * caller.ways.size() * static_cast<std::size_t>(setup_.shape.active);
    for (const PictureWay& way : caller.ways) {
      for (const std::int32_t expert : way.chosen(layer)) {
        Holding& holding = layers_[layer].holdings[static_cast<std::size_t>(expert)];
        expert_steps_missed_ += holding.steps - caller.steps_before[place++];
        ++holding.inputs_ever;
        ++expert_inputs_;
      }
    }
  }

  Status end(Caller& caller) {
    for (std::size_t k = 0; k < caller.ways.size(); ++k) {
      data_.training.read(caller.pictures[k], pixels_);
      caller.ways[k].finish(pixels_, caller.gradient);
    }
    journal_->clear();
    STARLING_TRY(trunk_optimizer_.step(updates_, caller.gradient, trunk_, *journal_));
    STARLING_TRY(setup_.is_dense ? step_dense(caller) : step_those_that_waited());
    trunk_steps_missed_ += updates_ - caller.updates_before;
    ++updates_;
    caller.is_calling = false;
    return {};
  }

  Status step_dense(Caller& caller) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      count_inputs(caller, l);
      layers_[l].gradients[0].swap(caller.dense_gradients[l]);
      STARLING_TRY(step(layers_[l], 0));
    }
    return {};
  }

  Status step_those_that_waited() {
    for (Layer& layer : layers_) {
      for (std::size_t e = 0; e < layer.holdings.size(); ++e) {
        Holding& holding = layer.holdings[e];
        if (holding.inputs > 0 && ++holding.updates_waited >= setup_.updates_to_step) STARLING_TRY(step(layer, e));
      }
    }
    return {};
  }

  Status step(Layer& layer, std::size_t expert) {
    Holding& holding = layer.holdings[expert];
    journal_->clear();
    STARLING_TRY(expert_optimizer_.step_at(expert_optimizer_.learning_rate(updates_), holding.steps,
                                           layer.gradients[expert], layer.states[expert], *journal_));
    std::fill(layer.gradients[expert].begin(), layer.gradients[expert].end(), 0.0F);
    ++holding.steps;
    holding.inputs = holding.updates_waited = 0;
    return {};
  }

  void draw_failures(swarm::RandomStream& random) {
    for (std::size_t e = 0; e < held_.size(); ++e) {
      held_[e] = setup_.failures <= 0 || random.uniform() >= setup_.failures;
    }
  }

  double accuracy(std::size_t pictures) {
    const std::span<const float> trunk = std::span(trunk_).first(trunk_optimizer_.parameter_count());
    swarm::RandomStream failures = stream(seed_, Stream::evaluation);
    PictureWay way(setup_.shape);
    std::size_t right = 0;
    for (std::size_t k = 0; k < pictures; ++k) {
      data_.held_out.read(k, pixels_);
      way.begin(trunk, pixels_);
      for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
        draw_failures(failures);
        way.choose(trunk, layer, held_);
        way.forward(layer, layers_[layer].states);
      }
      if (way.likeliest(trunk) == data_.held_out.classes[k]) ++right;
    }
    return static_cast<double>(right) / static_cast<double>(pictures);
  }

  [[nodiscard]] double busiest() const {
    double most = 0;
    for (const Layer& layer : layers_) {
      std::int64_t sum = 0, largest = 0;
      for (const Holding& holding : layer.holdings) {
        sum += holding.inputs_ever;
        largest = std::max(largest, holding.inputs_ever);
      }
      const double mean = static_cast<double>(sum) / static_cast<double>(layer.holdings.size());
      most = std::max(most, static_cast<double>(largest) / mean);
    }
    return most;
  }

  CellsSetup setup_;
  const Fashion& data_;
  std::uint64_t seed_;
  optim::Optimizer trunk_optimizer_, expert_optimizer_;
  std::vector<float> trunk_;  // [parameters | moments]
  std::vector<Layer> layers_;
  std::vector<Caller> callers_;
  EventQueue queue_;  // callers' next events, by place in `callers_`
  swarm::RandomStream failures_;
  std::vector<bool> held_;     // experts of a layer that answer
  std::vector<float> pixels_;  // those of the picture at hand
  std::int64_t updates_ = 0, steps_begun_ = 0;
  std::int64_t trunk_steps_missed_ = 0, expert_steps_missed_ = 0, expert_inputs_ = 0;
  std::unique_ptr<optim::StepJournal> journal_ = std::make_unique<optim::StepJournal>();
};

}  // namespace

Result<CellsResult> train_cells(const CellsSetup& setup, const Fashion& data, std::uint64_t seed,
                                const std::function<void()>& on_update) {
  VERIFY(setup.callers > 0 && setup.batch > 0 && setup.delay_ms >= 0);
  VERIFY(setup.updates > 0 && setup.updates % kCellsCheckpoints == 0);
  VERIFY(setup.evaluated >= 10 && setup.evaluated <= data.held_out.size());
  VERIFY(!setup.is_dense || setup.shape.experts() == 1);
  return CellsTraining(setup, data, seed).run(on_update);
}

}  // namespace starling::sim
