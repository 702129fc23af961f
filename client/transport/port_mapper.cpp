#include "client/transport/port_mapper.h"

#include <fmt/core.h>
#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>
#include <miniupnpc/upnperrors.h>
#include <natpmp.h>
#include <poll.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::transport {
namespace {

// A router at home answers within milliseconds; the library itself would go on asking for two minutes.
constexpr int kNatPmpTries = 3;
constexpr int kNatPmpWaitMs = 400;
constexpr int kUpnpWaitMs = 1500;  // for devices to answer
constexpr unsigned char kUpnpTtl = 2;
constexpr const char* kDescription = "Starling";

// One exchange with the default gateway by NAT-PMP (RFC 6886).
class NatPmp {
 public:
  NatPmp() : open_(initnatpmp(&state_, 0, 0) == 0) {}
  ~NatPmp() {
    if (open_) closenatpmp(&state_);
  }
  NatPmp(const NatPmp&) = delete;
  NatPmp& operator=(const NatPmp&) = delete;

  // The port outside; lifetime 0 removes the mapping.
  Result<int> map(int port, Duration lifetime) {
    const auto seconds = static_cast<std::uint32_t>(to_ms(lifetime) / 1000);
    const auto number = static_cast<std::uint16_t>(port);
    const auto requested = seconds == 0 ? std::uint16_t{0} : number;
    for (int attempt = 0; open_ && attempt < kNatPmpTries; ++attempt) {
      if (sendnewportmappingrequest(&state_, NATPMP_PROTOCOL_TCP, number, requested, seconds) < 0) break;
      pollfd waiting{state_.s, POLLIN, 0};
      if (::poll(&waiting, 1, kNatPmpWaitMs) != 1) continue;
      natpmpresp_t answer = {};
      const int result = readnatpmpresponseorretry(&state_, &answer);
      if (result == NATPMP_TRYAGAIN) continue;
      if (result != 0) return Error{ErrorCode::unavailable, fmt::format("NAT-PMP: refused ({})", result)};
      return int{answer.pnu.newportmapping.mappedpublicport};
    }
    return Error{ErrorCode::not_found, "NAT-PMP: no router answers"};
  }

 private:
  natpmp_t state_ = {};
  bool open_;
};

// A router found by UPnP.
class Upnp {
 public:
  Upnp() {
    int error = 0;
    UPNPDev* const devices = upnpDiscover(kUpnpWaitMs, nullptr, nullptr, UPNP_LOCAL_PORT_ANY, 0, kUpnpTtl, &error);
#if MINIUPNPC_API_VERSION >= 18
    std::array<char, 64> outside{};
    found_ = UPNP_GetValidIGD(devices, &urls_, &data_, own_address_.data(), static_cast<int>(own_address_.size()),
                              outside.data(), static_cast<int>(outside.size()));
#else
    found_ = UPNP_GetValidIGD(devices, &urls_, &data_, own_address_.data(), static_cast<int>(own_address_.size()));
#endif
    freeUPNPDevlist(devices);
  }
  ~Upnp() {
    if (found_ != 0) FreeUPNPUrls(&urls_);
  }
  Upnp(const Upnp&) = delete;
  Upnp& operator=(const Upnp&) = delete;

  Result<int> map(int port, Duration lifetime) {
    if (found_ != 1) return Error{ErrorCode::not_found, "UPnP: no router answers"};
    const std::string number = std::to_string(port);
    const std::string seconds = std::to_string(to_ms(lifetime) / 1000);
    const int result = UPNP_AddPortMapping(urls_.controlURL, data_.first.servicetype, number.c_str(), number.c_str(),
                                           own_address_.data(), kDescription, "TCP", nullptr, seconds.c_str());
    if (result == UPNPCOMMAND_SUCCESS) return port;
    const char* const why = strupnperror(result);
    return Error{ErrorCode::unavailable, fmt::format("UPnP: the router says no ({})", why != nullptr ? why : "?")};
  }

  void remove(int port) {
    if (found_ != 1) return;
    UPNP_DeletePortMapping(urls_.controlURL, data_.first.servicetype, std::to_string(port).c_str(), "TCP", nullptr);
  }

 private:
  UPNPUrls urls_ = {};
  IGDdatas data_ = {};
  std::array<char, 64> own_address_{};
  int found_ = 0;
};

constexpr const char* kNatPmpName = "NAT-PMP";
constexpr const char* kUpnpName = "UPnP";

PortMapping make_mapping(const PortMapperOptions& options) {
  const Result<int> by_nat_pmp = NatPmp().map(options.port, options.lifetime);
  if (by_nat_pmp) return {*by_nat_pmp, kNatPmpName, ""};
  const Result<int> by_upnp = Upnp().map(options.port, options.lifetime);
  if (by_upnp) return {*by_upnp, kUpnpName, ""};
  return {0, "", by_nat_pmp.error().message + "; " + by_upnp.error().message};
}

void remove_mapping(const PortMapping& mapping, int port) {
  if (mapping.method == kNatPmpName) (void)NatPmp().map(port, {}).ok();
  if (mapping.method == kUpnpName) Upnp().remove(mapping.port);
}

}  // namespace

class PortMapper::Impl {
 public:
  Impl(PortMapperOptions options, std::function<void()> changed)
      : options_(options), changed_(std::move(changed)), thread_([this] { run(); }) {}

  ~Impl() {
    close();
    thread_.join();
  }

  void close() {
    const MutexLock lock(mutex_);
    ending_ = true;
    wake_.notify_all();
  }

  [[nodiscard]] bool closed() const {
    const MutexLock lock(mutex_);
    return closed_;
  }

  [[nodiscard]] PortMapping mapping() const {
    const MutexLock lock(mutex_);
    return mapping_;
  }

 private:
  void run() {
    (void)pthread_setname_np(pthread_self(), "starling-portmap");
    bool ending = false;
    while (!ending) {
      note(make_mapping(options_));
      ending = rest();
    }
    remove_mapping(mapping(), options_.port);
    const MutexLock lock(mutex_);
    mapping_ = {};
    closed_ = true;
  }

  void note(const PortMapping& now) {
    bool same = false;
    {
      const MutexLock lock(mutex_);
      same = now.port == mapping_.port && now.problem == mapping_.problem;
      mapping_ = now;
    }
    if (same) return;
    if (now.port != 0) {
      log_info("the router lets calls to port {} through to this computer ({})", now.port, now.method);
    } else {
      log_info("no port could be opened in the router: {}", now.problem);
    }
    changed_();
  }

  // Sleeps until it is time to ask again; true when the mapper ends.
  bool rest() {
    const MutexLock lock(mutex_);
    const Duration time = mapping_.port != 0 ? options_.lifetime / 2 : options_.retry;
    bool woken = true;
    while (!ending_ && woken) woken = wake_.wait_for(mutex_, time);
    return ending_;
  }

  const PortMapperOptions options_;
  const std::function<void()> changed_;
  mutable Mutex mutex_;
  ConditionVariable wake_;
  bool ending_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
  PortMapping mapping_ GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses the others
};

PortMapper::PortMapper(PortMapperOptions options, std::function<void()> changed)
    : impl_(std::make_unique<Impl>(options, std::move(changed))) {}
PortMapper::~PortMapper() = default;

void PortMapper::close() { impl_->close(); }
bool PortMapper::closed() const { return impl_->closed(); }
PortMapping PortMapper::mapping() const { return impl_->mapping(); }

}  // namespace starling::transport
