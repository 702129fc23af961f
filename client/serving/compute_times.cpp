#include "client/serving/compute_times.h"

#include <algorithm>

#include "shared/base/verify.h"

namespace starling::serving {
namespace {

constexpr double kLearnt = 0.1;     // weight of a new batch
constexpr double kUnitMaxS = 1000;  // no unit takes longer

double mixed(double mean, double newest) { return (1 - kLearnt) * mean + kLearnt * newest; }

}  // namespace

Duration ComputeTimes::expected(wire::CellIndex cell, bool is_back, std::int64_t units) const {
  const auto known = by_cell_.find({cell, is_back});
  const std::size_t way = is_back ? 1 : 0;
  const double each = known != by_cell_.end() ? known->second : of_all_[way].value_or(of_all_[1 - way].value_or(0));
  return from_seconds(each * static_cast<double>(units));
}

void ComputeTimes::add(wire::CellIndex cell, bool is_back, std::int64_t units, double seconds) {
  VERIFY(units >= 1 && seconds >= 0);
  const double each = std::min(seconds / static_cast<double>(units), kUnitMaxS);
  const auto [entry, is_first] = by_cell_.try_emplace({cell, is_back}, each);
  if (!is_first) entry->second = mixed(entry->second, each);
  Mean& all = of_all_[is_back ? 1 : 0];
  all = all ? mixed(*all, each) : each;
}

}  // namespace starling::serving
