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

// The run's and the owner's choices.
struct CellWorkOptions {
  wire::RunManifest trunk;  // the run's, with its trunk as the model
  PeerId self;
  wire::Codec codec = wire::Codec::int8;  // values' on their way
  std::size_t in_flight_max = 4;          // micro-batches of a window; a batch is cut into as many
  // Experts whose answers a token needs; the others are waited for half as long again. 0: all are waited for.
  int answers_min = 0;
  Duration budget = std::chrono::seconds(20);  // for all tokens of a micro-batch through a layer's experts
  std::uint64_t desk_bytes = 256'000'000;      // for values of others' calls
};

class CellWork final : public transport::CallTaker, private routing::Window::Mediator {
 public:
  // The references outlive this. `calls_wait` may be called on any thread, when others' calls wait and no window is
  // under way: serve() is due then, on the work thread.
  CellWork(CellWorkOptions options, transport::PeerNetwork& net, trainer_link::TrainerProcess& trainer,
           const Clock& clock, std::function<void()> calls_wait);
  ~CellWork() override;

  // Work thread, all of these.
  // Reserves the tray. It comes before all others. resource_exhausted when there is no memory.
  Status prepare();
  // Memory for the cell's parameters, which the caller fills in; then serve_cell() has it answer calls from now on.
  Result<std::span<float>> hold(wire::CellIndex cell);
  void serve_cell(wire::CellIndex cell, RoundIndex round);
  void let_go(wire::CellIndex cell);
  // Who holds each cell, in place of those before; others among them than this volunteer need links with it.
  void set_holders(const std::map<wire::CellIndex, std::vector<PeerId>>& holders);
  // Computes a window of these samples, and adds the trunk's gradient, summed over samples, to `into`. On failure
  // `into` is untouched, though others may hold some gradient of its samples.
  Result<session::BatchReport> train(const wire::SampleRange& samples, std::span<float> into);
  // Answers the calls that wait, until there are none.
  void serve();
  // The gradient of a held cell, summed over the samples that count in it; it begins at 0 again. false: nothing has
  // come. `into` has as many floats as the cell.
  bool take_gradient(wire::CellIndex cell, std::span<float> into, SampleCount& samples);

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
  // Those of the window under way.
  struct OwnCalls {
    RoundIndex round = 0;
    std::map<Place, Hash128> open;
    // The ids of those on the way forth, for the way back.
    std::map<std::tuple<routing::ExchangeId, wire::CellIndex, PeerId>, Hash128> forth;
  };
  struct HeldCell {
    trainer_link::CellMemory memory;  // the trainer adds to its gradient
    std::vector<float> sum;           // whole batches, which no death of the trainer can spoil
    RoundIndex round = 0;
    bool is_empty = true;
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
    bool is_new = false;  // a call is whole, or one of the window's has ended
  };
  using Window = routing::Window;

  void start_task(const routing::TrunkTask& task) override;
  void send_call(const routing::OutgoingCall& call) override;
  void call_self(const Place& place, const Hash128& id, const wire::Call& call, std::span<const float> values)
      EXCLUDES(mutex_);
  Status run_window(Window& window) EXCLUDES(mutex_);
  void take_ended(Window& window) EXCLUDES(mutex_);
  void end_window() EXCLUDES(mutex_);
  void wait(const Window& window) EXCLUDES(mutex_);
  void tell_weights(const Window::Outcome& outcome, RoundIndex round);
  // Computes a batch of calls; false: none waits.
  bool serve_batch() EXCLUDES(mutex_);
  std::optional<Serving> take_batch() EXCLUDES(mutex_);
  Status compute(const Serving& serving);
  void send_answers(std::vector<serving::Answered> answers, const wire::Answer& answer) EXCLUDES(mutex_);
  // The call is at the desk no more.
  CallEnd end_of(const serving::CallKey& key) REQUIRES(mutex_);
  void refuse(const serving::CallKey& key, const wire::Refusal& refusal) REQUIRES(mutex_);
  void note_end(Ended ended) REQUIRES(mutex_);

  CellWorkOptions options_;
  transport::PeerNetwork& net_;
  trainer_link::TrainerProcess& trainer_;
  const Clock& clock_;
  std::function<void()> calls_wait_;
  // The members down to the mutex belong to the work thread.
  std::vector<wire::Cell> cells_;
  std::span<float> window_tray_, serving_tray_;
  routing::Holders holders_;
  std::map<wire::CellIndex, HeldCell> held_;
  std::optional<routing::TrunkTask> task_;
  OwnCalls own_;

  Mutex mutex_;
  ConditionVariable changed_;
  serving::Desk desk_ GUARDED_BY(mutex_);
  std::map<serving::CallKey, wire::Codec> codecs_ GUARDED_BY(mutex_);  // for calls that are at the desk
  std::deque<Ended> ended_ GUARDED_BY(mutex_);
  std::map<Hash128, Place> to_self_ GUARDED_BY(mutex_);  // calls of the window to this volunteer itself
  Signals signals_ GUARDED_BY(mutex_);
};

}  // namespace starling::daemon
