// Calls of others and experts that are simple enough to compute by hand, for tests of the desk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/serving/desk.h"

namespace starling::serving {

constexpr std::size_t kWidth = 2;
constexpr int kExperts = 3;  // in each cell
constexpr TimePoint kStart{std::chrono::hours(1)};

inline TimePoint at(double seconds) { return kStart + from_seconds(seconds); }

inline PeerId peer(int number) {
  PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(number));
  return id;
}

inline Hash128 id_of(int number) {
  Hash128 id;
  id.bytes[0] = static_cast<std::uint8_t>(number % 256);
  id.bytes[1] = static_cast<std::uint8_t>(number / 256);
  return id;
}

inline CallKey key_of(int caller, int number) { return {peer(caller), id_of(number)}; }

// A call forth to cell 0, of this many units, each of its own row, all at the first expert.
inline Call call_of(int caller, int number, std::int32_t units) {
  Call call{.key = key_of(caller, number)};
  call.counts.assign(kExperts, 0);
  call.counts[0] = units;
  for (std::int32_t row = 0; row < units; ++row) call.rows.push_back(row);
  call.inputs = units;
  call.budget = std::chrono::seconds(10);
  return call;
}

// The call back whose inputs came with such a call forth.
inline Call back_of(const Call& forth, int number) {
  Call call = forth;
  call.key.id = id_of(number);
  call.is_back = true;
  call.kept = forth.key.id;
  return call;
}

// An expert multiplies its inputs by its own number. The answer to the units of one call, or of a batch.
inline std::vector<float> computed(bool is_back, const Share& units) {
  std::vector<float> answer((is_back ? units.inputs.size() : units.rows.size() * kWidth), 0.0F);
  std::size_t unit = 0;
  for (std::size_t expert = 0; expert < units.counts.size(); ++expert) {
    for (std::int32_t i = 0; i < units.counts[expert]; ++i, ++unit) {
      const std::size_t row = static_cast<std::size_t>(units.rows[unit]) * kWidth;
      for (std::size_t c = 0; c < kWidth; ++c) {
        const float factor = 1.0F + static_cast<float>(expert);
        if (is_back) {
          answer[row + c] += factor * units.upstream[unit * kWidth + c];
        } else {
          answer[unit * kWidth + c] = factor * units.inputs[row + c];
        }
      }
    }
  }
  return answer;
}

inline std::vector<float> computed(const Batch& batch) {
  return computed(batch.is_back, {batch.counts, batch.rows, batch.inputs, batch.upstream});
}

}  // namespace starling::serving
