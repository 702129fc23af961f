#include "client/transport/hub.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/upper_median.h"
#include "shared/net/line.h"

namespace starling::transport {
namespace {

// Size limit of frames that a peer may send before we know why it calls.
constexpr std::uint32_t kShortFrameBytesMax = 4096;
constexpr Duration kProgressEvery = std::chrono::milliseconds(250);
// All links together gather this part of a round's vector for sockets that keep them waiting. It makes system calls
// fewer and larger, at the price of some memory.
constexpr std::size_t kGatheredOutput = 16;

std::int64_t frame_bytes(std::size_t payload) { return static_cast<std::int64_t>(wire::kFrameHeaderBytes + payload); }

Status check_request(const AverageRequest& request, const PeerId& self) {
  STARLING_TRY(wire::check_group(request.group));
  const auto& members = request.group.members;
  if (request.self >= members.size() || members[request.self].endpoint.peer != self) {
    return Error{ErrorCode::invalid_argument, "average: the plan does not have this peer at that rank"};
  }
  const auto floats = static_cast<std::size_t>(request.group.vector_floats);
  const bool input_fits = request.input.size() == floats || (request.weight == 0 && request.input.empty());
  const bool rest_fits = request.rest.empty() || request.rest.size() == floats;
  if (!input_fits || !rest_fits || request.output.size() != floats) {
    return Error{ErrorCode::invalid_argument, fmt::format("average: vectors of {} and {} floats in a plan of {}",
                                                          request.input.size(), request.output.size(), floats)};
  }
  return {};
}

// Two members that own nothing have nothing to tell each other, and need not take up a relay's line.
std::vector<wire::Endpoint> members_to_link(const AverageRequest& request) {
  const wire::GroupMember& self = request.group.members[request.self];
  std::vector<wire::Endpoint> endpoints = wire::contacts(request.group);
  for (std::size_t rank = 0; rank < request.group.members.size(); ++rank) {
    const wire::GroupMember& member = request.group.members[rank];
    const bool idle = self.part_floats == 0 && member.part_floats == 0;
    if (idle && &member != &self && !wire::direct(member.endpoint)) endpoints[rank].host.clear();
  }
  return endpoints;
}

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
      donor_(std::move(source), options.donations_max),
      timer_(io) {}

Status Hub::average(AverageRequest request) {
  STARLING_TRY(check_request(request, links_.self));
  const bool follows = request.follows && round_ != nullptr && round_reported_;
  if (follows) {
    end(before_.get(), ended_);
    before_ = std::move(round_);
    ++round_number_;
  } else {
    abandon();
  }
  relays_.serve(request.group);
  const std::vector<wire::Endpoint> others = members_to_link(request);
  const wire::Endpoint& self = others[request.self];
  links_.gathers = request.output.size_bytes() / kGatheredOutput / others.size();
  round_ = std::make_unique<RoundDriver>(std::move(request),
                                         [this](const PeerId& peer) { return switchboard_.link_to(peer); });
  if (follows) round_->follow(*before_);
  round_reported_ = false;
  switchboard_.want(Switchboard::Purpose::round, others, &self);
  service();
  return {};
}

void Hub::abandon() {
  ++round_number_;
  if (round_ == nullptr) return;
  end(before_.get(), ended_);
  end(round_.get(), ended_);
  pace_.lift();
  expect_beats(false);
  for (const auto& [key, link] : switchboard_.links()) {
    link->detach_payload();
  }
  round_.reset();
  before_.reset();
  switchboard_.want(Switchboard::Purpose::round, {}, nullptr);
  service();
}

void Hub::end(const RoundDriver* round, averaging::EndedRounds& ended) {
  if (round == nullptr) return;
  ended.add(round->request().group);
  round->take_leave();
}

// Links of a gossip averaging have no pace: they are in use while no round is.
Status Hub::mix(std::size_t bucket, AverageRequest request) {
  STARLING_TRY(check_request(request, links_.self));
  end_mixing(bucket);
  auto driver = std::make_unique<RoundDriver>(std::move(request),
                                              [this](const PeerId& peer) { return switchboard_.link_to(peer); });
  mixings_.emplace(++mixing_number_, MixingUnderWay{bucket, std::move(driver)});
  want_partners();
  service();
  return {};
}

void Hub::end_mixing(std::size_t bucket) {
  const auto found =
      std::find_if(mixings_.begin(), mixings_.end(), [=](const auto& entry) { return entry.second.bucket == bucket; });
  if (found == mixings_.end()) return;
  end(found->second.driver.get(), ended_mixings_);
  for (const auto& [key, link] : switchboard_.links()) link->detach_payload();
  mixings_.erase(found);
  want_partners();
  service();
}

void Hub::want_partners() {
  std::vector<wire::Endpoint> endpoints;
  std::vector<PeerId> partners;
  wire::Endpoint self;
  for (const auto& [number, mixing] : mixings_) {
    if (mixing.reported) continue;
    for (const wire::Endpoint& endpoint : members_to_link(mixing.driver->request())) {
      if (endpoint.peer == links_.self) self = endpoint;
      if (std::find(partners.begin(), partners.end(), endpoint.peer) != partners.end()) continue;
      partners.push_back(endpoint.peer);
      endpoints.push_back(endpoint);
    }
  }
  if (partners == partners_) return;  // peers that are wanted again are dialled again
  partners_ = std::move(partners);
  switchboard_.want(Switchboard::Purpose::mixing, endpoints, &self);
}

Status Hub::fetch_state(StateFetch fetch) {
  if (fetch_ != nullptr) return Error{ErrorCode::failed_precondition, "download a state: another download is running"};
  if (fetch.out.empty() || fetch.out.size() > kStateFloatsMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("download a state of {} floats", fetch.out.size())};
  }
  std::unordered_set<PeerId> seen = {links_.self};
  std::erase_if(fetch.donors, [&](const wire::Endpoint& donor) { return !seen.insert(donor.peer).second; });
  if (fetch.donors.empty()) return Error{ErrorCode::unavailable, "download a state: no peer is known to hold it"};
  const TimePoint now = clock_.now();
  const std::vector<wire::Endpoint> donors = fetch.donors;
  ++fetch_number_;
  progress_told_ = now - kProgressEvery;  // so the first chunk is reported at once, however fast the rest comes
  fetch_ = std::make_unique<FetchDriver>(now, std::move(fetch),
                                         [this](const PeerId& peer) { return switchboard_.link_to(peer); });
  for (const wire::Endpoint& donor : donors) {
    const Status allowed = switchboard_.may_dial(donor);
    if (!allowed.ok() && switchboard_.link_to(donor.peer) == nullptr) {
      fetch_->give_up_on(now, donor.peer, allowed.error().message);
    }
  }
  switchboard_.want(Switchboard::Purpose::fetch, donors, nullptr);
  service();
  return {};
}

void Hub::cancel_fetch() {
  ++fetch_number_;
  if (fetch_ == nullptr) return;
  fetch_.reset();
  switchboard_.want(Switchboard::Purpose::fetch, {}, nullptr);
  service();
}

NetworkStats Hub::stats() const {
  NetworkStats stats = totals_;
  stats.upload_bytes_per_s = upload_speed();
  stats.download_bytes_per_s = download_speed();
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

void Hub::renew(const crypto::TlsContext& tls) {
  switchboard_.renew(tls);
  relays_.renew(tls);
}

void Hub::link_up(Link& link) {
  log_debug("link to {} ({}) is up", link.info().peer.brief(), link.info().remote);
  switchboard_.link_up(link);
  link.pump();
}

template <typename Visit>
void Hub::each_driver(const Visit& visit) const {
  if (before_ != nullptr) visit(*before_);
  if (round_ != nullptr) visit(*round_);
  for (const auto& [number, mixing] : mixings_) visit(*mixing.driver);
}

RoundDriver* Hub::driver_of(const GroupId& group) const {
  RoundDriver* found = nullptr;
  each_driver([&](RoundDriver& driver) {
    if (found == nullptr && driver.takes(group)) found = &driver;
  });
  return found;
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
    case wire::FrameType::listen:
      // The round may be over here, or never have been ours: a slower member may still be in it.
      if (const RoundDriver* driver = driver_of(header.group)) return driver->wants_frame(link, header);
      return false;
    case wire::FrameType::over:
      return driver_of(header.group) != nullptr;
    case wire::FrameType::state_info:
    case wire::FrameType::state_chunk:
      return fetch_ != nullptr && fetch_->wants_frame(link, header);
  }
  VERIFY(false);
}

Status Hub::frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  const TimePoint now = clock_.now();
  switch (header.type) {
    case wire::FrameType::ping:
    case wire::FrameType::pong:
      return handle_liveness(link, header);
    case wire::FrameType::state_request:
      totals_.state_bytes_received += frame_bytes(payload.size());
      return answer_request(link, payload);
    case wire::FrameType::state_info:
    case wire::FrameType::state_chunk:
      totals_.state_bytes_received += frame_bytes(payload.size());
      return fetch_ != nullptr ? fetch_->frame_received(now, link, header, payload) : Status();
    default:
      break;
  }
  totals_.round_bytes_received += frame_bytes(header.payload_bytes);
  RoundDriver* const driver = driver_of(header.group);
  if (header.type == wire::FrameType::over) {
    if (driver != nullptr) driver->peer_left(now, link);
    return {};
  }
  if (driver != nullptr && driver->running()) return driver->frame_received(now, link, header, payload);
  const bool is_over = ended_.has(header.group) || ended_mixings_.has(header.group);
  if (header.type == wire::FrameType::begin && is_over) {
    link.send_control(wire::FrameType::over, {}, header.group);
  } else if (header.type == wire::FrameType::begin) {
    std::deque<EarlyBegin>& begins = early_begins_[&link];
    std::erase_if(begins, [&](const EarlyBegin& begin) { return begin.header.group == header.group; });
    if (begins.size() == kEarlyBeginsMax) begins.pop_front();
    begins.push_back({.header = header, .payload = {payload.begin(), payload.end()}});
  }
  return {};
}

