// The norms that were usual in recent rounds (client/averaging/norm_bound.h), apart for every fragment and leg, because
// their vectors have nothing in common. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "client/averaging/round_types.h"

namespace starling::rounds {

class UsualNorms {
 public:
  struct Kind {
    int fragment = 0;
    bool second_leg = false;
    auto operator<=>(const Kind&) const = default;
  };
  // At most kRounds, oldest first.
  [[nodiscard]] std::vector<averaging::UsualNorm> recent(const Kind& kind) const {
    const auto known = norms_.find(kind);
    if (known == norms_.end()) return {};
    return {known->second.begin(), known->second.end()};
  }
  void learn(const Kind& kind, const averaging::UsualNorm& usual) {
    std::deque<averaging::UsualNorm>& known = norms_[kind];
    known.push_back(usual);
    if (known.size() > kRounds) known.pop_front();
  }

 private:
  static constexpr std::size_t kRounds = 8;
  std::map<Kind, std::deque<averaging::UsualNorm>> norms_;
};

}  // namespace starling::rounds
