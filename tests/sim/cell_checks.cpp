#include "tests/sim/cell_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace starling::sim {
namespace {

// A volunteer hears within a few seconds what the coordinator deals, if a call or an answer gets lost, too.
constexpr Duration kHearsWithin = std::chrono::seconds(20);

}  // namespace

void CellChecks::fail(std::string what) {
  if (broken_.empty()) broken_ = std::move(what);
}

std::vector<Hash128> CellChecks::names_of(wire::CellIndex cell, const ExpertUnits& units) const {
  std::vector<Hash128> names;
  std::vector<float> values(2 + 2 * width());
  values[0] = static_cast<float>(cell);
  std::size_t unit = 0;
  for (std::size_t expert = 0; expert < units.counts.size(); ++expert) {
    values[1] = static_cast<float>(expert);
    for (std::int32_t i = 0; i < units.counts[expert]; ++i, ++unit) {
      const auto row = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(units.rows[unit]) * width());
      std::copy_n(units.inputs.begin() + row, width(), values.begin() + 2);
      std::copy_n(units.upstream.begin() + static_cast<std::ptrdiff_t>(unit * width()), width(),
                  values.begin() + 2 + static_cast<std::ptrdiff_t>(width()));
      names.push_back(hash128({reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)}));
    }
  }
  return names;
}

void CellChecks::on_sent_back(wire::CellIndex cell, const ExpertUnits& units) {
  for (const Hash128& name : names_of(cell, units)) units_.try_emplace(name, 0);
}

void CellChecks::on_gradient(int holder, wire::CellIndex cell, const ExpertUnits& units) {
  for (const Hash128& name : names_of(cell, units)) {
    ++units_back_;
    const auto found = units_.find(name);
    if (found == units_.end()) {
      return fail(fmt::format("holder {} adds a unit to cell {} that nobody has sent", holder, cell));
    }
    if (++found->second == 1) continue;
    return fail(fmt::format("holder {} adds a unit to cell {} that was added before", holder, cell));
  }
}

StateThen CellChecks::take_state(const Hash128& call) {
  const auto found = states_.find(call);
  if (found == states_.end()) return nullptr;
  StateThen state = std::move(found->second);
  states_.erase(found);
  return state;
}

void CellChecks::on_window(int caller, const routing::Window::Outcome& outcome, const std::vector<bool>& held) {
  std::map<wire::CellIndex, SampleCount> told;
  for (const auto& [where, samples] : outcome.weights) told[where.first] += samples;
  for (std::size_t number = 0; number < held.size(); ++number) {
    const auto cell = static_cast<wire::CellIndex>(number);
    told_[cell] += told[cell];
    if (told[cell] <= outcome.samples && (told[cell] == outcome.samples || !held[number])) continue;
    fail(fmt::format("caller {} tells holders of cell {} of {} samples, and its window had {}", caller, cell,
                     told[cell], outcome.samples));
  }
}

void CellChecks::on_weights(wire::CellIndex cell, SampleCount told, SampleCount accepted) {
  if (accepted > told) fail(fmt::format("{} of {} samples count in cell {}", accepted, told, cell));
}

SampleCount CellChecks::told(wire::CellIndex cell) const {
  const auto found = told_.find(cell);
  return found == told_.end() ? 0 : found->second;
}

std::int64_t CellChecks::on_dealt(TimePoint now, const Dealing& dealing) {
  std::int64_t moved = 0;
  for (const auto& [peer, after] : dealing.after) {
    for (const wire::CellIndex cell : after) let_go_.erase({peer, cell});
  }
  for (const auto& [peer, before] : dealing.before) {
    const std::set<wire::CellIndex>& after = dealing.after.at(peer);
    for (const wire::CellIndex cell : before) {
      if (after.contains(cell)) continue;
      let_go_.try_emplace({peer, cell}, now);
      if (!dealing.heard.contains(peer)) continue;
      ++moved;
      const std::set<PeerId>& ready = dealing.ready.at(cell);
      const auto left = std::count_if(ready.begin(), ready.end(), [&](const PeerId& other) {
        const auto cells = dealing.after.find(other);
        return cells != dealing.after.end() && cells->second.contains(cell);
      });
      if (left < options_.holders) fail(fmt::format("cell {} is taken from one of too few holders", cell));
    }
  }
  return moved;
}

void CellChecks::on_answered(TimePoint now, const PeerId& holder, wire::CellIndex cell) {
  const auto since = let_go_.find({holder, cell});
  if (since == let_go_.end() || now - since->second <= kHearsWithin) return;
  fail(fmt::format("cell {} is answered by a holder that should have let it go {:.1f} s ago", cell,
                   to_seconds(now - since->second)));
}

}  // namespace starling::sim