// In a round the engine answers, because it decides about silence. Otherwise any peer may ask whether we live.
Status Hub::handle_liveness(Link& link, const wire::FrameHeader& header) {
  bool heard = false;
  Status status;
  each_driver([&](RoundDriver& driver) {
    if (!status.ok() || !driver.is_member(link)) return;
    heard = true;
    status = driver.frame_received(clock_.now(), link, header, {});
  });
  if (!heard && header.type == wire::FrameType::ping) link.send_control(wire::FrameType::pong, {});
  return status;
}

Status Hub::answer_request(Link& link, std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::StateRequest request, wire::decode_state_request(payload));
  STARLING_ASSIGN(const std::optional<wire::StateInfo> info, donor_.on_request(&link, request));
  if (info) {
    const auto answer = wire::encode(*info);
    totals_.state_bytes_sent += frame_bytes(answer.size());
    link.send_control(wire::FrameType::state_info, answer, transfer_id(request.state_digest));
  }
  pump_donations();
  return {};
}

// Pumps links whose turn it is to send a state. From the event loop, because the call may come from another link's
// pump.
void Hub::pump_donations() {
  if (donations_posted_) return;
  donations_posted_ = true;
  asio::post(io_, [this] {
    donations_posted_ = false;
    for (const Link* ready : donor_.take_ready()) {
      const auto found = switchboard_.links().find(ready);
      if (found != switchboard_.links().end()) found->second->pump();
    }
  });
}

