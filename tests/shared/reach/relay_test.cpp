#include "shared/reach/relay.h"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <set>
#include <vector>

#include "shared/crypto/certificates.h"
#include "shared/reach/listener.h"
#include "shared/reach/relay_post.h"
#include "shared/reach/relay_talk.h"

using namespace starling;
using namespace starling::reach;

namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;
constexpr std::chrono::seconds kPatience{60};  // anything that takes longer has hung

struct Person {
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  PeerId id = key.peer_id();
};

// Everybody may post, and everybody may call everybody.
struct OpenRules final : RelayRules {
  std::int64_t bytes_max = kPlenty;
  [[nodiscard]] bool may_post(const PeerId&) const override { return true; }
  [[nodiscard]] std::optional<RelayAllowance> allowance(const PeerId& a, const PeerId& b) const override {
    return RelayAllowance{std::minmax(a, b), 0, bytes_max};
  }
};

// A relay, and people that call it, all on this thread.
struct Place {
  explicit Place(RelayLimits limits = {}) : relay(io, tls(host), clock, rules, limits) {
    REQUIRE(listener.listen("127.0.0.1", 0).ok());
  }

  [[nodiscard]] crypto::TlsContext tls(const Person& person) const {
    crypto::IssueOptions options;
    options.now = clock.wall_now();
    const auto certificate = ca.issue(crypto::make_csr(person.key), options);
    return *crypto::TlsContext::peer(ca.certificate_pem(), {*certificate, person.key});
  }
  [[nodiscard]] asio::ip::tcp::endpoint at() const {
    return {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(listener.port())};
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      REQUIRE(std::chrono::steady_clock::now() < end);
      io.run_one_for(std::chrono::milliseconds(10));
    }
  }

  asio::io_context io{1};
  SystemClock clock;
  crypto::CertificateAuthority ca = *crypto::CertificateAuthority::create("test", clock.wall_now());
  Person host;
  OpenRules rules;
  Relay relay;
  Listener listener{io, [this](asio::ip::tcp::socket socket) { relay.take(std::move(socket)); }};
};

// One person's call to another.
struct Call {
  Call(Place& place, const Person& from, const Person& to) : socket(place.io) {
    socket.connect(place.at());
    talk = std::make_shared<RelayTalk>(socket, place.tls(from), place.clock.wall_now(),
                                       RelayTalk::Task{place.host.id, RelayRequest{RelayRequestKind::call, to.id}});
    talk->start([this](const Status& status) { answer = status; });
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { talk->cancel(); }

  [[nodiscard]] bool answered() const { return answer.has_value(); }
  // Goes on sending for as long as anybody listens.
  void talk_on() {
    asio::async_write(socket, asio::buffer(words), [this](const asio::error_code& error, std::size_t) {
      if (!error) talk_on();
    });
  }
  void listen() {
    socket.async_read_some(asio::buffer(heard), [this](const asio::error_code& error, std::size_t bytes) {
      bytes_heard += bytes;
      over = static_cast<bool>(error);
      if (!error) listen();
    });
  }

  asio::ip::tcp::socket socket;
  std::shared_ptr<RelayTalk> talk;
  std::optional<Status> answer;
  std::vector<char> words = std::vector<char>(1 << 16, 'x');
  std::vector<char> heard = std::vector<char>(1 << 16);
  std::size_t bytes_heard = 0;
  bool over = false;
};

// Two people that the relay has connected.
struct Couple {
  Couple(Place& place, const Person& a, const Person& b) : from(place, a, b), to(place, b, a) {
    place.run_until([&] { return from.answered() && to.answered(); });
    REQUIRE(from.answer->ok());
    REQUIRE(to.answer->ok());
  }
  Call from;
  Call to;
};

}  // namespace

TEST_CASE("a pair that connects again and again holds two streams, the newest") {
  Place place;
  const Person a;
  const Person b;
  Couple first(place, a, b);
  Couple second(place, a, b);
  Couple third(place, a, b);
  first.from.listen();
  place.run_until([&] { return first.from.over; });
  CHECK(place.relay.stats().streams == 2);
  third.from.talk_on();
  third.to.listen();
  place.run_until([&] { return third.to.bytes_heard > 1'000'000; });
}

TEST_CASE("a peer has so many streams, and others find room") {
  Place place({.streams_per_peer_max = 2});
  const Person greedy;
  const std::vector<Person> others(3);
  Couple first(place, greedy, others[0]);
  Couple second(place, greedy, others[1]);
  const Call refused(place, greedy, others[2]);
  place.run_until([&] { return refused.answered(); });
  CHECK(refused.answer->error().code == ErrorCode::resource_exhausted);
  const Couple welcome(place, others[0], others[2]);
}

