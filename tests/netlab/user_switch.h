// An Ethernet switch in user space between TAP devices, for delay and loss, which this kernel's shaping may lack: the
// shell around Shaper. It has a thread of its own, which must run at once when a frame is due.
#pragma once

#include <memory>
#include <span>

#include "tests/netlab/net_namespace.h"
#include "tests/netlab/shaper.h"

namespace starling::netlab {

class UserSwitch {
 public:
  // Makes a device eth0 in each home (the caller sets its address) and begins to forward between them.
  static Result<std::unique_ptr<UserSwitch>> start(std::span<const NetNamespace> homes, std::span<const LinkSpec> links,
                                                   const ShaperOptions& options);
  ~UserSwitch();

  // From now on, drops frames from one home to the other, or lets them through again. Any thread.
  void cut(std::size_t from, std::size_t to, bool vanish);

 private:
  class Impl;
  explicit UserSwitch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::netlab
