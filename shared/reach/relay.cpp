#include "shared/reach/relay.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "shared/base/log.h"
#include "shared/reach/relay_visitor.h"

namespace starling::reach {
namespace {

// Traffic that may pass at once after a rest, at a limited rate.
constexpr Duration kBurst = std::chrono::milliseconds(100);
constexpr std::size_t kAccountsMax = 4096;     // beyond it, accounts without a stream are forgotten
constexpr std::size_t kStreamsPerPairMax = 2;  // both ends may have called
// A caller that hangs up and calls repeatedly makes the called peer come no more often than this.
constexpr Duration kTellAgain = std::chrono::milliseconds(500);
// Length of a chunk at a limited rate: short, so that all streams get turns, but worth a system call.
constexpr Duration kChunkTime = std::chrono::milliseconds(20);
constexpr std::size_t kChunkBytesMin = 4096;

bool is_between(const RelayStream& stream, const PeerId& a, const PeerId& b) {
  return (stream.first() == a && stream.second() == b) || (stream.first() == b && stream.second() == a);
}

}  // namespace

Relay::Relay(asio::io_context& io, crypto::TlsContext tls, const Clock& clock, RelayRules& rules, RelayLimits limits)
    : io_(io), tls_(std::move(tls)), clock_(clock), rules_(rules), limits_(limits), next_turn_(io) {}

Relay::~Relay() {
  // Each visitor removes itself from these maps.
  for (const auto& [number, visitor] : std::map(visitors_)) visitor->hang_up();
  for (const auto& [peer, visitor] : std::unordered_map(posts_)) visitor->hang_up();
}

void Relay::take(asio::ip::tcp::socket socket) {
  if (visitors_.size() >= limits_.visitors_max) {
    std::vector<std::shared_ptr<Visitor>> silent;
    std::vector<AddressPrefix> networks;
    for (const auto& [number, visitor] : visitors_) {
      if (visitor->has_asked()) continue;
      silent.push_back(visitor);
      networks.push_back(visitor->from());
    }
    ++stats_.refused_total;
    if (silent.empty()) return;              // the socket closes here
    silent[gives_way(networks)]->hang_up();  // it removes itself from the map
  }
  const auto visitor = std::make_shared<Visitor>(*this, std::move(socket), ++visitors_total_);
  visitors_.emplace(visitors_total_, visitor);
  visitor->start();
}

RelayStats Relay::stats() const {
  RelayStats stats = stats_;
  stats.posts = posts_.size();
  stats.streams = streams_.size();
  return stats;
}

void Relay::refuse(Visitor& visitor, RelayAnswer why) {
  ++stats_.refused_total;
  log_debug("relay: {} is refused", visitor.peer().brief());
  (void)visitor.answer(why);
  visitor.hang_up();
}

void Relay::on_post(const std::shared_ptr<Visitor>& visitor) {
  if (!rules_.may_post(visitor->peer())) return refuse(*visitor, RelayAnswer::not_allowed);
  const auto before = posts_.find(visitor->peer());
  if (before != posts_.end()) {
    const std::shared_ptr<Visitor> older = before->second;  // it removes itself from the map
    older->hang_up();
  }
  if (posts_.size() >= limits_.posts_max) return refuse(*visitor, RelayAnswer::busy);
  visitors_.erase(visitor->number());
  posts_.emplace(visitor->peer(), visitor);
  if (!visitor->answer(RelayAnswer::accepted)) visitor->hang_up();
}

void Relay::on_call(const std::shared_ptr<Visitor>& visitor, const PeerId& called) {
  const PeerId& caller = visitor->peer();
  const std::optional<RelayAllowance> allowance = rules_.allowance(caller, called);
  if (!allowance || called == caller) return refuse(*visitor, RelayAnswer::not_allowed);
  Account& account = renewed(*allowance);
  if (account.bytes >= account.bytes_max) return refuse(*visitor, RelayAnswer::not_allowed);
  if (const auto other = waiting_.find({called, caller}); other != waiting_.end()) {
    const std::shared_ptr<Visitor> first = other->second;
    waiting_.erase(other);
    return join(*first, *visitor, allowance->account);
  }
  const auto post = posts_.find(called);
  const bool too_soon = post != posts_.end() && clock_.now() < account.told_at + kTellAgain;
  if (too_soon || !has_room_for(caller) || !has_room_for(called)) return refuse(*visitor, RelayAnswer::busy);
  const Pair pair(caller, called);
  if (const auto before = waiting_.find(pair); before != waiting_.end()) {
    const std::shared_ptr<Visitor> older = before->second;
    older->hang_up();
  }
  waiting_.emplace(pair, visitor);
  visitor->wait_for_other();
  if (post == posts_.end()) return;
  account.told_at = clock_.now();
  const std::shared_ptr<Visitor> there = post->second;
  if (!there->tell_of(caller)) there->hang_up();
}

bool Relay::has_room_for(const PeerId& peer) const {
  const auto calls =
      std::count_if(waiting_.begin(), waiting_.end(), [&](const auto& entry) { return entry.first.first == peer; });
  const auto streams = std::count_if(streams_.begin(), streams_.end(), [&](const auto& entry) {
    return entry.first->first() == peer || entry.first->second() == peer;
  });
  return streams_.size() < limits_.streams_max && static_cast<std::size_t>(calls) < limits_.calls_per_peer_max &&
         static_cast<std::size_t>(streams) < limits_.streams_per_peer_max;
}

// Closes the oldest stream of a pair that has its full number, so that repeated calls take no more room.
void Relay::make_room_for(const Pair& pair) {
  std::size_t count = 0;
  const Stream* oldest = nullptr;
  for (const auto& [key, entry] : streams_) {
    if (!is_between(*key, pair.first, pair.second)) continue;
    ++count;
    if (oldest == nullptr || entry.number < oldest->number) oldest = &entry;
  }
  if (count < kStreamsPerPairMax) return;
  const std::shared_ptr<RelayStream> stream = oldest->stream;
  streams_.erase(stream.get());
  stream->close();
}

void Relay::join(Visitor& caller, Visitor& called, const Pair& account) {
  make_room_for({caller.peer(), called.peer()});
  if (streams_.size() >= limits_.streams_max) {
    refuse(caller, RelayAnswer::busy);
    return refuse(called, RelayAnswer::busy);
  }
  // Each end gets its answer before the first byte of the other.
  const bool both = caller.answer(RelayAnswer::accepted) && called.answer(RelayAnswer::accepted);
  if (!both) {
    caller.hang_up();
    return called.hang_up();
  }
  visitors_.erase(caller.number());  // the caller of join still holds both
  visitors_.erase(called.number());
  const auto stream =
      std::make_shared<RelayStream>(static_cast<RelayStream::Mediator&>(*this), caller.peer(), called.peer(),
                                    std::array<asio::ip::tcp::socket, 2>{caller.take_socket(), called.take_socket()});
  streams_.emplace(stream.get(), Stream{stream, account, ++stats_.streams_total});
  stream->start();
}

void Relay::on_left(const std::shared_ptr<Visitor>& visitor) {
  visitors_.erase(visitor->number());
  if (const auto post = posts_.find(visitor->peer()); post != posts_.end() && post->second == visitor) {
    posts_.erase(post);
  }
  const auto call = waiting_.find({visitor->peer(), visitor->called()});
  if (call != waiting_.end() && call->second == visitor) waiting_.erase(call);
}

void Relay::await_turn(std::function<void(std::size_t)> go) {
  turns_.push_back(std::move(go));
  if (!turns_wait_) give_turns();
}

void Relay::give_turns() {
  while (!turns_.empty()) {
    const bool limited = limits_.bytes_per_s > 0;
    const Duration wait = limited ? free_at_ - clock_.now() : Duration{};
    if (wait > Duration{}) {
      turns_wait_ = true;
      next_turn_.expires_after(wait);
      return next_turn_.async_wait([this](const asio::error_code& stopped) {
        if (stopped) return;
        turns_wait_ = false;
        give_turns();
      });
    }
    const double chunk = limited ? limits_.bytes_per_s * to_seconds(kChunkTime) : RelayStream::kChunkBytes;
    const auto bytes_max =
        static_cast<std::size_t>(std::clamp<double>(chunk, kChunkBytesMin, RelayStream::kChunkBytes));
    const auto go = std::move(turns_.front());
    turns_.pop_front();
    go(bytes_max);
  }
}

// Returns the account with this allowance; its count of bytes starts again at zero in each new round.
Relay::Account& Relay::renewed(const RelayAllowance& allowance) {
  if (accounts_.size() >= kAccountsMax) forget_idle_accounts();
  Account& account = accounts_[allowance.account];
  if (account.round != allowance.round) account.bytes = 0;
  account.round = allowance.round;
  account.bytes_max = allowance.bytes_max;
  return account;
}

void Relay::forget_idle_accounts() {
  std::set<Pair> in_use;
  for (const auto& [key, entry] : streams_) in_use.insert(entry.account);
  std::erase_if(accounts_, [&](const auto& entry) { return !in_use.contains(entry.first); });
}

bool Relay::count(const RelayStream& stream, std::size_t bytes) {
  const auto found = streams_.find(&stream);
  VERIFY(found != streams_.end());
  const auto size = static_cast<std::int64_t>(bytes);
  Account* account = &accounts_[found->second.account];
  if (account->bytes + size > account->bytes_max) {
    // A new round may have begun, or the rules for these two may have changed since.
    const std::optional<RelayAllowance> allowance = rules_.allowance(stream.first(), stream.second());
    if (allowance) account = &renewed(*allowance);
    if (allowance) found->second.account = allowance->account;
    if (!allowance || account->bytes + size > account->bytes_max) {
      ++stats_.cut_total;
      cut_.warning(clock_.now(),
                   fmt::format("relay: {} and {} have used up their {} bytes of round {}", stream.first().brief(),
                               stream.second().brief(), account->bytes_max, account->round));
      return false;
    }
  }
  account->bytes += size;
  stats_.bytes_total += size;
  if (limits_.bytes_per_s > 0) {
    const Duration time = from_seconds(static_cast<double>(bytes) / limits_.bytes_per_s);
    free_at_ = std::max(free_at_, clock_.now() - kBurst) + time;
  }
  return true;
}

void Relay::stream_ended(const RelayStream& stream) { streams_.erase(&stream); }

}  // namespace starling::reach
