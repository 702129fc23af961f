#include "client/session/computation.h"

#include <utility>

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
  ++failures_;
  not_before_ = now + retry_delay(failures_, kRetryMax);
  log_warning("trainer: {}", why);
  failure_ = std::move(why);
}

}  // namespace starling::session
