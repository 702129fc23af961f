// The one computation that runs beside a round (a batch, an evaluation or a piece of an audit), and the waiting after
// failures. Pure.
#pragma once

#include <optional>
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
  struct Audit {};  // a piece of one

  [[nodiscard]] bool idle() const { return std::holds_alternative<Nothing>(under_way_); }
  [[nodiscard]] bool is_batch() const { return std::holds_alternative<Batch>(under_way_); }
  [[nodiscard]] bool is_evaluation() const { return std::holds_alternative<Evaluation>(under_way_); }

  // Only when idle().
  void begin_batch(TimePoint now, bool leased);
  void begin_evaluation();
  void begin_audit();
  // The state is gone that the batch under way, if there is one, was computed at.
  void discard();
  // The computation of that kind has ended.
  Batch end_batch();
  void end_evaluation();
  void end_audit();

  // A batch, an evaluation or a step has failed, or been done.
  void on_failed(TimePoint now, std::string why);
  // Like on_failed, for a gradient with numbers that are not finite. That is trouble only if it comes again and again,
  // with nothing between.
  void on_not_finite(TimePoint now, std::string why);
  // It was not begun, because its data is not here yet. That is no failure unless it lasts (kLongWait).
  void on_lacking(TimePoint now, std::string what);
  void on_success() {
    failures_ = failed_ = not_finite_ = 0;
    lacking_since_.reset();
  }
  // The cause of the last failure is gone.
  void retry_now(TimePoint now) { not_before_ = now; }

  // The earliest moment for the next computation.
  [[nodiscard]] TimePoint not_before() const { return not_before_; }
  [[nodiscard]] bool waits_after_failure(TimePoint now) const { return failures_ > 0 && now < not_before_; }
  [[nodiscard]] bool lacks_data() const { return lacking_since_.has_value(); }
  // The last failure's text, or what is lacking.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  // Why computations fail, for others to read (failure_for_others): for as long as it goes on the text of its begin.
  // Empty while they do not. One failure alone is none: a trainer may be killed and started again.
  [[nodiscard]] std::string trouble(TimePoint now) const;

  static constexpr Duration kRecent = std::chrono::minutes(1);  // two failures within it are trouble, also with batches
                                                                // that are fine between them
  static constexpr Duration kLongWait = std::chrono::minutes(10);
  static constexpr int kNotFiniteMax = 8;  // in a row; samples with broken numbers are that rare

 private:
  void wait(TimePoint now, std::string why);

  std::variant<Nothing, Batch, Evaluation, Audit> under_way_;
  int failures_ = 0;     // in a row, and waits for data
  int failed_ = 0;       // calls of on_failed in a row; waits may be between
  int not_finite_ = 0;   // calls of on_not_finite, likewise
  std::string failure_;  // the last one's text
  TimePoint not_before_{};
  std::optional<TimePoint> failed_at_;         // the last failure
  std::optional<TimePoint> failed_before_at_;  // the one before
  std::optional<TimePoint> lacking_since_;     // data is not here; unset: it is
  std::string trouble_;                        // the text of the present trouble, or of the last one
};

}  // namespace starling::session
