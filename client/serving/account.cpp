#include "client/serving/account.h"

#include <algorithm>

namespace starling::serving {

void Account::on_computed(const PeerId& caller, wire::CellIndex cell, bool is_back, std::int64_t units) {
  Served& served = served_[{caller, cell}];
  served.caller = caller;
  served.cell = cell;
  (is_back ? served.units_back : served.units_forth) += units;
  if (is_back) gradients_[cell].units += units;
}

SampleCount Account::add_weight(const PeerId& caller, wire::CellIndex cell, SampleCount samples) {
  if (samples <= 0) return 0;
  SampleCount& sum = gradients_[cell].samples[caller];
  const SampleCount accepted = std::min(samples, samples_max_ - sum);
  sum += accepted;
  return accepted;
}

std::vector<Served> Account::take_served() {
  std::vector<Served> taken;
  for (const auto& [key, served] : served_) taken.push_back(served);
  served_.clear();
  return taken;
}

Weights Account::take_weights(wire::CellIndex cell) {
  const auto gradient = gradients_.find(cell);
  if (gradient == gradients_.end()) return {};
  Weights weights{0, gradient->second.units};
  for (const auto& [caller, samples] : gradient->second.samples) weights.samples += samples;
  gradients_.erase(gradient);
  return weights;
}

}  // namespace starling::serving
