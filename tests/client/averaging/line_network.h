// n reduction engines behind access lines of given rates, on virtual time. It shows the cost of the order of segments
// alone: TCP is replaced by streams that share lines as TCP's do, each with a window and a weight of its own.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

struct LineOptions {
  std::vector<double> bytes_per_s;  // rate of each member's line, either way
  std::vector<double> shares;       // shares of the vector
  std::int64_t vector_floats = 1 << 19;
  std::int64_t segment_floats = 1 << 12;
  Duration delay = from_ms(20);  // one way, between any two
  double window_s = 0.1;  // each stream may have as many bytes on the way as its faster end's line carries in this time
  std::size_t unsent_max = 32768;  // bytes that wait at the sender before a stream counts as full
  double unfairness = 0;           // streams' weights are drawn from [1 - this, 1 + this]
  unsigned seed = 1;
};

class LineNetwork {
 public:
  explicit LineNetwork(LineOptions options);
  ~LineNetwork();
  // Seconds of virtual time until the last member has its outcome. ok() is false when a member has none, or a bad one.
  double run();
  [[nodiscard]] bool ok() const;

 private:
  struct Stream {
    std::deque<std::vector<std::uint8_t>> frames;  // handed over, not delivered completely
    std::size_t unsent = 0;
    std::size_t on_way = 0;
    std::size_t delivered = 0;  // bytes of frames.front()
    double turn = 0;            // virtual time of fair queueing
    double weight = 1;
  };
  struct Node {
    std::vector<float> input;
    std::vector<float> output;
    std::unique_ptr<AllReduce> engine;
    bool sending = false;
    TimePoint down_free{};
    TimePoint timer_at = kNever;
    double turn = 0;
  };
  struct Event {
    TimePoint at{};
    std::uint64_t order = 0;
    std::function<void()> action;
    bool operator>(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };
  void schedule(TimePoint at, std::function<void()> action) { queue_.push({at, scheduled_++, std::move(action)}); }
  [[nodiscard]] Stream& stream(Rank from, Rank to) { return streams_[from * nodes_.size() + to]; }
  void pump(Rank rank);
  void fill(Rank from, Rank to);
  void send_next(Rank from);
  void arrive(Rank from, Rank to, std::size_t bytes);
  void deliver(Rank from, Rank to, std::size_t bytes);

  LineOptions options_;
  wire::GroupInfo group_;
  std::vector<Node> nodes_;
  std::vector<Stream> streams_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t scheduled_ = 0;
  TimePoint now_{};
};

}  // namespace starling::averaging
