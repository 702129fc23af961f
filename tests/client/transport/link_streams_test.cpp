#include <doctest/doctest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/address_v4.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "client/transport/congestion_control.h"
#include "client/transport/link.h"
#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using namespace std::chrono_literals;

namespace {

using asio::ip::tcp;

// One end of a link, with the parts that the product's hub and switchboard play for it.
struct End final : Link::Mediator {
  End(asio::io_context& io, const Project& project, const std::string& congestion_control, Duration far_from)
      : key(crypto::PrivateKey::generate()),
        context{.io = io,
                .clock = clock,
                .self = key.peer_id(),
                .run_id = kRun,
                .congestion_control = congestion_control,
                .far_from = far_from,
                .line = line},
        tls(project.context(project.identity(key))) {}

  std::shared_ptr<Link> make_link() {
    links.push_back(std::make_shared<Link>(context, *this, tls));
    return links.back();
  }

  void link_up(Link& link) override { up = &link; }
  Result<bool> wants_frame(Link& /*link*/, const wire::FrameHeader& /*header*/) override { return true; }
  Status frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) override {
    CHECK(&link == up);
    if (header.type == wire::FrameType::pong) ++pongs;
    if (header.type == wire::FrameType::pong) return {};
    std::uint32_t first = 0;
    std::memcpy(&first, payload.data(), sizeof first);
    if (!wire::keeps_order(header.type)) CHECK(first == header.segment);
    CHECK(payload.back() == payload.front());
    CHECK(segments.insert(first).second);
    in_order = in_order && first == received;
    ++received;
    return {};
  }
  void input_paused(Link& /*link*/) override { ++heard; }
  // Payloads are of any length, and begin with the frame's place.
  bool next_frame(Link& /*link*/, FrameToSend& frame) override {
    if (sent == to_send || held_back) return false;
    const std::size_t bytes = 8 + sent * 7919 % 150'000;
    const auto payload = std::make_shared<std::vector<std::uint8_t>>(bytes);
    std::memcpy(payload->data(), &sent, sizeof sent);
    payload->back() = payload->front();
    wire::FrameHeader header{type, static_cast<std::uint32_t>(bytes), {}};
    if (!wire::keeps_order(type)) header.segment = sent;
    frame.frame.head.resize(wire::kFrameHeaderBytes);
    wire::encode_header(header, std::span(frame.frame.head).first<wire::kFrameHeaderBytes>());
    frame.frame.payload = *payload;
    frame.owner = payload;
    frame.yields = true;
    ++sent;
    return true;
  }
  bool holds_back(Link& /*link*/) override { return held_back; }
  bool add_stream(Link& link) override {
    make_link()->join(link.shared_from_this());
    return true;
  }
  Link* link_to_join(const PeerId& /*peer*/, const wire::LinkToken& token) override {
    return up != nullptr && up->token() == token ? up : nullptr;
  }
  void link_closed(Link& link, const Error& why) override {
    if (&link == up) ended = why.message;
    if (&link == up) up = nullptr;
    std::erase_if(links, [&](const auto& each) { return each.get() == &link; });
  }

  SystemClock clock;
  crypto::PrivateKey key;
  net::Line line;
  LinkContext context;
  crypto::TlsContext tls;
  std::vector<std::shared_ptr<Link>> links;
  Link* up = nullptr;
  std::string ended;
  wire::FrameType type = wire::FrameType::state_info;  // type of the frames that it sends
  std::uint32_t to_send = 0;
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::set<std::uint32_t> segments;  // segments of received frames
  int pongs = 0;
  int heard = 0;
  bool held_back = false;
  bool in_order = true;
};