TEST_CASE("a peer has so many calls that nobody answers, and others are connected") {
  Place place({.calls_per_peer_max = 2});
  const Person greedy;
  const std::vector<Person> others(3);
  const Call first(place, greedy, others[0]);
  const Call second(place, greedy, others[1]);
  const Call third(place, greedy, others[2]);
  // The calls arrive in any order.
  const auto refused = [](const Call& call) { return call.answered() ? 1 : 0; };
  place.run_until([&] { return refused(first) + refused(second) + refused(third) > 0; });
  CHECK(place.relay.stats().refused_total == 1);
  const Couple welcome(place, others[0], others[1]);
}

TEST_CASE("who says more than it may in a round is cut off, and nobody else is") {
  Place place;
  place.rules.bytes_max = 1'000'000;
  const Person a;
  const Person b;
  const Person talker;
  Couple quiet(place, a, b);
  Couple loud(place, talker, a);  // not even the person that it talks to is cut off
  loud.from.talk_on();
  loud.to.listen();
  place.run_until([&] { return loud.to.over; });
  CHECK(loud.to.bytes_heard <= 1'000'000);
  CHECK(place.relay.stats().cut_total == 1);
  quiet.to.listen();
  asio::write(quiet.from.socket, asio::buffer(quiet.from.words));
  place.run_until([&] { return quiet.to.bytes_heard == quiet.from.words.size(); });
  CHECK(place.relay.stats().streams == 1);
}

TEST_CASE("at its rate a relay passes on no more, and everybody gets a turn") {
  constexpr double kRate = 400'000;
  Place place({.bytes_per_s = kRate});
  const std::vector<Person> people(6);
  std::vector<std::unique_ptr<Couple>> couples;
  for (std::size_t i = 0; i < people.size(); i += 2) {
    couples.push_back(std::make_unique<Couple>(place, people[i], people[i + 1]));
  }
  const auto began = std::chrono::steady_clock::now();
  for (const auto& couple : couples) {
    couple->from.talk_on();
    couple->to.listen();
  }
  place.run_until([&] { return place.relay.stats().bytes_total >= 300'000; });
  const Duration time = std::chrono::steady_clock::now() - began;
  // A tenth of a second's worth may pass at once, and one chunk more than the rate.
  CHECK(static_cast<double>(place.relay.stats().bytes_total) <= kRate * (to_seconds(time) + 0.1) + 16'000);
  for (const auto& couple : couples) CHECK(couple->to.bytes_heard > 70'000);  // out of 100 000
}

namespace {

// A clock on which no time passes.
struct StoppedClock final : Clock {
  SystemClock clock;
  TimePoint started = clock.now();
  [[nodiscard]] TimePoint now() const override { return started; }
  [[nodiscard]] WallTime wall_now() const override { return clock.wall_now(); }
};

// Waits for calls, and counts them.
struct Waiting {
  explicit Waiting(Place& place)
      : post(place.io, place.tls(person), clock, [this](const RelayPoint&, const PeerId&) { ++told; }) {
    post.stay_at(RelayPoint{place.host.id, place.at()});
    place.run_until([this] { return post.posted_at().has_value(); });
  }
  StoppedClock clock;
  Person person;
  int told = 0;
  RelayPost post;
};

}  // namespace

TEST_CASE("who calls and hangs up, again and again, does not keep the called busy, nor others from it") {
  Place place;
  Waiting waiting(place);
  const Person pest;
  const Person other;
  const auto began = std::chrono::steady_clock::now();
  for (int calls = 0; calls < 40; ++calls) {
    const int before = waiting.told;
    const Call call(place, pest, waiting.person);
    place.run_until([&] { return call.answered() || waiting.told > before; });
  }
  const Duration time = std::chrono::steady_clock::now() - began;
  CHECK(waiting.told <= 1 + static_cast<int>(to_seconds(time) / 0.5));
  const int before = waiting.told;
  const Call welcome(place, other, waiting.person);
  place.run_until([&] { return waiting.told > before; });
}

TEST_CASE("calls beyond what anybody makes are not answered") {
  Place place;
  Waiting waiting(place);
  for (int calls = 1; calls <= 256; ++calls) {
    const Person caller;
    const Call call(place, caller, waiting.person);
    place.run_until([&] { return waiting.told == calls; });
  }
  std::vector<std::unique_ptr<Call>> more;
  for (int i = 0; i < 20; ++i) more.push_back(std::make_unique<Call>(place, Person(), waiting.person));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  place.run_until([&] { return waiting.told > 256 || std::chrono::steady_clock::now() > end; });
  CHECK(waiting.told == 256);
  CHECK(waiting.post.posted_at().has_value());
}
