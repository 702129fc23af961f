#include "client/daemon/coordinator_contact.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "shared/base/log.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::daemon {
namespace {

constexpr std::int64_t kSparingHeartbeatMs = 10 * 60 * 1000;  // some 13 MB in a month

}  // namespace

CoordinatorContact::CoordinatorContact(RunThreads& threads, CoordinatorCalls& calls, Listener listener)
    : threads_(threads),
      calls_(calls),
      listener_(std::move(listener)),
      renewal_(threads,
               {[&calls] { return calls.renew_certificate(); }, [this](const std::string&) { adopt_newest(); }}),
      adopted_(calls.certificate()) {}

bool CoordinatorContact::obey(const Permission& permission) {
  allowed_ = permission.coordinator;
  return std::exchange(spares_data_, permission.spares_data) && !spares_data_;
}

void CoordinatorContact::send(wire::Heartbeat heartbeat) {
  if (!allowed_) {
    threads_.deliver([this](TimePoint now) {
      listener_.answered(now, Error{ErrorCode::unavailable, "the network is switched off"});
    });
    return;
  }
  threads_.on_coordinator([this, heartbeat = std::move(heartbeat)]() mutable {
    if (listener_.outgoing) listener_.outgoing(heartbeat);
    listener_.sign(heartbeat);
    auto reply = calls_.heartbeat(heartbeat);
    threads_.deliver([this, reply = std::move(reply)](TimePoint now) mutable { take(now, std::move(reply)); });
  });
}

// The coordinator need not hear it: it forgets members that do not call.
std::function<void()> CoordinatorContact::farewell(wire::Heartbeat last) {
  if (!allowed_) return [] {};
  last.phase = wire::MemberPhase::leaving;
  last.trust.holding.reset();  // it is of the state that it had at its last call
  return [this, last = std::move(last)]() mutable {
    if (listener_.outgoing) listener_.outgoing(last);
    listener_.sign(last);
    (void)calls_.heartbeat(last).ok();
  };
}

void CoordinatorContact::take(TimePoint now, Result<wire::HeartbeatReply> reply) {
  if (reply.ok()) {
    notice_ = reply->notice;
    const bool told = notice_.empty() || notice_ == logged_notice_ || notices_.warning(now, "coordinator: " + notice_);
    if (told) logged_notice_ = notice_;
    if (reply->renew_certificate) renewal_.begin();
    if (spares_data_) reply->next_heartbeat_ms = std::max(reply->next_heartbeat_ms, kSparingHeartbeatMs);
  } else if (reply.error().code == ErrorCode::unauthenticated) {
    renewal_.on_refused(now);
  }
  adopt_newest();
  listener_.answered(now, reply);
}

// This heartbeat or any other call may have renewed it.
void CoordinatorContact::adopt_newest() {
  std::string newest = calls_.certificate();
  if (newest == adopted_) return;
  adopted_ = std::move(newest);
  listener_.certificate(adopted_);
}

void CoordinatorContact::report_unusable(const wire::UnusableSamples& samples) {
  if (!allowed_) return;
  threads_.on_coordinator([this, samples] {
    const Status told = calls_.report_unusable(samples);
    log_warning("{} sample(s) can not be trained on{}", samples.draws.size(),
                told.ok() ? "; the coordinator knows" : ": " + told.error().message);
  });
}

}  // namespace starling::daemon
