// n reduction engines over an in-memory network on virtual time. Links have latency, rate and a small window. With an
// even seed a link is first in, first out, as one TCP stream is; otherwise it behaves as several streams
// (wire::keeps_order). Faults strike at a given event or time. Results for which an engine posts a receive come in
// halves. Everything follows from the seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

struct GroupOptions {
  std::size_t members = 4;
  std::int64_t vector_floats = 1000;
  std::int64_t segment_floats = 64;
  std::string codec = "fp32";
  std::vector<std::string> codecs{};      // codecs of contributions, by rank; empty: all as `codec`
  std::vector<double> shares{};           // empty: equal parts
  std::vector<SampleCount> weights{};     // empty: rank + 1 samples each
  std::vector<SampleCount> room{};        // empty: no member's weight is limited by the plan
  std::vector<std::uint32_t> voters{};    // wire::GroupMember::voter; empty: a vote each
  std::vector<bool> undialable{};         // empty: everybody can be dialled; two that cannot have no link
  std::vector<bool> deferred{};           // empty: nobody
  std::vector<bool> late{};               // empty: nobody
  std::vector<Duration> start_after{};    // empty: all start at once
  Duration latency = from_ms(5);          // one way; a random extra of up to this much is drawn for every frame
  double bytes_per_s = 10e6;              // rate of every link
  std::vector<double> member_slowdown{};  // empty: none; divides the rate of a member's links
  std::int64_t begin_within_ms = 1000;
  bool rest_in_input = false;   // RoundVectors::rest
  std::vector<float> center{};  // RoundVectors::center of all
  bool audited = false;         // the plan has audits, and members have seeds: sketch_seed_of
  AllReduceOptions engine{};
  unsigned seed = 1;
};

// A fault that strikes right before the event-th event is handled (or at a time, when event is kNoEvent).
struct Fault {
  static constexpr std::size_t kNoEvent = SIZE_MAX;
  enum class Kind {
    kill,        // the process ends; links break; frames on their way arrive first
    kill_dirty,  // the process ends; links break; frames on their way are lost
    freeze,      // stands still for `lasting`; its links stay up
    mute,        // its frames to `other` vanish from now on, silently
    black_hole,  // frames between it and `other` vanish, silently
    break_link,  // both ends learn that the link between them is gone
    denounce,    // it says that it has lost `other`, which is well
  };
  Kind kind = Kind::kill;
  Rank rank = 0;
  Rank other = 0;
  std::size_t event = kNoEvent;
  Duration at{};
  Duration lasting{};
};

// AllReduceOptions::sketch_seed of a member in an audited group.
inline Hash128 sketch_seed_of(Rank rank) {
  Hash128 seed;
  seed.bytes.fill(static_cast<std::uint8_t>(rank + 1));
  return seed;
}

// The first draw in each member's begin (ContributionTerms::draw).
constexpr SampleCount draw_of(Rank rank) { return 1000 + static_cast<SampleCount>(rank); }

class InMemoryGroup {
 public:
  explicit InMemoryGroup(GroupOptions options, std::vector<Fault> faults = {});

  // Runs until every running engine has its outcome, nothing happens any more, or `limit` of virtual time has passed.
  void run(Duration limit = std::chrono::seconds(300));
  // Handles one event; false when there is none.
  bool step();

  // Changes a frame on its way; called before it is queued. Returning false drops it.
  using Tamper = std::function<bool(Rank from, Rank to, std::vector<std::uint8_t>& frame)>;
  void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }
  // Puts bytes on a link as if `from` had sent them.
  void inject(Rank from, Rank to, std::vector<std::uint8_t> frame);

  [[nodiscard]] const wire::GroupInfo& group() const { return group_; }
  [[nodiscard]] std::vector<float>& input(Rank rank) { return nodes_[rank].input; }
  [[nodiscard]] const std::vector<float>& output(Rank rank) const { return nodes_[rank].output; }
  [[nodiscard]] SampleCount weight(Rank rank) const { return nodes_[rank].weight; }
  // Null when it has none (yet); kept after a kill.
  [[nodiscard]] const AveragingOutcome* outcome(Rank rank) const { return nodes_[rank].engine->outcome(); }
  [[nodiscard]] bool alive(Rank rank) const { return !nodes_[rank].dead; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Whether there are members that have no link to each other.
  [[nodiscard]] bool has_unlinked() const {
    return std::count(options_.undialable.begin(), options_.undialable.end(), true) > 1;
  }
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] Duration elapsed() const { return now_ - TimePoint{}; }
  // Refused frames, as "rank from rank: why".
  [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  struct Node {
    SampleCount weight = 0;
    std::vector<float> input;
    std::vector<float> output;
    std::unique_ptr<AllReduce> engine;
    bool started = false;
    bool dead = false;
    TimePoint frozen_until{};
    std::vector<std::function<void()>> held_up;  // deliveries held up while frozen, in order
    TimePoint timer_at = kNever;
  };
  struct Link {
    std::size_t in_flight = 0;
    TimePoint free_at{};
    TimePoint last_arrival{};
    TimePoint placed_arrival{};  // arrival of the last frame that nothing overtakes
    bool silent = false;         // swallows frames
    bool cut = false;            // refuses frames
    std::uint32_t generation = 0;
  };
  struct Event {
    TimePoint at{};
    std::uint64_t order = 0;
    std::function<void()> action;
    bool operator>(const Event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };

  void schedule(TimePoint at, std::function<void()> action);
  void build();
  void strike(const Fault& fault);
  void kill(Rank rank, bool dirty);
  void freeze(Rank rank, Duration lasting);
  void cut(Rank a, Rank b, Rank told, const std::string& reason);
  void start(Rank rank);
  void pump(Rank rank);
  void pump_link(Rank from, Rank to);
  void send(Rank from, Rank to, std::vector<std::uint8_t> bytes);
  struct Frame {
    std::vector<std::uint8_t> bytes;
    std::uint32_t generation = 0;
  };
  void deliver(Rank from, Rank to, const Frame& frame);
  void arm_timer(Rank rank);
  // Runs `action` for a rank now, or when it thaws; never when it is dead.
  void with(Rank rank, std::function<void()> action);
  [[nodiscard]] bool linked(Rank a, Rank b) const;
  [[nodiscard]] Link& link(Rank from, Rank to) { return links_[from * nodes_.size() + to]; }

  GroupOptions options_;
  std::vector<Fault> faults_;
  std::mt19937_64 random_;
  wire::GroupInfo group_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t scheduled_ = 0;
  std::size_t events_ = 0;
  TimePoint now_{};
  Tamper tamper_;
  std::vector<std::string> refusals_;
};

}  // namespace starling::averaging
