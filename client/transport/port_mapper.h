// Asks the router at home to let calls from outside through to this computer, by NAT-PMP or else by UPnP, for as long
// as this object lives. Has a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shared/base/clock.h"

namespace starling::transport {

// The port to open, and the times of asking the router.
struct PortMapperOptions {
  int port = 0;                               // TCP port on this computer; the router is asked for an equal one outside
  Duration lifetime = std::chrono::hours(1);  // mappings are renewed at half of it, and end after it unless removed
  Duration retry = std::chrono::minutes(10);  // wait after a router refused, or none was found
};

// The router's answer so far: a port, a problem, or neither before its first answer.
struct PortMapping {
  int port = 0;         // outside; 0: none
  std::string method;   // "NAT-PMP" or "UPnP", when there is one
  std::string problem;  // reason when there is none
};

class PortMapper {
 public:
  // `changed` is called on the mapper's thread when a mapping came, went or failed for another reason than before.
  PortMapper(PortMapperOptions options, std::function<void()> changed);
  ~PortMapper();  // closes as close() does, and waits for the router: a few seconds at most

  // Removes the mapping. closed() is true once it is removed, or the router did not answer.
  void close();
  [[nodiscard]] bool closed() const;
  [[nodiscard]] PortMapping mapping() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::transport
