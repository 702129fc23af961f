// Homes on one machine: each is a network namespace with one device, eth0, behind an access link of its own. Needs root
// and iproute2. Everything ends with the process, however it ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/netlab/net_namespace.h"
#include "tests/netlab/user_switch.h"

namespace starling::netlab {

struct LabOptions {
  double loss = 0;         // loss of frames between two homes, as a fraction
  std::string congestion;  // TCP's congestion control inside, such as "cubic"; empty: the system's
  bool cuts = false;       // homes will be cut off
};

class Lab {
 public:
  // Links that differ in rates only are shaped by the kernel (tbf); delay, loss and cuts take the switch in user space.
  static Result<std::unique_ptr<Lab>> create(std::vector<LinkSpec> links, const LabOptions& options);
  ~Lab();

  [[nodiscard]] const std::vector<LinkSpec>& links() const { return links_; }
  [[nodiscard]] const NetNamespace& home(std::size_t index) const { return homes_[index]; }
  [[nodiscard]] static std::string address(std::size_t index);
  // From now on a home receives nothing (deaf), or nothing that it sends arrives (mute), or all is well. Only in a lab
  // made for cuts.
  void cut_off(std::size_t home, bool deaf, bool mute) const;

 private:
  explicit Lab(std::vector<LinkSpec> links) : links_(std::move(links)) {}
  Status build_switch(const LabOptions& options);
  Status build_bridge();
  Status set_addresses();
  Status set_congestion(const std::string& name);

  std::vector<LinkSpec> links_;
  std::vector<NetNamespace> homes_;
  std::vector<NetNamespace> core_;  // the bridge's namespace, if there is one
  std::unique_ptr<UserSwitch> switch_;
  std::string allowed_before_;  // the machine's list of congestion controls, if it had to be extended
};

}  // namespace starling::netlab