// Two ends on one event loop, connected over loopback.
struct LinkPair {
  explicit LinkPair(const std::string& congestion_control = "", Duration far_from = LossWatch::kRoundTripMin)
      : dialler(io, project, congestion_control, far_from),
        acceptor(io, project, congestion_control, far_from),
        listener(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    begin_congestion_control(listener.native_handle(), congestion_control);
    accept();
    dialler.make_link()->dial(listener.local_endpoint(), acceptor.key.peer_id());
    run_until([&] { return dialler.up != nullptr && acceptor.up != nullptr; });
  }
  ~LinkPair() {
    for (End* end : {&dialler, &acceptor}) {
      for (const auto& link : end->links) link->close({ErrorCode::unavailable, "the test is over"});
    }
    listener.close();
    io.restart();
    io.poll();
  }
  void accept() {
    listener.async_accept([this](const asio::error_code& error, tcp::socket socket) {
      if (error) return;
      accepted = socket.native_handle();
      acceptor.make_link()->accept(std::move(socket));
      accept();
    });
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const TimePoint deadline = acceptor.clock.now() + kPatience;
    while (!condition()) {
      REQUIRE(acceptor.clock.now() < deadline);
      io.run_one_for(std::chrono::milliseconds(10));
    }
  }
  void run_until_quiet() {
    while (io.run_one_for(std::chrono::milliseconds(50)) > 0) continue;
  }
  // Congestion control of the stream accepted last.
  [[nodiscard]] std::string congestion_control() const { return congestion_control_of(accepted); }
  // From now on the kernel sends no faster than this, but may become faster again.
  void slow_down(unsigned bytes_per_s) const {
    for (const unsigned most : {bytes_per_s, ~0U}) {
      REQUIRE(::setsockopt(accepted, SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof most) == 0);
    }
  }
  // Asks for streams as an end does that is held back; the other end may have no link left for another request.
  void widen(std::size_t streams) {
    for (std::size_t i = 1; i < streams; ++i) {
      acceptor.up->send_control(wire::FrameType::widen, {});
      run_until([&] { return dialler.up->streams() > i && acceptor.up->streams() > i; });
    }
  }

  const Project project;
  asio::io_context io;
  End dialler;
  End acceptor;
  tcp::acceptor listener;
  int accepted = -1;
};

int receive_buffer_of(int fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  REQUIRE(::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0);
  return bytes;
}

// Counts this process's sockets that are watched for room, according to the kernel's view of its event loops.
int sockets_watched_for_room() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(entry.path());
    for (std::string line; std::getline(info, line);) {
      std::istringstream fields(line);
      std::string name, events_label;
      int watched = 0;
      std::uint32_t events = 0;
      if (fields >> name >> watched >> events_label >> std::hex >> events && name == "tfd:" && (events & EPOLLOUT) != 0)
        ++found;
    }
  }
  return found;
}

// A member that holds a state, and a peer that is not one of our programs.
struct Donor {
  explicit Donor(std::size_t chunks) : floats(chunks * wire::kStateChunkFloats, 0.5F) {
    snapshot = std::make_shared<const StateSnapshot>(snapshot_of(1, floats));
    member.emplace(project, true, [this](RoundIndex, const Digest&) { return snapshot; });
  }
  [[nodiscard]] RawPeer call(const crypto::PrivateKey& key) const {
    return RawPeer(member->net->port(), project.context(project.identity(key)));
  }
  void ask(RawPeer& peer, std::uint32_t first, std::uint32_t chunks) const {
    const auto bytes = wire::encode(wire::StateRequest{1, snapshot->digest, first, chunks});
    peer.send_header(wire::FrameType::state_request, bytes.size());
    peer.send(bytes);
  }

  const Project project;
  std::vector<float> floats;
  std::shared_ptr<const StateSnapshot> snapshot;
  std::optional<Member> member;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
};

// Two streams of one link with the donor.
struct TwoStreams {
  TwoStreams(const Donor& donor, const crypto::PrivateKey& key) : first(donor.call(key)), second(donor.call(key)) {
    first.say_hello();
    REQUIRE(second.join(first.token));
  }

  RawPeer first, second;
};

}  // namespace

TEST_CASE("frames keep their order over several streams, both ways") {
  LinkPair pair;
  pair.widen(4);
  constexpr std::uint32_t kFrames = 600;  // 45 MB each way
  for (End* end : {&pair.dialler, &pair.acceptor}) {
    end->to_send = kFrames;
    end->up->pump();
  }
  pair.run_until([&] { return pair.dialler.received == kFrames && pair.acceptor.received == kFrames; });
  CHECK(pair.dialler.in_order);
  CHECK(pair.acceptor.in_order);
  CHECK(pair.dialler.links.size() == 1);
  CHECK(pair.acceptor.links.size() == 1);
}