void Hub::input_paused(Link& link) {
  const TimePoint now = clock_.now();
  each_driver([&](RoundDriver& driver) { driver.input_came(now, link); });
  if (fetch_ != nullptr) fetch_->input_came(now, link);
  if (!beating_) service();
}

bool Hub::next_frame(Link& link, FrameToSend& frame) {
  const TimePoint now = clock_.now();
  const RoundDriver* from_round = nullptr;
  for (const bool owing : {true, false}) {
    each_driver([&](RoundDriver& driver) {
      if (from_round != nullptr || driver.owes_begin(link) != owing) return;
      if (driver.next_frame(now, link, frame)) from_round = &driver;
    });
  }
  each_driver([&](const RoundDriver& driver) {
    const bool due = next_beat_ == kNever && driver.next_deadline() < timer_set_for_;
    if (&driver != before_.get() && (due || driver.has_ready())) post_service();
  });
  if (from_round != nullptr) {
    const std::size_t bytes = frame_bytes(frame.frame.payload.size());
    totals_.round_bytes_sent += bytes;
    // No group waits for frames that a settled round still sends to slower members, nor for gossip.
    if (from_round == round_.get() && !round_reported_) donor_.round_sends(now, bytes, upload_speed());
    return true;
  }
  const bool donated = donor_.next_frame(now, &link, frame);
  if (!donated && !probe_.next_frame(&link, frame)) return false;
  totals_.state_bytes_sent += frame_bytes(frame.frame.payload.size());
  if (donated) pump_donations();
  return true;
}

