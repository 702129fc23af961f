#include "client/daemon/mirror_choice.h"

#include <algorithm>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::daemon {
namespace {

constexpr int kDoublingsMax = 12;
constexpr Duration kAwayFirst = std::chrono::seconds(2);
constexpr Duration kAwayMax = std::chrono::minutes(5);
constexpr Duration kWrongFirst = std::chrono::seconds(30);
constexpr Duration kWrongMax = std::chrono::hours(6);

}  // namespace

MirrorChoice::MirrorChoice(std::size_t mirrors, std::uint64_t seed) : mirrors_(mirrors), first_(mix64(seed) % mirrors) {
  VERIFY(mirrors > 0);
}

std::optional<std::size_t> MirrorChoice::choose(TimePoint now) const {
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    const std::size_t mirror = (first_ + i) % mirrors_.size();
    if (now >= mirrors_[mirror].not_before) return mirror;
  }
  return std::nullopt;
}

TimePoint MirrorChoice::next_try(TimePoint now) const {
  const auto earliest = std::min_element(mirrors_.begin(), mirrors_.end(),
                                         [](const Mirror& a, const Mirror& b) { return a.not_before < b.not_before; });
  return std::max(now, earliest->not_before);
}

void MirrorChoice::on_success(std::size_t mirror) { mirrors_[mirror].failures = 0; }

Duration MirrorChoice::on_failure(TimePoint now, std::size_t mirror, Failure failure) {
  const int doublings = std::min(mirrors_[mirror].failures++, kDoublingsMax);
  const bool away = failure == Failure::unreachable;
  const Duration rest = std::min(away ? kAwayMax : kWrongMax, (away ? kAwayFirst : kWrongFirst) * (1 << doublings));
  mirrors_[mirror].not_before = now + rest;
  return rest;
}

}  // namespace starling::daemon
