// A volunteer's work in a run with cells: windows of its own samples through the trunk and others' experts
// (client/routing), and others' calls to the cells that it holds (client/serving). One trainer computes both, a task at
// a time, in turns. A cell that is held here is called like any other, without the network.
//
// The work thread computes; calls come and go on the net thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "client/daemon/held_cells.h"
#include "client/routing/window.h"
#include "client/serving/desk.h"
#include "client/session/trainer.h"
#include "client/trainer_link/task_link.h"
#include "client/trainer_link/trainer_process.h"
#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// The run, and the owner's choices; the manifest has the others (wire::CellOptions).
struct CellWorkOptions {
  wire::RunManifest trunk;  // the run's, with its trunk as the model
  PeerId self;
  std::size_t in_flight_max = 4;               // micro-batches of a window that are on their way at once
  SampleCount piece_samples = 1;               // in a micro-batch of a window, at most
  Duration budget = std::chrono::seconds(20);  // for all tokens of a micro-batch through a layer's experts
  std::uint64_t desk_bytes = 256'000'000;      // for values of others' calls
};

class CellWork final : public transport::CallTaker, private routing::Window::Mediator {
 public:
  // Called on any thread, and must not wait; each may be empty.
  struct Listener {
    // Others' calls or errands wait and no window is under way: serve() is due, on the work thread.
    std::function<void()> calls_wait;
    // A caller has said that samples count in the cell's gradient: take_gradient() has something.
    std::function<void(wire::CellIndex cell)> weights_came;
    // train() has ended well. Work thread.
    std::function<void(const routing::Window::Outcome& outcome)> trained{};
  };
  // The references outlive this.
  CellWork(CellWorkOptions options, transport::PeerNetwork& net, trainer_link::TrainerProcess& trainer,
           const Clock& clock, Listener listener);
  ~CellWork() override;

  // From any thread. While it is paused, others' calls are refused at once and a window ends with `unavailable`.
  void pause(bool paused) EXCLUDES(mutex_);
  // From any thread. Runs the errand, which must be short, on the work thread: between two tasks of a window, too.
  void soon(std::function<void()> errand) EXCLUDES(mutex_);

  // Computed for callers, this computer's own windows among them.
  struct Served {
    std::int64_t calls = 0;                                        // answered
    std::map<wire::CellIndex, std::vector<std::int64_t>> units{};  // on their way forth, by expert of a cell held here
    // Counts a batch that went forth.
    void add(const trainer_link::CellTask& task);
  };
  // From any thread.
  [[nodiscard]] Served served() const EXCLUDES(mutex_);

  // Work thread, all of these.
  // Reserves the tray. It comes before all others. resource_exhausted when there is no memory.
  Status prepare();
  // Memory for the state that the cell's holders share, which the caller fills in; then serve_cell() has it answer
  // calls from now on. Callers that come before are told to come again.
  Result<std::span<float>> hold(wire::CellIndex cell) EXCLUDES(mutex_);
  void serve_cell(wire::CellIndex cell, RoundIndex round) EXCLUDES(mutex_);
  // The cell answers no calls until serve_cell(), and the gradient that it has gathered is dropped: the state is not
  // the one that it was gathered at.
  void stop_serving(wire::CellIndex cell) EXCLUDES(mutex_);
  // Runs the errands before.
  void let_go(wire::CellIndex cell) EXCLUDES(mutex_);
  // Who holds each cell, in place of those before, for a window under way, too; others among them than this volunteer
  // need links with it.
  void set_holders(const std::map<wire::CellIndex, std::vector<PeerId>>& holders);
  // Computes a window of these samples, and adds the trunk's gradient, summed over samples, to `into`. On failure
  // `into` is untouched, though others may hold some gradient of its samples. failed_precondition while a layer has no
  // experts that anybody holds.
  Result<session::BatchReport> train(const wire::SampleRange& samples, std::span<float> into);
  // Measures the trunk and the cells as their holders have them on the held-out text. Errors as for train();
  // unavailable where experts did not answer for too many tokens.
  Result<session::Evaluation> evaluate();
  // The scores of the token after this text (its last `context` tokens), [vocabulary]. Errors as for evaluate().
  Result<std::vector<float>> score_next(std::span<const int> text);
  // Runs the errands, and answers a batch of the calls that wait. Returns whether there was one: more may wait.
  bool serve() EXCLUDES(mutex_);
  void run_errands() EXCLUDES(mutex_);
  // Adds what a held cell has gathered since the last time to `into`, which has as many floats as the cell. Returns the
  // number of samples that it is of (CellGradient::take); 0: none counts yet, and nothing was added.
  Result<SampleCount> take_gradient(wire::CellIndex cell, std::span<float> into) EXCLUDES(mutex_);
  // The state that the cell's holders share has taken a round's step.
  void on_stepped(wire::CellIndex cell) { held_.on_stepped(cell); }

