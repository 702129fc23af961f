// Range checks of the values of a manifest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "shared/base/result.h"

namespace starling::wire {

// Keeps the first failure: "run manifest: model.layers is 0; it must be 1 to 256".
class Checker {
 public:
  // A NaN fails, since no comparison with it holds.
  template <typename Number>
  void within(std::string_view field, Number value, std::type_identity_t<Number> least,
              std::type_identity_t<Number> most) {
    that(value >= least && value <= most, field, to_text(value), to_text(least) + " to " + to_text(most));
  }
  // Checks that a word is known; errors show it as '`value`'.
  void word(std::string_view field, std::string_view value, bool known, std::string_view words);
  void that(bool holds, std::string_view field, std::string_view found, std::string_view wanted);
  [[nodiscard]] Status status() const { return status_; }

 private:
  static std::string to_text(double value);
  template <typename Integer>
  requires std::is_integral_v<Integer>
  static std::string to_text(Integer value) { return std::to_string(value); }

  Status status_;
};

}  // namespace starling::wire
