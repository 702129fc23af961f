// Micro-batches that count together, on their way through a trunk that is here and experts that others hold. A trainer
// computes their segments in the order of a Weave; in between, each layer's tokens are routed (GateSearch, Crossing)
// and called for (CallBook), forth, and then back with the gradient. A part that nobody answers in time is masked on
// its way forth, and is a constant on its way back. A text of one sample may go through as well, for its next token.
//
// Decides, and moves values within the tray; the Mediator acts. Every call of it starts something and returns at once;
// its end comes back as one of the on_* events, on the same thread. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/routing/call_book.h"
#include "client/routing/crossing.h"
#include "client/routing/gate_search.h"
#include "client/routing/holders.h"
#include "client/routing/trunk_task.h"
#include "client/routing/weave.h"
#include "shared/base/clock.h"
#include "shared/run/cells.h"
#include "shared/run/training_data.h"

namespace starling::routing {

// A call to a holder. The spans are valid while send_call() runs.
struct OutgoingCall {
  CallBook::Send send;
  wire::CellIndex cell = 0;
  bool is_back = false;
  std::span<const std::int32_t> counts{};  // units by expert of the cell
  std::span<const std::int32_t> rows{};    // by unit: a row of the inputs
  std::span<const float> inputs{};         // [rows, width]; on the way back none for a holder that has kept them
  std::span<const float> upstream{};       // on the way back: [units, width]
  std::optional<ExchangeId> kept{};        // on the way back: the exchange with which this holder got the inputs
};

// The run's choices that a window follows.
struct WindowOptions {
  wire::ModelOptions model;  // the run's, or any piece of it
  std::size_t in_flight_max = 4;
  int answers_min = 1;                         // Terms::answers_min on the way forth
  Duration budget = std::chrono::seconds(20);  // for an exchange
  bool is_held_out = false;  // its samples are wire::held_out_windows, which are judged: nothing goes back
  // In place of samples: 1 to `context` tokens, after which the next one is scored. Nothing goes back.
  std::vector<std::int32_t> text{};
};

class Window {
 public:
  class Mediator {
   public:
    virtual ~Mediator() = default;
    // Ends in on_computed().
    virtual void start_task(const TrunkTask& task) = 0;
    // Ends in on_answer(), on_refused() or on_failed().
    virtual void send_call(const OutgoingCall& call) = 0;
  };

  // Floats of the tray that such a window needs, with micro-batches of at most this many samples; for a text: 1.
  static std::size_t tray_floats(const WindowOptions& options, SampleCount micro_batch);

  // `holders`, `tray` and `mediator` outlive the window. micro_batches: each of as many samples as the tray is for, or
  // fewer; for a text: one, of one sample.
  Window(WindowOptions options, std::vector<wire::SampleRange> micro_batches, Holders& holders, std::span<float> tray,
         Mediator& mediator);

  void start();
  // loss: of a micro-batch at its last segment; 0 otherwise.
  void on_computed(TimePoint now, double loss);
  // values: results [units, width] on the way forth, the gradient of the inputs [rows, width] on the way back. Values
  // of another number, or not finite, are a failure.
  void on_answer(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder,
                 std::span<const float> values);
  void on_refused(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder, Duration not_for);
  // The holder has not kept the inputs any more: it is called again, with them.
  void on_forgotten(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder);
  void on_failed(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder);
  void on_gone(TimePoint now, const PeerId& holder);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const { return book_.next_deadline(); }

  [[nodiscard]] bool is_done() const { return weave_.is_done(); }
  // The result of a window that is done.
  struct Outcome {
    SampleCount samples = 0;
    double loss_sum = 0;
    // Samples whose gradient in a cell is with that holder. They add up to `samples` for each cell that has a holder.
    std::map<std::pair<wire::CellIndex, PeerId>, SampleCount> weights;
    // By cell and holder.
    struct Computed {
      std::int64_t calls = 0;  // answered
      std::int64_t units_back = 0;
    };
    std::map<std::pair<wire::CellIndex, PeerId>, Computed> computed;
    std::int64_t units = 0;       // answered, on the way forth
    std::int64_t units_lost = 0;  // not answered
  };
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  // The scores of the text's next token, [vocabulary], once the window is done.
  [[nodiscard]] std::span<const float> scores() const { return scores_; }

 private:
  // A micro-batch's room in the tray.
  struct Slots {
    std::vector<std::span<float>> inputs;  // by layer with experts
    std::span<float> outputs;
    std::span<float> results;
    std::span<float> inputs_gradient;
    std::span<std::int32_t> experts;
    std::span<std::int32_t> places;
  };
  struct Crossed {
    Crossing crossing;
    ExchangeId exchange = 0;
    std::vector<std::optional<PeerId>> answered_by;  // by part
    std::vector<std::optional<PeerId>> kept_by;      // by part: who has its inputs
  };
  struct MicroBatch {
    std::size_t slots = 0;
    std::vector<Crossed> crossed;  // by layer with experts
    std::map<wire::CellIndex, PeerId> weighed_by;
  };
  // An exchange under way.
  struct Open {
    std::size_t micro_batch = 0;
    std::size_t layer = 0;  // counts those with experts
    bool is_back = false;
    std::vector<std::size_t> parts;  // their numbers in the crossing
  };

  void compute_next();
  void ask_forth(TimePoint now, const Weave::Step& step);
  void ask_back(TimePoint now, std::size_t micro_batch, std::size_t layer);
  void move_on();
  void send(const CallBook::Send& send);
  void end_exchange(const CallBook::Ended& ended);
  void finish(TimePoint now, std::size_t micro_batch);
  // The micro-batch is done: its room is free.
  void release(std::size_t micro_batch);
  [[nodiscard]] std::size_t tokens_of(std::size_t micro_batch) const;
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(options_.model.width); }

  WindowOptions options_;
  std::vector<wire::Cell> cells_;
  std::vector<int> layers_;  // those with experts
  std::vector<wire::SampleRange> samples_;
  Holders& holders_;
  Mediator& mediator_;
  GateSearch search_;
  CallBook book_;
  Weave weave_;
  std::optional<Weave::Step> computing_;
  std::vector<Slots> slots_;
  std::vector<std::size_t> free_slots_;
  std::map<std::size_t, MicroBatch> micro_batches_;  // under way
  std::map<ExchangeId, Open> open_;
  std::span<const std::int32_t> text_;  // in the tray, like its scores
  std::span<float> scores_;
  Outcome outcome_;
};

}  // namespace starling::routing
