#include "shared/swarm/exchange_topologies.h"

#include <bit>
#include <utility>

namespace starling::swarm {
namespace {

// Returns the position below `count` that differs in the step's bit; `count` or more if there is none.
std::size_t exponential_partner(std::size_t position, std::size_t step, std::size_t count) {
  const auto bits = static_cast<std::size_t>(std::bit_width(count - 1));
  return bits == 0 ? count : position ^ std::size_t{1} << step % bits;
}

std::vector<std::vector<PeerIndex>> hosts_present(std::span<const std::uint8_t> present, std::uint32_t devices) {
  std::vector<std::vector<PeerIndex>> hosts;
  PeerIndex last_host = 0;
  for (const PeerIndex peer : those_present(present)) {
    if (hosts.empty() || peer / devices != last_host) hosts.emplace_back();
    hosts.back().push_back(peer);
    last_host = peer / devices;
  }
  return hosts;
}

}  // namespace

Groups RingPairs::form(std::span<const std::uint8_t> present) {
  const std::vector<PeerIndex> peers = those_present(present);
  const std::size_t count = peers.size();
  const std::size_t first = step_++ % 2;
  Groups groups;
  for (std::size_t k = 0; k < count; ++k) {
    groups.add(peers[(first + k) % count]);
    if (k % 2 == 1) groups.close_group();
  }
  groups.close_group();  // a group of one, when the ring is odd
  return groups;
}

Groups ExponentialPairs::form(std::span<const std::uint8_t> present) {
  const std::vector<PeerIndex> peers = those_present(present);
  Groups groups;
  for (std::size_t k = 0; k < peers.size(); ++k) {
    const std::size_t partner = exponential_partner(k, step_, peers.size());
    if (partner < k) continue;
    groups.add(peers[k]);
    if (partner < peers.size()) groups.add(peers[partner]);
    groups.close_group();
  }
  ++step_;
  return groups;
}

Groups AlternatingExponentialRing::form(std::span<const std::uint8_t> present) {
  const std::vector<std::vector<PeerIndex>> hosts = hosts_present(present, devices_);
  Groups groups;
  const auto add_host = [&](std::size_t host) {
    for (const PeerIndex peer : hosts[host]) groups.add(peer);
  };
  std::size_t pairs = 0;
  for (std::size_t k = 0; k < hosts.size(); ++k) {
    const std::size_t partner = exponential_partner(k, step_ / 2, hosts.size());
    if (partner < k) continue;
    add_host(k);
    if (partner < hosts.size()) {
      const bool have_their_turn = pairs++ % 2 == step_ % 2;
      if (!have_their_turn) groups.close_group();
      add_host(partner);
    }
    groups.close_group();
  }
  ++step_;
  return groups;
}

}  // namespace starling::swarm
