#include "shared/reach/prober.h"

#include <pthread.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "shared/reach/relay_talk.h"

namespace starling::reach {
namespace {

// One test. Its pending operations own it.
class Test : public std::enable_shared_from_this<Test> {
 public:
  Test(asio::io_context& io, PeerId peer, Prober::Done done)
      : socket_(io), deadline_(io), peer_(peer), done_(std::move(done)) {}

  void start(const asio::ip::tcp::endpoint& at, const crypto::TlsContext& tls, WallTime now) {
    deadline_.expires_after(Prober::kPatience);
    deadline_.async_wait([self = shared_from_this()](const asio::error_code& stopped) {
      if (!stopped) self->end(false);
    });
    socket_.async_connect(at, [self = shared_from_this(), tls, now](const asio::error_code& error) {
      if (self->done_ == nullptr) return;
      if (error) return self->end(false);
      self->talk_ = std::make_shared<RelayTalk>(self->socket_, tls, now, RelayTalk::Task{self->peer_, std::nullopt});
      self->talk_->start([self](const Status& status) { self->end(status.ok()); });
    });
  }

 private:
  void end(bool reached) {
    const Prober::Done done = std::exchange(done_, nullptr);
    if (done == nullptr) return;
    if (talk_ != nullptr) talk_->cancel();
    asio::error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    done(reached);
  }

  asio::ip::tcp::socket socket_;
  asio::steady_timer deadline_;
  PeerId peer_;
  Prober::Done done_;
  std::shared_ptr<RelayTalk> talk_;
};

}  // namespace

class Prober::Impl {
 public:
  Impl(crypto::TlsContext tls, const Clock& clock) : tls_(std::move(tls)), clock_(clock), thread_([this] { run(); }) {}

  ~Impl() {
    io_.stop();
    thread_.join();
  }

  bool test(const Target& target, Done done) {
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(target.host, error);
    if (error || target.port < 1 || target.port > 65535) return false;
    if (++under_way_ > kTestsMax) {
      --under_way_;
      return false;
    }
    const asio::ip::tcp::endpoint at(address, static_cast<std::uint16_t>(target.port));
    asio::post(io_, [this, at, peer = target.peer, done = std::move(done)]() mutable {
      const auto counted = [this, done = std::move(done)](bool reached) {
        --under_way_;
        done(reached);
      };
      std::make_shared<Test>(io_, peer, counted)->start(at, tls_, clock_.wall_now());
    });
    return true;
  }

 private:
  void run() {
    (void)pthread_setname_np(pthread_self(), "starling-probe");
    io_.run();
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  crypto::TlsContext tls_;
  const Clock& clock_;
  std::atomic<std::size_t> under_way_{0};
  std::thread thread_;  // last: it uses the others
};

Prober::Prober(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Prober::~Prober() = default;

Result<std::unique_ptr<Prober>> Prober::create(crypto::TlsContext tls, const Clock& clock) {
  try {
    return std::unique_ptr<Prober>(new Prober(std::make_unique<Impl>(std::move(tls), clock)));
  } catch (const std::system_error& error) {  // the system gives no thread
    return Error{ErrorCode::resource_exhausted, std::string("start to dial back: ") + error.what()};
  }
}

bool Prober::test(const Target& target, Done done) { return impl_->test(target, std::move(done)); }

}  // namespace starling::reach
