#include "tests/sim/local_methods.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/averaging/codec.h"
#include "client/optim/fragment_step.h"
#include "client/optim/gossip_step.h"
#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "client/rounds/fragment_sums.h"
#include "shared/base/verify.h"
#include "shared/manifest/algorithms.h"
#include "shared/run/fragments.h"
#include "shared/state/initial_state.h"
#include "shared/swarm/group_formation.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {
namespace {

std::string_view composition_of(LocalMethod method) {
  switch (method) {
    case LocalMethod::fed_avg:
      return "local-sgd";
    case LocalMethod::diloco:
      return "diloco";
    case LocalMethod::streaming_diloco:
      return "streaming-diloco";
    case LocalMethod::eager_diloco:
      return "eager-diloco";
    case LocalMethod::sparse_loco:
      return "sparseloco";
    case LocalMethod::gossip_pairs:
    case LocalMethod::noloco:
      return "noloco";
  }
  return {};
}

wire::RunManifest manifest_of(const LocalSetup& setup, std::uint64_t seed) {
  wire::RunManifest manifest;
  manifest.model = TeacherProblem::model();
  manifest::find_algorithm(composition_of(setup.method))->compose(manifest);
  if (setup.method == LocalMethod::gossip_pairs) {
    manifest.local->mixing_rate = manifest.local->mixing_pull = 1;
    manifest.local->mixing_momentum = 0;
  }
  if (setup.method == LocalMethod::streaming_diloco) manifest.local->fragments = kFragments;
  manifest.round.delay_parameter_updates = setup.delay > 0;
  manifest.seed = seed + 1;  // seed of the first parameters
  manifest.local->optimizer = TeacherProblem::optimizer(wire::OptimizerKind::adamw);
  manifest.local->schedule = {
      .kind = wire::ScheduleKind::constant, .learning_rate = setup.learning_rate, .warmup_rounds = 0};
  return manifest;
}

struct Worker {
  Worker(const wire::RunManifest& manifest, std::size_t outer_state, std::size_t parameters)
      : agreed(outer_state),
        inner(wire::local_state_size(manifest)),
        steps(manifest, std::span(agreed).first(parameters), inner),
        displacement(parameters),
        left_out(manifest.round.error_feedback > 0 ? parameters : 0),
        gossip(*manifest.local, parameters),
        sent(parameters) {
    if (wire::fragments(manifest) > 1) fragments.emplace(manifest);
    state::fill_initial_state(manifest, agreed);
    steps.begin();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::vector<float> agreed;  // [parameters | the common step's moments]
  std::vector<float> inner;   // own steps' vectors
  optim::LocalSteps steps;
  std::vector<float> displacement;                // from the agreed parameters to the own ones, summed by samples
  std::optional<rounds::FragmentSums> fragments;  // sums of these, where meetings average fragments
  std::vector<float> left_out;                    // left out by the codec so far
  optim::GossipStep gossip;
  std::vector<float> sent;  // sent to be averaged
};

class LocalTraining {
 public:
  LocalTraining(const LocalSetup& setup, std::uint64_t seed)
      : setup_(setup),
        manifest_(manifest_of(setup, seed)),
        problem_(seed),
        outer_(manifest_),
        pairs_(swarm::make_formation({swarm::FormationSpec::Kind::random_groups, {2}},
                                     std::vector<double>(setup.workers, 1.0), seed)) {
    for (std::size_t i = 0; i < setup.workers; ++i) {
      workers_.push_back(std::make_unique<Worker>(manifest_, outer_.state_size(), outer_.parameter_count()));
    }
  }

  Status step() {
    if (steps_ == step_due_) STARLING_TRY(end_averaging());
    std::vector<float> gradient(outer_.parameter_count());
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = *workers_[i];
      const std::uint64_t turn = static_cast<std::uint64_t>(steps_) * workers_.size() + i;
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      problem_.add_gradient(worker.steps.parameters(), turn * static_cast<std::uint64_t>(setup_.batch), setup_.batch,
                            gradient);
      STARLING_TRY(worker.steps.step(steps_, setup_.batch, gradient));
      const std::span<float> sum = worker.fragments ? worker.fragments->into(false) : std::span(worker.displacement);
      for (std::size_t k = 0; k < gradient.size(); ++k) sum[k] += gradient[k];
      if (worker.fragments) worker.fragments->on_batch(setup_.batch);
    }
    ++steps_;
    return steps_ % setup_.interval == 0 ? meet(steps_ / setup_.interval) : Status();
  }

  // Ends the last averaging.
  Status finish() { return step_due_ >= 0 ? end_averaging() : Status(); }

  [[nodiscard]] double excess_loss() {
    std::vector<float> mean(outer_.parameter_count());
    for (const auto& worker : workers_) add_share(worker->steps.parameters(), workers_.size(), mean);
    return problem_.excess_loss(mean);
  }

 private:
  // Numbers of meetings begin with 1.
  Status meet(int number) {
    const bool in_pairs = manifest_.local->partners.has_value();
    if (!in_pairs) return average(number - 1, 1);
    if (setup_.mean_every > 0 && number % setup_.mean_every == 0) {
      return average(number / setup_.mean_every - 1, setup_.mean_every);
    }
    mix();
    return {};
  }

  std::span<float> agreed(Worker& worker) const { return std::span(worker.agreed).first(outer_.parameter_count()); }

