// One simulated volunteer of a run with cells: its windows through experts that others hold, the desk at which it
// serves the cells that it holds, and its offers to the coordinator, as client/daemon/cell_work.h and cell_runs.h have
// them. One trainer computes a task of the window and a batch of others' calls in turns, which takes its time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "client/routing/receipts.h"
#include "client/routing/window.h"
#include "client/serving/desk.h"
#include "shared/protocol/cell_dealing.h"
#include "shared/protocol/heartbeat.h"
#include "tests/sim/cell_checks.h"
#include "tests/sim/cell_model.h"
#include "tests/sim/cell_post.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/window_check.h"

namespace starling::sim {

class CellVolunteer;

constexpr RoundIndex kNotNow = -1;  // the round of a cell whose state is not here: callers come again

// The world around a volunteer.
class CellWorld {
 public:
  virtual ~CellWorld() = default;
  virtual Scheduler& scheduler() = 0;
  virtual Network& network() = 0;
  virtual const CellSwarmOptions& options() const = 0;
  virtual const wire::RunManifest& run() const = 0;
  virtual CellPost::Directory& directory() = 0;
  virtual CellChecks& checks() = 0;
  virtual CellSwarmResult& result() = 0;
  // Carries an offer, and maybe receipts, to the coordinator and back; the reply comes as on_dealt().
  virtual void deliver_offer(CellVolunteer& from, const wire::Computing& told) = 0;
  // There is memory for the cell: it is a run of its own from now on; serve_cell() is called when its state is here.
  virtual void begin_cell(CellVolunteer& holder, wire::CellIndex cell) = 0;
  // The cell is let go, with its state.
  virtual void end_cell(CellVolunteer& holder, wire::CellIndex cell) = 0;
  // The members of the cell's run that have its state may be others now.
  virtual void on_holders(wire::CellIndex cell) = 0;
  [[nodiscard]] virtual AccountId account_of(int volunteer) const = 0;
  [[nodiscard]] virtual bool is_liar(int volunteer) const = 0;
  // The cell's parameters; it is held.
  virtual std::span<const float> parameters(const CellVolunteer& holder, wire::CellIndex cell) = 0;
  virtual void on_window(const CellVolunteer& caller, const routing::Window::Outcome& outcome) = 0;
  // Returns how many of an account's samples in a decided round of the cell earn credit.
  virtual SampleCount earning(wire::CellIndex cell, AccountId account, SampleCount samples) = 0;
  // gather() has something.
  virtual void on_weights(CellVolunteer& holder, wire::CellIndex cell) = 0;
};

class CellVolunteer final : public transport::CallTaker, private routing::Window::Mediator {
 public:
  struct Means {
    PeerId id;
    int index = 0;
    std::int64_t cell_bytes = 0;  // its memory for cells
    double units_per_s = 0;       // that its trainer computes
  };
  // `world` outlives this object.
  CellVolunteer(CellWorld& world, const Means& means);
  ~CellVolunteer() override;

  // Process life. A crash loses everything.
  void start();
  void crash();
  [[nodiscard]] bool up() const { return desk_.has_value(); }
  [[nodiscard]] std::uint64_t life() const { return life_.number; }
  // SIGSTOP and SIGCONT: nothing is processed in between, everything arrives late.
  void freeze_until(TimePoint thaws);
  // The owner pauses, and others' calls are refused.
  void pause(bool paused);
  [[nodiscard]] bool paused() const { return life_.is_paused; }
  // The trainer computes at this fraction of its usual speed.
  void slow_down(double speed) { life_.speed = speed; }

  [[nodiscard]] const PeerId& id() const { return means_.id; }
  [[nodiscard]] int index() const { return means_.index; }
  [[nodiscard]] bool holds(wire::CellIndex cell) const { return held_.contains(cell); }
  // Windows that were computed to their end, in this life and those before.
  [[nodiscard]] std::int64_t windows() const { return windows_done_; }

  // The coordinator's answer, or why there is none.
  void on_dealt(const Result<wire::CellsDealt>& dealt);
  void on_frame(const Frame& frame);
  // Returns whether a frame has gone out.
  bool pump();
  void on_link_lost(int peer, std::uint64_t life);

  // The cell that is held answers calls with the state of this round; nothing: not now.
  void serve_cell(wire::CellIndex cell, std::optional<RoundIndex> round);
  // Takes the gradient of a held cell, between two tasks of the trainer, and tells how many samples count in it, 0:
  // none yet; CellWork::take_gradient.
  void gather(wire::CellIndex cell, std::function<void(SampleCount samples, std::span<const float> sum)> done);

  // Runs `event` at `when`, later if frozen then, never if this life is over.
  void schedule(TimePoint when, std::function<void()> event);

