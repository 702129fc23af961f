#include "coordinator/core/numeric_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace starling::core {
namespace {

constexpr double kSmallest = 1e-12;  // the upper bound of the first bin
constexpr double kOverQuantile = 10;
constexpr double kOverLowest = 10;
constexpr double kQuantile = 0.999;
constexpr std::int64_t kPairsMin = 100;   // until a quantile says anything
constexpr std::size_t kClassesMax = 256;  // members name their own: the others count as one

}  // namespace

std::string numeric_class_of(const std::optional<wire::ComputeDevice>& device) {
  if (!device || device->platform.empty()) return "unknown";
  return fmt::format("{}, {}, {}", device->platform, device->kind, device->precision);
}

void Distances::add(double distance) {
  const double bin = distance > kSmallest ? std::ceil(2 * std::log2(distance / kSmallest)) : 0;
  ++bins_[static_cast<std::size_t>(std::clamp<double>(bin, 0, kBins - 1))];
  ++count_;
}

double Distances::quantile(double fraction) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(count_)));
  std::int64_t below = 0;
  std::size_t bin = 0;
  while (bin + 1 < bins_.size() && (below += bins_[bin]) < rank) ++bin;
  return kSmallest * std::exp2(static_cast<double>(bin) / 2);
}

NumericClasses::Class& NumericClasses::known(const std::string& of) {
  if (classes_.size() >= kClassesMax && !classes_.contains(of)) return classes_["others"];
  return classes_[of];
}

void NumericClasses::on_agreed(const std::string& one, const std::string& other, double distance) {
  known(one).distances.add(distance);
  if (other != one) known(other).distances.add(distance);
}

void NumericClasses::on_checked(const std::string& of, const PeerId& peer, bool right) {
  Class& of_it = known(of);
  ++(right ? of_it.right : of_it.wrong);
  if (right) return;
  if (!of_it.first_wrong) of_it.first_wrong = peer;
  of_it.wrong_by_several |= *of_it.first_wrong != peer;
}

std::vector<ClassFigures> NumericClasses::figures() const {
  std::vector<ClassFigures> figures;
  for (const auto& [name, known] : classes_) {
    figures.push_back(
        {name, known.right, known.wrong, known.distances.quantile(kQuantile), tolerance(name), known.wrong_by_several});
  }
  return figures;
}

double NumericClasses::tolerance(const std::string& of) const {
  const auto it = classes_.find(of);
  if (it == classes_.end() || it->second.distances.count() < kPairsMin) return lowest_;
  return std::clamp(kOverQuantile * it->second.distances.quantile(kQuantile), lowest_, kOverLowest * lowest_);
}

}  // namespace starling::core
