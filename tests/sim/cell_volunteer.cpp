#include "tests/sim/cell_volunteer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::sim {
namespace {

constexpr double kOffersMinS = 1, kOffersMaxS = 2.5;  // from one call to the coordinator to the next
constexpr int kTimesMax = 1000;
constexpr double kOpensInS = 0.2;  // memory for a cell is set aside

}  // namespace

CellVolunteer::CellVolunteer(CellWorld& world, const Means& means)
    : world_(world),
      means_(means),
      cells_(wire::cells_of(world.run().model)),
      rng_(mix64(world.options().seed ^ mix64(static_cast<std::uint64_t>(means.index)))),
      trunk_(world.run().model, world.run().seed) {}

CellVolunteer::~CellVolunteer() = default;

void CellVolunteer::start() {
  VERIFY(!up());
  ++life_.number;
  serving::DeskOptions options;
  options.width = width();
  options.bytes_max = world_.options().desk_bytes;
  options.batch_units = 16;
  desk_.emplace(options);
  post_.emplace(world_.network(), world_.directory(), means_.index, *this);
  receipts_.emplace(world_.run(), 1 + static_cast<std::int64_t>(rng_() >> 32));
  holders_ = routing::Holders();
  schedule(now() + from_seconds(uniform(0, 1)), [this] { offer(); });
  begin_window_later(std::chrono::seconds(1));
}

void CellVolunteer::crash() {
  const std::uint64_t number = life_.number + 1;
  life_ = Life();
  life_.number = number;
  trainer_ = Trainer();
  offers_ = Offers();
  if (own_) ++world_.result().windows_lost;
  own_.reset();
  desk_.reset();
  codecs_.clear();
  post_.reset();
  receipts_.reset();
  held_.clear();
  trunk_.forget();
}

void CellVolunteer::freeze_until(TimePoint thaws) {
  if (!up() || thaws <= life_.frozen_until) return;
  if (own_) own_->ends_by += thaws - std::max(now(), life_.frozen_until);
  life_.frozen_until = thaws;
  world_.scheduler().at(thaws, [this, thaws, number = life_.number] {
    if (number == life_.number && thaws == life_.frozen_until) thaw();
  });
}

void CellVolunteer::thaw() {
  world_.checks().on_heard_again(now(), id());
  for (const std::uint64_t number = life_.number; !life_.waiting.empty() && number == life_.number;) {
    const std::function<void()> event = std::move(life_.waiting.front());
    event();
    if (number == life_.number) life_.waiting.pop_front();
  }
  if (up()) wake();
}

void CellVolunteer::schedule(TimePoint when, std::function<void()> event) {
  world_.scheduler().at(when, [this, number = life_.number, event = std::move(event)]() mutable {
    if (number != life_.number) return;
    if (frozen()) {
      life_.waiting.push_back(std::move(event));
    } else {
      event();
    }
  });
}

// The trainer is killed, and what it was computing for others has added to no gradient.
void CellVolunteer::pause(bool paused) {
  if (!up() || std::exchange(life_.is_paused, paused) == paused) return;
  wake();
  if (!paused) return desk_->resume();
  ++life_.pauses;
  trainer_.is_busy = false;
  for (const serving::CallKey& key : desk_->pause()) refuse(key, {wire::RefusalReason::paused, 0});
  check_desk();
}

void CellVolunteer::on_frame(const Frame& frame) {
  if (frame.to_life != life_.number || !up()) return;
  schedule(now(), [this, frame] {
    const std::string wrong = post_->on_frame(frame);
    if (!wrong.empty()) world_.checks().fail("a frame about calls is refused: " + wrong);
    check_desk();
    wake();
  });
}

bool CellVolunteer::pump() { return up() && now() >= life_.frozen_until && post_->send_next(); }

void CellVolunteer::on_link_lost(int peer, std::uint64_t life) {
  if (!up()) return;
  schedule(now(), [this, peer, life] {
    post_->on_link_lost(peer, life);
    wake();
  });
}

void CellVolunteer::wake() {
  if (std::exchange(trainer_.is_woken, true)) return;
  schedule(now(), [this] {
    trainer_.is_woken = false;
    work();
  });
}

void CellVolunteer::soon(std::function<void()> errand) {
  trainer_.errands.push_back(std::move(errand));
  wake();
}

// CellWork::run_window() and CellWork::serve().
void CellVolunteer::work() {
  trainer_.times = trainer_.worked_at == now() ? trainer_.times + 1 : 0;
  trainer_.worked_at = now();
  if (trainer_.times > kTimesMax) {
    return world_.checks().fail(fmt::format("volunteer {} turns round and round in one moment", index()));
  }
  while (!trainer_.is_busy) {
    if (std::exchange(trainer_.is_others_turn, false) && serve_batch()) break;
    for (auto& errand : std::exchange(trainer_.errands, {})) errand();
    if (life_.is_paused) {
      if (!own_) break;
      ++world_.result().windows_lost;
      end_window();
      break;
    }
    if (own_) take_ended();
    if (own_ && own_->window.is_done()) {
      finish_window();
      continue;
    }
    if (own_ && own_->task) {
      run_own_task();
    } else if (!serve_batch()) {
      break;
    }
  }
  pump();
  arm_timer();
}

void CellVolunteer::arm_timer() {
  if (trainer_.is_busy || life_.is_paused) return;
  TimePoint next = desk_->next_deadline();
  if (own_) next = std::min(next, own_->window.next_deadline());
  if (next == kNever || (life_.timer > now() && life_.timer <= next)) return;
  life_.timer = next;
  schedule(next, [this, next] {
    if (life_.timer != next) return;
    life_.timer = kNever;
    work();
  });
}

