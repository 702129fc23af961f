#include "tests/bench/abuse_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/permutation.h"
#include "shared/base/version.h"
#include "shared/crypto/certificates.h"
#include "shared/protocol/join.h"
#include "tests/bench/staged_load.h"

namespace starling::bench {
namespace {

constexpr int kKeptConnections = 256;  // connections of the honest volunteers
constexpr int kAttackersAtOnce = 64;   // connections, in addition to the slow ones
constexpr int kAccounts = 10;          // accounts with a password
constexpr std::size_t kNoiseBytesMax = 4000;
constexpr Duration kCalm = std::chrono::seconds(5);
constexpr Duration kTick = std::chrono::milliseconds(10);
constexpr Duration kSlowPause = std::chrono::seconds(1);  // between two header lines of one request
constexpr Duration kSignUpPatience = std::chrono::seconds(60);
constexpr Duration kAttackPatience = std::chrono::minutes(10);
constexpr Duration kClosePatience = std::chrono::seconds(30);

crypto::TlsContext nobodys_tls(const CoordinatorProcess& coordinator) {
  auto tls = crypto::TlsContext::coordinator_client(coordinator.ca_pem(), std::nullopt);
  VERIFY(tls.ok());
  return std::move(tls).value();
}

// Calls `action` every `kTick` during its lifetime.
class Ticker {
 public:
  Ticker(EventLoop& loop, std::function<void()> action)
      : loop_(loop), action_(std::make_shared<std::function<void()>>(std::move(action))) {
    arm();
  }

 private:
  void arm() {
    loop_.at(loop_.now() + kTick, [this, alive = std::weak_ptr(action_)] {
      const auto action = alive.lock();
      if (!action) return;
      arm();
      (*action)();
    });
  }
  EventLoop& loop_;
  std::shared_ptr<std::function<void()>> action_;
};

// Holds `count` connections, each with a request that never ends; a closed connection is opened again.
class SlowCrowd {
 public:
  SlowCrowd(EventLoop& loop, const CoordinatorProcess& coordinator, int count)
      : loop_(loop), port_(coordinator.port()), tls_(nobodys_tls(coordinator)), ticker_(loop, [this] { tick(); }) {
    lines_.resize(static_cast<std::size_t>(count));
  }
  [[nodiscard]] bool complete() const { return opened_ >= lines_.size(); }
  [[nodiscard]] std::int64_t closed() const { return closed_; }

 private:
  // Sends each connection a line once in kSlowPause, a few at each tick.
  void tick() {
    const auto share = std::max<std::size_t>(
        1, lines_.size() * static_cast<std::size_t>(kTick.count()) / static_cast<std::size_t>(kSlowPause.count()));
    for (std::size_t i = 0; i < share; ++i) speak(next_++ % lines_.size());
  }
  void speak(std::size_t line) {
    if (lines_[line] != nullptr) return lines_[line]->add("X-And: so on\r\n");
    ++opened_;
    lines_[line] = std::make_unique<HttpsConnection>(loop_, port_, tls_);
    lines_[line]->send("POST /v1/heartbeat HTTP/1.1\r\nHost: coordinator\r\n",
                       [this, line](const Result<std::string>& /*end*/) {
                         ++closed_;
                         lines_[line].reset();
                       });
  }

  EventLoop& loop_;
  const std::uint16_t port_;
  const crypto::TlsContext tls_;
  std::vector<std::unique_ptr<HttpsConnection>> lines_;
  std::size_t next_ = 0;
  std::size_t opened_ = 0;
  std::int64_t closed_ = 0;
  Ticker ticker_;
};

// Sends requests at an even pace, each on a connection of its own, as long as connections are free.
class Barrage {
 public:
  using Request = std::function<std::string(std::int64_t number)>;
  Barrage(EventLoop& loop, const CoordinatorProcess& coordinator, double per_s, Request request)
      : loop_(loop),
        port_(coordinator.port()),
        tls_(nobodys_tls(coordinator)),
        per_s_(per_s),
        request_(std::move(request)),
        began_(loop.now()),
        lines_(kAttackersAtOnce),
        ticker_(loop, [this] { tick(); }) {
    for (std::size_t i = 0; i < lines_.size(); ++i) idle_.push_back(i);
  }
  [[nodiscard]] std::int64_t sent() const { return sent_; }
  [[nodiscard]] std::int64_t welcomed() const { return welcomed_; }  // answered with 200

 private:
  void tick() {
    const auto due = static_cast<std::int64_t>(to_seconds(loop_.now() - began_) * per_s_);
    while (sent_ < due && !idle_.empty()) {
      const std::size_t line = idle_.front();
      idle_.pop_front();
      lines_[line] = std::make_unique<HttpsConnection>(loop_, port_, tls_);
      lines_[line]->send(request_(sent_++), [this, line](const Result<std::string>& body) {
        if (body.ok()) ++welcomed_;
        lines_[line].reset();
        idle_.push_back(line);
      });
    }
  }

