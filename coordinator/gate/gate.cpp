#include "coordinator/gate/gate.h"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/gate/connection.h"
#include "coordinator/gate/listener.h"
#include "coordinator/gate/worker_pool.h"
#include "shared/base/limited_log.h"
#include "shared/base/mutex.h"
#include "shared/crypto/tls.h"

namespace starling::gate {
namespace {

constexpr std::chrono::milliseconds kTick{50};  // the precision of deadlines
constexpr std::size_t kReadBufferBytes = 16 * 1024;

struct Counters {
  std::atomic<std::int64_t> open{0};
  std::atomic<std::int64_t> accepted{0};
  std::atomic<std::int64_t> refused{0};
  std::atomic<std::int64_t> accept_failures{0};
  std::atomic<std::int64_t> handshakes_failed{0};
  std::atomic<std::int64_t> served{0};
  std::atomic<std::int64_t> bad_requests{0};
  std::atomic<std::int64_t> overload{0};
  std::atomic<std::int64_t> timed_out{0};
};

// Suppresses SIGPIPE: OpenSSL writes to sockets that may be closed. The signal goes to the writing thread, so blocking
// it here suffices.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~NoSigpipe() {
    // Takes a pending signal away, since it would be delivered as soon as it is unblocked.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec at_once{};
    while (sigtimedwait(&pipe, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Runs on the thread of run(), except stop(), use_tls() and stats().
struct Gate::Parts final : Connection::Mediator {
  Parts(const GateOptions& gate_options, const crypto::TlsContext& context, const Router& gate_router)
      : options(gate_options), router(gate_router), tls(context), listener(io, counters.accept_failures), timer(io) {}

  Status run();
  void admit(int fd, const Address& from);
  bool within_limits(const Address& from);
  void tick();
  void begin_drain();
  void stop_when_drained();

  bool submit(WorkerPool::Job& job) override;
  void on_refused() override { counters.bad_requests += 1; }
  void on_unreadable_client(const Address& proxy, const std::string& entry) override;
  void on_untrusted(const Connection& connection, const Error& why) override;
  void on_closed(Connection& connection, Connection::End end) override;
  std::span<char> read_buffer() override { return buffer; }

  const GateOptions options;
  const Router& router;
  Counters counters;
  SystemClock clock;
  Mutex tls_mutex;
  crypto::TlsContext tls GUARDED_BY(tls_mutex);
  asio::io_context io{1};
  std::array<char, kReadBufferBytes> buffer{};
  Listener listener;
  asio::steady_timer timer;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
  std::map<std::array<std::uint8_t, 16>, int> by_address;
  TimePoint drain_until = kNever;  // set when draining
  LimitedLog untrusted_logged;
  LimitedLog unreadable_logged{std::chrono::hours(1)};
  std::unique_ptr<WorkerPool> workers;
};

Status Gate::Parts::run() {
  const NoSigpipe quiet;
  workers = std::make_unique<WorkerPool>(router, options.limits, options.workers);
  listener.start([this](int fd, const Address& from) { admit(fd, from); });
  tick();
  Status status;
  try {
    io.run();
  } catch (const std::exception& failure) {
    status = Error{ErrorCode::internal, std::string("serve: ") + failure.what()};
  }
  listener.stop();
  workers.reset();  // waits for handlers that still run
  connections.clear();
  return status;
}

void Gate::Parts::admit(int fd, const Address& from) {
  if (!within_limits(from)) {
    counters.refused += 1;
    ::close(fd);
    return;
  }
  asio::posix::stream_descriptor socket(io);
  asio::error_code failed;
  if (socket.assign(fd, failed)) {  // the kernel has no memory to watch it
    counters.refused += 1;
    ::close(fd);
    return;
  }
  const Connection::Settings settings{io, options.limits, clock, *this, options.trusted_proxies};
  std::shared_ptr<Connection> connection;
  {
    MutexLock lock(tls_mutex);
    connection = std::make_shared<Connection>(settings, tls, std::move(socket), from);
  }
  by_address[from.unit] += 1;
  counters.accepted += 1;
  counters.open += 1;
  connections.emplace(connection.get(), connection);
  connection->start();
}

bool Gate::Parts::within_limits(const Address& from) {
  const GateLimits& limits = options.limits;
  if (connections.size() >= static_cast<std::size_t>(limits.connections_max)) return false;
  const auto found = by_address.find(from.unit);
  const int held = found == by_address.end() ? 0 : found->second;
  const bool own = from.loopback || std::find(options.trusted_proxies.begin(), options.trusted_proxies.end(),
                                              from.text) != options.trusted_proxies.end();
  return held < (own ? limits.connections_per_loopback_max : limits.connections_per_address_max);
}

bool Gate::Parts::submit(WorkerPool::Job& job) {
  const bool taken = workers->submit(job);
  (taken ? counters.served : counters.overload) += 1;
  return taken;
}

void Gate::Parts::on_closed(Connection& connection, Connection::End end) {
  if (end == Connection::End::handshake_failed) counters.handshakes_failed += 1;
  if (end == Connection::End::timed_out) counters.timed_out += 1;
  counters.open -= 1;
  const auto held = by_address.find(connection.address().unit);
  if (--held->second == 0) by_address.erase(held);
  connections.erase(&connection);
  stop_when_drained();
}

void Gate::Parts::on_untrusted(const Connection& connection, const Error& why) {
  untrusted_logged.warning(clock.now(), "a call from " + connection.address().text + " was refused: " + why.message);
}

void Gate::Parts::on_unreadable_client(const Address& proxy, const std::string& entry) {
  constexpr std::size_t kShown = 60;
  unreadable_logged.warning(
      clock.now(),
      fmt::format("the trusted proxy {} wrote '{}' into X-Forwarded-For, which is no address: its own counts for "
                  "limits and bans",
                  proxy.text, entry.substr(0, kShown)));
}

void Gate::Parts::tick() {
  const TimePoint now = clock.now();
  std::vector<std::shared_ptr<Connection>> all;  // closing one removes it from the map
  all.reserve(connections.size());
  for (const auto& [key, connection] : connections) all.push_back(connection);
  for (const auto& connection : all) connection->check_deadline(now);
  if (now >= drain_until) return io.stop();
  timer.expires_after(kTick);
  timer.async_wait([this](const asio::error_code& cancelled) {
    if (!cancelled) tick();
  });
}

void Gate::Parts::begin_drain() {
  if (drain_until != kNever) return;
  drain_until = clock.now() + options.stop_grace;
  listener.stop();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [key, connection] : connections) all.push_back(connection);
  for (const auto& connection : all) connection->drain();
  stop_when_drained();
}

void Gate::Parts::stop_when_drained() {
  if (drain_until != kNever && connections.empty()) io.stop();
}

Gate::Gate(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Gate::~Gate() = default;

Result<std::unique_ptr<Gate>> Gate::create(const GateOptions& options, const crypto::TlsContext& tls,
                                           const Router& router) {
  VERIFY(options.workers > 0);
  auto parts = std::make_unique<Parts>(options, tls, router);
  STARLING_TRY(parts->listener.open(options.address, options.port));
  return std::unique_ptr<Gate>(new Gate(std::move(parts)));
}

Status Gate::run() { return parts_->run(); }

void Gate::stop() {
  asio::post(parts_->io, [parts = parts_.get()] { parts->begin_drain(); });
}

void Gate::use_tls(const crypto::TlsContext& tls) {
  MutexLock lock(parts_->tls_mutex);
  parts_->tls = tls;
}

std::uint16_t Gate::port() const { return parts_->listener.port(); }

GateStats Gate::stats() const {
  const Counters& counters = parts_->counters;
  return {.connections_open = counters.open,
          .connections_accepted = counters.accepted,
          .connections_refused = counters.refused,
          .accept_failures = counters.accept_failures,
          .handshakes_failed = counters.handshakes_failed,
          .requests_served = counters.served,
          .requests_refused = counters.bad_requests,
          .requests_overload = counters.overload,
          .connections_timed_out = counters.timed_out};
}

}  // namespace starling::gate
