// Calls that have been accepted and are not being computed yet. Callers take turns: the next call to compute is the
// oldest one of the caller who was served least recently. Pure; single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "client/serving/call.h"

namespace starling::serving {

// An accepted call, with the values that are here.
struct OpenCall {
  Call call;
  TimePoint ends_at{};             // its budget is over then
  Duration expected{};             // time to compute it
  std::size_t floats_to_come = 0;  // that its caller sends
  std::uint64_t bytes_in = 0;      // values with which it is computed
  std::uint64_t bytes = 0;         // these and the answer
  std::vector<float> kept{};       // inputs that were here
  std::vector<float> received{};   // inputs, unless they were here, then upstream
  bool is_ready = false;           // all values are here
  bool is_dropped = false;         // nobody wants the answer, which is being computed
  std::uint64_t number = 0;        // in the order in which they were added
};

class CallQueue {
 public:
  // No other one in the queue has its key.
  void add(OpenCall call);
  // nullptr: it is not in the queue. The pointer is valid until the call leaves the queue.
  [[nodiscard]] OpenCall* find(const CallKey& key);
  [[nodiscard]] bool contains(const CallKey& key) const;
  std::optional<OpenCall> take_out(const CallKey& key);

  [[nodiscard]] std::vector<CallKey> keys() const;
  [[nodiscard]] std::vector<CallKey> keys_of_cell(wire::CellIndex cell) const;
  [[nodiscard]] std::vector<CallKey> keys_of_caller(const PeerId& caller) const;
  [[nodiscard]] std::vector<CallKey> keys_that_end_by(TimePoint now) const;
  [[nodiscard]] TimePoint next_deadline() const;

  // The limits of calls that are computed together. A call that is alone passes them.
  struct BatchLimits {
    std::int64_t units = 0;
    std::uint64_t bytes = 0;  // values with which they are computed
  };
  // Takes out the calls of the next batch, all of one cell and one way: the one whose turn it is, then others that are
  // ready and within the limits, by turns as well. None is ready: empty.
  [[nodiscard]] std::vector<OpenCall> take_batch(const BatchLimits& limits);
  // Forgets when the caller was served last. It has no calls.
  void forget_turn(const PeerId& caller) { callers_.erase(caller); }

  // The load that a new call of a caller would find.
  struct Load {
    std::size_t own_calls = 0;
    std::uint64_t own_bytes = 0;
    Duration ahead{};  // until the new call would be computed, about
    Duration all{};    // until all that are here would be computed
  };
  // expected: the time to compute the new call.
  [[nodiscard]] Load load(const PeerId& caller, Duration expected) const;

 private:
  struct Caller {
    std::map<Hash128, OpenCall> calls;
    std::uint64_t bytes = 0;  // all that its calls have
    Duration expected{};      // to compute them
    std::uint64_t turn = 0;   // the number of the last batch with a call of this caller
  };

  [[nodiscard]] const OpenCall* next_in_turn() const;
  [[nodiscard]] std::vector<const OpenCall*> others_in_turn(const OpenCall& first) const;

  std::map<PeerId, Caller> callers_;
  std::set<std::pair<TimePoint, CallKey>> deadlines_;
  std::uint64_t last_number_ = 0;
  std::uint64_t batches_ = 0;
};

}  // namespace starling::serving