  EventLoop& loop_;
  const std::uint16_t port_;
  const crypto::TlsContext tls_;
  const double per_s_;
  const Request request_;
  const TimePoint began_;
  std::vector<std::unique_ptr<HttpsConnection>> lines_;
  std::deque<std::size_t> idle_;
  std::int64_t sent_ = 0;
  std::int64_t welcomed_ = 0;
  Ticker ticker_;
};

std::string http(std::string_view method, std::string_view path, std::string_view body) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: coordinator\r\nContent-Length: {}\r\n\r\n{}", method, path, body.size(),
                     body);
}

std::string noise(std::uint64_t seed) {
  std::string bytes(mix64(seed) % kNoiseBytesMax, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(mix64(seed * kNoiseBytesMax + i));
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("%{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Requests for every route in turn: its path with random bytes as a query, as a body, or after the path; then random
// bytes that are no HTTP.
std::string noise_at(const std::vector<std::string>& routes, std::int64_t number) {
  const auto n = static_cast<std::uint64_t>(number);
  const std::string& route = routes[n % routes.size()];
  const std::string bytes = noise(n);
  const std::string few = hex(std::string_view(bytes).substr(0, 40));
  switch (n / routes.size() % 5) {
    case 0:
      return http("GET", fmt::format("{}?{}={}", route, few, few), "");
    case 1:
      return http("POST", route, bytes);
    case 2:
      return http("GET", route + few, "");
    case 3:
      return http("POST", route + few, bytes);
    default:
      return bytes + "\r\n\r\n";
  }
}

wire::JoinRequest guess(const std::string& csr_pem, std::string name, std::string password) {
  wire::JoinRequest request;
  request.client_version = kVersion;
  request.display_name = std::move(name);
  request.csr_pem = csr_pem;
  request.password = std::move(password);
  return request;
}

std::string account_name(std::int64_t number) { return fmt::format("guarded {}", number % kAccounts); }

// Every second login is for an unknown address, which must take the coordinator as long.
std::string bad_login(const std::string& csr_pem, std::int64_t number) {
  const std::string name = number % 2 == 0 ? account_name(number / 2) : fmt::format("nobody{}@example.org", number);
  return http("POST", "/v1/join", wire::encode(guess(csr_pem, name, fmt::format("guess number {}", number))));
}

// Makes accounts with passwords, by volunteers who join.
Status sign_up(Stage& stage) {
  HttpsConnection line(stage.loop, stage.coordinator->port(), nobodys_tls(*stage.coordinator));
  for (int i = 0; i < kAccounts; ++i) {
    const std::string csr_pem = crypto::make_csr(crypto::PrivateKey::generate());
    std::optional<Status> done;
    line.post("/v1/join", wire::encode(guess(csr_pem, account_name(i), fmt::format("a good password, {}", i))),
              [&](const Result<std::string>& body) { done = body.status(); });
    if (!stage.loop.run_until([&] { return done.has_value(); }, stage.loop.now() + kSignUpPatience)) {
      return Error{ErrorCode::deadline_exceeded, "sign up: no answer"};
    }
    STARLING_TRY(*done);
  }
  return {};
}

// The coordinator's metrics of its routes.
struct Routes {
  std::vector<std::string> paths;
  std::int64_t failures = 0;           // answers of 500
  std::int64_t passwords_checked = 0;  // passwords that were checked and wrong
};

std::string label(const std::string& line, std::string_view name) {
  const std::string before = fmt::format("{}=\"", name);
  const std::size_t begin = line.find(before);
  if (begin == std::string::npos) return "";
  return line.substr(begin + before.size(), line.find('"', begin + before.size()) - begin - before.size());
}

Result<Routes> routes_of(const CoordinatorProcess& coordinator) {
  STARLING_ASSIGN(const std::string text, coordinator.metrics());
  std::set<std::string> paths;
  Routes routes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string route = label(line, "route");
    if (route.empty()) continue;
    paths.insert(route);
    std::int64_t count = 0;
    std::from_chars(line.data() + line.rfind(' ') + 1, line.data() + line.size(), count);
    if (label(line, "code") == "500") routes.failures += count;
    if (route == "/v1/join" && label(line, "code") == "401") routes.passwords_checked += count;
  }
  routes.paths.assign(paths.begin(), paths.end());
  if (routes.paths.empty()) return Error{ErrorCode::corrupt, "the coordinator names no routes"};
  return routes;
}

struct Footprint {
  double resident_bytes = 0;
  double disk_bytes = 0;
  std::int64_t descriptors = 0;
};

Footprint footprint(const CoordinatorProcess& coordinator) {
  return {coordinator.resident_bytes(), coordinator.disk_bytes(), coordinator.descriptors()};
}

struct Suffered {
  LoadFigures honest;
  double seconds = 0;
  std::int64_t slow_closed = 0;
};

// Runs all attacks at once while the honest volunteers call.
Result<Suffered> attack(Stage& stage, HeartbeatLoad& load, const AbuseOptions& options,
                        const std::vector<std::string>& routes) {
  const CoordinatorProcess& coordinator = *stage.coordinator;
  SlowCrowd slow(stage.loop, coordinator, options.slow);
  stage.loop.run_until([&] { return slow.complete(); }, stage.loop.now() + kClosePatience);
  const std::string csr_pem = crypto::make_csr(crypto::PrivateKey::generate());
  const auto noise_count = static_cast<double>(routes.size()) * options.noise;
  Barrage logins(stage.loop, coordinator, options.logins / options.seconds,
                 [&](std::int64_t number) { return bad_login(csr_pem, number); });
  Barrage bytes(stage.loop, coordinator, noise_count / options.seconds,
                [&](std::int64_t number) { return noise_at(routes, number); });
  Suffered suffered;
  const TimePoint began = stage.loop.now();
  const auto all_sent = [&] {
    return logins.sent() >= options.logins && static_cast<double>(bytes.sent()) >= noise_count;
  };
  suffered.honest = load.run({.rate_per_s = options.rate_per_s, .length = kAttackPatience, .enough = all_sent});
  suffered.seconds = to_seconds(stage.loop.now() - began);
  suffered.slow_closed = slow.closed();
  STARLING_TRY(expect_answers(suffered.honest));
  if (logins.welcomed() > 0) return Error{ErrorCode::internal, "a wrong password opened an account"};
  if (!all_sent()) return Error{ErrorCode::deadline_exceeded, "the attack was not over in time"};
  return suffered;
}

}  // namespace

Result<BenchResult> run_abuse_bench(const AbuseOptions& options) {
  EventLoop loop;
  STARLING_ASSIGN(const auto stage, Stage::set(loop, {.volunteers = options.volunteers}));
  const CoordinatorProcess& coordinator = *stage->coordinator;
  STARLING_TRY(sign_up(*stage));
  HeartbeatLoad load(stage->callers(), std::min(kKeptConnections, options.volunteers), true);
  STARLING_TRY(expect_answers(load.run({.length = std::chrono::seconds(1)})));  // opens all connections
  const LoadFigures calm = load.run({.rate_per_s = options.rate_per_s, .length = kCalm});
  STARLING_TRY(expect_answers(calm));
  STARLING_ASSIGN(const Routes before, routes_of(coordinator));
  const Footprint small = footprint(coordinator);
  const RoundIndex rounds = stage->swarm->acknowledged_rounds();

  STARLING_ASSIGN(const Suffered suffered, attack(*stage, load, options, before.paths));
  const RoundIndex rounds_meanwhile = stage->swarm->acknowledged_rounds() - rounds;
  // After the attackers have hung up, their resources are given back.
  stage->loop.run_until([&] { return coordinator.descriptors() <= small.descriptors; },
                        stage->loop.now() + kClosePatience);
  const Footprint left = footprint(coordinator);
  STARLING_ASSIGN(const Routes after, routes_of(coordinator));
  if (after.failures > 0) return Error{ErrorCode::internal, fmt::format("{} answers were 500", after.failures)};
  STARLING_TRY(stage->settle());

  BenchResult result;
  result.settings = {{"volunteers", std::to_string(options.volunteers)},
                     {"rate_per_s", fmt::format("{:g}", options.rate_per_s)},
                     {"slow", std::to_string(options.slow)},
                     {"logins", std::to_string(options.logins)},
                     {"noise", std::to_string(options.noise)},
                     {"seconds", fmt::format("{:g}", options.seconds)}};
  result.figures = {{"calm_p99_ms", calm.p99_ms},
                    {"p99_ms", suffered.honest.p99_ms},
                    {"attack_s", suffered.seconds},
                    {"rounds", static_cast<double>(rounds_meanwhile)},
                    {"slow_closed", static_cast<double>(suffered.slow_closed)},
                    {"passwords_checked", static_cast<double>(after.passwords_checked - before.passwords_checked)},
                    {"routes", static_cast<double>(before.paths.size())},
                    {"descriptors_left", static_cast<double>(left.descriptors - small.descriptors)},
                    {"rss_growth_mb", (left.resident_bytes - small.resident_bytes) / 1e6},
                    {"rss_mb", coordinator.peak_resident_bytes() / 1e6},
                    {"disk_growth_mb", (left.disk_bytes - small.disk_bytes) / 1e6}};
  result.aims = {{"p99_ms", 200}};
  return result;
}

}  // namespace starling::bench
