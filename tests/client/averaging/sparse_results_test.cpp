// Results that leave most values out, as contributions do: all members hold identical values, and nothing of any
// gradient is lost.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "client/averaging/error_feedback.h"
#include "client/averaging/segment_table.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;

namespace {

using Floats = std::vector<float>;

GroupOptions sparse_group(std::size_t members, std::int64_t floats, std::int64_t segment_floats = 5000) {
  GroupOptions options;
  options.members = members;
  options.vector_floats = floats;
  options.segment_floats = segment_floats;
  options.codec = "sparse";
  options.rest_in_input = true;
  return options;
}

// Volunteers that go from round to round; `kept` is 1, so that nothing may fade.
class Volunteers {
 public:
  Volunteers(std::size_t members, std::int64_t floats)
      : meant_(static_cast<std::size_t>(floats)), said_(meant_.size()) {
    for (std::size_t i = 0; i < members; ++i) feedback_.push_back(std::make_unique<ErrorFeedback>(meant_.size(), 1.0F));
  }

  // Everybody contributes the gradient that the group has drawn for it, and its residual.
  void contribute(InMemoryGroup& group) {
    for (Rank rank = 0; rank < group.size(); ++rank) {
      const std::span<const float> gradient = group.input(rank);
      const auto sent =
          feedback_[rank]->contribute(group.group(), rank, group.weight(rank) > 0 ? gradient : gradient.first(0));
      for (std::size_t i = 0; group.weight(rank) > 0 && i < meant_.size(); ++i) meant_[i] += gradient[i];
      if (!sent.empty()) group.input(rank).assign(sent.begin(), sent.end());
    }
  }

  void hear(InMemoryGroup& group) {
    for (const Rank rank : finishers(group)) {
      std::copy(group.input(rank).begin(), group.input(rank).end(), feedback_[rank]->rest().begin());
      feedback_[rank]->on_averaged(group.group().id, *group.outcome(rank));
    }
    const AveragingOutcome& outcome = *group.outcome(finishers(group).front());
    for (std::size_t i = 0; i < said_.size(); ++i) {
      said_[i] += static_cast<double>(outcome.weight_total) * group.output(finishers(group).front())[i];
    }
  }

  // The sum of residuals that everybody's next round would make up for.
  std::vector<double> residuals(const InMemoryGroup& group) {
    std::vector<double> sum(meant_.size());
    const Floats zeros(meant_.size(), 0.0F);
    for (const Rank rank : finishers(group)) {
      const auto next = feedback_[rank]->contribute(group.group(), rank, zeros);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    }
    return sum;
  }

  [[nodiscard]] const std::vector<double>& meant() const { return meant_; }
  [[nodiscard]] const std::vector<double>& said() const { return said_; }

 private:
  std::vector<std::unique_ptr<ErrorFeedback>> feedback_;
  std::vector<double> meant_;  // sums of all gradients
  std::vector<double> said_;   // sums of all results x weights
};

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// Contributors to a coordinate of the result.
const wire::RankSet& contributors_at(const AveragingOutcome& outcome, std::int64_t coordinate) {
  const auto holds = [coordinate](const ContributorRun& run) { return coordinate < run.begin + run.floats; };
  return std::find_if(outcome.contributors.begin(), outcome.contributors.end(), holds)->members;
}

// Number of members that finished and claim to have made a segment's result.
std::size_t reducers(const InMemoryGroup& group, SegmentIndex segment) {
  const std::vector<Rank> ranks = finishers(group);
  return static_cast<std::size_t>(
      std::count_if(ranks.begin(), ranks.end(), [&](Rank rank) { return group.outcome(rank)->reduced[segment]; }));
}

// After one round from nothing: in every segment whose contributors and reducer are still there, the result and their
// residuals add up to the contributions. Returns the number of such segments.
std::size_t check_nothing_lost(InMemoryGroup& group, const std::vector<Floats>& contributed, Volunteers& volunteers) {
  const std::vector<Rank> ranks = finishers(group);
  const AveragingOutcome& outcome = *group.outcome(ranks.front());
  const std::vector<double> residuals = volunteers.residuals(group);
  const SegmentTable table(group.group());
  std::size_t whole = 0;
  for (SegmentIndex segment = 0; segment < table.size(); ++segment) {
    const wire::RankSet& members = contributors_at(outcome, table[segment].begin);
    double weight = 0;
    bool all_here = true;
    for (Rank rank = 0; rank < group.size(); ++rank) {
      if (!members.test(rank)) continue;
      weight += static_cast<double>(group.weight(rank));
      all_here = all_here && std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    }
    CHECK(reducers(group, segment) <= 1);
    if (!all_here || reducers(group, segment) == 0) continue;
    ++whole;
    double error = 0;
    for (std::int64_t i = table[segment].begin; i < table[segment].begin + table[segment].floats; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double sum = 0;
      for (Rank rank = 0; rank < group.size(); ++rank) sum += members.test(rank) ? contributed[rank][at] : 0.0F;
      error = std::max(error, std::abs(sum - weight * group.output(ranks.front())[at] - residuals[at]));
    }
    CHECK(error < 1e-5 * static_cast<double>(group.size() * group.size()));
  }
  return whole;
}

struct Round {
  InMemoryGroup group;
  Volunteers volunteers;
  std::vector<Floats> contributed;

