// Renews this computer's certificate: when the coordinator asks for it, and when the coordinator refuses the present
// one. It may have run out while this computer slept or the coordinator was away; then no heartbeat comes back that
// asks for a new one. One renewal at a time. Control thread.
#pragma once

#include <functional>
#include <string>

#include "client/daemon/run_threads.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::daemon {

class CertificateRenewal {
 public:
  // A caller that is not a member any more is refused each time.
  static constexpr Duration kRefusedRetry = std::chrono::minutes(1);

  struct Steps {
    std::function<Result<std::string>()> fetch;         // returns the PEM text; coordinator thread, may block
    std::function<void(const std::string& pem)> adopt;  // from now on this one is used
  };
  // `threads` outlives this object.
  CertificateRenewal(RunThreads& threads, Steps steps);

  void begin();
  // Begins, unless one was begun like this within kRefusedRetry.
  void on_refused(TimePoint now);

 private:
  RunThreads& threads_;
  const Steps steps_;
  bool under_way_ = false;
  TimePoint not_before_{};
};

}  // namespace starling::daemon
