#include "client/transport/hub.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <unordered_map>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/upper_median.h"

namespace starling::transport {
namespace {

// Size limit of frames that a peer may send before we know why it calls.
constexpr std::uint32_t kShortFrameBytesMax = 8192;  // a begin with its longest note, of a large group
// All links together gather this part of a round's vector for sockets that keep them waiting. It makes system calls
// fewer and larger, at the price of some memory.
constexpr std::size_t kGatheredOutput = 16;

bool is_about_calls(wire::FrameType type) { return type >= wire::FrameType::call && type <= wire::FrameType::weights; }

Duration usual_round_trip(std::span<const PeerSpeed> peers) {
  std::vector<Duration> known;
  for (const PeerSpeed& peer : peers) {
    if (peer.round_trip > Duration{}) known.push_back(peer.round_trip);
  }
  return known.empty() ? Duration{} : upper_median(std::move(known));
}

}  // namespace

Hub::Hub(asio::io_context& io, const PeerNetworkOptions& options, const crypto::TlsContext& tls, const Clock& clock,
         StateSource source)
    : io_(io),
      clock_(clock),
      signer_(crypto::make_peer_signer(tls.peer_key().value())),
      links_{.io = io,
             .clock = clock,
             .self = options.self,
             .run_id = options.run_id,
             .congestion_control = options.congestion_control,
             .line = options.line != nullptr ? *options.line : own_line_},
      switchboard_(links_, *this, tls, {.addresses = options.addresses, .links_max = options.links_max}),
      relays_(links_, tls, options.addresses,
              {.link =
                   [this](asio::ip::tcp::socket socket) {
                     switchboard_.take_call(std::move(socket));
                     service();
                   },
               .called =
                   [this](const reach::RelayPoint& relay, const PeerId& caller) {
                     switchboard_.answer_call(relay, caller);
                     service();
                   }}),
      averagings_(options.self, [this](const PeerId& peer) { return switchboard_.link_to(peer); }),
      calls_([this](const PeerId& peer) { return switchboard_.link_to(peer); }),
      transfers_(links_, switchboard_, std::move(source), options.donations_max),
      line_(links_, switchboard_),
      timer_(io) {}

Status Hub::prepare(AverageRequest& request) const {
  STARLING_TRY(check_request(request, links_.self));
  request.engine.signer = signer_;
  return {};
}

Status Hub::average(AverageRequest request) {
  STARLING_TRY(prepare(request));
  const bool follows = request.follows && averagings_.may_be_followed();
  if (follows) {
    averagings_.end_followed();
  } else {
    abandon();
  }
  relays_.serve(request.group);
  name_members(request.group);
  const std::vector<wire::Endpoint> others = members_to_link(request);
  const wire::Endpoint& self = others[request.self];
  links_.gathers = request.output.size_bytes() / kGatheredOutput / others.size();
  averagings_.add({}, std::move(request), follows);
  switchboard_.want(Switchboard::Purpose::round, others, &self);
  service();
  return {};
}

void Hub::abandon() {
  if (!end({})) return;
  switchboard_.want(Switchboard::Purpose::round, {}, nullptr);
  service();
}

bool Hub::end(Averagings::Bucket bucket) {
  if (!averagings_.leave(bucket)) return false;
  if (!bucket) {
    line_.lift_pace();
    line_.end_ticks();
  }
  for (const auto& [key, link] : switchboard_.links()) link->detach_payload();
  averagings_.drop(bucket);
  return true;
}

// Links of a gossip averaging have no pace: they are in use while no round is.
Status Hub::mix(std::size_t bucket, AverageRequest request) {
  STARLING_TRY(prepare(request));
  end_gossip(bucket);
  name_members(request.group);
  averagings_.add(bucket, std::move(request), false);
  want_partners();
  service();
  return {};
}

void Hub::end_gossip(std::size_t bucket) {
  if (!end(bucket)) return;
  want_partners();
  service();
}

void Hub::want_partners() {
  if (const auto partners = averagings_.take_partners()) {
    switchboard_.want(Switchboard::Purpose::gossip, partners->peers, &partners->self);
  }
}

Result<FetchNumber> Hub::fetch_state(StateFetch fetch) {
  STARLING_ASSIGN(const FetchNumber number, transfers_.fetch(std::move(fetch)));
  service();
  return number;
}

void Hub::cancel_fetch(FetchNumber number) {
  if (transfers_.cancel(number)) service();
}

void Hub::name_members(const wire::GroupInfo& group) {
  std::vector<PeerId> members;
  for (const wire::Endpoint& member : wire::contacts(group)) members.push_back(member.peer);
  transfers_.name(members);
}

void Hub::name_newcomers(const std::optional<std::vector<PeerId>>& newcomers, std::function<void()> unnamed_asks) {
  transfers_.name_newcomers(newcomers, std::move(unnamed_asks));
  service();
}

void Hub::deny(std::span<const PeerId> revoked) {
  relays_.deny(revoked);
  switchboard_.deny(revoked);
  service();
}

NetworkStats Hub::stats() const {
  NetworkStats stats;
  stats.upload_bytes_per_s = line_.upload_speed();
  stats.download_bytes_per_s = line_.download_speed();
  stats.round_bytes_sent = averagings_.bytes().sent;
  stats.round_bytes_received = averagings_.bytes().received;
  stats.state_bytes_sent = transfers_.bytes().sent;
  stats.state_bytes_received = transfers_.bytes().received;
  stats.call_bytes_sent = calls_.bytes().sent;
  stats.call_bytes_received = calls_.bytes().received;
  stats.round_wire_bytes = line_.on_wire().rounds;
  stats.state_wire_bytes = line_.on_wire().states;
  stats.links_refused = links_refused_;
  std::unordered_map<PeerId, PeerSpeed> speeds;
  for (const auto& [key, link] : switchboard_.links()) {
    if (link->info().phase != Link::Phase::up) continue;
    ++stats.links_up;
    stats.links_relayed += link->info().relayed ? 1 : 0;
    stats.streams_up += link->streams();
    const PeerSpeed speed = link->speed();
    speeds.try_emplace(speed.peer, speed).first->second.merge(speed);
  }
  for (const auto& [peer, speed] : speeds) stats.peers.push_back(speed);
  stats.round_trip = usual_round_trip(stats.peers);
  stats.relay = relays_.view();
  return stats;
}

void Hub::limit(double upload_bytes_per_s, double download_bytes_per_s) {
  links_.upload.set(upload_bytes_per_s);
  links_.download.set(download_bytes_per_s);
  relays_.limit(upload_bytes_per_s, download_bytes_per_s);
  for (const auto& [key, link] : switchboard_.links()) link->limit_window();
}

void Hub::link_with_holders(const std::vector<wire::Endpoint>& holders, const wire::Endpoint& self) {
  switchboard_.want(Switchboard::Purpose::calls, holders, &self);
  service();
}

void Hub::renew(const crypto::TlsContext& tls) {
  switchboard_.renew(tls);
  relays_.renew(tls);
}

void Hub::link_up(Link& link) {
  log_debug("link to {} ({}) is up", link.info().peer.brief(), link.info().remote);
  switchboard_.link_up(link);
  if (link.info().phase == Link::Phase::up) link.pump();
}

Result<bool> Hub::wants_frame(Link& link, const wire::FrameHeader& header) {
  switch (header.type) {
    case wire::FrameType::hello:
    case wire::FrameType::join:
    case wire::FrameType::widen:
      return Error{ErrorCode::corrupt, "a frame that links keep to themselves"};
    case wire::FrameType::ping:
    case wire::FrameType::pong:
      return true;
    case wire::FrameType::begin:
    case wire::FrameType::state_request:
      if (header.payload_bytes <= kShortFrameBytesMax) return true;
      return Error{ErrorCode::corrupt, "a frame too long for what it is"};
    case wire::FrameType::contribution:
    case wire::FrameType::result:
    case wire::FrameType::inventory:
    case wire::FrameType::want:
    case wire::FrameType::done:
    case wire::FrameType::seal:
    case wire::FrameType::lost_set:
    case wire::FrameType::listen:
    case wire::FrameType::over:
      return averagings_.wants_frame(link, header);
    case wire::FrameType::state_info:
    case wire::FrameType::state_chunk:
      return transfers_.wants_frame(link, header);
    case wire::FrameType::call:
    case wire::FrameType::call_data:
    case wire::FrameType::answer:
    case wire::FrameType::answer_data:
    case wire::FrameType::call_off:
    case wire::FrameType::refusal:
    case wire::FrameType::weights:
      return calls_.wants_frame(link, header);
  }
  VERIFY(false);
}

Status Hub::frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  switch (header.type) {
    case wire::FrameType::ping:
    case wire::FrameType::pong:
      return handle_liveness(link, header);
    case wire::FrameType::state_request:
    case wire::FrameType::state_info:
    case wire::FrameType::state_chunk:
      return transfers_.frame_received(clock_.now(), link, header, payload);
    default:
      if (is_about_calls(header.type)) return calls_.frame_received(link, header, payload);
      return averagings_.frame_received(clock_.now(), link, header, payload);
  }
}