// Holds back the rest of a state's chunk. A member of an averaging is not held back: the frames that it needs for that
// come behind the chunk.
bool Hub::holds_back(Link& link) {
  bool is_member = false;
  each_driver([&](const RoundDriver& driver) { is_member = is_member || driver.is_member(link); });
  return !is_member && donor_.waits(clock_.now(), &link);
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
  if (!link.info().was_up) ++totals_.links_refused;
  log_debug("link to {} ended: {}", link.info().peer.brief(), why.message);
  if (why.code == ErrorCode::unauthenticated) log_refusal(now, why);
  early_begins_.erase(&link);
  donor_.forget(&link);
  probe_.forget(&link);
  pump_donations();
  const bool gone = switchboard_.is_gone(link);
  each_driver([&](RoundDriver& driver) {
    driver.link_closed(now, link, why);
    if (gone) driver.peer_gone(now, link, why);
  });
  if (fetch_ != nullptr) fetch_->link_closed(now, link, why);
  switchboard_.link_closed(link);
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
  const auto kept_back = refusals_logged_.admit(now);
  if (!kept_back) return;
  log_warning("a link to another computer was refused: {}{}", why.message,
              *kept_back > 0 ? fmt::format(" ({} more since the last such line)", *kept_back) : "");
}

void Hub::service() {
  const TimePoint now = clock_.now();
  if (now - measured_at_ >= RateMeter::kSlot) measure(now);  // first: the rest takes time, in which counters go on
  if (next_beat_ <= now) beat(now);
  if (switchboard_.next_tick() <= now) switchboard_.tick(now);
  if (before_ != nullptr) before_->service(now, early_begins_);
  if (round_ != nullptr) {
    round_->service(now, early_begins_);
    pace_round(now);
    report_round();
  }
  for (const auto& [number, mixing] : mixings_) mixing.driver->service(now, early_begins_);
  report_mixings();
  if (fetch_ != nullptr) {
    fetch_->service(now);
    probe_upload(now);
    report_fetch(now);
  }
  tend_donations(now);
  set_timer(now);
}

void Hub::tend_donations(TimePoint now) {
  donor_.on_timer(now);
  if (donor_.has_ready()) pump_donations();
  for (const Link* waiting : donor_.take_waiting(now)) {
    const auto found = switchboard_.links().find(waiting);
    if (found != switchboard_.links().end()) found->second->show_life();
  }
}

// A peer that only downloads learns nothing about its upload, and the first plan needs that.
void Hub::probe_upload(TimePoint now) {
  if (probe_.begun() || upload_.bytes_per_s() > 0) return;
  const auto state_bytes = static_cast<std::int64_t>(fetch_->request().out.size_bytes());
  for (const wire::Endpoint& donor : fetch_->request().donors) {
    Link* const link = switchboard_.link_to(donor.peer);
    if (link == nullptr || link->info().relayed) continue;
    probe_.begin(now, link, state_bytes, links_.moved.bytes_acknowledged);
    return link->pump();
  }
}

void Hub::measure(TimePoint now) {
  // A queue at this house's line shows on every way, so the least wait counts; some ways also have a queue at the other
  // end's line.
  std::optional<Duration> queue;
  for (const auto& [key, link] : switchboard_.links()) {
    const std::optional<Duration> waits = link->count_traffic();
    if (waits) queue = std::min(queue.value_or(*waits), *waits);
  }
  upload_.note(now, links_.moved.bytes_delivered - moved_before_.bytes_delivered,
               links_.moved.bytes_sent - moved_before_.bytes_sent);
  download_.note_in_order(now, links_.moved.bytes_received - moved_before_.bytes_received,
                          links_.moved.packets_behind_gap - moved_before_.packets_behind_gap);
  moved_before_ = links_.moved;
  if (const double probed = probe_.note(now, links_.moved.bytes_acknowledged); probed > 0) upload_.expect(probed);
  links_.upload.settle(links_.on_wire.sent - on_wire_before_.sent);
  links_.download.settle(links_.on_wire.received - on_wire_before_.received);
  count_on_wire();
  count_relayed(now);
  measured_at_ = now;
  // The slower direction, as the plan takes it: all members then need about equally long for the round.
  pace_.note(now, std::min(upload_speed(), download_speed()), queue.value_or(Duration::zero()));
}

// Bytes on the line for states follow from the bytes of states; the rest went for rounds.
void Hub::count_on_wire() {
  const std::int64_t grown =
      links_.on_wire.sent - on_wire_before_.sent + links_.on_wire.received - on_wire_before_.received;
  on_wire_before_ = links_.on_wire;
  const std::int64_t states = totals_.state_bytes_sent + totals_.state_bytes_received;
  const auto for_states =
      static_cast<std::int64_t>(net::kOnTheLine * static_cast<double>(states)) - totals_.state_wire_bytes;
  totals_.state_wire_bytes += std::clamp<std::int64_t>(for_states, 0, grown);
  totals_.round_wire_bytes += grown - std::clamp<std::int64_t>(for_states, 0, grown);
}

