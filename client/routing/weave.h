// The order in which a trainer computes the segments of several micro-batches (client/models/trunk.h), so that it
// computes some while others wait for experts. It goes on with the one that is nearest to its end, which frees memory
// soonest; it begins a new one only when none that is under way can go on, and the bound allows it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace starling::routing {

// A segment goes forth with values and back with their gradient. The last one does both at once: it turns. Where
// nothing goes back, it judges, and its micro-batch is done.
enum class Way : std::uint8_t { forth, turn, back, judge };

class Weave {
 public:
  struct Step {
    std::size_t micro_batch = 0;
    int segment = 0;
    Way way = Way::forth;
    friend bool operator==(const Step&, const Step&) = default;
  };

  // segments >= 2; in_flight_max >= 1: micro-batches at once. last: turn or judge.
  Weave(int segments, std::size_t micro_batches, std::size_t in_flight_max, Way last = Way::turn);

  // The step to compute now, or nothing: one is being computed, all wait for experts, or all are done.
  [[nodiscard]] std::optional<Step> take();
  // The step that was taken is done. Its micro-batch waits for experts then, unless it was its last one.
  void on_computed();
  // The experts' results, or gradients, for which this micro-batch waits are there.
  void on_exchanged(std::size_t micro_batch);

  [[nodiscard]] bool is_done() const { return done_ == states_.size(); }
  [[nodiscard]] std::size_t in_flight() const { return begun_ - done_; }

 private:
  enum class Stand : std::uint8_t { ready, computing, waiting, done };
  struct State {
    Step next;
    Stand stand = Stand::ready;
  };
  // How near to its end a micro-batch is.
  [[nodiscard]] int progress(const Step& step) const;

  int segments_;
  std::size_t in_flight_max_;
  Way last_;
  std::vector<State> states_;
  std::optional<std::size_t> computing_;
  std::size_t begun_ = 0;
  std::size_t done_ = 0;
};

}  // namespace starling::routing