// In a round the engine answers, because it decides about silence. Otherwise any peer may ask whether we live.
Status Hub::handle_liveness(Link& link, const wire::FrameHeader& header) {
  if (const auto status = averagings_.sign_of_life(clock_.now(), link, header)) return *status;
  if (header.type == wire::FrameType::ping) link.send_control(wire::FrameType::pong, {});
  return {};
}

void Hub::input_paused(Link& link) {
  const TimePoint now = clock_.now();
  averagings_.input_came(now, link);
  transfers_.input_came(now, link);
  if (!line_.beating()) service();
}

bool Hub::next_frame(Link& link, FrameToSend& frame) {
  const TimePoint now = clock_.now();
  if (!calls_.gives_way(link) && calls_.next_frame(link, frame)) return true;
  const Averagings::Sent sent = averagings_.next_frame(now, link, frame);
  calls_.round_sent(link);
  if (averagings_.wants_service(timer_set_for_, line_.next_tick() != kNever)) post_service();
  if (sent == Averagings::Sent::nothing) {
    return calls_.next_frame(link, frame) || transfers_.next_frame(now, link, frame);
  }
  const auto bytes = static_cast<std::size_t>(frame_bytes(frame.frame.payload.size()));
  if (sent == Averagings::Sent::awaited) transfers_.round_sends(now, bytes, line_.upload_speed());
  return true;
}

