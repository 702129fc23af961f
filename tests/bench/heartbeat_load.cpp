#include "tests/bench/heartbeat_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace starling::bench {
namespace {

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Status expect_answers(const LoadFigures& figures) {
  if (figures.failed == 0) return {};
  return Error{ErrorCode::unavailable, fmt::format("{} heartbeats failed: {}", figures.failed,
                                                   figures.failure.empty() ? "no answer" : figures.failure)};
}

struct HeartbeatLoad::Line {
  std::size_t volunteer = 0;
  std::unique_ptr<HttpsConnection> connection;
};

HeartbeatLoad::HeartbeatLoad(Parts parts, int lines, bool kept)
    : parts_(std::move(parts)), kept_(kept), lines_(static_cast<std::size_t>(lines)) {
  VERIFY(!kept || lines_.size() <= parts_.volunteers.size());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].volunteer = i;
    idle_.push_back(i);
  }
}

HeartbeatLoad::~HeartbeatLoad() = default;

TimePoint HeartbeatLoad::due_at(std::int64_t number) const {
  return began_ + from_seconds(static_cast<double>(number) / options_.rate_per_s);
}

LoadFigures HeartbeatLoad::run(const LoadOptions& options) {
  options_ = options;
  figures_ = {};
  latencies_ms_.clear();
  started_ = in_time_ = 0;
  began_ = parts_.loop.now();
  end_ = began_ + options.length;
  const auto settled = [&] {
    if (options_.enough()) end_ = std::min(end_, parts_.loop.now());
    start_due();
    return (parts_.loop.now() >= end_ || started_ == options_.heartbeats_max) && idle_.size() == lines_.size();
  };
  parts_.loop.run_until(settled, end_ + kPatience);
  // Heartbeats that were due and not even sent have waited longest of all.
  const double seconds = to_seconds(end_ - began_);
  const auto due = static_cast<std::int64_t>(seconds * options.rate_per_s);
  figures_.failed +=
      static_cast<std::int64_t>(lines_.size() - idle_.size()) + std::max<std::int64_t>(0, due - started_);
  figures_.answered_per_s = static_cast<double>(in_time_) / seconds;
  figures_.p50_ms = quantile(latencies_ms_, 0.50);
  figures_.p99_ms = quantile(latencies_ms_, 0.99);
  return figures_;
}

// Sends due heartbeats as long as lines are idle, and sets a timer for the next one.
void HeartbeatLoad::start_due() {
  const TimePoint now = parts_.loop.now();
  while (!idle_.empty() && started_ < options_.heartbeats_max) {
    const TimePoint due = options_.rate_per_s > 0 ? due_at(started_) : now;
    if (due >= end_) return;
    if (due > now) {
      if (std::exchange(timer_armed_, true)) return;
      parts_.loop.at(due, [this] { timer_armed_ = false; });
      return;
    }
    const std::size_t line = idle_.front();
    idle_.pop_front();
    ++started_;
    send(line, due);
  }
}

void HeartbeatLoad::send(std::size_t line, TimePoint due) {
  Line& used = lines_[line];
  if (used.connection == nullptr) {
    if (!kept_) used.volunteer = next_volunteer_++ % std::min(parts_.volunteers.size(), options_.callers_max);
    used.connection =
        std::make_unique<HttpsConnection>(parts_.loop, parts_.coordinator.port(), tls_for(used.volunteer));
  }
  used.connection->post("/v1/heartbeat", parts_.heartbeat(),
                        [this, line, due](const Result<std::string>& body) { on_answer(line, due, body.status()); });
}

crypto::TlsContext HeartbeatLoad::tls_for(std::size_t volunteer) {
  const auto found = contexts_.find(volunteer);
  if (found != contexts_.end()) return found->second;
  crypto::TlsContext tls = tls_of(parts_.coordinator, parts_.volunteers[volunteer]);
  if (volunteer < kContextsKept) contexts_.emplace(volunteer, tls);
  return tls;
}

void HeartbeatLoad::on_answer(std::size_t line, TimePoint due, const Status& status) {
  const TimePoint now = parts_.loop.now();
  if (status.ok()) {
    latencies_ms_.push_back(to_seconds(now - due) * 1e3);
    if (now < end_) ++in_time_;
  } else if (figures_.failed++ == 0) {
    figures_.failure = status.error().message;
  }
  if (!kept_ || !status.ok()) lines_[line].connection.reset();
  idle_.push_back(line);
}

}  // namespace starling::bench
