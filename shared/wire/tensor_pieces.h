// A tensor of a file that is read once, from its begin to its end, in pieces that are cut anywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/wire/safetensors.h"

namespace starling::wire {

// Hands out the whole units of one tensor, such as its numbers, or its rows.
class TensorPieces {
 public:
  // unit: bytes of a unit, at least 1; the tensor is a multiple of them.
  TensorPieces(const TensorInfo& tensor, std::size_t unit) : begin_(tensor.begin), end_(tensor.end), unit_(unit) {}

  // Takes the file's next bytes. Calls each(units): a multiple of `unit` bytes that follow those of the call before.
  // Returns the first error of such a call.
  template <typename Each>
  Status add(std::span<const std::uint8_t> bytes, const Each& each) {
    const std::uint64_t at = read_;
    read_ += bytes.size();
    const auto inside = [&](std::uint64_t place) {
      return static_cast<std::size_t>(std::clamp(place, at, read_) - at);
    };
    bytes = bytes.subspan(inside(begin_), inside(end_) - inside(begin_));
    if (!cut_.empty()) {
      const std::size_t rest = std::min(unit_ - cut_.size(), bytes.size());
      cut_.insert(cut_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(rest));
      bytes = bytes.subspan(rest);
      if (cut_.size() < unit_) return {};
      STARLING_TRY(each(std::span<const std::uint8_t>(cut_)));
      cut_.clear();
    }
    const std::size_t whole = bytes.size() / unit_ * unit_;
    cut_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
    return whole == 0 ? Status() : each(bytes.first(whole));
  }

 private:
  std::uint64_t begin_, end_;
  std::size_t unit_;
  std::uint64_t read_ = 0;         // bytes of the file
  std::vector<std::uint8_t> cut_;  // the begin of a unit
};

}  // namespace starling::wire
