#include "client/transport/relay_desk.h"

#include <algorithm>
#include <asio/ip/address.hpp>

#include "shared/protocol/heartbeat_reply.h"

namespace starling::transport {
namespace {

// Patience with a caller that says nothing.
constexpr Duration kPatience = std::chrono::seconds(10);
// A volunteer's computer has fewer descriptors to spare than an operator's, and few clients.
constexpr reach::RelayLimits kLimits = {.visitors_max = 128, .posts_max = wire::kRelayClientsMax, .streams_max = 192};

// The lower one of two limits; 0 is no limit.
double lower(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

}  // namespace

RelayDesk::RelayDesk(const LinkContext& context, const crypto::TlsContext& tls, const net::AddressPolicy& addresses,
                     Callbacks callbacks)
    : addresses_(addresses),
      relay_(context.io, tls, context.clock, *this, kLimits),
      post_(context.io, tls, context.clock, std::move(callbacks.called)),
      sorter_(context.io, kPatience, std::move(callbacks.link),
              [this](asio::ip::tcp::socket socket) { relay_.take(std::move(socket)); }) {}

void RelayDesk::renew(const crypto::TlsContext& tls) {
  relay_.renew(tls);
  post_.renew(tls);
}

void RelayDesk::serve(const wire::GroupInfo& group) {
  members_.clear();
  for (const wire::Endpoint& contact : wire::contacts(group)) members_.insert(contact.peer);
  round_ = group.round;
  round_bytes_max_ = wire::relay_bytes_per_round(group.vector_floats);
}

void RelayDesk::serve(RelayDuty duty) {
  clients_ = {duty.clients.begin(), duty.clients.end()};
  duty_ = std::move(duty);
  set_rate();
}

void RelayDesk::limit(double upload_bytes_per_s, double download_bytes_per_s) {
  line_bytes_per_s_ = lower(upload_bytes_per_s, download_bytes_per_s);
  set_rate();
}

void RelayDesk::set_rate() { relay_.set_rate(lower(duty_.bytes_per_s, line_bytes_per_s_)); }

Status RelayDesk::post_at(const std::optional<wire::Endpoint>& relay, std::function<void()> changed) {
  post_.on_change(std::move(changed));
  if (!relay) {
    post_.stay_at(std::nullopt);
    return {};
  }
  if (const Status allowed = net::check_address(relay->host, relay->port, addresses_); !allowed.ok()) {
    post_.stay_at(std::nullopt);
    return allowed.error().prefixed("relay " + relay->relay.brief());
  }
  const asio::ip::tcp::endpoint at(asio::ip::make_address(relay->host), static_cast<std::uint16_t>(relay->port));
  post_.stay_at(reach::RelayPoint{relay->relay, at});
  return {};
}

RelayView RelayDesk::view() const { return {post_.posted_at(), post_.problem(), relay_.stats()}; }

bool RelayDesk::may_post(const PeerId& peer) const { return clients_.contains(peer) && !denied_.contains(peer); }

std::optional<reach::RelayAllowance> RelayDesk::allowance(const PeerId& caller, const PeerId& called) const {
  if (denied_.contains(caller) || denied_.contains(called)) return std::nullopt;
  const bool client_calls = clients_.contains(caller);
  const bool for_client = client_calls || clients_.contains(called);
  if (!for_client && (!members_.contains(caller) || !members_.contains(called))) return std::nullopt;
  // A client's own relay does not know whether peers that call the client, or are called by it, are of its run: most
  // are newcomers that get the state. All of these together get no more than one member of the group.
  const PeerId& other = client_calls ? called : caller;
  const bool known = !for_client || clients_.contains(other) || members_.contains(other);
  const std::int64_t bytes_max = for_client ? duty_.bytes_per_round : round_bytes_max_;
  const RoundIndex round = for_client ? duty_.round : round_;
  if (!known) return reach::RelayAllowance{{client_calls ? caller : called, PeerId{}}, round, bytes_max};
  return reach::RelayAllowance{std::minmax(caller, called), round, bytes_max};
}

}  // namespace starling::transport
