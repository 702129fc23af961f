#include "client/optim/gossip_step.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"

namespace starling::optim {

GossipStep::GossipStep(const wire::LocalOptions& options, std::size_t parameters)
    : rate_(static_cast<float>(options.mixing_rate)),
      momentum_kept_(static_cast<float>(options.mixing_momentum)),
      pull_(static_cast<float>(options.mixing_pull)) {
  if (wire::mixes_plainly(options)) return;
  way_.resize(parameters);
  momentum_.resize(parameters);
}

void GossipStep::begin_round() { std::fill(way_.begin(), way_.end(), 0.0F); }

void GossipStep::forget() {
  begin_round();
  std::fill(momentum_.begin(), momentum_.end(), 0.0F);
}

void GossipStep::send_out(std::span<const float> agreed, std::span<const float> own, std::span<float> sent) const {
  VERIFY(agreed.size() == own.size() && sent.size() == own.size());
  for (std::size_t i = 0; i < own.size(); ++i) sent[i] = own[i] - agreed[i];
  if (way_.empty()) return;
  VERIFY(way_.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = pull_ * way_[i] + rate_ * (sent[i] - way_[i]);
}

void GossipStep::take_in(std::span<const float> sent, std::span<const float> mixed, std::span<float> own) {
  VERIFY(sent.size() == own.size() && mixed.size() == own.size());
  if (way_.empty()) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += mixed[i] - sent[i];
    return;
  }
  VERIFY(way_.size() == own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const float stepped = (sent[i] - pull_ * way_[i]) / rate_;  // x - φ at the time of sending
    momentum_[i] = momentum_kept_ * momentum_[i] + mixed[i] - pull_ * way_[i];
    way_[i] += momentum_[i];
    own[i] += momentum_[i] - stepped;
  }
}

double GossipStep::distance(std::span<const float> sent, std::span<const float> mixed,
                            std::span<const float> own) const {
  VERIFY(sent.size() == own.size() && mixed.size() == own.size());
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double away = (static_cast<double>(sent[i]) - mixed[i]) / rate_;
    apart += away * away;
    length += static_cast<double>(own[i]) * own[i];
  }
  return length > 0 ? std::sqrt(apart / length) : 0;
}

}  // namespace starling::optim
