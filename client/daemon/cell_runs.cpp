#include "client/daemon/cell_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/base/log.h"
#include "shared/crypto/secrets.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/cells.h"

namespace starling::daemon {
namespace {

// Others need minutes to take cells over. Before that the schedule is nobody's business.
constexpr Duration kToldBefore = std::chrono::minutes(10);

CellWorkOptions work_options(const CellRuns::Trunk& trunk) {
  CellWorkOptions options;
  options.trunk = trunk.context.manifest;
  options.self = trunk.context.key.peer_id();
  options.desk_bytes = static_cast<std::uint64_t>(trunk.desk_bytes);
  // Together those on their way have as many samples as a micro-batch of the run.
  const auto pieces = static_cast<SampleCount>(options.in_flight_max);
  options.piece_samples = (options.trunk.micro_batch_size + pieces - 1) / pieces;
  return options;
}

std::int64_t first_number() {
  return 1 + static_cast<std::int64_t>(crypto::random_u64() % (wire::kMessageCountMax / 2));
}

}  // namespace

CellChange change_to(const wire::RunManifest& run, const std::set<wire::CellIndex>& held,
                     std::span<const wire::CellIndex> dealt, std::int64_t bytes) {
  const std::size_t cells = wire::cells_of(run.model).size();
  CellChange change;
  std::int64_t taken = 0;
  for (const wire::CellIndex cell : held) {
    taken += wire::held_bytes(run, cell);
    if (std::find(dealt.begin(), dealt.end(), cell) == dealt.end()) change.end.push_back(cell);
  }
  for (const wire::CellIndex cell : dealt) {
    if (cell < 0 || static_cast<std::size_t>(cell) >= cells || held.contains(cell)) continue;
    if (std::find(change.begin.begin(), change.begin.end(), cell) != change.begin.end()) continue;
    const std::int64_t needed = wire::held_bytes(run, cell);
    if (taken + needed > bytes) break;
    taken += needed;
    change.begin.push_back(cell);
  }
  return change;
}

std::map<wire::CellIndex, std::vector<PeerId>> holders_by(const wire::CellTable& table) {
  std::map<wire::CellIndex, std::vector<PeerId>> holders;
  for (const wire::CellHolders& cell : table.cells) {
    for (const std::int64_t member : cell.members) {
      if (member < 0 || member >= std::ssize(table.members)) continue;
      holders[cell.cell].push_back(table.members[static_cast<std::size_t>(member)].peer);
    }
  }
  return holders;
}

CellRuns::CellRuns(Trunk trunk, Listener listener)
    : trunk_(std::move(trunk)),
      listener_(std::move(listener)),
      work_(std::make_unique<CellWork>(work_options(trunk_), trunk_.network, trunk_.trainer.process(),
                                       trunk_.threads.clock(), work_listener())),
      means_{trunk_.all_threads,
             *work_,
             trunk_.network,
             *trunk_.shelf,
             trunk_.outgoing,
             listener_.complete,
             [this](const std::vector<PeerId>& newcomers) { name_newcomers(newcomers); },
             listener_.after_event},
      receipts_(trunk_.context.manifest, first_number()) {}

CellWork::Listener CellRuns::work_listener() {
  CellWork::Listener listener;
  listener.calls_wait = [this] { serve_soon(); };
  listener.weights_came = [this](wire::CellIndex cell) {
    trunk_.threads.deliver([this, cell](TimePoint now) {
      const auto found = held_.find(cell);
      if (found == held_.end() || found->second.state != Held::State::running) return;
      found->second.run->on_weights(now);
    });
  };
  listener.trained = [this](const routing::Window::Outcome& outcome) {
    trunk_.threads.deliver([this, outcome](TimePoint) { receipts_.add(outcome); });
  };
  return listener;
}

CellRuns::~CellRuns() = default;

void CellRuns::tell(wire::Heartbeat& heartbeat) {
  wire::CellOffer offer{.bytes = trunk_.cell_bytes, .held = {}, .table = table_};
  for (const auto& [cell, held] : held_) offer.held.push_back(cell);
  if (const auto& left = permission_.stops_in; left && *left < kToldBefore) {
    offer.leaves_in_s = static_cast<std::int64_t>(to_seconds(*left));
  }
  heartbeat.computing.cells = std::move(offer);
  heartbeat.computing.receipts = receipts_.tell();
}

wire::CellsStatus CellRuns::status() const {
  const std::vector<wire::Cell> cells = wire::cells_of(trunk_.context.manifest.model);
  const CellWork::Served served = work_->served();
  const bool trunk_here = trunk_.context.manifest.model.experts.piece == wire::kTrunk;
  wire::CellsStatus status{static_cast<std::int64_t>(cells.size()), {}, served.calls, trunk_here};
  for (const auto& [number, held] : held_) {
    if (held.state != Held::State::running) continue;
    const wire::Cell& cell = cells[static_cast<std::size_t>(number)];
    const auto units = served.units.find(number);
    status.held.push_back(
        {number, cell.layer, cell.first_expert, std::vector<std::int64_t>(static_cast<std::size_t>(cell.experts), 0)});
    if (units != served.units.end()) status.held.back().units = units->second;
  }
  return status;
}

std::set<wire::CellIndex> CellRuns::held() const {
  std::set<wire::CellIndex> held;
  for (const auto& [cell, each] : held_) held.insert(cell);
  return held;
}

void CellRuns::follow(const std::optional<wire::CellsDealt>& dealt) {
  receipts_.on_reply();
  if (!dealt) return;
  dealt_ = {dealt->hold.begin(), dealt->hold.end()};
  const CellChange change = change_to(trunk_.context.manifest, held(), dealt->hold, trunk_.cell_bytes);
  for (const wire::CellIndex cell : change.end) end(cell);
  for (const wire::CellIndex cell : change.begin) open(cell);
  if (dealt->table && dealt->table->number != table_) take_table(*dealt->table);
}

void CellRuns::open(wire::CellIndex cell) {
  held_[cell];
  trunk_.threads.on_trainer([this, cell] {
    auto parts = std::make_shared<Result<CellParts>>(
        open_cell(trunk_.context, *work_, cell, trunk_.threads.clock()));  // a task has to be copyable
    trunk_.threads.deliver([this, cell, parts](TimePoint now) { on_opened(now, cell, std::move(*parts)); });
  });
}

void CellRuns::on_opened(TimePoint now, wire::CellIndex cell, Result<CellParts> parts) {
  if (!parts.ok()) {
    held_.erase(cell);
    unopened_.warning(now, fmt::format("cell {} of the model cannot be held: {}", cell, parts.error().message));
    return;
  }
  Held& held = held_.at(cell);
  held.run = std::make_unique<CellRun>(means_, cell, std::move(*parts));
  held.state = Held::State::running;
  if (!dealt_.contains(cell)) return end(cell);
  log_info("holding cell {} of the model", cell);
  held.run->start(permission_);
}

// Work on the other threads ends first, in the order in which they feed one another, and then the run may go.
void CellRuns::end(wire::CellIndex cell) {
  Held& held = held_.at(cell);
  if (held.state != Held::State::running) return;
  held.state = Held::State::ending;
  ended_bytes_ += held.run->wire_bytes();
  std::function<void()> farewell = held.run->farewell();
  held.run->stop();
  log_info("letting go of cell {} of the model", cell);
  trunk_.threads.on_coordinator([this, cell, run = held.run.get(), farewell = std::move(farewell)] {
    farewell();
    trunk_.threads.on_trainer([this, cell, run] {
      run->finish_on_trainer(/*keep_state=*/false);
      trunk_.threads.deliver([this, cell](TimePoint) { held_.erase(cell); });
    });
  });
}

void CellRuns::take_table(const wire::CellTable& table) {
  table_ = table.number;
  wire::Endpoint self;
  self.peer = trunk_.context.key.peer_id();
  for (const wire::Endpoint& member : table.members) {
    if (member.peer == self.peer) self = member;
  }
  trunk_.network.link_with_holders(table.members, self);
  // In the middle of a window, too: its calls to a holder that has let go would be refused until it ends.
  work_->soon([this, holders = holders_by(table)] {
    work_->set_holders(holders);
    trunk_.threads.deliver([this](TimePoint now) { listener_.holders_changed(now); });
  });
}

// Newcomers to the trunk and to all cells are named together: they ask for the state that they want.
void CellRuns::name_newcomers(const std::vector<PeerId>& newcomers) {
  trunk_.network.name_newcomers(newcomers, [this] {
    trunk_.threads.deliver([this](TimePoint now) {
      listener_.tell_soon(now);
      tell_soon(now);
    });
  });
}

// From any thread. A batch of calls at a time, so that other work on the trainer thread has its turn.
void CellRuns::serve_soon() {
  if (serving_soon_.exchange(true)) return;
  trunk_.threads.on_trainer([this] {
    serving_soon_ = false;
    if (!trunk_.trainer.take_share()) return work_->run_errands();
    if (work_->serve()) serve_soon();
  });
}

void CellRuns::obey(const Permission& permission) {
  permission_ = permission;
  work_->pause(!permission.train);
  for (auto& [cell, held] : held_) {
    if (held.state == Held::State::running) held.run->obey(permission);
  }
}

void CellRuns::on_timer(TimePoint now) {
  for (auto& [cell, held] : held_) {
    if (held.state == Held::State::running) held.run->on_timer(now);
  }
}

TimePoint CellRuns::next_deadline(TimePoint now) const {
  TimePoint next = kNever;
  for (const auto& [cell, held] : held_) {
    if (held.state == Held::State::running) next = std::min(next, held.run->next_deadline(now));
  }
  return next;
}

void CellRuns::tell_soon(TimePoint now) {
  for (auto& [cell, held] : held_) {
    if (held.state == Held::State::running) held.run->tell_soon(now);
  }
}

void CellRuns::set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                        const std::vector<session::Session::Received>& received) {
  for (auto& [cell, held] : held_) {
    if (held.state != Held::State::running) continue;
    held.run->set_line(upload_bytes_per_s, download_bytes_per_s, round_trip_s, received);
  }
}

std::int64_t CellRuns::wire_bytes() const {
  std::int64_t bytes = ended_bytes_;
  for (const auto& [cell, held] : held_) {
    if (held.state == Held::State::running) bytes += held.run->wire_bytes();
  }
  return bytes;
}

void CellRuns::stop(std::unique_ptr<transport::PeerNetwork> network) {
  last_network_ = std::move(network);
  work_->pause(true);
  for (auto& [cell, held] : held_) {
    if (held.state == Held::State::running) held.run->stop();
  }
}

void CellRuns::finish_on_trainer(bool keep_state) {
  for (auto& [cell, held] : held_) {
    if (held.run != nullptr) held.run->finish_on_trainer(keep_state && held.state == Held::State::running);
  }
  work_.reset();
  last_network_.reset();
}

}  // namespace starling::daemon