TEST_CASE("floats of a round come each once over several streams, in any order, and signs of life between them") {
  LinkPair pair;
  pair.widen(4);
  constexpr std::uint32_t kFrames = 600;
  for (End* end : {&pair.dialler, &pair.acceptor}) {
    end->type = wire::FrameType::result;
    end->to_send = kFrames;
    end->up->pump();
  }
  for (int i = 1; i <= 5; ++i) {
    pair.dialler.up->send_control(wire::FrameType::pong, {});
    pair.run_until([&] { return pair.acceptor.pongs == i; });
  }
  pair.run_until([&] { return pair.dialler.received == kFrames && pair.acceptor.received == kFrames; });
  // A frame that keeps its place comes behind all of them.
  pair.dialler.type = wire::FrameType::state_info;
  ++pair.dialler.to_send;
  pair.dialler.up->pump();
  pair.run_until([&] { return pair.acceptor.received == kFrames + 1; });
  CHECK(pair.acceptor.links.size() == 1);
}

TEST_CASE("a frame that yields waits in its middle while it is held back, but for signs of life") {
  LinkPair pair;
  constexpr std::uint32_t kFrames = 60;
  pair.dialler.to_send = kFrames;
  pair.dialler.up->pump();  // pumps as much as a link sends before others get their turn
  pair.dialler.held_back = true;
  pair.run_until_quiet();
  const std::uint32_t begun = pair.dialler.sent;
  CHECK(begun < kFrames);
  CHECK(pair.acceptor.received < begun);
  const int heard = pair.acceptor.heard;
  pair.dialler.up->show_life();
  pair.run_until([&] { return pair.acceptor.heard > heard; });
  CHECK(pair.dialler.sent == begun);
  pair.dialler.held_back = false;
  pair.dialler.up->pump();
  pair.run_until([&] { return pair.acceptor.received == kFrames; });
  CHECK(pair.acceptor.in_order);
}

TEST_CASE("streams are added while frames flow, up to so many") {
  LinkPair pair;
  constexpr std::uint32_t kFrames = 600;
  for (End* end : {&pair.dialler, &pair.acceptor}) {
    end->to_send = kFrames;
    end->up->pump();
  }
  pair.widen(wire::kLinkStreamsMax);
  pair.acceptor.up->send_control(wire::FrameType::widen, {});
  pair.run_until([&] { return pair.dialler.received == kFrames && pair.acceptor.received == kFrames; });
  CHECK(pair.dialler.in_order);
  CHECK(pair.acceptor.in_order);
  CHECK(pair.dialler.up->streams() == wire::kLinkStreamsMax);
}

TEST_CASE("a link that is held back has twice as many streams each time") {
  LinkPair pair;
  for (const std::size_t streams : {2, 4, 8, 8}) {
    pair.acceptor.up->send_control(wire::FrameType::widen, {});
    pair.run_until([&] { return pair.dialler.up->streams() >= streams && pair.acceptor.up->streams() >= streams; });
    pair.run_until_quiet();
    CHECK(pair.dialler.up->streams() == streams);
    CHECK(pair.acceptor.up->streams() == streams);
  }
}

TEST_CASE("a link that ends takes all its streams with it, after what was said last") {
  LinkPair pair;
  pair.widen(3);
  pair.dialler.to_send = 20;
  pair.dialler.up->pump();
  pair.run_until([&] { return pair.dialler.sent == 20; });
  pair.dialler.up->close({ErrorCode::unavailable, "done"});
  pair.run_until([&] { return pair.acceptor.up == nullptr; });
  CHECK(pair.acceptor.received == 20);
  CHECK(pair.acceptor.in_order);
  CHECK(pair.acceptor.ended.find("connection closed") != std::string::npos);
}

TEST_CASE("what a link has taken is still written when it closes, and nothing that it has not") {
  LinkPair pair;
  pair.widen(3);
  for (End* end : {&pair.dialler, &pair.acceptor}) {  // neither end's sockets take this much
    end->to_send = 600;
    end->up->pump();
  }
  pair.dialler.up->send_control(wire::FrameType::pong, {});
  const std::uint32_t taken = pair.dialler.sent;
  REQUIRE(taken < 600);
  pair.dialler.up->close({ErrorCode::unavailable, "done"});
  pair.run_until([&] { return pair.acceptor.up == nullptr; });
  CHECK(pair.acceptor.received == taken);
  CHECK(pair.acceptor.pongs == 1);
  CHECK(pair.acceptor.in_order);
  CHECK(pair.dialler.sent == taken);
  CHECK(pair.dialler.links.empty());
}

