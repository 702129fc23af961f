#include "client/session/computation.h"

#include <utility>

#include "client/session/failure_text.h"
#include "client/session/retry.h"
#include "shared/base/log.h"
#include "shared/base/verify.h"

namespace starling::session {
namespace {

constexpr Duration kRetryMax = std::chrono::seconds(30);

}  // namespace

void Computation::begin_batch(TimePoint now, bool leased) {
  VERIFY(idle());
  under_way_ = Batch{now, leased};
}

void Computation::begin_evaluation() {
  VERIFY(idle());
  under_way_ = Evaluation{};
}

void Computation::begin_audit() {
  VERIFY(idle());
  under_way_ = Audit{};
}

void Computation::end_audit() {
  VERIFY(std::holds_alternative<Audit>(under_way_));
  under_way_ = Nothing{};
}

void Computation::discard() {
  if (Batch* batch = std::get_if<Batch>(&under_way_)) batch->discarded = true;
}

Computation::Batch Computation::end_batch() {
  VERIFY(is_batch());
  return std::get<Batch>(std::exchange(under_way_, Nothing{}));
}

void Computation::end_evaluation() {
  VERIFY(is_evaluation());
  under_way_ = Nothing{};
}

void Computation::on_failed(TimePoint now, std::string why) {
  lacking_since_.reset();
  const bool goes_on = failed_at_ && !trouble(now).empty();
  not_finite_ = 0;
  ++failed_;
  failed_before_at_ = std::exchange(failed_at_, now);
  log_warning("trainer: {}", why);
  if (!goes_on) trouble_ = failure_for_others(why);
  wait(now, std::move(why));
}

// The next computation, of other samples, does not wait unless nothing between is fine: where rounds are short, leases
// of broken samples would be over before a sample that is fine proves that they are at fault.
void Computation::on_not_finite(TimePoint now, std::string why) {
  lacking_since_.reset();
  failed_at_.reset();
  log_warning("trainer: {}", why);
  failed_ = 0;
  if (++not_finite_ == kNotFiniteMax + 1) trouble_ = failure_for_others(why);
  if (not_finite_ > kNotFiniteMax) return wait(now, std::move(why));
  not_before_ = now;
  failure_ = std::move(why);
}

void Computation::on_lacking(TimePoint now, std::string what) {
  if (!lacking_since_) lacking_since_ = now;
  failed_at_.reset();
  wait(now, std::move(what));
}

void Computation::wait(TimePoint now, std::string why) {
  ++failures_;
  not_before_ = now + retry_delay(failures_, kRetryMax);
  failure_ = std::move(why);
}

std::string Computation::trouble(TimePoint now) const {
  if (lacking_since_) return now - *lacking_since_ >= kLongWait ? failure_for_others(failure_) : "";
  if (!failed_at_) return not_finite_ > kNotFiniteMax ? trouble_ : "";
  const bool again = failed_before_at_ && (failed_ > 1 || now - *failed_before_at_ <= kRecent);
  return again ? trouble_ : "";
}

}  // namespace starling::session
