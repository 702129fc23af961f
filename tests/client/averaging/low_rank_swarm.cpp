#include "tests/client/averaging/low_rank_swarm.h"

namespace starling::averaging {
namespace {

using Verdict = AveragingOutcome::Verdict;

void assign(std::vector<float>& to, std::span<const float> from) { to.assign(from.begin(), from.end()); }

bool averaged(const InMemoryGroup& group, Rank rank) {
  const AveragingOutcome* outcome = group.outcome(rank);
  return group.alive(rank) && outcome != nullptr && outcome->verdict == Verdict::averaged;
}

}  // namespace

LowRankSwarm::LowRankSwarm(LowRankOptions options) : options_(std::move(options)), members_(options_.members) {
  const wire::LowRankLayout layout = wire::low_rank_layout(options_.parameters, options_.rank);
  for (Member& member : members_) {
    member.power = std::make_unique<PowerSgd>(layout, options_.kept, 1);
    member.gradient.resize(layout.floats);
    member.result.resize(layout.floats);
  }
}

GroupOptions LowRankSwarm::group_options(std::size_t floats) const {
  GroupOptions options;
  options.members = members_.size();
  options.vector_floats = static_cast<std::int64_t>(floats);
  options.segment_floats = options_.segment_floats;
  options.codec = options_.codec;
  options.weights = options_.weights;
  return options;
}

void LowRankSwarm::play_round(const std::vector<Fault>& in_first, std::vector<Fault> in_second) {
  std::vector<Fault> dead;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    if (!members_[rank].alive) dead.push_back({.kind = Fault::Kind::kill, .rank = rank, .event = 0});
  }
  std::vector<Fault> faults = dead;
  faults.insert(faults.end(), in_first.begin(), in_first.end());
  InMemoryGroup first(group_options(layout().left_floats), faults);
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    assign(first.input(rank), members_[rank].power->project(members_[rank].gradient));
  }
  first.run();
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    members_[rank].alive = first.alive(rank);
    members_[rank].projected = averaged(first, rank);
    if (!members_[rank].projected) in_second.push_back({.kind = Fault::Kind::kill, .rank = rank, .event = 0});
  }
  second_ = std::make_unique<InMemoryGroup>(group_options(layout().right_floats), in_second);
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    Member& member = members_[rank];
    if (!member.projected) continue;
    member.power->take_left(first.output(rank));
    assign(second_->input(rank), member.power->project_back(member.gradient));
  }
  second_->run();
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    Member& member = members_[rank];
    member.alive = member.alive && (second_->alive(rank) || !member.projected);
    if (!averaged(*second_, rank) || !member.projected) continue;
    member.power->finish(second_->output(rank), *second_->outcome(rank), rank, member.gradient, member.result);
  }
}

const AveragingOutcome* LowRankSwarm::outcome(Rank rank) const {
  const bool through = members_[rank].alive && members_[rank].projected;
  return through ? second_->outcome(rank) : nullptr;
}

}  // namespace starling::averaging