// Relaying has a limit of its own, which is not above these limits: links get the remainder.
void Hub::count_relayed(TimePoint now) {
  const std::int64_t relayed = relays_.view().serving.bytes_total;
  const auto since = static_cast<std::size_t>(relayed - relayed_before_);
  relayed_before_ = relayed;
  if (since == 0 || now - measured_at_ > RateMeter::kSlotMax) return;  // no link was held up by the relayed bytes
  links_.upload.others_passed(since);
  links_.download.others_passed(since);
}

void Hub::pace_round(TimePoint now) {
  if (!round_->running() || round_reported_) return;
  if (paced_round_ != round_number_) {
    paced_round_ = round_number_;
    pace_.begin(now, round_->bytes_planned(), std::min(upload_speed(), download_speed()));
    expect_beats(pace_.beats());
  } else if (pace_.bytes_per_s() > 0 && (round_->is_thinned() || round_->outcome() != nullptr)) {
    pace_.lift();
    next_beat_ = now;  // data that the pace had kept back goes out now
  } else if (measured_at_ != now) {
    return;
  }
  round_->set_pace(pace_);
}

void Hub::expect_beats(bool beats) {
  last_beat_ = clock_.now();
  next_beat_ = beats ? last_beat_ : kNever;
  for (const auto& [key, link] : switchboard_.links()) {
    link->expect_beats(beats && round_->is_member(*link));
  }
}

void Hub::beat(TimePoint now) {
  const Duration since_last = now - last_beat_;
  last_beat_ = now;
  std::vector<std::shared_ptr<Link>> links;  // a copy: the input of one link may open or close others
  std::size_t streams = 0;
  for (const auto& [key, link] : switchboard_.links()) {
    if (!round_->is_member(*link)) continue;
    links.push_back(link);
    streams += link->streams();
  }
  next_beat_ = now + pace_.next_beat(streams, round_->have_begun(), round_->bytes_left());
  beating_ = true;
  for (const auto& link : links) {
    link->expect_beats(pace_.beats());  // the link may be new
    link->beat(since_last);
  }
  beating_ = false;
  for (const auto& link : links) link->pump();
}

void Hub::report_round() {
  if (round_reported_ || round_->outcome() == nullptr) return;
  round_reported_ = true;
  donor_.round_ended();
  expect_beats(false);
  measure(clock_.now());
  upload_.rest();
  download_.rest();
  // From now on callers are let in, but nobody is called any more.
  switchboard_.want(Switchboard::Purpose::round, {}, nullptr);
  asio::post(io_, [this, number = round_number_, outcome = *round_->outcome()] {
    if (number != round_number_) return;
    if (const auto done = round_->request().done) done(outcome);  // a copy: the callback may well begin the next round
  });
}

void Hub::report_mixings() {
  bool any = false;
  for (auto& [number, mixing] : mixings_) {
    if (mixing.reported || mixing.driver->outcome() == nullptr) continue;
    any = mixing.reported = true;
    asio::post(io_, [this, number = number, outcome = *mixing.driver->outcome()] {
      const auto found = mixings_.find(number);
      if (found == mixings_.end()) return;
      if (const auto done = found->second.driver->request().done) done(outcome);  // a copy: it may begin the next one
    });
  }
  if (any) want_partners();
}

void Hub::report_fetch(TimePoint now) {
  if (fetch_->outcome()) {
    const std::shared_ptr<FetchDriver> over = std::move(fetch_);
    switchboard_.want(Switchboard::Purpose::fetch, {}, nullptr);
    asio::post(io_, [this, number = fetch_number_, over] {
      if (number == fetch_number_ && over->request().progress) over->request().progress(over->progress());
      if (number == fetch_number_ && over->request().done) over->request().done(*over->outcome());
    });
    return;
  }
  if (now - progress_told_ < kProgressEvery || !fetch_->request().progress) return;
  const StateProgress progress = fetch_->progress();
  if (progress.chunks_held == 0) return;
  progress_told_ = now;
  asio::post(io_, [this, number = fetch_number_, progress] {
    if (number != fetch_number_ || fetch_ == nullptr) return;
    const auto tell = fetch_->request().progress;  // a copy: the callback may cancel the download
    tell(progress);
  });
}

// While pacing ticks come, everything due waits for the next one.
TimePoint Hub::next_deadline() const {
  if (next_beat_ != kNever) return next_beat_;
  TimePoint next = std::min(switchboard_.next_tick(), donor_.next_deadline());
  each_driver([&](const RoundDriver& driver) { next = std::min(next, driver.next_deadline()); });
  if (fetch_ != nullptr) next = std::min(next, fetch_->next_deadline());
  if (probe_.running()) next = std::min(next, measured_at_ + RateMeter::kSlot);
  return next;
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
