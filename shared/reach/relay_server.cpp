#include "shared/reach/relay_server.h"

#include <pthread.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "shared/reach/listener.h"
#include "shared/reach/relay.h"

namespace starling::reach {

class RelayServer::Impl {
 public:
  Impl(Parts parts, RelayLimits limits)
      : relay_(io_, std::move(parts.tls), parts.clock, parts.rules, limits),
        listener_(io_, [this](asio::ip::tcp::socket socket) { relay_.take(std::move(socket)); }) {}

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Status start(const std::string& host, int port) {
    STARLING_TRY(listener_.listen(host, port));
    thread_ = std::thread([this] { io_.run(); });
    (void)pthread_setname_np(thread_.native_handle(), "starling-relay");
    return {};
  }

  RelayStats stats() {
    std::packaged_task<RelayStats()> task([this] { return relay_.stats(); });
    auto result = task.get_future();
    asio::post(io_, [&task] { task(); });
    return result.get();
  }

  [[nodiscard]] int port() const { return listener_.port(); }

 private:
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  Relay relay_;
  Listener listener_;
  std::thread thread_;
};

RelayServer::RelayServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RelayServer::~RelayServer() = default;

Result<std::unique_ptr<RelayServer>> RelayServer::create(const std::string& host, int port, Parts parts,
                                                         RelayLimits limits) {
  try {
    auto impl = std::make_unique<Impl>(std::move(parts), limits);
    STARLING_TRY(impl->start(host, port));
    return std::unique_ptr<RelayServer>(new RelayServer(std::move(impl)));
  } catch (const std::system_error& error) {  // the system gives no descriptor or no thread
    return Error{ErrorCode::resource_exhausted, std::string("start the relay: ") + error.what()};
  }
}

int RelayServer::port() const { return impl_->port(); }
RelayStats RelayServer::stats() const { return impl_->stats(); }

}  // namespace starling::reach