  // CallTaker, on the net thread.
  [[nodiscard]] std::size_t width() const override;
  Result<std::optional<wire::Refusal>> admit(const PeerId& caller, const Hash128& id, const wire::Call& call) override;
  Status received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) override;
  void called_off(const PeerId& caller, const Hash128& id) override;
  Status weighed(const PeerId& caller, const wire::Weights& weights) override;
  void gone(const PeerId& caller) override;

 private:
  // A call of the window under way, and the end of one.
  struct Place {
    routing::ExchangeId exchange = 0;
    std::size_t part = 0;
    PeerId holder;
    bool operator<(const Place& other) const {
      return std::tie(exchange, part, holder) < std::tie(other.exchange, other.part, other.holder);
    }
  };
  struct Ended {
    Place place;
    Hash128 id;
    transport::CallOutcome outcome;
  };
  // Those of the window under way, and its task.
  struct OwnCalls {
    RoundIndex round = 0;
    bool has_to_be_whole = false;              // the window is of no use without some of its units
    std::optional<routing::TrunkTask> task{};  // to be computed next
    std::map<Place, Hash128> open{};
    // The ids of those on the way forth, for the way back.
    std::map<std::tuple<routing::ExchangeId, wire::CellIndex, PeerId>, Hash128> forth{};
  };
  // A batch of others' calls, in the tray.
  struct Serving {
    trainer_link::CellTask task;
    std::span<float> answer;
  };
  // Where the end of a call at the desk is told.
  struct CallEnd {
    std::optional<Place> place{};        // here: it is one of the window's
    std::optional<wire::Codec> codec{};  // to its caller, in this codec
  };
  struct Signals {
    bool has_window = false;
    bool is_new = false;  // a call is whole, one of the window's has ended, or a pause has begun
    bool is_paused = false;
  };
  using Window = routing::Window;

  void start_task(const routing::TrunkTask& task) override;
  void send_call(const routing::OutgoingCall& call) override;
  void call_self(const Place& place, const Hash128& id, const wire::Call& call, std::vector<float> values)
      EXCLUDES(mutex_);
  // Each layer with experts has some that can be called.
  [[nodiscard]] bool is_covered() const;
  // The micro-batches of a batch, each within the room of the tray.
  [[nodiscard]] std::vector<wire::SampleRange> pieces_of(const wire::SampleRange& samples) const;
  // Computes a window whose calls begin like these.
  Status carry_out(Window& window, OwnCalls own) EXCLUDES(mutex_);
  Status run_window(Window& window) EXCLUDES(mutex_);
  void take_ended(Window& window) EXCLUDES(mutex_);
  void wait(const Window& window) EXCLUDES(mutex_);
  void tell_weights(const Window::Outcome& outcome, RoundIndex round);
  // Computes a batch of calls; false: none waits.
  bool serve_batch() EXCLUDES(mutex_);
  std::optional<Serving> take_batch() EXCLUDES(mutex_);
  void send_answers(std::vector<serving::Answered> answers, const wire::Answer& answer) EXCLUDES(mutex_);
  // The call is at the desk no more.
  CallEnd end_of(const serving::CallKey& key) REQUIRES(mutex_);
  void refuse(const serving::CallKey& key, const wire::Refusal& refusal) REQUIRES(mutex_);
  void note_end(Ended ended) REQUIRES(mutex_);

  CellWorkOptions options_;
  transport::PeerNetwork& net_;
  trainer_link::TrainerProcess& trainer_;
  const Clock& clock_;
  const Listener listener_;
  // The members down to the mutex belong to the work thread.
  std::vector<wire::Cell> cells_;
  std::span<float> window_tray_, serving_tray_;
  routing::Holders holders_;
  HeldCells held_;
  OwnCalls own_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  serving::Desk desk_ GUARDED_BY(mutex_);
  std::map<serving::CallKey, wire::Codec> codecs_ GUARDED_BY(mutex_);  // for calls that are at the desk
  std::deque<Ended> ended_ GUARDED_BY(mutex_);
  std::vector<std::function<void()>> errands_ GUARDED_BY(mutex_);
  std::map<Hash128, Place> to_self_ GUARDED_BY(mutex_);  // calls of the window to this volunteer itself
  Signals signals_ GUARDED_BY(mutex_);
  Served served_ GUARDED_BY(mutex_);
};

}  // namespace starling::daemon
