// Members that average gradients as low-rank products: two rounds of engines, one after the other, over an in-memory
// network.
#pragma once

#include <memory>
#include <vector>

#include "client/averaging/power_sgd.h"
#include "tests/client/averaging/in_memory_group.h"

namespace starling::averaging {

struct LowRankOptions {
  std::size_t members = 4;
  std::vector<wire::ParameterInfo> parameters;
  int rank = 2;
  float kept = 1;
  std::string codec = "fp32";
  std::int64_t segment_floats = 64;
  std::vector<SampleCount> weights{};  // empty: rank + 1 samples each
};

class LowRankSwarm {
 public:
  explicit LowRankSwarm(LowRankOptions options);

  // A member's computed gradient; set it before every round.
  [[nodiscard]] std::vector<float>& gradient(Rank rank) { return members_[rank].gradient; }
  // Faults strike in the first averaging of the round, or in the second. A member that dies stays dead.
  void play_round(const std::vector<Fault>& in_first = {}, std::vector<Fault> in_second = {});

  [[nodiscard]] bool alive(Rank rank) const { return members_[rank].alive; }
  // The outcome of the last round; null for the dead, and for members whose first averaging failed.
  [[nodiscard]] const AveragingOutcome* outcome(Rank rank) const;
  [[nodiscard]] const std::vector<float>& result(Rank rank) const { return members_[rank].result; }
  [[nodiscard]] const wire::LowRankLayout& layout() const { return members_.front().power->layout(); }

 private:
  struct Member {
    std::unique_ptr<PowerSgd> power;
    std::vector<float> gradient;
    std::vector<float> result;
    bool alive = true;
    bool projected = false;  // came through the first averaging
  };
  [[nodiscard]] GroupOptions group_options(std::size_t floats) const;

  LowRankOptions options_;
  std::vector<Member> members_;
  std::unique_ptr<InMemoryGroup> second_;
};

}  // namespace starling::averaging
