#include "client/transport/switchboard.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/ip/address.hpp>
#include <iterator>

#include "shared/base/log.h"

namespace starling::transport {
namespace {

// Intervals of looking after links: while some are being made, and otherwise.
constexpr Duration kBusyTick = std::chrono::milliseconds(100);
constexpr Duration kIdleTick = std::chrono::seconds(10);

// The endpoint has passed check_address.
asio::ip::tcp::endpoint address_of(const wire::Endpoint& endpoint) {
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(endpoint.host, error);
  VERIFY(!error);
  return {address, static_cast<std::uint16_t>(endpoint.port)};
}

Error revocation_of(const Link::Info& info) {
  return {ErrorCode::permission_denied,
          fmt::format("{}: the certificate of {} has been revoked", info.remote, info.peer.brief())};
}

}  // namespace

bool dials_first(const wire::Endpoint& self, const wire::Endpoint& other) {
  if (!wire::dialable(other)) return false;
  if (wire::direct(self) != wire::direct(other)) return wire::direct(other);
  return self.peer < other.peer || !wire::dialable(self);
}

Switchboard::Switchboard(LinkContext& context, Link::Mediator& mediator, crypto::TlsContext tls,
                         SwitchboardOptions options)
    : context_(context), mediator_(mediator), tls_(std::move(tls)), options_(options) {}

void Switchboard::want(Purpose purpose, const std::vector<wire::Endpoint>& peers, const wire::Endpoint* self) {
  const TimePoint now = context_.clock.now();
  const auto index = static_cast<std::size_t>(purpose);
  for (auto& [id, peer] : peers_) {
    peer.wanted[index] = false;
    if (purpose == Purpose::round && !peers.empty()) peer.planned = false;
  }
  if (purpose == Purpose::round) {
    relays_.clear();
    std::copy_if(peers.begin(), peers.end(), std::back_inserter(relays_), wire::direct);
  }
  for (const wire::Endpoint& endpoint : peers) {
    if (endpoint.peer == context_.self) continue;
    Peer& peer = peers_[endpoint.peer];
    peer.endpoint = endpoint;
    peer.wanted[index] = peer.planned = true;
    peer.redial = options_.redial_first;
    const bool first = self == nullptr || peer.lost || dials_first(*self, endpoint);
    const TimePoint turn = first ? now : now + options_.second_dialler_delay;
    peer.dial_at = wire::dialable(endpoint) ? turn : kNever;
    peer.meetings = 0;
    if (self != nullptr && wire::direct(endpoint) && wire::direct(*self)) peer.meet_at = now + options_.relay_delay;
  }
  std::erase_if(peers_, [](const auto& entry) { return entry.second.is_idle(); });
  tick(now);
}

void Switchboard::deny(std::span<const PeerId> revoked) {
  denied_ = {revoked.begin(), revoked.end()};
  for (const auto& [key, link] : links_) {
    if (denied_.contains(link->info().peer)) link->close(revocation_of(link->info()));
  }
}

Status Switchboard::may_dial(const wire::Endpoint& peer) const {
  if (denied_.contains(peer.peer)) return Error{ErrorCode::permission_denied, "its certificate has been revoked"};
  if (!wire::dialable(peer)) return Error{ErrorCode::failed_precondition, "it cannot be dialled, and has not called"};
  if (peer.relay == context_.self)
    return Error{ErrorCode::unavailable, "it can be called only here, and has not called"};
  return net::check_address(peer.host, peer.port, options_.addresses);
}

std::shared_ptr<Link> Switchboard::make_link() {
  auto link = std::make_shared<Link>(context_, mediator_, tls_);
  links_.emplace(link.get(), link);
  return link;
}

// Makes room for one more link that somebody else wants; false when there is none.
bool Switchboard::make_room() {
  const auto waits = [](const Link& link) {
    return link.info().relayed && !link.info().was_up && !link.info().dialled;
  };
  evict(waits, options_.unproven_max, "too many callers that say nothing");
  if (links_.size() >= options_.links_max) {
    evict([this](const Link& link) { return is_stranger(link); }, 1, "too many links");
  }
  return links_.size() < 2 * options_.links_max;  // links just closed are still counted
}

bool Switchboard::make_room_for(const reach::AddressPrefix& network) {
  std::vector<Link*> unproven;
  std::size_t here = 0;  // connections from there, with a hello or without
  for (const auto& [key, link] : links_) {
    const Link::Info& info = link->info();
    if (!info.called_from || info.phase == Link::Phase::closed) continue;
    if (*info.called_from == network) here += std::max<std::size_t>(1, link->streams());
    if (!info.was_up) unproven.push_back(link.get());
  }
  std::sort(unproven.begin(), unproven.end(),
            [](const Link* a, const Link* b) { return a->info().last_used < b->info().last_used; });
  std::vector<reach::AddressPrefix> networks;
  for (const Link* link : unproven) networks.push_back(*link->info().called_from);
  if (here >= reach::places_of_prefix(options_.links_max)) {
    crowds_logged_.info(context_.clock.now(),
                        fmt::format("calls from {} are refused: {} connections from there are here already",
                                    reach::to_string(network), here));
    return false;
  }
  if (const auto index = reach::gives_way_to(network, networks, options_.unproven_max)) {
    Link& link = *unproven[*index];
    link.close({ErrorCode::resource_exhausted, link.info().remote + ": too many callers that say nothing"});
  }
  return make_room();
}

void Switchboard::take_call(asio::ip::tcp::socket socket) {
  asio::error_code gone;
  const asio::ip::tcp::endpoint caller = socket.remote_endpoint(gone);
  if (gone || !make_room_for(reach::prefix_of(caller.address()))) return;  // the socket closes here
  make_link()->accept(std::move(socket));
  plan_tick(context_.clock.now());
}

void Switchboard::dial(TimePoint now, Peer& peer) {
  peer.dial_at = now + peer.redial;
  peer.redial = std::min(2 * peer.redial, options_.redial_max);
  const wire::Endpoint& endpoint = peer.endpoint;
  if (const Status allowed = may_dial(endpoint); !allowed.ok()) {
    not_dialled_.warning(now, fmt::format("peer {}: {}", endpoint.peer.brief(), allowed.error().message));
    peer.dial_at = kNever;
    return;
  }
  const std::shared_ptr<Link> link = make_link();
  peer.dialling = link.get();
  if (wire::direct(endpoint)) return link->dial(address_of(endpoint), endpoint.peer);
  link->meet({endpoint.relay, address_of(endpoint)}, endpoint.peer, true);
}

// Both ends choose one relay, because they have one plan and start at about the same time.
void Switchboard::meet(TimePoint now, Peer& peer) {
  peer.meet_at = denied_.contains(peer.endpoint.peer) ? kNever : now + options_.relay_again;
  if (peer.meet_at == kNever) return;
  std::vector<const wire::Endpoint*> others;
  for (const wire::Endpoint& relay : relays_) {
    if (relay.peer != context_.self && relay.peer != peer.endpoint.peer) others.push_back(&relay);
  }
  if (others.empty()) return;
  const std::size_t pair = std::size_t{context_.self.bytes[0]} + peer.endpoint.peer.bytes[0];
  const wire::Endpoint& relay = *others[(pair + peer.meetings++) % others.size()];
  if (!may_dial(relay).ok()) return;
  log_debug("no link to {} yet: meeting it at {}", peer.endpoint.peer.brief(), relay.peer.brief());
  const std::shared_ptr<Link> link = make_link();
  peer.meeting = link.get();
  link->meet({relay.peer, address_of(relay)}, peer.endpoint.peer, true);
}

void Switchboard::answer_call(const reach::RelayPoint& relay, const PeerId& caller) {
  if (!make_room()) return;
  make_link()->meet(relay, caller, false);
  plan_tick(context_.clock.now());
}

bool Switchboard::has_room_for_stream() const {
  std::size_t streams = 0;
  for (const auto& [key, link] : links_) streams += std::max<std::size_t>(1, link->streams());
  return streams < options_.links_max;
}

bool Switchboard::add_stream(Link& link) {
  if (!has_room_for_stream()) return false;
  make_link()->join(link.shared_from_this());
  return true;
}

Link* Switchboard::link_to_join(const PeerId& peer, const wire::LinkToken& token) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || denied_.contains(peer) || !has_room_for_stream()) return nullptr;
  for (Link* link : found->second.up) {
    if (link != nullptr && link->token() == token) return link;
  }
  return nullptr;
}

