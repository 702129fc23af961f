// The members that others can dial, and the relays for those that nobody can dial. Pure: a test that is due comes out,
// its result comes back in.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coordinator/core/member.h"
#include "coordinator/core/types.h"

namespace starling::core {

// Tests of addresses, and places at relays.
class ReachTable {
 public:
  explicit ReachTable(const CoordinatorOptions& options) : options_(options) {}

  // Call it after each heartbeat. It judges the member's claims about itself, finds a relay for it or makes it one, and
  // returns the test that is due. The caller dials that endpoint, and nothing else, and reports by on_tested.
  std::optional<wire::Endpoint> on_heartbeat(TimePoint now, MemberTable& members, Member& member);
  void on_tested(TimePoint now, Member& member, const wire::Endpoint& tested, bool reached);
  void on_gone(const PeerId& peer);
  // Drops relays and clients that are gone.
  void sweep(const MemberTable& members);

  // Returns the members that should be posted at this relay.
  [[nodiscard]] std::vector<PeerId> clients_of(const PeerId& relay) const;
  [[nodiscard]] bool is_client_of(const PeerId& relay, const PeerId& member) const;

 private:
  void release(Member& member);
  void find_relay(TimePoint now, MemberTable& members, Member& member);
  [[nodiscard]] std::optional<wire::Endpoint> choose_relay(MemberTable& members, const Member& member,
                                                           const PeerId& without) const;

  const CoordinatorOptions& options_;
  std::set<PeerId> offers_;                     // members that can be dialled and offer to relay
  std::map<PeerId, std::set<PeerId>> clients_;  // by relay; includes the operator's
};

}  // namespace starling::core