Duration CellVolunteer::compute_time(double units) const {
  return std::chrono::milliseconds(1) + from_seconds(units / (means_.units_per_s * life_.speed));
}

void CellVolunteer::compute(Duration time, std::function<void()> done) {
  trainer_.is_busy = true;
  if (own_) own_->ends_by += time;
  schedule(now() + time, [this, pauses = life_.pauses, done = std::move(done)] {
    if (pauses != life_.pauses) return;  // it was killed
    trainer_.is_busy = false;
    done();
    wake();
  });
}

void CellVolunteer::offer() {
  const std::uint64_t serial = ++offers_.serial;
  wire::Computing told;
  wire::CellOffer& offer = told.cells.emplace(wire::CellOffer{means_.cell_bytes, {}, offers_.table});
  for (const auto& [cell, held] : held_) offer.held.push_back(cell);
  told.receipts = receipts_->tell();
  if (bytes_held() > means_.cell_bytes) {
    world_.checks().fail(fmt::format("volunteer {} holds cells of more bytes than it offers", index()));
  }
  world_.deliver_offer(*this, told);
  VERIFY(serial == offers_.serial);
}

void CellVolunteer::on_dealt(const Result<wire::CellsDealt>& dealt) {
  schedule(now(), [this, dealt] {
    if (dealt.ok()) {
      receipts_->on_reply();
      follow(*dealt);
    }
    schedule(now() + from_seconds(uniform(kOffersMinS, kOffersMaxS)), [this] { offer(); });
  });
}

std::int64_t CellVolunteer::bytes_held() const {
  std::int64_t bytes = 0;
  for (const auto& [cell, held] : held_) bytes += wire::held_bytes(world_.run(), cell);
  return bytes;
}

// CellRuns::follow().
void CellVolunteer::follow(const wire::CellsDealt& dealt) {
  std::int64_t bytes = bytes_held();
  for (auto& [cell, held] : held_) {
    const bool is_dealt = std::find(dealt.hold.begin(), dealt.hold.end(), cell) != dealt.hold.end();
    if (is_dealt || std::exchange(held.is_ending, true)) continue;
    soon([this, cell] { let_go(cell); });
  }
  for (const wire::CellIndex cell : dealt.hold) {
    if (held_.contains(cell)) continue;
    bytes += wire::held_bytes(world_.run(), cell);
    if (bytes > means_.cell_bytes) break;
    open(cell);
  }
  if (dealt.table && dealt.table->number != offers_.table) take_table(*dealt.table);
}

// In the middle of a window, too.
void CellVolunteer::take_table(const wire::CellTable& table) {
  offers_.table = table.number;
  std::map<wire::CellIndex, std::vector<PeerId>> holders;
  for (const wire::CellHolders& row : table.cells) {
    for (const std::int64_t member : row.members) {
      holders[row.cell].push_back(table.members.at(static_cast<std::size_t>(member)).peer);
    }
  }
  soon([this, holders] {
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      const auto cell = static_cast<wire::CellIndex>(number);
      const auto found = holders.find(cell);
      holders_.set(cell, found != holders.end() ? found->second : std::vector<PeerId>());
      if (own_ && !holders_.is_held(cell)) own_->held[number] = false;
    }
  });
}

void CellVolunteer::open(wire::CellIndex cell) {
  held_[cell].sum.resize(cells_[static_cast<std::size_t>(cell)].count);
  schedule(now() + from_seconds(uniform(0, kOpensInS)), [this, cell] {
    const auto found = held_.find(cell);
    if (found == held_.end() || found->second.is_ending) return;
    desk_->hold(cell, cells_[static_cast<std::size_t>(cell)].experts, kNotNow);
    world_.begin_cell(*this, cell);
  });
}

void CellVolunteer::serve_cell(wire::CellIndex cell, std::optional<RoundIndex> round) {
  const auto found = held_.find(cell);
  if (found == held_.end() || found->second.is_ending || found->second.serves == round) return;
  found->second.serves = round;
  soon([this, cell, round] {
    const auto held = held_.find(cell);
    if (held == held_.end()) return;
    if (round) return desk_->set_round(cell, *round);
    // CellWork::stop_serving()
    std::fill(held->second.sum.begin(), held->second.sum.end(), 0.0F);
    for (const serving::CallKey& key : desk_->let_go(cell)) refuse(key, {wire::RefusalReason::stepping, 1000});
    (void)desk_->take_weights(cell);
    desk_->hold(cell, cells_[static_cast<std::size_t>(cell)].experts, kNotNow);
  });
}

void CellVolunteer::let_go(wire::CellIndex cell) {
  world_.end_cell(*this, cell);
  held_.erase(cell);
  for (const serving::CallKey& key : desk_->let_go(cell)) refuse(key, {wire::RefusalReason::not_held, 0});
  (void)desk_->take_weights(cell);
}

void CellVolunteer::gather(wire::CellIndex cell, std::function<void(SampleCount, std::span<const float>)> done) {
  soon([this, cell, done = std::move(done)] {
    const auto found = held_.find(cell);
    if (found == held_.end()) return done(0, {});
    const SampleCount samples = desk_->take_weights(cell).samples;
    std::vector<float>& sum = found->second.sum;
    done(samples, sum);
    if (samples > 0) std::fill(sum.begin(), sum.end(), 0.0F);
  });
}

}  // namespace starling::sim
