#include "tests/netlab/user_switch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/netlab/frame_bundle.h"

namespace starling::netlab {
namespace {

constexpr std::size_t kReadBytes = 128 * 1024;
// Frames taken from one home before the others get their turn.
constexpr int kBurst = 64;
constexpr int kRealTimePriority = 5;
// Pause after a turn, in which frames gather: waking for each takes CPU time away from the program under test, and the
// lab's lines need not be that exact.
constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 200'000};
// The first five bytes of a home's hardware address; the last one is its number.
constexpr std::array<std::uint8_t, 5> kAddressPrefix = {0x02, 0x53, 0x54, 0x52, 0x4c};

Error system_error(std::string_view what) { return {ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno))}; }

// Makes the device in the calling thread's namespace.
Result<UniqueFd> make_tap(std::size_t number) {
  UniqueFd fd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  std::strncpy(request.ifr_name, "eth0", IFNAMSIZ - 1);
  if (!fd || ::ioctl(fd.get(), TUNSETIFF, &request) != 0) return system_error("make a TAP device");
  int header_bytes = kDeviceHeaderBytes;
  // Network cards offer these too.
  constexpr unsigned kOffloads = TUN_F_CSUM | TUN_F_TSO4;
  if (::ioctl(fd.get(), TUNSETVNETHDRSZ, &header_bytes) != 0 || ::ioctl(fd.get(), TUNSETOFFLOAD, kOffloads) != 0) {
    return system_error("set up a TAP device");
  }
  std::string address;
  for (const std::uint8_t byte : kAddressPrefix) address += fmt::format("{:02x}:", byte);
  STARLING_TRY(run_tool({"ip", "link", "set", "eth0", "address", fmt::format("{}{:02x}", address, number)}));
  return fd;
}

}  // namespace

class UserSwitch::Impl {
 public:
  Impl(std::span<const LinkSpec> links, const ShaperOptions& options)
      : shaper_(links, options),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC)),
        buffer_(kReadBytes),
        cuts_(links.size() * links.size()) {}

  ~Impl() {
    stopping_ = true;
    ::eventfd_write(wake_.get(), 1);
    if (thread_.joinable()) thread_.join();
  }

  void cut(std::size_t from, std::size_t to, bool vanish) { cuts_[from * taps_.size() + to] = vanish; }

  Status start(std::vector<UniqueFd> taps) {
    taps_ = std::move(taps);
    if (!epoll_ || !timer_ || !wake_) return system_error("start a switch");
    watch(timer_.get(), taps_.size());
    watch(wake_.get(), taps_.size());
    for (std::size_t home = 0; home < taps_.size(); ++home) watch(taps_[home].get(), home);
    thread_ = std::thread([this] { run(); });
    return {};
  }

 private:
  void watch(int fd, std::size_t home) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = home;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  void run() {
    const sched_param priority{.sched_priority = kRealTimePriority};
    (void)::sched_setscheduler(0, SCHED_RR, &priority);  // without it, delays are less exact
    std::array<epoll_event, 64> events{};
    while (!stopping_) {
      deliver();
      set_timer();
      const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const std::size_t home = events[static_cast<std::size_t>(i)].data.u64;
        if (home < taps_.size()) collect(home);
      }
      std::uint64_t expired = 0;
      (void)!::read(timer_.get(), &expired, sizeof expired);
      await_stop(kPause);
    }
  }

  // Waits for the end, at most this long.
  void await_stop(const timespec& time) const {
    pollfd stop{.fd = wake_.get(), .events = POLLIN, .revents = 0};
    ::ppoll(&stop, 1, &time, nullptr);
  }

  void deliver() {
    while (const auto delivery = shaper_.arrived(clock_.now())) {
      if (cuts_[delivery->from * taps_.size() + delivery->to]) continue;
      // A home whose device takes no more loses the frame, as at a full buffer.
      const std::vector<std::uint8_t>& bytes = delivery->frame.bytes;
      (void)!::write(taps_[delivery->to].get(), bytes.data(), bytes.size());
    }
  }

  void set_timer() {
    itimerspec when{};  // zero: never
    if (shaper_.next() != kNever) {
      const auto at = std::max<Duration::rep>(1, shaper_.next().time_since_epoch().count());
      when.it_value = {at / 1'000'000'000, at % 1'000'000'000};
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  }

  void collect(std::size_t home) {
    for (int i = 0; i < kBurst; ++i) {
      const ssize_t got = ::read(taps_[home].get(), buffer_.data(), buffer_.size());
      if (got < static_cast<ssize_t>(kDeviceHeaderBytes + kEthernetBytes)) return;
      const std::span bytes = std::span(buffer_).first(static_cast<std::size_t>(got));
      const std::span ethernet = bytes.subspan(kDeviceHeaderBytes);
      Shaper::Frame frame{{bytes.begin(), bytes.end()}, wire_bytes(bytes), false};
      // A lost ARP request is repeated only after a second, which would be the lab's fault, not the program's.
      frame.spared = ethernet[12] == 0x08 && ethernet[13] == 0x06;
      const bool to_one = std::equal(kAddressPrefix.begin(), kAddressPrefix.end(), ethernet.begin());
      if (!to_one) {
        shaper_.send_to_all(clock_.now(), home, frame);
      } else if (ethernet[5] < taps_.size() && ethernet[5] != home) {
        shaper_.send(clock_.now(), home, ethernet[5], std::move(frame));
      }
    }
  }

  SystemClock clock_;
  Shaper shaper_;
  UniqueFd epoll_;
  UniqueFd timer_;
  UniqueFd wake_;
  std::vector<std::uint8_t> buffer_;
  std::vector<UniqueFd> taps_;
  std::vector<std::atomic<bool>> cuts_;  // indexed by from and to
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

UserSwitch::UserSwitch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UserSwitch::~UserSwitch() = default;

void UserSwitch::cut(std::size_t from, std::size_t to, bool vanish) { impl_->cut(from, to, vanish); }

Result<std::unique_ptr<UserSwitch>> UserSwitch::start(std::span<const NetNamespace> homes,
                                                      std::span<const LinkSpec> links, const ShaperOptions& options) {
  std::vector<UniqueFd> taps;
  for (std::size_t home = 0; home < homes.size(); ++home) {
    const InNamespace there(homes[home]);
    STARLING_ASSIGN(UniqueFd tap, make_tap(home));
    taps.push_back(std::move(tap));
  }
  auto impl = std::make_unique<Impl>(links, options);
  STARLING_TRY(impl->start(std::move(taps)));
  return std::unique_ptr<UserSwitch>(new UserSwitch(std::move(impl)));
}

}  // namespace starling::netlab
