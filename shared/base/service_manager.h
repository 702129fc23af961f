// A word to the service manager that started this program: systemd's Type=notify and WatchdogSec=. Where none listens,
// nothing happens.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/clock.h"

namespace starling {

class ServiceManager {
 public:
  // Takes NOTIFY_SOCKET and WATCHDOG_USEC from the environment, for this program alone: children do not inherit them.
  // Before any thread starts.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  void ready() { tell("READY=1"); }
  void ending() { tell("STOPPING=1"); }
  // This process becomes another program, which takes its place and says when it is ready: what the constructor took is
  // in the environment again.
  void leave_to_successor() const;
  // From the loop that must not stand still, as often as it likes: what is asked for is told, the rest costs nothing.
  // One thread at a time.
  void alive(TimePoint now);

 private:
  void tell(std::string_view state) const;

  std::string notify_socket_;  // as the environment had it
  std::string watchdog_us_;
  int socket_ = -1;
  Duration every_{};  // zero: nobody watches
  TimePoint told_{};
};

}  // namespace starling
