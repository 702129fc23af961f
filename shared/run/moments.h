// The narrow forms in which an optimizer's moments are kept, and travel to members that join, where a run keeps them
// narrow (RunManifest::moments).
//
// After every step all members round their moments to values that the narrow form holds exactly (Optimizer). So a donor
// loses nothing, and a member that joins has the very floats of all others: digests name floats, whatever travels. Each
// kMomentBlockFloats of a vector, counted from its begin, share the exponent of their largest value (as in the OCP's
// Microscaling formats, arXiv 2310.10537); a value has a few bits of mantissa and its exponent's distance from that
// one. Parameters always travel whole.
//
// A block travels as a byte, the largest value's exponent in the form of a float, and a code for each value,
// little-endian: 0 for zero; else one more than how far its exponent and mantissa, read as one number, lie above those
// of the least value that the block can hold. The sign, where there is one, is the code's highest bit. A block that is
// cut, where a chunk ends, is a block for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/number_forms.h"

namespace starling::wire {

struct RunManifest;

constexpr std::size_t kMomentBlockFloats = 64;

// The values that a narrow form holds of a block: zero, and floats with mantissa_bits of mantissa whose exponents are
// the largest value's and those below it, `exponents` in all.
struct NarrowFloats {
  int mantissa_bits = 23;
  int exponents = 0;
  bool is_signed = true;
  std::size_t bytes = sizeof(float);  // bytes of a value
};
// Returns the form of a state's vector: 0 are the parameters, 1 and up the moments. Second moments, vector 2 of all
// optimizers, are never negative.
NarrowFloats narrow_floats(MomentForm form, std::size_t vector);

// The form of a state in transit.
struct StateForm {
  std::size_t parameters = 0;  // floats of each of the state's vectors; without a meaning where all are whole
  MomentForm moments = MomentForm::fp32;
};
StateForm state_form(const RunManifest& manifest);

// Bytes of the state's `floats` floats from the first-th on.
std::size_t state_bytes(const StateForm& form, std::size_t first, std::size_t floats);
// Encodes the floats. Moments that are not rounded to the form do not arrive unchanged.
std::vector<std::uint8_t> encode_state(const StateForm& form, std::size_t first, std::span<const float> floats);
// corrupt for another number of bytes. Checks no value: a digest does.
Status decode_state(const StateForm& form, std::size_t first, std::span<const std::uint8_t> bytes,
                    std::span<float> floats);

}  // namespace starling::wire
