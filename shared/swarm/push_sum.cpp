#include "shared/swarm/push_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/base/verify.h"

namespace starling::swarm {
namespace {

std::vector<double> scaled(std::span<const double> values, double factor) {
  std::vector<double> result(values.begin(), values.end());
  for (double& value : result) value *= factor;
  return result;
}

double share_of(std::size_t listeners) { return 1 / (1 + static_cast<double>(listeners)); }

}  // namespace

PushSum::PushSum(std::span<const double> values, double weight, std::size_t listeners)
    : mass_(scaled(values, weight)), given_(values.size() + 1), share_(share_of(listeners)) {
  VERIFY(weight > 0);
  mass_.push_back(weight);
}

std::span<const double> PushSum::push() {
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    mass_[i] *= share_;
    given_[i] += mass_[i];
  }
  return given_;
}

void PushSum::receive(PeerIndex from, std::span<const double> given) {
  VERIFY(given.size() == mass_.size());
  std::vector<double>& heard = heard_.try_emplace(from, mass_.size()).first->second;
  // Shares of a weight are above 0, so the sum shows how old the message is.
  if (given.back() <= heard.back()) return;
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    mass_[i] += given[i] - heard[i];
    heard[i] = given[i];
  }
}

std::vector<double> PushSum::estimate() const {
  return scaled(std::span(mass_).first(mass_.size() - 1), 1 / mass_.back());
}

Quantized quantize(std::span<const double> values, int bits) {
  VERIFY(bits >= 2 && bits <= 8);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  Quantized result{largest / ((1 << (bits - 1)) - 1), std::vector<std::int8_t>(values.size())};
  if (!(result.scale > 0)) return result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.codes[i] = static_cast<std::int8_t>(std::lround(values[i] / result.scale));
  }
  return result;
}

void add(const Quantized& quantized, std::span<double> values) {
  VERIFY(quantized.codes.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += quantized.scale * quantized.codes[i];
}

QuantizedPushSum::QuantizedPushSum(std::span<const double> values, double weight, std::size_t listeners, int bits)
    : values_(scaled(values, weight)), weight_(weight), copy_(values.size()), bits_(bits) {
  VERIFY(weight > 0);
  message_.share = share_of(listeners);
}

const QuantizedPushSum::Message& QuantizedPushSum::push() {
  std::vector<double> difference = values_;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= copy_[i];
  message_.difference = quantize(difference, bits_);
  add(message_.difference, copy_);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= (1 - message_.share) * copy_[i];
  weight_ *= message_.share;
  message_.weight = weight_;
  return message_;
}

void QuantizedPushSum::receive(PeerIndex from, const Message& message) {
  std::vector<double>& copy = copies_.try_emplace(from, values_.size()).first->second;
  add(message.difference, copy);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += message.share * copy[i];
  weight_ += message.weight;
}

std::vector<double> QuantizedPushSum::estimate() const { return scaled(values_, 1 / weight_); }

}  // namespace starling::swarm
