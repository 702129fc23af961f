// The one computation that runs beside a round (a batch or an evaluation), and the waiting after failures. Pure.
#pragma once

#include <string>
#include <variant>

#include "shared/base/clock.h"

namespace starling::session {

class Computation {
 public:
  struct Nothing {};
  struct Batch {
    TimePoint began{};
    bool leased = false;     // its samples are (wire::SampleLease)
    bool discarded = false;  // it belongs to a state that is gone
  };
  struct Evaluation {};

  [[nodiscard]] bool idle() const { return std::holds_alternative<Nothing>(under_way_); }
  [[nodiscard]] bool is_batch() const { return std::holds_alternative<Batch>(under_way_); }
  [[nodiscard]] bool is_evaluation() const { return std::holds_alternative<Evaluation>(under_way_); }

  // Only when idle().
  void begin_batch(TimePoint now, bool leased);
  void begin_evaluation();
  // The state is gone that the batch under way, if there is one, was computed at.
  void discard();
  // The computation of that kind has ended.
  Batch end_batch();
  void end_evaluation();

  // A batch, an evaluation or a step has failed, or been done.
  void on_failed(TimePoint now, std::string why);
  void on_success() { failures_ = 0; }
  // The cause of the last failure is gone.
  void retry_now(TimePoint now) { not_before_ = now; }

  // The earliest moment for the next computation.
  [[nodiscard]] TimePoint not_before() const { return not_before_; }
  [[nodiscard]] bool waits_after_failure(TimePoint now) const { return failures_ > 0 && now < not_before_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::variant<Nothing, Batch, Evaluation> under_way_;
  int failures_ = 0;     // in a row
  std::string failure_;  // the last one's text
  TimePoint not_before_{};
};

}  // namespace starling::session
