#include "coordinator/core/reach.h"

#include <algorithm>

#include "shared/protocol/heartbeat_reply.h"

namespace starling::core {
namespace {

constexpr Duration kTestPatience = std::chrono::seconds(8);  // a test's own deadline, and a little
constexpr Duration kReachableAgain = std::chrono::minutes(30);
// a router may be about to open the port; the wait doubles up to kBlockedAgainMax
constexpr Duration kBlockedAgainFirst = std::chrono::seconds(5);
constexpr Duration kBlockedAgainMax = std::chrono::minutes(10);
// a member that is not posted by then looks for another relay
constexpr Duration kPostGivenUp = std::chrono::seconds(15);
constexpr std::size_t kOffersLookedAtMax = 64;
constexpr int kVolunteersTried = 2;  // failures in a row before the operator's relay is tried

}  // namespace

std::optional<wire::Endpoint> ReachTable::on_heartbeat(TimePoint now, MemberTable& members, Member& member) {
  Reach& reach = member.reach;
  if (reach.address != member.who.address || reach.port != member.reported.listen_port) {
    // A new test waits until after the last: nobody scans ports with our help.
    reach = {.address = member.who.address,
             .port = member.reported.listen_port,
             .test_at = reach.again,
             .again = reach.again};
  }
  const bool listens = member.reported.listen_port != 0 && !member.who.address.empty();
  if (!listens) reach.verdict = wire::Reachability::blocked;
  if (listens && !options_.dial_back) reach.verdict = wire::Reachability::reachable;
  std::optional<wire::Endpoint> test;
  if (listens && options_.dial_back && now >= reach.test_at) {
    reach.test_at = reach.again = now + kTestPatience;
    test = wire::Endpoint{member.who.peer, member.who.address, member.reported.listen_port};
  }
  if (member.dialable() && member.speeds.relay_bytes_per_s > 0) {
    offers_.insert(member.who.peer);
  } else {
    offers_.erase(member.who.peer);
  }
  if (reach.verdict == wire::Reachability::blocked) {
    find_relay(now, members, member);
  } else {
    release(member);
  }
  return test;
}

void ReachTable::on_tested(TimePoint now, Member& member, const wire::Endpoint& tested, bool reached) {
  Reach& reach = member.reach;
  if (reach.address != tested.host || reach.port != tested.port) return;  // the test was of an earlier address
  reach.verdict = reached ? wire::Reachability::reachable : wire::Reachability::blocked;
  reach.retry = reached ? kBlockedAgainFirst : std::clamp(2 * reach.retry, kBlockedAgainFirst, kBlockedAgainMax);
  reach.test_at = now + (reached ? kReachableAgain : reach.retry);
}

void ReachTable::on_gone(const PeerId& peer) {
  offers_.erase(peer);
  clients_.erase(peer);
  for (auto& [relay, clients] : clients_) clients.erase(peer);
}

void ReachTable::sweep(const MemberTable& members) {
  const auto gone = [&](const PeerId& peer) { return !members.all().contains(peer); };
  std::erase_if(offers_, gone);
  for (auto& [relay, clients] : clients_) std::erase_if(clients, gone);
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.empty() || (!offers_.contains(entry.first) && entry.first != options_.relay.peer);
  });
}

std::vector<PeerId> ReachTable::clients_of(const PeerId& relay) const {
  const auto found = clients_.find(relay);
  if (found == clients_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

bool ReachTable::is_client_of(const PeerId& relay, const PeerId& member) const {
  const auto found = clients_.find(relay);
  return found != clients_.end() && found->second.contains(member);
}

void ReachTable::release(Member& member) {
  if (!member.relay.endpoint) return;
  if (const auto found = clients_.find(member.relay.endpoint->relay); found != clients_.end()) {
    found->second.erase(member.who.peer);
  }
  member.relay.endpoint.reset();
}

void ReachTable::find_relay(TimePoint now, MemberTable& members, Member& member) {
  if (member.relay.endpoint && member.reported.posted_at == member.relay.endpoint->relay) {
    member.relay.since = now;
    member.relay.failed = 0;
  }
  const bool stuck = member.relay.endpoint && now >= member.relay.since + kPostGivenUp;
  const PeerId without = stuck ? member.relay.endpoint->relay : PeerId{};
  const bool kept =
      member.relay.endpoint && !stuck && is_client_of(member.relay.endpoint->relay, member.who.peer) &&
      (offers_.contains(member.relay.endpoint->relay) || member.relay.endpoint->relay == options_.relay.peer);
  if (kept) return;
  if (stuck) ++member.relay.failed;
  release(member);
  member.relay.endpoint = choose_relay(members, member, without);
  if (!member.relay.endpoint) return;
  member.relay.since = now;
  clients_[member.relay.endpoint->relay].insert(member.who.peer);
}

// Returns a volunteer's relay with the fewest clients; the operator's if none has room, or some let the member not in.
std::optional<wire::Endpoint> ReachTable::choose_relay(MemberTable& members, const Member& member,
                                                       const PeerId& without) const {
  if (wire::dialable(options_.relay) && member.relay.failed % (kVolunteersTried + 1) == kVolunteersTried) {
    return wire::Endpoint{member.who.peer, options_.relay.host, options_.relay.port, options_.relay.peer};
  }
  const Member* best = nullptr;
  std::size_t fewest = wire::kRelayClientsMax;
  std::size_t looked_at = 0;
  for (const PeerId& offer : offers_) {
    if (++looked_at > kOffersLookedAtMax) break;
    const auto clients = clients_.find(offer);
    const std::size_t count = clients == clients_.end() ? 0 : clients->second.size();
    const Member* relay = members.find(offer);
    if (relay == nullptr || !relay->dialable() || offer == member.who.peer || offer == without) continue;
    if (count >= fewest) continue;
    best = relay;
    fewest = count;
  }
  if (best != nullptr) {
    return wire::Endpoint{member.who.peer, best->who.address, best->reported.listen_port, best->who.peer};
  }
  if (!wire::dialable(options_.relay)) return std::nullopt;
  return wire::Endpoint{member.who.peer, options_.relay.host, options_.relay.port, options_.relay.peer};
}

}  // namespace starling::core
