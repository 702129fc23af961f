// Asks the router at home to let calls from outside through to this computer, by NAT-PMP or else by UPnP, for as long
// as this object lives. Has a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shared/base/clock.h"

namespace starling::transport {

struct PortMapperOptions {
  int port = 0;                               // of TCP, on this computer; the same is wished for outside
  Duration lifetime = std::chrono::hours(1);  // of a mapping: renewed at half of it, gone then if nobody removes it
  Duration retry = std::chrono::minutes(10);  // after a router said no, or none was found
};

struct PortMapping {
  int port = 0;         // outside; 0: none
  std::string method;   // "NAT-PMP" or "UPnP", when there is one
  std::string problem;  // why there is none
};

class PortMapper {
 public:
  // `changed` is called on the mapper's thread when a mapping came, went or failed for another reason than before.
  PortMapper(PortMapperOptions options, std::function<void()> changed);
  ~PortMapper();  // as close(), and waits: as long as the router takes, a few seconds at most

  // The mapping is to be removed; once it is, or the router did not answer, this is closed.
  void close();
  [[nodiscard]] bool closed() const;
  [[nodiscard]] PortMapping mapping() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::transport
