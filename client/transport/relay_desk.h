// This computer's part in relaying. It relays for members of its own group that cannot reach each other, and for peers
// that the coordinator named. It may itself be posted at a relay, where others call it. Net thread only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_set>

#include "client/transport/link.h"
#include "client/transport/peer_network.h"
#include "shared/net/address_policy.h"
#include "shared/reach/call_sorter.h"
#include "shared/reach/relay.h"
#include "shared/reach/relay_post.h"

namespace starling::transport {

class RelayDesk final : private reach::RelayRules {
 public:
  struct Callbacks {
    reach::CallSorter::TakeCall link;  // a call for a link to this computer
    reach::RelayPost::Called called;   // somebody waits for us at our relay
  };
  RelayDesk(const LinkContext& context, const crypto::TlsContext& tls, const net::AddressPolicy& addresses,
            Callbacks callbacks);

  void take_call(asio::ip::tcp::socket socket) { sorter_.take(std::move(socket)); }
  void renew(const crypto::TlsContext& tls);

  // A round begins with this group: from now on its members may meet here.
  void serve(const wire::GroupInfo& group);
  void serve(RelayDuty duty);
  // Nobody of these posts, calls or is called here.
  void deny(std::span<const PeerId> revoked) { denied_ = {revoked.begin(), revoked.end()}; }
  // The volunteer's limits for all traffic on the line: relayed data goes through both directions of it.
  void limit(double upload_bytes_per_s, double download_bytes_per_s);
  // An error when the relay's address may not be dialled; the post is left then, and for nothing.
  Status post_at(const std::optional<wire::Endpoint>& relay, std::function<void()> changed);

  [[nodiscard]] RelayView view() const;

 private:
  [[nodiscard]] bool may_post(const PeerId& peer) const override;
  [[nodiscard]] std::optional<reach::RelayAllowance> allowance(const PeerId& caller,
                                                               const PeerId& called) const override;

  void set_rate();

  net::AddressPolicy addresses_;
  std::unordered_set<PeerId> members_;  // members of the latest group
  RoundIndex round_ = 0;
  std::int64_t round_bytes_max_ = 0;
  RelayDuty duty_;
  double line_bytes_per_s_ = 0;         // 0: no limit
  std::unordered_set<PeerId> clients_;  // clients in duty_
  std::unordered_set<PeerId> denied_;
  reach::Relay relay_;
  reach::RelayPost post_;
  reach::CallSorter sorter_;
};

}  // namespace starling::transport
