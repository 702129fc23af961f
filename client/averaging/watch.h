// How long to wait for which member. Every limit comes from this round so far: a member's own rhythm, the pace of the
// others, the time everything took. Floors keep short histories from deciding.
#pragma once

#include <string_view>
#include <vector>

#include "client/averaging/round_types.h"

namespace starling::averaging {

class Watch {
 public:
  // Things that this member waits for from another one.
  struct Waits {
    bool life = false;     // any frame at all
    bool answer = false;   // an inventory or the answer to a want, which no third member can delay
    bool results = false;  // others may have to send to it first
    bool done = false;     // others may have to be lost first, and their segments reduced again
  };
  struct Deadline {
    TimePoint at = kNever;
    std::string_view reason;  // why the member is lost then
    wire::Fault fault = wire::Fault::silent;
    TimePoint doubt = kNever;  // from then on, half of the patience with the member is used up
  };

  Watch(const AllReduceOptions& options, std::size_t members) : options_(options), pulses_(members) {}

  void start(TimePoint now) { started_ = now; }
  void on_begun(TimePoint now, Rank rank);
  // `useful`: more than a sign of life.
  void on_heard(TimePoint now, Rank rank, bool useful);
  // `data`: floats, which an answer may be waiting behind.
  void on_sent(TimePoint now, Rank rank, bool data);
  // For a while nothing was awaited from `rank`, not even a sign of life.
  void on_awaited(TimePoint now, Rank rank) { pulses_[rank].heard = now; }
  // on_view: answers are awaited from now on. on_all_held: everything is held, and only done is missing from now on.
  void on_view(TimePoint now) { view_at_ = now; }
  void on_all_held(TimePoint now) { all_held_at_ = now; }
  // `rank` has contributed to every segment of the part owned here.
  void on_contributed(TimePoint now, Rank rank);
  // This process stood still for this long, which is nobody else's fault.
  void on_overslept(Duration slept);

  // Something came from it lately. Several pings would have to be missing for this to become false.
  [[nodiscard]] bool hears(TimePoint now, Rank rank) const {
    return now - pulses_[rank].heard <= kMissedPings * options_.ping_interval;
  }
  [[nodiscard]] bool heard_since(TimePoint then, Rank rank) const { return pulses_[rank].heard >= then; }
  [[nodiscard]] TimePoint begun_at(Rank rank) const { return pulses_[rank].begun; }
  [[nodiscard]] bool quiet(TimePoint now, Rank to) const { return now - pulses_[to].sent >= options_.ping_interval; }
  [[nodiscard]] Deadline deadline(Rank rank, const Waits& waits) const;

  // The time in which the first half of `contributors` got their values for this member's part here; kNoPace before
  // that.
  static constexpr Duration kNoPace = Duration::max();
  [[nodiscard]] Duration pace(std::size_t contributors) const;
  // The member has contributed, but long after the part owned here would have been done without it.
  [[nodiscard]] bool was_slow(Rank rank, Duration pace) const;
  // When a sender that still owes contributions is left behind.
  [[nodiscard]] TimePoint straggler_deadline(Rank rank, Duration pace) const;

 private:
  struct Pulse {
    TimePoint begun{};
    TimePoint heard{};
    TimePoint useful{};
    TimePoint sent{};
    TimePoint fed{};  // when it last took floats
    Duration heard_gap{};
    Duration useful_gap{};
    Duration contributed = kNoPace;
  };
  static constexpr int kMissedPings = 3;
  [[nodiscard]] Duration patience(Duration floor, Duration gap) const;

  AllReduceOptions options_;
  std::vector<Pulse> pulses_;
  TimePoint started_{};
  TimePoint last_begun_{};
  TimePoint view_at_{};
  TimePoint all_held_at_{};
};

}  // namespace starling::averaging
