// The desk at which others' calls to the cells that are held here are admitted, received, computed together, and
// answered. A call is admitted before there is any memory for it, and only if it can be expected to be computed within
// its budget. One batch is computed at a time: units of one cell and one way, of as many calls as are there. Callers
// take turns, by time and by memory, so that one with many calls does not keep out the others.
//
// Each accepted call ends once: with its answer (on_computed), by a failure (on_computing_failed, let_go, pause), when
// its budget is over (take_expired), or because its values are useless (on_received) or its caller does not want it any
// more (drop, on_gone). No call is computed twice, as one on the way back adds to the cell's gradient.
//
// Decides, and holds the values; it sends and computes nothing. Pure; single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "client/serving/account.h"
#include "client/serving/call.h"
#include "client/serving/call_queue.h"
#include "client/serving/compute_times.h"
#include "client/serving/kept_inputs.h"
#include "client/serving/merge.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::serving {

// Values of calls may be as large as this. Activations and their gradients are far smaller, and with these no sum of an
// expert's gradient leaves the finite numbers.
constexpr float kCallValueMax = 0x1p20F;

// The run's and the owner's choices that a desk follows.
struct DeskOptions {
  std::size_t width = 0;                            // floats of an input, and of a result; at least 1
  std::uint64_t bytes_max = 0;                      // values received, merged and kept, and answers to come
  Duration keep = std::chrono::seconds(60);         // how long inputs are kept after the answer forth
  Duration budget_max = std::chrono::seconds(60);   // a longer budget is taken for this one
  std::size_t calls_max_per_caller = 64;            // open at once
  std::int64_t units_max = 16384;                   // in a call
  std::int64_t batch_units = 4096;                  // calls are merged up to here
  SampleCount samples_max = std::int64_t{1} << 20;  // see Account
};

// Units to compute. The spans are valid until the batch has ended.
struct Batch {
  wire::CellIndex cell = 0;
  bool is_back = false;
  std::span<const std::int32_t> counts;  // units, by expert of the cell
  std::span<const std::int32_t> rows;    // by unit, in the order of experts: a row of the inputs
  std::span<const float> inputs;         // [rows, width]
  std::span<const float> upstream;       // on the way back: [units, width]
};

// An answer for a caller, in the order of its own units or rows, with the values that the trainer gave: they may be
// other than finite.
struct Answered {
  CallKey key;
  std::vector<float> values;  // results [units, width]; on the way back the gradient of the inputs [rows, width]
};

// The calls that are being computed.
struct BatchUnderWay {
  std::vector<OpenCall> calls;
  Merged merged;                   // if they are several
  std::uint64_t merged_bytes = 0;  // the size of `merged`
  TimePoint done_at{};             // this is expected
};

class Desk {
 public:
  explicit Desk(const DeskOptions& options);

  // The cell is held from now on, with the state of this round; experts: of the cell, at least 1.
  void hold(wire::CellIndex cell, int experts, RoundIndex round);
  // The cell is held.
  void set_round(wire::CellIndex cell, RoundIndex round);
  // Both return the calls that fail by it. A batch of a cell that is let go is computed to its end; with a pause it
  // has ended, and no memory stays in use.
  [[nodiscard]] std::vector<CallKey> let_go(wire::CellIndex cell);
  [[nodiscard]] std::vector<CallKey> pause();
  void resume() { is_paused_ = false; }

  [[nodiscard]] Admission admit(TimePoint now, Call call);
  // Values that an accepted call still waits for: inputs, unless they are kept here, then upstream. 0 for a call that
  // is not waited for any more.
  [[nodiscard]] std::size_t floats_to_come(const CallKey& key);
  // All of them have come. corrupt: one is not finite, and the call has ended; its caller's link is to be cut.
  Status on_received(const CallKey& key, std::vector<float> values);
  // The caller does not want the answer any more. It may have added to the gradient nevertheless.
  void drop(const CallKey& key);
  // The link with the caller is gone, and all that it had here.
  void on_gone(const PeerId& caller);

  // The next batch to compute; nothing: one is under way, no call is whole, or the owner has paused.
  [[nodiscard]] std::optional<Batch> take(TimePoint now);
  // The batch has ended. seconds: that it took; answer: results [units, width], or the gradient of the inputs
  // [rows, width] on the way back. Without a batch, which a pause has ended, nothing changes.
  [[nodiscard]] std::vector<Answered> on_computed(TimePoint now, double seconds, std::span<const float> answer);
  // The batch has ended without an answer, and has added to no gradient. Returns its calls.
  [[nodiscard]] std::vector<CallKey> on_computing_failed();

  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;
  // Returns calls that have ended since the last time because their budget was over.
  [[nodiscard]] std::vector<CallKey> take_expired();

  // Adds to the cell's weights by the rules of Account. No sample counts in a cell that is not held.
  SampleCount add_weight(const PeerId& caller, wire::CellIndex cell, SampleCount samples);
  [[nodiscard]] Weights take_weights(wire::CellIndex cell) { return account_.take_weights(cell); }
  [[nodiscard]] std::vector<Served> take_served() { return account_.take_served(); }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + kept_.bytes(); }
  // The figures that a status shows.
  struct View {
    std::uint64_t bytes = 0;       // in use, kept inputs as well
    std::uint64_t bytes_kept = 0;  // inputs that are kept
    std::size_t calls = 0;         // open
    double queue_s = 0;            // until all of them would be computed
  };
  [[nodiscard]] View view(TimePoint now) const;

 private:
  struct Holding {
    int experts = 0;
    RoundIndex round = 0;
  };

  [[nodiscard]] Status check(const Call& call, int experts) const;
  // Among calls under way whose answers are wanted: whether one has this key; the number of those of this caller.
  [[nodiscard]] bool is_computed(const CallKey& key) const;
  [[nodiscard]] std::size_t computed_of(const PeerId& caller) const;
  [[nodiscard]] OpenCall opened(TimePoint now, Call call) const;
  // How long a call has no chance to be computed in its budget; nothing: it has one now.
  [[nodiscard]] std::optional<Duration> busy_for(TimePoint now, const OpenCall& call) const;
  bool end(const CallKey& key);
  [[nodiscard]] Duration rest_of_batch(TimePoint now) const;
  [[nodiscard]] Share share_of(const OpenCall& open) const;
  [[nodiscard]] std::vector<Share> shares_of(const std::vector<OpenCall>& calls) const;
  // Keeps within the memory that is allowed.
  void give_up_kept();

  DeskOptions options_;
  bool is_paused_ = false;
  std::map<wire::CellIndex, Holding> held_;
  CallQueue queue_;
  std::optional<BatchUnderWay> under_way_;
  std::uint64_t bytes_ = 0;  // without kept inputs
  KeptInputs kept_;
  ComputeTimes times_;
  Account account_;
  std::vector<CallKey> expired_;
};

}  // namespace starling::serving