void Hub::post_service() {
  if (service_posted_) return;
  service_posted_ = true;
  asio::post(io_, [this] {
    service_posted_ = false;
    service();
  });
}

void Hub::link_closed(Link& link, const Error& why) {
  if (link.info().joins) return stream_closed(link, why);
  const TimePoint now = clock_.now();
  if (!link.info().was_up) ++links_refused_;
  log_debug("link to {} ended: {}", link.info().peer.brief(), why.message);
  if (why.code == ErrorCode::unauthenticated) log_refusal(now, why);
  averagings_.link_closed(now, link, why, switchboard_.is_gone(link));
  transfers_.link_closed(now, link, why);
  switchboard_.link_closed(link);
  calls_.link_closed(link, why);
  service();
}

// A link that was to become a further stream of another one: it has become one, or the other link does without.
void Hub::stream_closed(Link& link, const Error& why) {
  log_debug("a further stream to {} ({}): {}", link.info().peer.brief(), link.info().remote, why.message);
  switchboard_.link_closed(link);
  service();
}

// One of the two ends did not accept the other's certificate.
void Hub::log_refusal(TimePoint now, const Error& why) {
  refusals_logged_.warning(now, "a link to another computer was refused: " + why.message);
}

void Hub::service() {
  const TimePoint now = clock_.now();
  if (line_.next_measurement() <= now) measure(now);  // first: the rest takes time, in which counters go on
  if (line_.next_tick() <= now) line_.tick(now, *averagings_.round());
  if (switchboard_.next_tick() <= now) switchboard_.tick(now);
  averagings_.service(now, false);
  report(now, false);
  averagings_.service(now, true);
  report(now, true);
  transfers_.service(now, line_.upload_known());
  set_timer(now);
}

void Hub::report(TimePoint now, bool gossip) {
  RoundDriver* const round = averagings_.round();
  if (!gossip && averagings_.round_is_open() && round->running()) line_.pace(now, *round, averagings_.round_number());
  const std::vector<Averagings::Settled> settled = averagings_.take_settled(gossip);
  if (settled.empty()) return;
  if (!gossip) on_round_settled();
  for (const Averagings::Settled& each : settled) {
    asio::post(io_, [this, each] {
      if (const auto done = averagings_.callback_of(each.number))
        done(each.outcome);  // it may begin the next averaging
    });
  }
  if (gossip) want_partners();
}

void Hub::on_round_settled() {
  transfers_.round_ended();
  line_.end_ticks();
  measure(clock_.now());
  line_.rest();
  // From now on callers are let in, but nobody is called any more.
  switchboard_.want(Switchboard::Purpose::round, {}, nullptr);
}

void Hub::measure(TimePoint now) {
  line_.count(now);
  if (const double probed = transfers_.probed(now); probed > 0) line_.expect(probed);
  const FrameBytes& states = transfers_.bytes();
  line_.settle(now,
               {.state_bytes = states.sent + states.received, .relayed_bytes = relays_.view().serving.bytes_total});
}

// While pacing ticks come, everything due waits for the next one.
TimePoint Hub::next_deadline() const {
  if (line_.next_tick() != kNever) return line_.next_tick();
  const TimePoint next = std::min({switchboard_.next_tick(), transfers_.next_deadline(), averagings_.next_deadline()});
  return transfers_.is_probing() ? std::min(next, line_.next_measurement()) : next;
}

void Hub::set_timer(TimePoint now) {
  const TimePoint next = next_deadline();
  // Waking too early is harmless, and cheaper than setting the timer again for every frame.
  if (next == kNever || (timer_set_for_ <= next && timer_set_for_ > now)) return;
  timer_set_for_ = next;
  timer_.expires_after(std::max(next - now, Duration(0)));
  timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    timer_set_for_ = kNever;
    service();
  });
}

}  // namespace starling::transport
