// The members of the last averaging, for the volunteer's window. Pure; control thread.
#pragma once

#include <map>
#include <span>

#include "client/transport/peer_network.h"
#include "shared/base/ids.h"
#include "shared/control/control.h"
#include "shared/protocol/group_info.h"

namespace starling::daemon {

class PeerBoard {
 public:
  // An averaging by this plan begins: the first members of a large group are shown, and always this computer.
  void begin_round(const wire::GroupInfo& plan, averaging::Rank self);
  // Sets the samples that the members have brought to the round that is over.
  void end_round(const std::map<PeerId, SampleCount>& samples);
  // Returns the members with the speeds of the links that are up.
  [[nodiscard]] wire::PeersView view(std::span<const transport::PeerSpeed> speeds) const;

 private:
  wire::PeersView peers_;
};

}  // namespace starling::daemon
