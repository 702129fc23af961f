// Cuts a tray, floats that are shared with a trainer, into stretches one behind the other. A stretch holds floats, or
// whole numbers of their size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/verify.h"

namespace starling::routing {

class TrayCutter {
 public:
  explicit TrayCutter(std::span<float> tray) : rest_(tray) {}

  // The tray has as much left.
  std::span<float> floats(std::size_t count) {
    VERIFY(count <= rest_.size());
    const std::span<float> cut = rest_.first(count);
    rest_ = rest_.subspan(count);
    return cut;
  }
  std::span<std::int32_t> numbers(std::size_t count) {
    static_assert(sizeof(float) == sizeof(std::int32_t));
    return {reinterpret_cast<std::int32_t*>(floats(count).data()), count};
  }
  // Likewise, with these values in it.
  std::span<const float> put(std::span<const float> values) { return filled(floats(values.size()), values); }
  std::span<const std::int32_t> put(std::span<const std::int32_t> values) {
    return filled(numbers(values.size()), values);
  }

 private:
  template <typename Value>
  static std::span<const Value> filled(std::span<Value> stretch, std::span<const Value> values) {
    std::copy(values.begin(), values.end(), stretch.begin());
    return stretch;
  }

  std::span<float> rest_;
};

}  // namespace starling::routing
