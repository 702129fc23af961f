// A run's talk with the coordinator: heartbeats, and reports of samples that cannot be trained on. Calls run on the
// coordinator thread. Control thread.
#pragma once

#include <functional>
#include <string>

#include "client/daemon/certificate_renewal.h"
#include "client/daemon/coordinator_calls.h"
#include "client/daemon/permission.h"
#include "client/daemon/run_threads.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"
#include "shared/protocol/unusable_samples.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::daemon {

class CoordinatorContact {
 public:
  struct Listener {
    std::function<void(wire::Heartbeat&)> outgoing;  // Outgoing::heartbeat; coordinator thread
    std::function<void(wire::Heartbeat&)> sign;      // after that, on the same thread: signs the reports
    // An event: the heartbeat was answered, or why not.
    std::function<void(TimePoint now, const Result<wire::HeartbeatReply>& reply)> answered;
    std::function<void(const std::string& pem)> certificate;  // this computer's certificate was renewed
  };
  // `threads` and `calls` outlive this object.
  CoordinatorContact(RunThreads& threads, CoordinatorCalls& calls, Listener listener);

  // Returns true if the coordinator should hear of this computer soon, because data is no longer to be spared.
  [[nodiscard]] bool obey(const Permission& permission);
  // The coordinator may be called.
  [[nodiscard]] bool allowed() const { return allowed_; }
  // Sends a heartbeat; without permission it has failed. While the volunteer's data is to be spared, the reply asks for
  // the next one late.
  void send(wire::Heartbeat heartbeat);
  // Returns a task for the coordinator thread that sends this heartbeat as the member's last one, without waiting for
  // the run, which may have been stopped by then but must still exist.
  [[nodiscard]] std::function<void()> farewell(wire::Heartbeat last);
  // Sends these once, if the coordinator may be called.
  void report_unusable(const wire::UnusableSamples& samples);
  // The coordinator's last word to the volunteer; usually empty.
  [[nodiscard]] const std::string& notice() const { return notice_; }

 private:
  void take(TimePoint now, Result<wire::HeartbeatReply> reply);
  void adopt_newest();

  RunThreads& threads_;
  CoordinatorCalls& calls_;
  const Listener listener_;
  CertificateRenewal renewal_;
  std::string adopted_;  // the certificate that the listener was last told of, at first the one that the run began with
  bool allowed_ = true;
  bool spares_data_ = false;
  std::string notice_;
  std::string logged_notice_;  // the last one that the log tells
  LimitedLog notices_;
};

}  // namespace starling::daemon
