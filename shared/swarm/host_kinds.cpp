#include "shared/swarm/host_kinds.h"

#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace starling::swarm {
namespace {

constexpr double kFinest = 0.5;  // in powers of two

using Key = std::array<long, 4>;

Key key_of(const Host& host, double step) {
  const auto power = [step](double speed) { return std::lround(std::log2(speed) / step); };
  return {power(host.samples_per_s), power(host.link.upload), power(host.link.download), host.link.dialable ? 1 : 0};
}

void join(HostKind& kind, const HostKind& other) {
  const auto all = static_cast<double>(kind.count + other.count);
  const auto mean = [&](double a, double b) {
    return (a * static_cast<double>(kind.count) + b * static_cast<double>(other.count)) / all;
  };
  kind.host.samples_per_s = mean(kind.host.samples_per_s, other.host.samples_per_s);
  kind.host.link.upload = mean(kind.host.link.upload, other.host.link.upload);
  kind.host.link.download = mean(kind.host.link.download, other.host.link.download);
  kind.host.delay_s = mean(kind.host.delay_s, other.host.delay_s);
  kind.host.jitter = mean(kind.host.jitter, other.host.jitter);
  kind.host.departures_per_s = mean(kind.host.departures_per_s, other.host.departures_per_s);
  kind.host.link.dialable = other.host.link.dialable;
  kind.count += other.count;
}

}  // namespace

std::vector<HostKind> host_kinds(std::span<const Host> hosts) {
  std::vector<HostKind> kinds;
  for (const Host& host : hosts) kinds.push_back({1, host});
  // Coarser each time; at last every computer's speeds round to the same power.
  for (double step = kFinest; step == kFinest || kinds.size() > kHostKindsMax; step *= 2) {
    std::map<Key, HostKind, std::greater<>> alike;
    for (const HostKind& kind : kinds) join(alike[key_of(kind.host, step)], kind);
    kinds.clear();
    for (const auto& [key, kind] : alike) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace starling::swarm
