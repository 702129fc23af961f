#include "coordinator/gate/router.h"

#include <algorithm>
#include <atomic>

#include "coordinator/gate/text.h"
#include "shared/base/verify.h"

namespace starling::gate {

// Counts the answers of one route, from several threads.
class RouteMeter {
 public:
  explicit RouteMeter(std::string name) : name_(std::move(name)) {}

  void count(int status, Duration took) {
    const auto at = static_cast<std::size_t>(std::clamp(status, kStatusMin, kStatusMax) - kStatusMin);
    by_status_[at].fetch_add(1, std::memory_order_relaxed);
    const auto bound =
        std::find_if(kLatencyBounds.begin(), kLatencyBounds.end(), [=](Duration b) { return took <= b; });
    by_latency_[static_cast<std::size_t>(bound - kLatencyBounds.begin())].fetch_add(1, std::memory_order_relaxed);
    time_ns_.fetch_add(took.count(), std::memory_order_relaxed);
  }

  [[nodiscard]] RouteFigures figures() const {
    RouteFigures figures{name_, {}, {}, Duration(time_ns_.load())};
    for (std::size_t i = 0; i < by_status_.size(); ++i) {
      if (const std::int64_t count = by_status_[i].load(); count > 0) {
        figures.by_status.emplace_back(static_cast<int>(i) + kStatusMin, count);
      }
    }
    for (std::size_t i = 0; i < by_latency_.size(); ++i) figures.by_latency[i] = by_latency_[i].load();
    return figures;
  }

 private:
  static constexpr int kStatusMin = 100;
  static constexpr int kStatusMax = 599;

  const std::string name_;
  std::array<std::atomic<std::int64_t>, kStatusMax - kStatusMin + 1> by_status_{};
  std::array<std::atomic<std::int64_t>, kLatencyBounds.size() + 1> by_latency_{};
  std::atomic<std::int64_t> time_ns_ = 0;
};

namespace {

constexpr int kFailed = 500;  // the gate's answer when a handler throws

using Methods = std::map<std::string, Handler>;

const Handler* find_method(const Methods& methods, const std::string& method, std::string& allowed) {
  const auto found = methods.find(method);
  if (found != methods.end()) return &found->second;
  for (const auto& [name, handler] : methods) allowed += (allowed.empty() ? "" : ", ") + name;
  return nullptr;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_without_case(key, name)) return value;
  }
  return {};
}

std::string_view Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

void Router::add(const std::string& method, const std::string& path, Handler handler) {
  VERIFY(!path.empty() && path.front() == '/' && handler);
  VERIFY(literal_[path].emplace(method, metered(path, std::move(handler))).second);
}

void Router::add_prefix(const std::string& method, const std::string& prefix, Handler handler) {
  VERIFY(!prefix.empty() && prefix.front() == '/' && prefix.back() == '/' && handler);
  VERIFY(prefix_[prefix].emplace(method, metered(prefix, std::move(handler))).second);
}

void Router::wrap(const std::string& path, const Around& around) {
  const auto methods = literal_.find(path);
  VERIFY(methods != literal_.end());
  for (auto& [method, handler] : methods->second) {
    handler = [around, own = std::move(handler)](const Request& request) { return around(request, own); };
  }
}

Handler Router::metered(const std::string& path, Handler handler) {
  const auto meter = std::make_shared<RouteMeter>(path);
  meters_.push_back(meter);
  return [meter, handler = std::move(handler)](const Request& request) {
    const SystemClock clock;
    const TimePoint begin = clock.now();
    try {
      Response response = handler(request);
      meter->count(response.status, clock.now() - begin);
      return response;
    } catch (...) {
      meter->count(kFailed, clock.now() - begin);
      throw;
    }
  };
}

std::vector<RouteFigures> Router::figures() const {
  std::vector<RouteFigures> all;
  for (const auto& meter : meters_) all.push_back(meter->figures());
  return all;
}

const Handler* Router::find(Request& request, std::string& allowed) const {
  request.suffix.clear();
  const auto literal = literal_.find(request.path);
  if (literal != literal_.end()) return find_method(literal->second, request.method, allowed);
  const std::size_t slash = request.path.rfind('/');
  if (slash == std::string::npos || slash + 1 == request.path.size()) return nullptr;
  const auto prefix = prefix_.find(request.path.substr(0, slash + 1));
  if (prefix == prefix_.end()) return nullptr;
  request.suffix = request.path.substr(slash + 1);
  return find_method(prefix->second, request.method, allowed);
}

}  // namespace starling::gate
