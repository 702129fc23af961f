// Decides which links exist: dials wanted peers, takes calls, keeps links that are up by PeerId, and ends links that
// nobody needs. Net thread only.
//
// Two peers may come to have several links (each dialled the other at one moment, or they met at a relay as well). All
// stay until they are idle. Senders prefer the link that the lower PeerId dialled, and any link to a relayed one, and
// keep to one link for a whole round. Receivers take frames from each, so the choice loses nothing in flight.
//
// Two members of a round that can be dialled and yet have no link after a while meet at a third member that can be
// dialled, and both choose the same one (shared/reach).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/transport/link.h"
#include "shared/base/limited_log.h"
#include "shared/net/address_policy.h"
#include "shared/protocol/group_info.h"

namespace starling::transport {

// Limits and times of links; the defaults are the product's, tests shorten them.
struct SwitchboardOptions {
  net::AddressPolicy addresses;
  std::size_t links_max = 1024;  // one network has half of them at most by its calls
  // Inbound links without a hello so far. One network (reach::AddressPrefix) has half of them at most, and its oldest
  // one gives way to a new one; when all are taken, the oldest one of the most crowded network does. Callers over a
  // relay are counted by themselves.
  std::size_t unproven_max = 64;
  std::size_t strangers_max = 64;  // links that are up but in no plan yet; the one idle longest gives way
  Duration handshake_deadline = std::chrono::seconds(10);
  Duration stranger_idle_max = std::chrono::seconds(60);
  Duration member_idle_max = std::chrono::minutes(15);
  Duration age_max = std::chrono::hours(24);  // lifetime of a certificate
  Duration redial_first = std::chrono::milliseconds(200);
  Duration redial_max = std::chrono::seconds(3);
  // The peer whose turn it is not to dial does so after this delay, in case the other cannot.
  Duration second_dialler_delay = std::chrono::milliseconds(1500);
  // Members that have no link by then, after both have dialled, meet at a relay in their group, each time at another
  // one.
  Duration relay_delay = std::chrono::milliseconds(2500);
  Duration relay_again = std::chrono::seconds(10);
};

// Whether `self` dials: the lower id does when the higher can be dialled, else the higher. Without a relay where that
// can be.
bool dials_first(const wire::Endpoint& self, const wire::Endpoint& other);

class Switchboard {
 public:
  enum class Purpose : std::uint8_t { round, fetch, gossip, calls };

  Switchboard(LinkContext& context, Link::Mediator& mediator, crypto::TlsContext tls, SwitchboardOptions options);

  // Peers to have links with from now on; replaces those wanted for this purpose before. `self` is this member as the
  // plan has it, or null to dial all of them at once.
  void want(Purpose purpose, const std::vector<wire::Endpoint>& peers, const wire::Endpoint* self);
  void renew(crypto::TlsContext tls) { tls_ = std::move(tls); }
  // Computers whose certificates the coordinator has revoked: their links end, and they get no new ones. Replaces those
  // named before.
  void deny(std::span<const PeerId> revoked);
  // An error with the reason if this peer cannot be dialled.
  [[nodiscard]] Status may_dial(const wire::Endpoint& peer) const;
  void take_call(asio::ip::tcp::socket socket);
  // A caller waits at this relay to be connected with us.
  void answer_call(const reach::RelayPoint& relay, const PeerId& caller);
  // See Link::Mediator.
  bool add_stream(Link& link);
  [[nodiscard]] Link* link_to_join(const PeerId& peer, const wire::LinkToken& token) const;
  // The link to send on; null when none is up.
  [[nodiscard]] Link* link_to(const PeerId& peer) const;

  // Whether the end of this link means that the peer's process is gone: a direct link with it has ended, and now nobody
  // listens where the plan has it. A refusal alone may come from a router that does not lead back into its own home.
  [[nodiscard]] bool is_gone(const Link& closed) const;

  // The mediator passes these on.
  void link_up(Link& link);
  void link_closed(Link& link);

  void tick(TimePoint now);
  [[nodiscard]] TimePoint next_tick() const { return next_tick_; }

  [[nodiscard]] const std::unordered_map<const Link*, std::shared_ptr<Link>>& links() const { return links_; }

 private:
  struct Peer {
    std::array<Link*, 3> up{};  // dialled by the lower id, dialled by the higher, over a relay
    Link* dialling = nullptr;
    Link* meeting = nullptr;  // at a relay in the group
    wire::Endpoint endpoint;
    std::array<bool, 4> wanted{};  // by purpose
    bool planned = false;          // was in the latest plan
    bool lost = false;             // a direct link with it has ended, and there is no other
    TimePoint dial_at = kNever;
    Duration redial{};
    TimePoint meet_at = kNever;
    std::size_t meetings = 0;  // failed meetings

    [[nodiscard]] bool is_wanted() const { return wanted[0] || wanted[1] || wanted[2] || wanted[3]; }
    [[nodiscard]] bool is_up() const { return up[0] != nullptr || up[1] != nullptr || up[2] != nullptr; }
    [[nodiscard]] bool is_idle() const {
      return !is_wanted() && !is_up() && dialling == nullptr && meeting == nullptr && !(lost && planned);
    }
  };

  std::shared_ptr<Link> make_link();
  void dial(TimePoint now, Peer& peer);
  void meet(TimePoint now, Peer& peer);
  bool make_room();
  // Makes room for a call from this network.
  bool make_room_for(const reach::AddressPrefix& network);
  // Streams of all links count as links.
  [[nodiscard]] bool has_room_for_stream() const;
  void forget_if_idle(const PeerId& id);
  [[nodiscard]] bool is_stranger(const Link& link) const;
  void evict(const std::function<bool(const Link&)>& candidate, std::size_t limit, const char* why);
  void judge(TimePoint now, Link& link);
  void plan_tick(TimePoint now);

  LinkContext& context_;
  Link::Mediator& mediator_;
  crypto::TlsContext tls_;
  SwitchboardOptions options_;
  std::unordered_set<PeerId> denied_;
  LimitedLog crowds_logged_;
  LimitedLog not_dialled_;
  std::unordered_map<const Link*, std::shared_ptr<Link>> links_;
  std::unordered_map<PeerId, Peer> peers_;
  std::vector<wire::Endpoint> relays_;  // members of the latest plan that can be dialled, in its order
  TimePoint next_tick_ = kNever;
};

}  // namespace starling::transport
