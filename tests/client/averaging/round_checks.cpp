#include "tests/client/averaging/round_checks.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>

namespace starling::averaging {

using Verdict = AveragingOutcome::Verdict;

std::vector<Rank> finishers(const InMemoryGroup& group) {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const AveragingOutcome* outcome = group.outcome(rank);
    if (outcome == nullptr) continue;
    if (outcome->verdict == Verdict::averaged || outcome->verdict == Verdict::minority) ranks.push_back(rank);
  }
  return ranks;
}

std::string disagreement(const InMemoryGroup& group) {
  std::vector<Rank> ranks = finishers(group);
  if (group.has_unlinked()) {
    // Where all members that could be dialled are gone, the others cannot hear of each other: each is a minority of its
    // own.
    std::erase_if(ranks, [&](Rank rank) { return group.outcome(rank)->verdict == Verdict::minority; });
  }
  for (const Rank rank : ranks) {
    const Rank first = ranks.front();
    const AveragingOutcome& a = *group.outcome(first);
    const AveragingOutcome& b = *group.outcome(rank);
    const std::size_t bytes = group.output(first).size() * sizeof(float);
    const auto differ = [&](const char* what) { return fmt::format("{} of {} and {} differ", what, first, rank); };
    if (std::memcmp(group.output(first).data(), group.output(rank).data(), bytes) != 0) return differ("values");
    if (a.result_digest != b.result_digest) return differ("digests");
    if (a.samples != b.samples || a.weight_total != b.weight_total) return differ("sample counts");
  }
  return {};
}

namespace {

std::string untrue_run(InMemoryGroup& group, Rank rank, const ContributorRun& run, double tolerance) {
  double weight = 0;
  for (Rank member = 0; member < group.size(); ++member) {
    if (run.members.test(member)) weight += static_cast<double>(group.weight(member));
  }
  for (std::int64_t i = run.begin; i < run.begin + run.floats; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double sum = 0;
    for (Rank member = 0; member < group.size(); ++member) {
      if (run.members.test(member)) sum += static_cast<double>(group.input(member)[at]);
    }
    const double mean = weight > 0 ? sum / weight : 0;
    const double found = group.output(rank)[at];
    if (!(std::abs(found - mean) <= tolerance)) {
      return fmt::format("coordinate {} of {} is {} instead of {}", i, rank, found, mean);
    }
  }
  return {};
}

}  // namespace

std::string untrue_values(InMemoryGroup& group, Rank rank, double tolerance) {
  const AveragingOutcome& outcome = *group.outcome(rank);
  std::int64_t covered = 0;
  for (const ContributorRun& run : outcome.contributors) {
    if (run.begin != covered) return fmt::format("the contributor sets of {} have a gap at {}", rank, covered);
    covered += run.floats;
    if (const std::string why = untrue_run(group, rank, run, tolerance); !why.empty()) return why;
  }
  if (covered != group.group().vector_floats) return fmt::format("the sets of {} end at {}", rank, covered);
  return {};
}

std::string untruth(InMemoryGroup& group, Rank rank, double tolerance) {
  if (std::string why = untrue_values(group, rank, tolerance); !why.empty()) return why;
  const AveragingOutcome& outcome = *group.outcome(rank);
  const std::int64_t total = group.group().vector_floats;
  std::vector<std::int64_t> floats(group.size());
  for (const ContributorRun& run : outcome.contributors) {
    for (Rank member = 0; member < group.size(); ++member) floats[member] += run.members.test(member) ? run.floats : 0;
  }
  for (Rank member = 0; member < group.size(); ++member) {
    if (outcome.samples[member] != group.weight(member) * floats[member] / total) {
      return fmt::format("{} counts {} samples of {}", rank, outcome.samples[member], member);
    }
    if (outcome.draws[member] != (outcome.samples[member] > 0 ? draw_of(member) : 0)) {
      return fmt::format("{} believes that samples of {} begin with draw {}", rank, member, outcome.draws[member]);
    }
  }
  return {};
}

std::string wrong(InMemoryGroup& group, double tolerance) {
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (group.alive(rank) && group.outcome(rank) == nullptr) return fmt::format("{} never ended", rank);
  }
  if (std::string why = disagreement(group); !why.empty()) return why;
  for (const Rank rank : finishers(group)) {
    // In a remnant without links to others, nobody may know the weight of a lost contributor: it counts as none.
    const bool remnant = group.has_unlinked() && group.outcome(rank)->verdict == Verdict::minority;
    std::string why = remnant ? untrue_values(group, rank, tolerance) : untruth(group, rank, tolerance);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace starling::averaging