  static void add_share(std::span<const float> values, std::size_t of, std::span<float> sum) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k] / static_cast<float>(of);
  }

  // Keeps the part of the displacement that the others get; the rest comes later.
  void encode(Worker& worker) {
    const averaging::Codec codec = manifest_.round.contribution_codec.value_or(manifest_.round.codec);
    const auto kept = static_cast<float>(manifest_.round.error_feedback);
    std::vector<float>& values = worker.displacement;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += kept * worker.left_out[k];
    bytes_.resize(averaging::encoded_bytes(codec, values.size()));
    averaging::encode(codec, values, bytes_);
    worker.left_out = values;
    VERIFY(averaging::decode(codec, bytes_, values).ok());
    for (std::size_t k = 0; k < values.size(); ++k) worker.left_out[k] -= values[k];
  }

  // Returns a worker's contribution to the round: its mean displacement since its last contribution.
  std::span<const float> bring(Worker& worker, RoundIndex round, int meetings) {
    if (worker.fragments) return worker.fragments->cut(round, 1, 1);
    for (float& value : worker.displacement) value /= static_cast<float>(setup_.batch * setup_.interval * meetings);
    if (manifest_.round.error_feedback > 0) encode(worker);
    return worker.displacement;
  }

  // Averages a round of all, `meetings` after the one before.
  Status average(RoundIndex round, int meetings) {
    round_ = round;
    mean_displacement_.assign(wire::fragment_floats(manifest_), 0.0F);
    for (const auto& worker : workers_) {
      const std::span<const float> own = bring(*worker, round, meetings);
      add_share(own, workers_.size(), mean_displacement_);
      if (setup_.delay > 0) STARLING_TRY(go_on(*worker, own));
      std::fill(worker->displacement.begin(), worker->displacement.end(), 0.0F);
    }
    step_due_ = steps_ + setup_.delay;
    return setup_.delay > 0 ? Status() : end_averaging();
  }

  // Goes on with own steps while a round is averaged, to which the worker brings `own`.
  Status go_on(Worker& worker, std::span<const float> own) {
    if (!manifest_.local->eager) {
      worker.steps.cut(round_);
      return {};
    }
    std::vector<float> expected(outer_.parameter_count());
    STARLING_TRY(outer_.parameters_after(round_, own, worker.agreed, expected));
    worker.steps.cut_to(expected);
    return {};
  }

  // Takes the common step.
  Status end_averaging() {
    step_due_ = -1;
    for (const auto& worker : workers_) {
      journal_->clear();
      STARLING_TRY(worker->fragments ? optim::step_fragment(manifest_, round_, mean_displacement_, worker->agreed)
                                     : outer_.step(round_, mean_displacement_, worker->agreed, *journal_));
      if (setup_.delay > 0) {
        worker->steps.merge();
      } else {
        worker->steps.begin();
        worker->gossip.begin_round();
      }
    }
    return {};
  }

  void mix() {
    const swarm::Groups groups = pairs_->form(std::vector<std::uint8_t>(workers_.size(), 1));
    for (std::size_t g = 0; g < groups.count(); ++g) {
      std::vector<float> mixed(outer_.parameter_count());
      for (const swarm::PeerIndex peer : groups.group(g)) {
        Worker& worker = *workers_[peer];
        worker.gossip.send_out(agreed(worker), worker.steps.parameters(), worker.sent);
        add_share(worker.sent, groups.group(g).size(), mixed);
      }
      for (const swarm::PeerIndex peer : groups.group(g)) {
        Worker& worker = *workers_[peer];
        worker.gossip.take_in(worker.sent, mixed, worker.steps.parameters());
      }
    }
  }

  LocalSetup setup_;
  wire::RunManifest manifest_;
  TeacherProblem problem_;
  optim::Optimizer outer_;
  std::unique_ptr<swarm::GroupFormation> pairs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint8_t> bytes_;
  int steps_ = 0;      // taken by everybody
  int step_due_ = -1;  // the common step is taken before this one of everybody's; -1: nothing is being averaged
  RoundIndex round_ = 0;
  std::vector<float> mean_displacement_;  // for that round and its fragment
  std::unique_ptr<optim::StepJournal> journal_ = std::make_unique<optim::StepJournal>();
};

}  // namespace

std::string_view to_string(LocalMethod method) {
  switch (method) {
    case LocalMethod::fed_avg:
      return "FedAvg";
    case LocalMethod::diloco:
      return "DiLoCo";
    case LocalMethod::streaming_diloco:
      return "streaming DiLoCo";
    case LocalMethod::eager_diloco:
      return "eager DiLoCo";
    case LocalMethod::sparse_loco:
      return "SparseLoCo";
    case LocalMethod::gossip_pairs:
      return "gossip in pairs";
    case LocalMethod::noloco:
      return "NoLoCo";
  }
  return {};
}

Result<double> train_locally(const LocalSetup& setup, std::uint64_t seed, const std::function<void()>& on_step) {
  VERIFY(setup.workers > 0 && setup.batch > 0 && setup.interval > 0 && setup.steps % setup.interval == 0);
  VERIFY(setup.delay >= 0 && setup.delay < setup.interval);
  LocalTraining training(setup, seed);
  for (int step = 0; step < setup.steps; ++step) {
    STARLING_TRY(training.step());
    if (on_step) on_step();
  }
  STARLING_TRY(training.finish());
  return training.excess_loss();
}

}  // namespace starling::sim
