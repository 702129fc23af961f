#include "tests/sim/elastic.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "client/optim/optimizer.h"
#include "shared/state/initial_state.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {
namespace {

using averaging::ContributorRun;
using averaging::Rank;

constexpr std::int64_t kSegmentFloats = 512;
constexpr std::size_t kDeathEvent = 160;  // some segments of the dying member have been delivered, others have not

// A peer's plan: how much it computes in a round, and in which tenths of all rounds it is present.
struct Visitor {
  int batch = 0;                           // in even rounds; one less in odd ones
  std::vector<std::pair<int, int>> stays;  // from the first tenth to before the second
  std::optional<int> dies_in;              // the tenth in whose first round it dies; it is back in the next round
};
const std::vector<Visitor> kVisitors{
    {9, {{0, 4}, {6, 10}}, {}},  // leaves and comes back
    {4, {{0, 10}}, {}},         {6, {{1, 7}, {8, 10}}, 6}, {13, {{2, 9}}, {}}, {2, {{5, 10}}, {}},
};

wire::RunManifest manifest_of(const ElasticSetup& setup, std::uint64_t seed) {
  wire::RunManifest manifest;
  manifest.model = TeacherProblem::model();
  manifest.optimizer = TeacherProblem::optimizer(setup.optimizer);
  manifest.schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = setup.learning_rate, .warmup_rounds = 0};
  manifest.seed = seed + 1;  // seed of the first parameters
  return manifest;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

struct Replica {
  std::size_t number = 0;
  std::vector<float> state;  // [parameters | moments]
  bool there = false;        // was present in the round before
};

class ElasticTraining {
 public:
  ElasticTraining(const ElasticSetup& setup, std::uint64_t seed)
      : setup_(setup), optimizer_(manifest_of(setup, seed)), problem_(seed), process_(optimizer_.state_size()) {
    state::fill_initial_state(manifest_of(setup, seed), process_);
    first_ = process_;
    for (std::size_t number = 0; number < kVisitors.size(); ++number) replicas_.push_back({number, process_, false});
    result_.members_least = static_cast<int>(kVisitors.size());
  }

  Result<ElasticResult> run() {
    for (int round = 0; round < setup_.rounds; ++round) {
      gather(round);
      STARLING_ASSIGN(const std::vector<ContributorRun> runs, average(round));
      STARLING_TRY(follow(round, runs));
      STARLING_TRY(compare());
    }
    result_.moved = largest_difference(parameters(process_), parameters(first_));
    result_.swarm_excess_loss = problem_.excess_loss(parameters(present_.front()->state));
    result_.process_excess_loss = problem_.excess_loss(parameters(process_));
    return result_;
  }

 private:
  [[nodiscard]] std::span<const float> parameters(const std::vector<float>& state) const {
    return std::span(state).first(optimizer_.parameter_count());
  }
  [[nodiscard]] int tenth(int round) const { return round * 10 / setup_.rounds; }
  [[nodiscard]] bool is_first_of_tenth(int round) const { return round == 0 || tenth(round - 1) < tenth(round); }
  [[nodiscard]] static int batch_of(const Replica& replica, int round) {
    return kVisitors[replica.number].batch - round % 2;
  }

  // A newcomer copies parameters and moments from one that was present.
  void gather(int round) {
    const auto donor = std::find_if(replicas_.begin(), replicas_.end(), [](const Replica& each) { return each.there; });
    const std::vector<float> state = donor == replicas_.end() ? process_ : donor->state;
    present_.clear();
    for (Replica& replica : replicas_) {
      const auto& stays = kVisitors[replica.number].stays;
      const bool comes = std::any_of(stays.begin(), stays.end(), [&](const auto& stay) {
        return stay.first <= tenth(round) && tenth(round) < stay.second;
      });
      if (comes && !replica.there) {
        replica.state = state;
        if (round > 0) ++result_.joins;
      }
      if (replica.there && !comes) ++result_.leaves;
      replica.there = comes;
      if (comes) present_.push_back(&replica);
    }
    result_.members_least = std::min(result_.members_least, static_cast<int>(present_.size()));
    result_.members_most = std::max(result_.members_most, static_cast<int>(present_.size()));
  }

