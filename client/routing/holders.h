// The volunteers that hold cells, and how soon each answers a call, by the answers so far: the time that a call takes
// is taken for a latency and a time for each unit that is ahead of its end, both learnt by a regression that forgets. A
// call goes to the holder that is expected to answer first; one that has never answered is tried as soon as it has no
// call. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/run/model_options.h"

namespace starling::routing {

class Holders {
 public:
  // Those who hold the cell now, in place of those before.
  void set(wire::CellIndex cell, std::vector<PeerId> holders);
  [[nodiscard]] bool is_held(wire::CellIndex cell) const;
  [[nodiscard]] std::span<const PeerId> holders_of(wire::CellIndex cell) const;

  // The holder of the cell that is expected to answer a call of this many units first, and is none of these; nothing if
  // there is none that may be called now.
  [[nodiscard]] std::optional<PeerId> choose(TimePoint now, wire::CellIndex cell, std::int64_t units,
                                             const std::set<PeerId>& but) const;
  // When such a holder may be called again; kNever: there is none.
  [[nodiscard]] TimePoint free_at(wire::CellIndex cell, const std::set<PeerId>& but) const;

  // A call on its way.
  struct Sent {
    PeerId holder;
    std::int64_t units = 0;
    std::int64_t load = 0;          // its units, and those of earlier calls to the holder that were not answered
    std::int64_t ended_before = 0;  // units of calls to the holder that had ended
    TimePoint at{};
  };
  // Notes that a call goes out now. It ends by one of those below.
  [[nodiscard]] Sent on_sent(TimePoint now, const PeerId& holder, std::int64_t units);
  // From then on something is wrong, unless the holder answers another call first: a holder that goes on answering has
  // others' calls, or a slow line, before it. The time is that which is expected for what is ahead of the call since
  // the holder's last answer, and four times its usual error.
  [[nodiscard]] TimePoint late_at(const Sent& call) const;
  void on_answered(TimePoint now, const Sent& call);
  // Nobody waits for the answer any more: it takes as long as it has taken so far, at least.
  void on_given_up(TimePoint now, const Sent& call);
  // The holder cannot be reached, or its answer is useless: it is left alone for a second, and twice as long each time
  // until it answers, a minute at most.
  void on_failed(TimePoint now, const Sent& call);
  // The holder takes no calls before.
  void on_refused(const Sent& call, TimePoint not_before);

 private:
  // Sums of the regression of times on units, each weighted by its age in answers.
  struct Record {
    double weight = 0;
    double units = 0;
    double seconds = 0;
    double units_squared = 0;
    double units_seconds = 0;
    double error = 0;  // the usual one of what was expected, in seconds
    std::int64_t open_units = 0;
    int open_calls = 0;
    std::int64_t ended_units = 0;  // their calls have ended, with an answer or without
    TimePoint answered_at{};       // the last time
    int failures = 0;              // since its last answer
    TimePoint not_before{};
    [[nodiscard]] double expected_s(std::int64_t load) const;
    void learn(std::int64_t load, double took_s);
  };

  Record& end(const Sent& call);

  std::map<wire::CellIndex, std::vector<PeerId>> holders_;
  std::map<PeerId, Record> records_;
};

}  // namespace starling::routing