Link* Switchboard::link_to(const PeerId& peer) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return nullptr;
  const auto& up = found->second.up;
  for (Link* link : up) {
    if (link != nullptr) return link;
  }
  return nullptr;
}

void Switchboard::link_up(Link& link) {
  const Link::Info& info = link.info();
  if (denied_.contains(info.peer)) return link.close(revocation_of(info));
  Peer& peer = peers_[info.peer];
  peer.endpoint.peer = info.peer;
  if (peer.dialling == &link) peer.dialling = nullptr;
  if (peer.meeting == &link) peer.meeting = nullptr;
  peer.redial = options_.redial_first;
  peer.lost = peer.lost && info.relayed;
  const bool lower_dialled = (context_.self < info.peer) == info.dialled;
  Link*& slot = peer.up[info.relayed ? 2 : lower_dialled ? 0 : 1];
  if (info.relayed && slot != nullptr) return;  // both may have called: the other end may send on either link
  if (slot != nullptr)
    slot->close({ErrorCode::unavailable, fmt::format("{}: a newer call took its place", info.remote)});
  slot = &link;
  evict([&](const Link& other) { return &other != &link && other.info().was_up && is_stranger(other); },
        options_.strangers_max, "too many links to peers without a plan");
}

void Switchboard::link_closed(Link& link) {
  if (const auto found = peers_.find(link.info().peer); found != peers_.end()) {
    Peer& peer = found->second;
    for (Link*& slot : peer.up) {
      if (slot != &link) continue;
      slot = nullptr;
      peer.lost = !link.info().relayed && !peer.is_up();
    }
    if (peer.dialling == &link) peer.dialling = nullptr;
    if (peer.meeting == &link) peer.meeting = nullptr;
    if (peer.is_wanted() && !peer.is_up() && peer.dial_at != kNever) {
      peer.dial_at = std::max(peer.dial_at, context_.clock.now() + peer.redial);
    }
    forget_if_idle(found->first);
  }
  links_.erase(&link);
  plan_tick(context_.clock.now());
}

