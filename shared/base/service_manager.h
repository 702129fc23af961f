// Notifications to the service manager that started this program (systemd's Type=notify and WatchdogSec=). Without a
// service manager, nothing happens.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/clock.h"

namespace starling {

class ServiceManager {
 public:
  // Takes NOTIFY_SOCKET and WATCHDOG_USEC out of the environment, so that children do not inherit them. To be called
  // before any thread starts.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  void ready() { tell("READY=1"); }
  void ending() { tell("STOPPING=1"); }
  // Restores the environment that the constructor changed, before this process executes another program that takes its
  // place and reports when it is ready.
  void leave_to_successor() const;
  // Called from the loop that must not stand still, as often as it likes: a notification is sent when one is due, and
  // other calls cost nothing. One thread at a time.
  void alive(TimePoint now);

 private:
  void tell(std::string_view state) const;

  std::string notify_socket_;  // the environment's value
  std::string watchdog_us_;
  int socket_ = -1;
  Duration every_{};  // zero: no watchdog
  TimePoint told_{};
};

}  // namespace starling
