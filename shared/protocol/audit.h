// Checks of members' work: contributions as the owners of parts saw them, contributions by their members' own word,
// and recomputations by others. Vectors never travel for it, sketches do (shared/swarm/sketch.h).
//
//   1. A plan binds the coordinator to a number (GroupInfo::audit_commitment) that it does not tell yet.
//   2. The group averages. Each owner draws a seed of its own, tells it to nobody, and sketches the contributions to
//      its part as they arrive. Its report of the round brings these sketches (MeasuredParts): nobody could know the
//      seed before, and nobody can change a contribution afterwards.
//   3. Once the round is decided, the coordinator opens its number (SketchRequest). A seed follows from it and from the
//      round's result, and each member sketches its own contribution to each part with it (OwnSketches). The weighted
//      sum of these, part by part, must be the sketch of the result: otherwise the part's owner, or a contributor's
//      word, is false.
//   4. The number also draws whose work is audited, and by whom. Auditors get the draws that the member claims, and
//      recompute their gradients at the round's state, when their trainers are idle (AuditOrder). The answers
//      (AuditResult) add up to the contribution that the owners should have seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/protocol/checked_work.h"
#include "shared/run/training_data.h"

namespace starling::wire {

constexpr std::size_t kSketchFloats = 64;       // the length of a whole sketch
constexpr std::size_t kShortSketchFloats = 16;  // with its buckets added up by fours: enough for sums of equals
// The most members whose contributions are measured; in a larger group they are drawn when it has its result.
constexpr std::size_t kMeasuredMax = 32;
constexpr std::size_t kAuditPartsMax = kMeasuredMax + 1;
constexpr std::size_t kAuditRangesMax = 64;  // stretches of samples in an order
constexpr std::size_t kAuditOrdersMax = 4;   // for one member at a time
constexpr std::size_t kAuditStatesMax = 3;   // likewise
constexpr std::size_t kAuditReasonBytesMax = 200;

// One owner's sketches of what others contributed to its part, as decoded, before anything was scaled.
struct MeasuredParts {
  Hash128 seed;  // drawn by the owner
  // The members' places among the report's members, ascending; only those whose contribution came whole.
  std::vector<std::int64_t> members;
  std::vector<float> sketches;  // kSketchFloats of each
  // By place like `members`: the number by which the owner multiplied the contribution; empty: 1 for all.
  std::vector<float> factors{};
};

// The reporter's own contribution: the sum of as many samples as it computed, from its draw on, scaled to its weight
// where the plan had no room for all of them (GroupMember::weight_max).
struct OwnTerms {
  SampleCount weight = 0;    // the one that it named to its group
  SampleCount computed = 0;  // at least the weight
};

// The coordinator opens a decided round, and asks for the members' own sketches.
struct SketchRequest {
  RoundIndex round = 0;
  Digest number;  // the one that the plan's audit_commitment binds (shared/state/audit_number.h)
};

// A member's sketches of its own contribution to each part, with the seed of a SketchRequest.
struct OwnSketches {
  RoundIndex round = 0;
  std::vector<float> contributed;  // kShortSketchFloats for each part that is not empty, by rank of its owner
  std::vector<float> whole;        // kSketchFloats of all of it together; empty: it brought nothing
  std::vector<float> result;       // kShortSketchFloats for each part of the round's result; empty: not asked for
};

// A stretch of the vector, and the seed with which it is sketched.
struct SketchedPart {
  std::int64_t first = 0;
  std::int64_t floats = 0;
  Hash128 seed;
};

// A recomputation that a member is asked for: the sum of these samples' gradients at the state with this digest, which
// is the one that `round` began with.
struct AuditOrder {
  std::int64_t number = 0;
  RoundIndex round = 0;
  Digest state_digest;
  std::vector<SampleRange> samples;
  std::vector<SketchedPart> parts;
};

// The answer to an order.
struct AuditResult {
  std::int64_t number = 0;      // the order's
  std::vector<float> sketches;  // kSketchFloats for each of its parts; empty: it cannot be had here
  std::string reason{};         // then: why not, for people
};

// A member's part in audits, in its heartbeat.
struct AuditAnswers {
  std::optional<OwnSketches> own{};    // those that the last reply asked for
  bool self_test_passed = false;       // the last `starling doctor --self-test` since the last miss found nothing wrong
  std::vector<AuditResult> results{};  // until a reply does not name their order any more
};

// The audits that are due at a member, in the coordinator's reply.
struct AuditsDue {
  // The member may be asked to recompute samples of these rounds: it keeps the states that they began with.
  std::vector<RoundIndex> keep_states{};
  std::optional<SketchRequest> sketches{};
  std::vector<AuditOrder> orders{};  // those that it has not answered
  std::optional<CheckedWork> checked{};
};

}  // namespace starling::wire