bool Switchboard::is_gone(const Link& closed) const {
  const Link::Info& info = closed.info();
  const auto found = peers_.find(info.peer);
  if (!info.refused || info.relayed || found == peers_.end()) return false;
  return found->second.lost && !found->second.is_up();
}

void Switchboard::forget_if_idle(const PeerId& id) {
  const auto found = peers_.find(id);
  if (found->second.is_idle()) peers_.erase(found);
}

bool Switchboard::is_stranger(const Link& link) const {
  const auto found = peers_.find(link.info().peer);
  return found == peers_.end() || (!found->second.is_wanted() && !found->second.planned);
}

// Closes the candidate idle for longest when there are `limit` or more of them.
void Switchboard::evict(const std::function<bool(const Link&)>& candidate, std::size_t limit, const char* why) {
  Link* oldest = nullptr;
  std::size_t count = 0;
  for (const auto& [key, link] : links_) {
    if (link->info().phase == Link::Phase::closed || !candidate(*link)) continue;
    ++count;
    if (oldest == nullptr || link->info().last_used < oldest->info().last_used) oldest = link.get();
  }
  if (count < limit || oldest == nullptr) return;
  oldest->close({ErrorCode::resource_exhausted, fmt::format("{}: {}", oldest->info().remote, why)});
}

void Switchboard::judge(TimePoint now, Link& link) {
  const Link::Info& info = link.info();
  const auto close = [&](const char* why) {
    link.close({ErrorCode::deadline_exceeded, fmt::format("{}: {}", info.remote, why)});
  };
  if (info.phase == Link::Phase::closed) return;
  if (!info.was_up) {
    if (now - info.opened >= options_.handshake_deadline) close("no hello came in time");
    return;
  }
  if (info.ending && info.ending->at <= now) return link.close(Error(info.ending->why));
  const auto found = peers_.find(info.peer);
  if (found != peers_.end() && found->second.is_wanted()) return;
  const Duration idle_max = is_stranger(link) ? options_.stranger_idle_max : options_.member_idle_max;
  if (now - info.last_used >= idle_max) return close("nothing left to say");
  if (now - info.opened >= options_.age_max) close("older than a certificate lives");
}

void Switchboard::tick(TimePoint now) {
  for (const auto& [key, link] : links_) judge(now, *link);
  for (auto& [id, peer] : peers_) {
    if (!peer.is_wanted() || peer.is_up() || links_.size() >= options_.links_max) continue;
    if (peer.dialling == nullptr && peer.dial_at <= now) dial(now, peer);
    if (peer.meeting == nullptr && peer.wanted[static_cast<std::size_t>(Purpose::round)] && peer.meet_at <= now) {
      meet(now, peer);
    }
  }
  plan_tick(now);
}

// Called whenever links or wanted peers change, so that asking for the next tick costs nothing.
void Switchboard::plan_tick(TimePoint now) {
  const auto passing = [](const Link::Info& info) { return !info.was_up || info.ending.has_value(); };
  const bool making_links =
      std::any_of(links_.begin(), links_.end(), [&](const auto& entry) { return passing(entry.second->info()); }) ||
      std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
        return entry.second.is_wanted() && !entry.second.is_up() && entry.second.dial_at != kNever;
      });
  const TimePoint busy = making_links ? now + kBusyTick : kNever;
  const TimePoint idle = links_.empty() ? kNever : now + kIdleTick;
  // A tick that is planned already stays, because frequent changes would put it off for ever.
  next_tick_ = std::min({next_tick_ > now ? next_tick_ : kNever, busy, idle});
}

}  // namespace starling::transport
