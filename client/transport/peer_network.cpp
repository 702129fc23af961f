#include "client/transport/peer_network.h"

#include <pthread.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <csignal>
#include <future>
#include <system_error>
#include <thread>

#include "client/transport/congestion_control.h"
#include "client/transport/hub.h"
#include "shared/reach/listener.h"

namespace starling::transport {

void PeerSpeed::merge(const PeerSpeed& other) {
  constexpr Duration kUnknown = std::chrono::minutes(1);  // the kernel's value for what it has not measured
  upload_bytes_per_s = std::max(upload_bytes_per_s, other.upload_bytes_per_s);
  download_bytes_per_s = std::max(download_bytes_per_s, other.download_bytes_per_s);
  if (other.round_trip <= Duration{} || other.round_trip >= kUnknown) return;
  if (round_trip == Duration{} || other.round_trip < round_trip) round_trip = other.round_trip;
}

class PeerNetwork::Impl {
 public:
  Impl(const PeerNetworkOptions& options, const crypto::TlsContext& tls, const Clock& clock, StateSource source)
      : hub_(io_, options, tls, clock, std::move(source)),
        listener_(io_, [this](asio::ip::tcp::socket socket) { hub_.take_call(std::move(socket)); }) {}

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Status start(const PeerNetworkOptions& options) {
    if (!options.listen_host.empty()) {
      STARLING_TRY(listener_.listen(options.listen_host, options.listen_port));
      begin_congestion_control(listener_.native_handle(), options.congestion_control);
    }
    thread_ = std::thread([this] { io_.run(); });
    (void)pthread_setname_np(thread_.native_handle(), "starling-net");
    return {};
  }

  // Runs `work` on the net thread and waits for its result.
  template <typename Work>
  auto on_net(Work work) -> decltype(work()) {
    if (std::this_thread::get_id() == thread_.get_id()) return work();
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    asio::post(io_, [&task] { task(); });
    return result.get();
  }

  // Runs `work` on the net thread, in its time.
  template <typename Work>
  void soon_on_net(Work work) {
    asio::post(io_, std::move(work));
  }

  Hub& hub() { return hub_; }
  [[nodiscard]] int port() const { return listener_.port(); }

 private:
  asio::io_context io_{1};  // one thread: no locks inside
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  Hub hub_;
  reach::Listener listener_;
  std::thread thread_;
};

PeerNetwork::PeerNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PeerNetwork::~PeerNetwork() = default;

Result<std::unique_ptr<PeerNetwork>> PeerNetwork::create(const PeerNetworkOptions& options,
                                                         const crypto::TlsContext& tls, const Clock& clock,
                                                         StateSource state_source) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    auto impl = std::make_unique<Impl>(options, tls, clock, std::move(state_source));
    STARLING_TRY(impl->start(options));
    return std::unique_ptr<PeerNetwork>(new PeerNetwork(std::move(impl)));
  } catch (const std::system_error& error) {  // no descriptor or no thread was available
    return Error{ErrorCode::resource_exhausted, std::string("start the peer network: ") + error.what()};
  }
}

int PeerNetwork::port() const { return impl_->port(); }

Status PeerNetwork::average(AverageRequest request) {
  return impl_->on_net([&] { return impl_->hub().average(std::move(request)); });
}

void PeerNetwork::abandon() {
  impl_->on_net([&] { impl_->hub().abandon(); });
}

Status PeerNetwork::mix(std::size_t bucket, AverageRequest request) {
  return impl_->on_net([&] { return impl_->hub().mix(bucket, std::move(request)); });
}

void PeerNetwork::end_gossip(std::size_t bucket) {
  impl_->on_net([&] { impl_->hub().end_gossip(bucket); });
}

Result<FetchNumber> PeerNetwork::fetch_state(StateFetch fetch) {
  return impl_->on_net([&] { return impl_->hub().fetch_state(std::move(fetch)); });
}

void PeerNetwork::cancel_fetch(FetchNumber number) {
  impl_->on_net([&] { impl_->hub().cancel_fetch(number); });
}

void PeerNetwork::link_with_holders(const std::vector<wire::Endpoint>& holders, const wire::Endpoint& self) {
  impl_->on_net([&] { impl_->hub().link_with_holders(holders, self); });
}

void PeerNetwork::call(OutgoingCall call) {
  std::vector<CallFrame> frames = frames_of(call);
  call.values = {};
  impl_->soon_on_net([this, call = std::move(call), frames = std::move(frames)]() mutable {
    impl_->hub().calls().call(std::move(call), std::move(frames));
  });
}

void PeerNetwork::call_off(const PeerId& holder, const Hash128& id) {
  impl_->soon_on_net([this, holder, id] { impl_->hub().calls().call_off(holder, id); });
}

void PeerNetwork::answer(OutgoingAnswer answer) {
  impl_->soon_on_net([this, caller = answer.caller, frames = frames_of(answer)]() mutable {
    impl_->hub().calls().answer(caller, std::move(frames));
  });
}

void PeerNetwork::refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal) {
  impl_->soon_on_net([this, caller, id, refusal] { impl_->hub().calls().refuse(caller, id, refusal); });
}

void PeerNetwork::weigh(const PeerId& holder, wire::Weights weights) {
  impl_->soon_on_net([this, holder, weights = std::move(weights)] { impl_->hub().calls().weigh(holder, weights); });
}

void PeerNetwork::take_calls_by(CallTaker* taker) {
  impl_->on_net([&] { impl_->hub().calls().take_by(taker); });
}

void PeerNetwork::name_newcomers(const std::optional<std::vector<PeerId>>& newcomers,
                                 std::function<void()> unnamed_asks) {
  impl_->on_net([&] { impl_->hub().name_newcomers(newcomers, std::move(unnamed_asks)); });
}

void PeerNetwork::deny(std::span<const PeerId> revoked) {
  impl_->on_net([&] { impl_->hub().deny(revoked); });
}

void PeerNetwork::relay_for(RelayDuty duty) {
  impl_->on_net([&] { impl_->hub().relays().serve(std::move(duty)); });
}

Status PeerNetwork::post_at(const std::optional<wire::Endpoint>& relay, std::function<void()> changed) {
  return impl_->on_net([&] { return impl_->hub().relays().post_at(relay, std::move(changed)); });
}

void PeerNetwork::limit(double upload_bytes_per_s, double download_bytes_per_s) {
  impl_->on_net([&] { impl_->hub().limit(upload_bytes_per_s, download_bytes_per_s); });
}

void PeerNetwork::renew_certificate(crypto::TlsContext tls) {
  impl_->on_net([&] { impl_->hub().renew(tls); });
}

NetworkStats PeerNetwork::stats() const {
  return impl_->on_net([&] { return impl_->hub().stats(); });
}

}  // namespace starling::transport