  // Adds the gradient of the samples that a replica computes in the round.
  void add_gradient(const Replica& replica, int round, std::span<const float> at, std::span<float> sum) const {
    constexpr std::uint64_t kPlaces = 64;  // more than any batch
    const std::uint64_t turn = static_cast<std::uint64_t>(round) * kVisitors.size() + replica.number;
    problem_.add_gradient(at, turn * kPlaces, batch_of(replica, round), sum);
  }

  // Returns the contributors of each stretch of coordinates, by rank among those present.
  Result<std::vector<ContributorRun>> average(int round) {
    averaging::GroupOptions options;
    options.members = present_.size();
    options.vector_floats = static_cast<std::int64_t>(optimizer_.parameter_count());
    options.segment_floats = kSegmentFloats;
    options.seed = static_cast<unsigned>(round);
    std::vector<averaging::Fault> faults;
    for (Rank rank = 0; rank < present_.size(); ++rank) {
      options.weights.push_back(batch_of(*present_[rank], round));
      result_.samples += batch_of(*present_[rank], round);
      options.shares.push_back(1.0 + static_cast<double>(present_[rank]->number));
      const std::optional<int> dies_in = kVisitors[present_[rank]->number].dies_in;
      if (dies_in != tenth(round) || !is_first_of_tenth(round)) continue;
      faults.push_back({.kind = averaging::Fault::Kind::kill_dirty, .rank = rank, .event = kDeathEvent});
      ++result_.deaths;
    }
    averaging::InMemoryGroup group(options, faults);
    for (Rank rank = 0; rank < present_.size(); ++rank) {
      std::fill(group.input(rank).begin(), group.input(rank).end(), 0.0F);
      add_gradient(*present_[rank], round, parameters(present_[rank]->state), group.input(rank));
    }
    group.run();
    std::vector<ContributorRun> runs;
    for (Rank rank = 0; rank < present_.size(); ++rank) {
      present_[rank]->there = group.alive(rank);
      if (!group.alive(rank)) continue;
      const averaging::AveragingOutcome* outcome = group.outcome(rank);
      if (outcome == nullptr || outcome->verdict != averaging::AveragingOutcome::Verdict::averaged) {
        return Error{ErrorCode::internal, "a survivor has no result"};
      }
      journal_->clear();
      STARLING_TRY(optimizer_.step(round, group.output(rank), present_[rank]->state, *journal_));
      runs = outcome->contributors;
    }
    return runs;
  }

  // Takes the process's step, on the swarm's samples: for every stretch of coordinates, exactly those that the swarm's
  // result carries there. It is one batch, except in a round in which somebody died halfway.
  Status follow(int round, const std::vector<ContributorRun>& runs) {
    std::vector<float> mean(optimizer_.parameter_count());
    for (const ContributorRun& run : runs) {
      std::vector<float> sum(mean.size());
      float samples = 0;
      for (Rank rank = 0; rank < present_.size(); ++rank) {
        if (!run.members.test(rank)) continue;
        add_gradient(*present_[rank], round, parameters(process_), sum);
        samples += static_cast<float>(batch_of(*present_[rank], round));
      }
      for (std::int64_t i = run.begin; i < run.begin + run.floats; ++i) {
        mean[static_cast<std::size_t>(i)] = sum[static_cast<std::size_t>(i)] / samples;
      }
    }
    journal_->clear();
    return optimizer_.step(round, mean, process_, *journal_);
  }

  Status compare() {
    std::erase_if(present_, [](const Replica* replica) { return !replica->there; });
    for (const Replica* replica : present_) {
      if (replica->state != present_.front()->state) {
        return Error{ErrorCode::internal, "two replicas hold different states"};
      }
    }
    result_.apart.push_back(largest_difference(parameters(present_.front()->state), parameters(process_)));
    return {};
  }

  ElasticSetup setup_;
  optim::Optimizer optimizer_;
  TeacherProblem problem_;
  std::vector<float> process_;  // the single process's state
  std::vector<float> first_;
  std::vector<Replica> replicas_;
  std::vector<Replica*> present_;
  std::unique_ptr<optim::StepJournal> journal_ = std::make_unique<optim::StepJournal>();
  ElasticResult result_;
};

}  // namespace

Result<ElasticResult> train_elastically(const ElasticSetup& setup, std::uint64_t seed) {
  return ElasticTraining(setup, seed).run();
}

}  // namespace starling::sim
