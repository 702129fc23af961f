#include "client/averaging/contributors.h"

namespace starling::averaging {
namespace {

// floor(weight x part / whole) without overflow: part <= whole <= 2^32, weight <= 2^40.
SampleCount share_of(SampleCount weight, std::int64_t part, std::int64_t whole) {
  return weight / whole * part + weight % whole * part / whole;
}

}  // namespace

bool contributors_known(const SegmentTable& table, const Roster& roster, bool all_told) {
  for (const ContributorSet& set : table.sets()) {
    for (Rank rank = 0; rank < roster.size(); ++rank) {
      const bool known = roster.weight_known(rank) || (roster.lost(rank) && all_told);
      if (set.members.test(rank) && !known) return false;
    }
  }
  return true;
}

void count_samples(const SegmentTable& table, const Roster& roster, std::int64_t vector_floats,
                   AveragingOutcome& outcome) {
  std::vector<std::int64_t> floats(roster.size());
  for (const ContributorSet& set : table.sets()) {
    for (Rank rank = 0; rank < roster.size(); ++rank) floats[rank] += set.members.test(rank) ? set.floats : 0;
  }
  outcome.samples.resize(roster.size());
  for (Rank rank = 0; rank < roster.size(); ++rank) {
    outcome.samples[rank] = share_of(roster.weight(rank), floats[rank], vector_floats);
    outcome.draws.push_back(outcome.samples[rank] > 0 ? roster.terms(rank).draw : 0);
    if (floats[rank] > 0) outcome.weight_total += roster.weight(rank);
  }
}

std::vector<Rank> owners_without_self(const SegmentTable& table, const Roster& roster) {
  std::vector<Rank> owners;
  for (Rank owner = 0; owner < roster.size(); ++owner) {
    if (!roster.live(owner)) continue;
    SegmentIndex segment = table.first(owner);
    while (segment < table.first(owner + 1) && table.contributors(segment).test(roster.self())) ++segment;
    if (segment < table.first(owner + 1)) owners.push_back(owner);
  }
  return owners;
}

std::vector<ContributorRun> contributor_runs(const SegmentTable& table) {
  std::vector<ContributorRun> runs;
  for (SegmentIndex segment = 0; segment < table.size(); ++segment) {
    if (!table.held(segment)) continue;
    const wire::RankSet& members = table.contributors(segment);
    const Segment& at = table[segment];
    const bool joins =
        !runs.empty() && runs.back().begin + runs.back().floats == at.begin && runs.back().members == members;
    if (!joins) runs.push_back({at.begin, 0, members});
    runs.back().floats += at.floats;
  }
  return runs;
}

}  // namespace starling::averaging
