// Rules for the addresses that a volunteer's machine may be made to dial. Peers' addresses come from outside: without a
// policy a plan could point the whole swarm at somebody's router or at a cloud's metadata service.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::net {

struct AddressPolicy {
  bool allow_loopback = false;  // 127/8, ::1: several volunteers on one machine, tests
  bool allow_private = false;   // 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7: a swarm on one local network
};

// Ok for a dialable IP literal and port. Never for names, port 0, and unspecified, link-local, multicast, broadcast and
// reserved addresses. IPv4 written as IPv6 is judged as IPv4.
Status check_address(std::string_view host, int port, const AddressPolicy& policy);

// The least policy under which `host` passes: a client lets peers be as near as its coordinator is.
AddressPolicy policy_for_coordinator(std::string_view host);

}  // namespace starling::net