TEST_CASE("a far stream of bbr's that has become slow begins anew, if its link has a pace in ticks") {
  LinkPair pair("bbr", Duration{});
  if (is_loss_based(pair.accepted)) return;  // this system does not offer us bbr
  Link& link = *pair.acceptor.up;
  const auto pace = [&] { return tcp_counters(pair.accepted).pace_bytes_per_s; };
  pair.slow_down(20'000);
  link.set_pace(1e6);
  CHECK(pace() == 20'000);
  link.expect_ticks(true);
  CHECK(pace() == 20'000);
  link.set_pace(0);
  CHECK(pace() == 20'000);
  link.set_pace(1e6);
  CHECK(pace() > 1e6);
  CHECK(congestion_control_of(pair.accepted) == "bbr");
}

TEST_CASE("ticks have little more lie unread in a socket whose download is limited") {
  LinkPair pair;
  pair.acceptor.context.download.set(125'000);
  pair.acceptor.up->limit_window();
  const int before = receive_buffer_of(pair.accepted);
  pair.acceptor.up->expect_ticks(true);
  CHECK(receive_buffer_of(pair.accepted) < 2 * before);
}

TEST_CASE("in ticks a full socket waits for the next one, or for their end") {
  LinkPair pair;
  pair.acceptor.context.download.set(2e6);
  pair.acceptor.up->limit_window();
  Link& link = *pair.dialler.up;
  const auto run_for = [&](Duration time) {
    for (const TimePoint end = pair.dialler.clock.now() + time; pair.dialler.clock.now() < end;)
      pair.io.run_one_for(5ms);
  };
  constexpr std::uint32_t kFrames = 60;  // 4.5 MB
  pair.dialler.to_send = kFrames;
  link.expect_ticks(true);
  link.pump();
  for (int slot = 0; slot < 8; ++slot) {  // until the socket's speed is known
    run_for(30ms);
    (void)link.count_traffic();
  }
  const auto settled = [&] {  // number of frames received once no more come
    std::uint32_t there = 0;
    do {
      there = pair.acceptor.received;
      run_for(300ms);
    } while (pair.acceptor.received > there);
    return there;
  };
  const std::uint32_t before = settled();
  REQUIRE(before < kFrames);
  link.tick(20ms);
  link.pump();
  const std::uint32_t after = settled();
  CHECK(after > before);
  REQUIRE(after < kFrames);
  link.expect_ticks(false);
  pair.run_until([&] { return pair.acceptor.received == kFrames; });
  CHECK(pair.acceptor.in_order);
}

TEST_CASE("in ticks no room for output wakes us, and what comes afterwards is heard as before") {
  LinkPair pair;
  for (End* end : {&pair.dialler, &pair.acceptor}) {
    end->to_send = 100;
    end->up->pump();
  }
  pair.run_until([&] { return pair.dialler.received == 100 && pair.acceptor.received == 100; });
  CHECK(sockets_watched_for_room() > 0);  // the dialled one, in any case
  for (int round = 1; round <= 2; ++round) {
    for (End* end : {&pair.dialler, &pair.acceptor}) end->up->expect_ticks(true);
    CHECK(sockets_watched_for_room() == 0);
    for (End* end : {&pair.dialler, &pair.acceptor}) end->up->expect_ticks(false);
    for (End* end : {&pair.dialler, &pair.acceptor}) {
      end->to_send += 100;
      end->up->pump();
    }
    const std::uint32_t all = pair.dialler.to_send;
    pair.run_until([&] { return pair.dialler.received == all && pair.acceptor.received == all; });
  }
}

TEST_CASE("a far stream gets what is wished for") {
  LinkPair pair("reno", Duration{});  // every system has it
  CHECK(pair.congestion_control() == "reno");
}

TEST_CASE("a near stream keeps the congestion control that it was accepted with, in ticks, too") {
  LinkPair pair("bbr", Duration::max());
  CHECK(pair.congestion_control() == kPlainCongestionControl);
  Link& link = *pair.acceptor.up;
  link.expect_ticks(true);
  link.set_pace(1e6);
  (void)link.count_traffic();
  CHECK(pair.congestion_control() == kPlainCongestionControl);
}

TEST_CASE("without losses no further stream is opened") {
  const Project project;
  Members members = make_members(project, 3);
  for (int round = 0; round < 3; ++round) check_exact_round(members, plan_of(members, 2'000'000, round));
  for (const auto& member : members) {
    const NetworkStats stats = member->net->stats();
    CHECK(stats.links_up == 2);
    CHECK(stats.streams_up == 2);
  }
}

TEST_CASE("frames that a stream does not take go over another") {
  const Donor donor(60);
  TwoStreams streams(donor, donor.key);
  auto& [first, second] = streams;
  CHECK(donor.member->net->stats().streams_up == 2);
  // 15 MB; the first stream's sockets take only a part, because nobody reads there.
  for (std::uint32_t chunk = 0; chunk < 60; chunk += 20) donor.ask(first, chunk, 20);
  std::set<std::uint32_t> chunks;
  while (chunks.size() < 20) {
    const auto type = second.next_frame();
    REQUIRE(type);
    if (*type == wire::FrameType::state_chunk) CHECK(chunks.insert(second.segment).second);
  }
}

TEST_CASE("a stream of somebody else, or of no link, is refused, and the link goes on") {
  const Donor donor(1);
  RawPeer first = donor.call(donor.key);
  first.say_hello();
  CHECK_FALSE(donor.call(crypto::PrivateKey::generate()).join(first.token));
  wire::LinkToken guess = first.token;
  guess.bytes[15] ^= 1;
  CHECK_FALSE(donor.call(donor.key).join(guess));
  CHECK_FALSE(donor.call(donor.key).join({}));
  std::vector<std::unique_ptr<RawPeer>> streams;
  for (std::size_t i = 1; i < wire::kLinkStreamsMax; ++i) {
    streams.push_back(
        std::make_unique<RawPeer>(donor.member->net->port(), donor.project.context(donor.project.identity(donor.key))));
    CHECK(streams.back()->join(first.token));
  }
  CHECK_FALSE(donor.call(donor.key).join(first.token));  // one too many
  CHECK(donor.member->net->stats().links_up == 1);
  CHECK(donor.member->net->stats().streams_up == wire::kLinkStreamsMax);
  donor.ask(first, 0, 0);
  CHECK(first.next_frame() == wire::FrameType::state_info);
}

TEST_CASE("a stream that is cut ends its link") {
  const Donor donor(1);
  RawPeer first = donor.call(donor.key);
  first.say_hello();
  {
    RawPeer second = donor.call(donor.key);
    REQUIRE(second.join(first.token));
  }
  CHECK(first.is_cut_off());
  wait_until([&] { return donor.member->net->stats().links_up == 0; });
}

TEST_CASE("frames out of order are refused where one stream brings them, and twice anywhere") {
  const Donor donor(1);
  RawPeer hasty = donor.call(donor.key);
  hasty.say_hello();
  hasty.sent = FrameCount(1);
  hasty.send_header(wire::FrameType::ping, 0);
  CHECK(hasty.is_cut_off());

  TwoStreams streams(donor, crypto::PrivateKey::generate());
  auto& [first, second] = streams;
  second.sent = FrameCount(1);
  second.send_header(wire::FrameType::widen, 0);
  first.send_header(wire::FrameType::widen, 0);
  first.sent = FrameCount(1);
  first.send_header(wire::FrameType::widen, 0);
  CHECK(first.is_cut_off());
}

TEST_CASE("a frame that two streams bring ends the link") {
  const Donor donor(1);
  TwoStreams streams(donor, donor.key);
  const auto request = wire::encode(wire::StateRequest{1, donor.snapshot->digest, 0, 0});
  const auto frame = static_cast<std::int64_t>(wire::kFrameHeaderBytes + request.size());
  const auto heard = [&](std::int64_t requests) {
    wait_until([&] { return donor.member->net->stats().state_bytes_received == requests * frame; });
  };
  // One request, and the beginning of another, are both heard at once. The other stream has the whole second one.
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 2; ++i) {
    const auto header = streams.first.header(wire::FrameType::state_request, request.size());
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.insert(bytes.end(), request.begin(), request.end());
  }
  const auto begun = static_cast<std::size_t>(frame) + wire::kFrameHeaderBytes + 1;
  streams.first.send(std::span(bytes).first(begun));
  heard(1);
  streams.second.sent = FrameCount(1);
  donor.ask(streams.second, 0, 0);
  heard(2);
  streams.first.send(std::span(bytes).subspan(begun));
  CHECK(streams.first.is_cut_off());
}

TEST_CASE("a program of another version is told so") {
  const Donor donor(1);
  RawPeer old = donor.call(donor.key);
  const auto hello = wire::encode(wire::Hello{.protocol = 1, .run_id = kRun, .token = {}});
  std::array<std::uint8_t, wire::kFrameHeaderBytes> header{};
  wire::encode_header({wire::FrameType::hello, static_cast<std::uint32_t>(hello.size()), {}, 0}, header);
  header[1] = 1;
  old.send(header);
  CHECK(old.next_frame() == wire::FrameType::hello);
  CHECK(old.is_cut_off());
}
