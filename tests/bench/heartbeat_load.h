// Heartbeats of many volunteers at a chosen rate. Open loop: each is due at its moment whether or not the coordinator
// has answered the ones before, and its latency counts from that moment, so a stall is not hidden.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"
#include "tests/bench/https_connection.h"
#include "tests/bench/volunteers.h"

namespace starling::bench {

struct LoadOptions {
  double rate_per_s = 0;  // 0: as many as are answered; each line sends its next after an answer
  Duration length = std::chrono::seconds(5);
  std::int64_t heartbeats_max = std::numeric_limits<std::int64_t>::max();  // ends earlier after this many
  std::function<bool()> enough = [] { return false; };                     // ends earlier when this returns true
  // Number of volunteers, from the first, that make new connections.
  std::size_t callers_max = std::numeric_limits<std::size_t>::max();
};

struct LoadFigures {
  double answered_per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  std::int64_t failed = 0;  // refused, broken off, or not answered within kPatience of the end
  std::string failure;      // error of the first failure
};

// Returns an error when any heartbeat failed.
Status expect_answers(const LoadFigures& figures);

class HeartbeatLoad {
 public:
  static constexpr std::size_t kContextsKept = 4096;  // making one costs as much as a handshake
  static constexpr Duration kPatience = std::chrono::seconds(5);

  struct Parts {
    EventLoop& loop;
    const CoordinatorProcess& coordinator;
    std::span<const Volunteer> volunteers;
    std::function<const std::string&()> heartbeat;  // a volunteer's heartbeat; called for every one
  };
  // kept: there are as many volunteers as lines, each on one permanent connection. Otherwise every heartbeat is the
  // next volunteer's and opens a connection of its own, at most `lines` at a time.
  HeartbeatLoad(Parts parts, int lines, bool kept);
  ~HeartbeatLoad();

  LoadFigures run(const LoadOptions& options);

 private:
  struct Line;
  void start_due();
  void send(std::size_t line, TimePoint due);
  void on_answer(std::size_t line, TimePoint due, const Status& status);
  [[nodiscard]] TimePoint due_at(std::int64_t number) const;
  crypto::TlsContext tls_for(std::size_t volunteer);

  Parts parts_;
  bool kept_;
  std::vector<Line> lines_;
  std::deque<std::size_t> idle_;
  std::size_t next_volunteer_ = 0;
  std::map<std::size_t, crypto::TlsContext> contexts_;  // contexts of the first kContextsKept volunteers

  LoadOptions options_;
  TimePoint began_{};
  TimePoint end_{};  // no heartbeat is due from then on
  std::int64_t started_ = 0;
  bool timer_armed_ = false;
  std::vector<double> latencies_ms_;  // one per answered heartbeat
  std::int64_t in_time_ = 0;          // answered before the end
  LoadFigures figures_;
};

}  // namespace starling::bench
