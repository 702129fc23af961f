// All cells of a run that this volunteer holds, and its calls to those that others hold. The coordinator deals the
// cells in its replies about the trunk (wire::CellsDealt): dealt ones are opened, each as a run of its own, and the
// others are let go, with their state.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/daemon/cell_run.h"
#include "client/daemon/cell_work.h"
#include "client/daemon/permission.h"
#include "client/daemon/run_parts.h"
#include "client/daemon/run_threads.h"
#include "client/daemon/trainer_work.h"
#include "client/routing/receipts.h"
#include "client/session/session.h"
#include "client/session/trainer.h"
#include "client/transport/peer_network.h"
#include "shared/base/limited_log.h"
#include "shared/control/control.h"
#include "shared/protocol/cell_dealing.h"

namespace starling::daemon {

// The way from the cells that have memory here to those that are dealt.
struct CellChange {
  std::vector<wire::CellIndex> begin;
  std::vector<wire::CellIndex> end;
};
// Begins dealt cells, in their order, as long as all together, those included that end only now, take no more than
// `bytes`. Cells that the model has not are passed over. `run`: the manifest of the run or its trunk.
CellChange change_to(const wire::RunManifest& run, const std::set<wire::CellIndex>& held,
                     std::span<const wire::CellIndex> dealt, std::int64_t bytes);

// The holders of each cell by a table; places that its members have not are passed over.
std::map<wire::CellIndex, std::vector<PeerId>> holders_by(const wire::CellTable& table);

class CellRuns {
 public:
  struct Listener {
    // A newer table of holders is in force: experts can be called that could not before. An event.
    std::function<void(TimePoint now)> holders_changed;
    std::function<void(wire::Heartbeat&)> complete;  // CellMeans
    std::function<void(TimePoint now)> tell_soon;  // the trunk's coordinator should hear from this volunteer. An event
    std::function<void()> after_event;             // CellMeans
  };
  // The parts of the trunk's run. They outlive this object, apart from the network: see stop().
  struct Trunk {
    Threads all_threads;
    RunThreads& threads;
    const RunContext& context;
    TrainerWork& trainer;
    transport::PeerNetwork& network;
    std::shared_ptr<StateShelf> shelf;
    Outgoing outgoing;
    std::int64_t cell_bytes = 0;  // PreparedRun
    std::int64_t desk_bytes = 0;  // likewise
  };
  CellRuns(Trunk trunk, Listener listener);
  // Comes after finish_on_trainer() has run, if there was anything to finish.
  ~CellRuns();

  // Reserves memory for calls. It comes before all others. Trainer thread.
  Status prepare() { return work_->prepare(); }
  // See CellWork::train. Trainer thread.
  Result<session::BatchReport> train(const wire::SampleRange& samples, std::span<float> into) {
    return work_->train(samples, into);
  }

  // See CellWork::evaluate. Trainer thread.
  Result<session::Evaluation> evaluate() { return work_->evaluate(); }
  // See CellWork::score_next. Trainer thread.
  Result<std::vector<float>> score_next(std::span<const int> text) { return work_->score_next(text); }

  // Control thread, all of these, and none after stop().
  // Adds what the coordinator is to hear of cells to a call about the trunk. follow(): the answer.
  void tell(wire::Heartbeat& heartbeat);
  void follow(const std::optional<wire::CellsDealt>& dealt);
  void obey(const Permission& permission);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline(TimePoint now) const;
  void tell_soon(TimePoint now);
  [[nodiscard]] wire::CellsStatus status() const;
  // See Session.
  void set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                const std::vector<session::Session::Received>& received);
  // Bytes moved to and from the coordinator for cells' states so far.
  [[nodiscard]] std::int64_t wire_bytes() const;

  // No event is processed from now on, and what is computed for a batch or for others ends soon. The network lives on
  // until it has. Then finish_on_trainer().
  void stop(std::unique_ptr<transport::PeerNetwork> network);
  // Saves the cells if they are to be kept, and lets go of all of them. Trainer thread, after stop().
  void finish_on_trainer(bool keep_state);

 private:
  struct Held {
    enum class State : std::uint8_t { opening, running, ending };
    State state = State::opening;
    std::unique_ptr<CellRun> run;  // null while it is opened
  };

  [[nodiscard]] CellWork::Listener work_listener();
  void open(wire::CellIndex cell);
  void on_opened(TimePoint now, wire::CellIndex cell, Result<CellParts> parts);
  void end(wire::CellIndex cell);
  void take_table(const wire::CellTable& table);
  void name_newcomers(const std::vector<PeerId>& newcomers);
  void serve_soon();
  [[nodiscard]] std::set<wire::CellIndex> held() const;

  Trunk trunk_;
  const Listener listener_;
  std::unique_ptr<transport::PeerNetwork> last_network_;  // after stop()
  std::unique_ptr<CellWork> work_;                        // null after finish_on_trainer()
  CellMeans means_;
  Permission permission_;
  std::map<wire::CellIndex, Held> held_;
  std::set<wire::CellIndex> dealt_;
  std::int64_t table_ = 0;                 // number of the one in force; 0: none
  std::atomic<bool> serving_soon_{false};  // a task that serves waits on the trainer thread
  std::int64_t ended_bytes_ = 0;           // see wire_bytes(): for cells that were let go
  routing::Receipts receipts_;
  LimitedLog unopened_;
};

}  // namespace starling::daemon
