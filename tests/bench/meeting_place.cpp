#include "tests/bench/meeting_place.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "client/averaging/part_sketches.h"
#include "client/averaging/segment_table.h"
#include "shared/base/hash.h"
#include "shared/crypto/secrets.h"

namespace starling::bench {
namespace {

using averaging::Rank;

constexpr Duration kAveragingTime = std::chrono::milliseconds(50);

// By rank; nobody's are empty.
using Inputs = std::vector<std::span<const float>>;

std::vector<float> mean_of(const Inputs& inputs, SampleCount weight) {
  std::vector<float> mean;
  for (const std::span<const float> input : inputs) {
    mean.resize(std::max(mean.size(), input.size()));
    for (std::size_t i = 0; i < input.size(); ++i) mean[i] += input[i];
  }
  if (weight > 1) {
    for (float& value : mean) value /= static_cast<float>(weight);
  }
  return mean;
}

// Returns the sketches that the owner of a part makes of the others' contributions to it.
std::optional<wire::MeasuredParts> measured_by(Rank owner, const wire::GroupInfo& group, const Inputs& inputs,
                                               const Hash128& result_digest) {
  Hash128 seed;
  crypto::fill_random(seed.bytes);
  averaging::PartSketches sketches(group, owner, seed);
  if (!sketches.on()) return std::nullopt;
  const averaging::SegmentTable table(group);
  std::vector<Rank> members;
  for (Rank rank = 0; rank < inputs.size(); ++rank) {
    if (rank == owner || inputs[rank].empty()) continue;
    for (averaging::SegmentIndex segment = table.first(owner); segment < table.first(owner + 1); ++segment) {
      const averaging::Segment& at = table[segment];
      sketches.add(rank, at.begin, inputs[rank].subspan(static_cast<std::size_t>(at.begin), at.floats));
    }
    members.push_back(rank);
  }
  const wire::MeasuredParts all = sketches.of(members, std::vector<float>(members.size(), 1.0F));
  return averaging::drawn_of(all, result_digest, group.members.size());
}

}  // namespace

void MeetingPlace::come(const rounds::Leg& leg, Done done) {
  const wire::GroupInfo& group = leg.group;
  const auto [entry, is_new] = meetings_.try_emplace(group.id);
  Meeting& meeting = entry->second;
  if (is_new) {
    meeting.places.resize(group.members.size());
    meeting.missing = group.members.size();
    meeting.began = loop_.now();
    loop_.at(loop_.now() + from_ms(group.begin_within_ms), [this, group] { close(group); });
  }
  if (meeting.closed) {
    averaging::AveragingOutcome outcome;
    outcome.verdict = averaging::AveragingOutcome::Verdict::expelled;
    loop_.post([done = std::move(done), outcome] { done(outcome); });
    return;
  }
  meeting.places[leg.self] = Place{leg, std::move(done)};
  if (--meeting.missing == 0) loop_.at(loop_.now() + kAveragingTime, [this, group] { close(group); });
}

void MeetingPlace::close(const wire::GroupInfo& group) {
  Meeting& meeting = meetings_.at(group.id);
  if (std::exchange(meeting.closed, true)) return;
  averaging::AveragingOutcome outcome;
  std::string told = group.id.hex();
  Inputs inputs;
  for (const std::optional<Place>& place : meeting.places) {
    const averaging::RoundVectors brought = place ? place->leg.vectors : averaging::RoundVectors{};
    outcome.samples.push_back(brought.weight);
    outcome.draws.push_back(brought.draw);
    outcome.weight_total += brought.weight;
    inputs.push_back(brought.weight > 0 ? brought.input : std::span<const float>());
    told += " " + std::to_string(brought.weight);
  }
  outcome.result_digest = hash128({reinterpret_cast<const std::uint8_t*>(told.data()), told.size()});
  outcome.elapsed = loop_.now() - meeting.began;
  const std::size_t present = meeting.places.size() - meeting.missing;
  const bool minority = group.members.size() > 1 && 2 * present <= group.members.size();
  if (minority) outcome.verdict = averaging::AveragingOutcome::Verdict::minority;
  const std::vector<float> mean = mean_of(inputs, outcome.weight_total);
  for (Rank rank = 0; rank < meeting.places.size(); ++rank) {
    if (!meeting.places[rank]) continue;
    outcome.measured = minority ? std::nullopt : measured_by(rank, group, inputs, outcome.result_digest);
    const std::span<float> output = meeting.places[rank]->leg.vectors.output;
    std::copy(mean.begin(), mean.end(), output.begin());
    loop_.post([done = std::move(meeting.places[rank]->done), outcome] { done(outcome); });
  }
  meeting.places.clear();
}

}  // namespace starling::bench