 private:
  struct Life {
    std::uint64_t number = 0;
    TimePoint frozen_until{};
    std::deque<std::function<void()>> waiting{};  // while frozen
    bool is_paused = false;
    std::uint64_t pauses = 0;
    double speed = 1;
    TimePoint timer = kNever;
  };
  struct Place {
    routing::ExchangeId exchange = 0;
    std::size_t part = 0;
    PeerId holder;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Ended {
    Place place;
    Hash128 id;
    transport::CallOutcome outcome;
  };
  // A window under way.
  struct OwnWindow {
    OwnWindow(const routing::WindowOptions& options, std::vector<wire::SampleRange> micro_batches,
              routing::Holders& holders, std::span<float> tray, routing::Window::Mediator& mediator)
        : window(options, std::move(micro_batches), holders, tray, mediator), check(options) {}
    routing::Window window;
    WindowCheck check;
    std::optional<routing::TrunkTask> task{};  // to be computed next
    std::map<Place, Hash128> open{};
    std::map<std::tuple<routing::ExchangeId, wire::CellIndex, PeerId>, Hash128> forth{};
    std::map<Hash128, Place> to_self{};
    std::deque<Ended> ended{};
    std::vector<bool> held{};  // by cell: it had a holder all the time
    TimePoint ends_by{};       // later with all that is computed here meanwhile, and each time that is frozen
  };
  struct Held {
    std::vector<float> sum;
    std::optional<RoundIndex> serves{};
    bool is_ending = false;
  };
  // A batch of others' calls, as it is in the tray.
  struct Serving {
    wire::CellIndex cell = 0;
    bool is_back = false;
    std::vector<std::int32_t> counts{}, rows{};
    std::vector<float> inputs{}, upstream{};
    double seconds = 0;
  };
  struct Trainer {
    bool is_busy = false;
    bool is_others_turn = false;
    bool is_woken = false;  // work() is about to run
    TimePoint worked_at{};
    int times = 0;  // work() has run at that moment
    std::deque<std::function<void()>> errands{};
  };
  struct Offers {
    std::int64_t table = 0;
    std::uint64_t serial = 0;  // the last call's
  };

  void start_task(const routing::TrunkTask& task) override;
  void send_call(const routing::OutgoingCall& call) override;

  [[nodiscard]] std::size_t width() const override;
  Result<std::optional<wire::Refusal>> admit(const PeerId& caller, const Hash128& id, const wire::Call& call) override;
  Status received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) override;
  void called_off(const PeerId& caller, const Hash128& id) override;
  Status weighed(const PeerId& caller, const wire::Weights& weights) override;
  void gone(const PeerId& caller) override;

  [[nodiscard]] TimePoint now() const { return world_.scheduler().now(); }
  [[nodiscard]] bool frozen() const { return now() < life_.frozen_until || !life_.waiting.empty(); }
  void thaw();
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  void wake();
  void soon(std::function<void()> errand);
  void work();
  void arm_timer();
  [[nodiscard]] Duration compute_time(double units) const;
  // The trainer is busy for so long, and ends with this.
  void compute(Duration time, std::function<void()> done);

  void begin_window_later(Duration wait);
  void begin_window();
  [[nodiscard]] bool is_covered() const;
  void run_own_task();
  void take_ended();
  void finish_window();
  void end_window();
  void tell_weights(const routing::Window::Outcome& outcome);
  void call_self(const Place& place, const Hash128& id, const wire::Call& call, std::span<const float> values);

  bool serve_batch();
  void finish_batch(const Serving& serving);
  void send_answers(std::vector<serving::Answered> answers, const wire::Answer& answer);
  void refuse(const serving::CallKey& key, const wire::Refusal& refusal);
  void check_desk();

  void offer();
  void follow(const wire::CellsDealt& dealt);
  void take_table(const wire::CellTable& table);
  void open(wire::CellIndex cell);
  void let_go(wire::CellIndex cell);
  [[nodiscard]] std::int64_t bytes_held() const;

  CellWorld& world_;
  const Means means_;
  const std::vector<wire::Cell> cells_;
  std::mt19937_64 rng_;
  NamedTrunk trunk_;
  std::vector<float> tray_;
  SampleCount next_sample_ = 0;
  std::int64_t windows_done_ = 0;
  Life life_;
  Trainer trainer_;
  Offers offers_;
  routing::Holders holders_;
  std::optional<OwnWindow> own_;
  std::optional<serving::Desk> desk_;
  std::map<serving::CallKey, wire::Codec> codecs_;  // for calls that are at the desk
  std::optional<CellPost> post_;
  std::optional<routing::Receipts> receipts_;
  std::map<wire::CellIndex, Held> held_;
};

}  // namespace starling::sim
