// The check of owners: whether each part's result is the mean of what members say that they have contributed to it
// (shared/protocol/audit.h). All of it is in sketches, so nobody needs the vectors.
//
// With w a member's samples, a its sketch of what it sent, f the number by which the owner multiplied it (norm_bound.h
// of client/averaging) and r the sketch of the part's result, |sum f a / sum w - r| is the length of what the owner has
// changed beyond rounding. The most that rounding explains:
//   fp32   the sum's rounding: 2^-24 (n + 3) of the n summands' lengths, divided like the sum; and that of the sketches
//          themselves, 1e-6 of the summands' lengths and of the result's. It goes with each result, whatever its codec
//   fp16   2^-9 of the result's length, and 2^-24 for each of its segments' values
//   bf16   2^-6 of it
//   int8   7 % of it: 1.5 / 253 of a block's largest value for each of its 128 values
//   int4   86 %: 1.5 / 13.9 likewise, of 64 values; so a false owner has room
//   sparse anything; it is not checked
// That is four times what codec.h says that fp16 and bf16 may be off, and half as much again for the others, where the
// error of all values of a block together stays far below the bound. Results of gradients are off by a fourth to a
// ninth of it. The room is for the sketches: the ratio of two short ones' lengths is three times that of the vectors'
// in one case of 10^4, four times in one of 10^6, and seven times in one of 10^9.
//
// A residual tells that an owner or a contributor's word is false, not whose: who lies about one part shows in this
// one, who lies about all that it sent in all. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/hash.h"
#include "shared/protocol/audit.h"
#include "shared/protocol/group_info.h"
#include "shared/swarm/sketch.h"

namespace starling::swarm {

// With so few contributors each owner measures them by itself, and never scales its own contribution.
constexpr std::size_t kFewContributors = 3;

// The buckets added up by fours.
using ShortSketch = std::array<float, wire::kShortSketchFloats>;
ShortSketch shortened(const Sketch& sketch);

// A contribution to a part.
struct SketchedContribution {
  SampleCount weight = 0;
  double factor = 1;
  std::span<const float> sketch;  // kShortSketchFloats
};

// How far a part's result is from the mean, and how far it may be.
struct Residual {
  double residual = 0;   // relative to the result's length; infinite where a number is not finite
  double explained = 0;  // the most of it that rounding explains
  [[nodiscard]] bool is_off() const { return !(residual <= explained); }
};

// Checks one part: `contributions` are all that went into each of its coordinates, `result` is of kShortSketchFloats.
Residual residual_of(std::span<const SketchedContribution> contributions, std::span<const float> result,
                     wire::Codec codec, std::int64_t segment_floats);

// A decided round of one group, as its members tell it. By rank of the plan, null where a member has told nothing.
struct SketchedRound {
  const wire::GroupInfo& plan;
  Hash128 seed;                          // with which members sketched
  std::span<const SampleCount> samples;  // 0: it contributed nothing
  std::vector<const wire::MeasuredParts*> measured;
  std::vector<const wire::OwnSketches*> own;
};

// The finding about one part.
struct PartCheck {
  std::size_t owner = 0;
  Residual residual;
  // The owner multiplied contributions by other numbers than most accounts' owners, and rounding explains the rest. An
  // honest owner does that when it knows other recent rounds than they.
  bool scaled_otherwise = false;
};

// Checks those parts that can be: their owners have told whom they have measured; each other contributor of the round
// was counted whole there and in all other parts, so that its samples are its weight; every contributor has sketched
// what it sent; and more than half of the accounts that have sketched the result say the same of it. In groups of more
// than kMeasuredMax members owners do not tell of everybody: `all_whole` says that the caller knows that each
// contributor was counted whole. Nothing can be checked where results are sparse, and with a bound around a center
// (Aggregation::centered_clip), of which sketches know nothing: then do not ask.
std::vector<PartCheck> check_owners(const SketchedRound& round, bool all_whole = false);

}  // namespace starling::swarm