  Round(const GroupOptions& options, const std::vector<Fault>& faults)
      : group(options, faults), volunteers(options.members, options.vector_floats) {
    volunteers.contribute(group);
    for (Rank rank = 0; rank < group.size(); ++rank) contributed.push_back(group.input(rank));
    group.run();
    for (Rank rank = 0; rank < group.size(); ++rank) {
      if (group.alive(rank)) REQUIRE(group.outcome(rank) != nullptr);
    }
    REQUIRE(!finishers(group).empty());
    CHECK(disagreement(group) == "");
    CHECK(group.refusals().empty());
    volunteers.hear(group);
  }
  [[nodiscard]] bool averaged() const {
    const std::vector<Rank> ranks = finishers(group);
    return std::all_of(ranks.begin(), ranks.end(),
                       [this](Rank rank) { return group.outcome(rank)->verdict == Verdict::averaged; });
  }
};

}  // namespace

TEST_CASE("everybody holds the same sparse result, and over rounds all that was meant is said or still to be said") {
  constexpr std::int64_t kFloats = 30000;
  for (std::size_t members = 1; members <= 8; ++members) {
    CAPTURE(members);
    Volunteers volunteers(members, kFloats);
    constexpr unsigned kRounds = 6;
    for (unsigned round = 1; round <= kRounds; ++round) {
      GroupOptions options = sparse_group(members, kFloats);
      options.seed = 100 * round + static_cast<unsigned>(members);
      for (Rank rank = 0; rank < members; ++rank) {
        options.shares.push_back(1.0 + static_cast<double>((rank + round) % 3));  // parts change owners
        options.weights.push_back(rank > 0 && rank == round % members ? 0 : static_cast<SampleCount>(rank) + 1);
      }
      InMemoryGroup group(options);
      volunteers.contribute(group);
      group.run();
      REQUIRE(finishers(group).size() == members);
      CHECK(disagreement(group) == "");
      CHECK(group.outcome(0)->verdict == Verdict::averaged);
      const Floats& result = group.output(0);
      const auto zeros = std::count(result.begin(), result.end(), 0.0F);
      CHECK(kFloats - zeros <= kFloats / 64 + 64);
      volunteers.hear(group);
      if (round < kRounds) continue;
      std::vector<double> missing = volunteers.residuals(group);
      for (std::size_t i = 0; i < missing.size(); ++i) missing[i] += volunteers.said()[i] - volunteers.meant()[i];
      CHECK(largest(missing) < 1e-6 * kRounds * largest(volunteers.meant()));
    }
  }
}

TEST_CASE("a synchronisation takes less than a hundredth of the bytes that it takes in fp32") {
  constexpr std::int64_t kFloats = 2'000'000;
  for (std::size_t members = 2; members <= 8; ++members) {
    CAPTURE(members);
    const auto bytes = [members](const char* codec) {
      GroupOptions options = sparse_group(members, kFloats, wire::kSegmentFloatsDefault);
      options.codec = codec;
      InMemoryGroup group(options);
      group.run();
      std::int64_t sum = 0;
      for (Rank rank = 0; rank < members; ++rank) sum += group.outcome(rank)->bytes_sent;
      return static_cast<double>(sum);
    };
    CHECK(bytes("fp32") > 100 * bytes("sparse"));
  }
}

TEST_CASE("whoever dies when, the survivors hold the same, and only what the dead knew is lost") {
  std::size_t whole = 0;
  std::size_t adopted = 0;
  for (std::size_t event = 0; event < 240; event += 3) {
    CAPTURE(event);
    const Rank victim = event % 5;
    Round round(sparse_group(5, 30000), {{.kind = Fault::Kind::kill, .rank = victim, .event = event}});
    CHECK(round.averaged());
    whole += check_nothing_lost(round.group, round.contributed, round.volunteers);
    const SegmentTable table(round.group.group());
    for (SegmentIndex segment = table.first(victim); segment < table.first(victim + 1); ++segment) {
      adopted += round.group.alive(victim) ? 0 : reducers(round.group, segment);
    }
  }
  CHECK(whole > 300);
  CHECK(adopted > 0);
}

TEST_CASE("a member that the others go on without makes up for its results only where they are the ones that count") {
  std::size_t whole = 0;
  std::size_t late = 0;
  for (std::size_t event = 0; event < 200; event += 3) {
    CAPTURE(event);
    const Rank frozen = event % 5;
    Round round(sparse_group(5, 30000),
                {{.kind = Fault::Kind::freeze, .rank = frozen, .event = event, .lasting = std::chrono::seconds(6)}});
    whole += check_nothing_lost(round.group, round.contributed, round.volunteers);
    const AveragingOutcome& outcome = *round.group.outcome(frozen);
    late += !outcome.lost.empty() && outcome.lost.front().rank == frozen ? 1 : 0;
  }
  CHECK(whole > 300);
  CHECK(late > 0);
}
