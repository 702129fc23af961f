#include "tests/netlab/lab.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace starling::netlab {
namespace {

constexpr const char* kCongestion = "/proc/sys/net/ipv4/tcp_congestion_control";
constexpr const char* kAllowed = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
// A burst may be the bytes of 5 ms, and must hold the largest bundle of frames, 64 KiB and the headers of each: the
// sender's processor takes a larger one apart, packet by packet, which no network card requires. A queue holds 100 ms.
constexpr double kBurstSeconds = 0.005;
constexpr double kBurstBytesMin = 72 * 1024;

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

bool write_line(const char* path, const std::string& line) {
  std::ofstream out(path);
  out << line << std::endl;
  return out.good();
}

Status shape(const std::string& device, double mbit) {
  const double burst = std::max(kBurstBytesMin, mbit * 1e6 / 8 * kBurstSeconds);
  return run_tool({"tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", fmt::format("{:.0f}bit", mbit * 1e6),
                   "burst", fmt::format("{:.0f}", burst), "latency", "100ms"});
}

}  // namespace

std::string Lab::address(std::size_t index) { return fmt::format("10.77.0.{}", index + 1); }

Result<std::unique_ptr<Lab>> Lab::create(std::vector<LinkSpec> links, const LabOptions& options) {
  std::unique_ptr<Lab> lab(new Lab(std::move(links)));
  for (std::size_t i = 0; i < lab->links_.size(); ++i) {
    STARLING_ASSIGN(NetNamespace home, NetNamespace::create());
    lab->homes_.push_back(std::move(home));
  }
  const bool delayed = std::any_of(lab->links_.begin(), lab->links_.end(),
                                   [](const LinkSpec& link) { return link.delay > Duration::zero(); });
  STARLING_TRY(delayed || options.loss > 0 || options.cuts ? lab->build_switch(options) : lab->build_bridge());
  STARLING_TRY(lab->set_addresses());
  if (!options.congestion.empty()) STARLING_TRY(lab->set_congestion(options.congestion));
  return lab;
}

Lab::~Lab() {
  if (!allowed_before_.empty()) write_line(kAllowed, allowed_before_);
}

void Lab::cut_off(std::size_t home, bool deaf, bool mute) const {
  for (std::size_t other = 0; other < homes_.size(); ++other) {
    switch_->cut(other, home, deaf);
    switch_->cut(home, other, mute);
  }
}

Status Lab::build_switch(const LabOptions& options) {
  ShaperOptions shaper;
  shaper.loss = options.loss;
  STARLING_ASSIGN(switch_, UserSwitch::start(homes_, links_, shaper));
  return {};
}

Status Lab::build_bridge() {
  STARLING_ASSIGN(NetNamespace core, NetNamespace::create());
  core_.push_back(std::move(core));
  const InNamespace there(core_.front());
  STARLING_TRY(run_tool({"ip", "link", "add", "core", "type", "bridge"}));
  STARLING_TRY(run_tool({"ip", "link", "set", "core", "up"}));
  for (std::size_t i = 0; i < homes_.size(); ++i) {
    const std::string port = fmt::format("port{}", i);
    STARLING_TRY(
        run_tool({"ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", homes_[i].path()}));
    STARLING_TRY(run_tool({"ip", "link", "set", port, "master", "core", "up"}));
    STARLING_TRY(shape(port, links_[i].down_mbit));
    const InNamespace home(homes_[i]);
    STARLING_TRY(shape("eth0", links_[i].up_mbit));
  }
  return {};
}

Status Lab::set_addresses() {
  for (std::size_t i = 0; i < homes_.size(); ++i) {
    const InNamespace home(homes_[i]);
    STARLING_TRY(run_tool({"ip", "address", "add", address(i) + "/24", "dev", "eth0"}));
    STARLING_TRY(run_tool({"ip", "link", "set", "eth0", "txqueuelen", "1000", "up"}));
  }
  return {};
}

// A namespace accepts only algorithms that the machine allows to everybody.
Status Lab::set_congestion(const std::string& name) {
  const std::string allowed = first_line(kAllowed);
  if ((" " + allowed + " ").find(" " + name + " ") == std::string::npos) {
    if (!write_line(kAllowed, allowed + " " + name)) {
      return Error{ErrorCode::unsupported, fmt::format("this system has no congestion control '{}'", name)};
    }
    allowed_before_ = allowed;
  }
  for (const NetNamespace& home : homes_) {
    const InNamespace there(home);
    write_line(kCongestion, name);
    if (first_line(kCongestion) != name) {
      return Error{ErrorCode::unsupported, fmt::format("set congestion control '{}': the system refuses", name)};
    }
  }
  return {};
}

}  // namespace starling::netlab
