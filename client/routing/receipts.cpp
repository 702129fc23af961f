#include "client/routing/receipts.h"

#include <algorithm>
#include <utility>

#include "shared/run/cells.h"

namespace starling::routing {

Receipts::Receipts(const wire::RunManifest& run, std::int64_t first_number) : number_(first_number) {
  if (run.model.experts.cells.update != wire::CellUpdate::arrival) return;
  const std::size_t cells = wire::cells_of(run.model).size();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    units_of_sample_.push_back(wire::units_of_sample(wire::cell_of(run.model, static_cast<wire::CellIndex>(cell))));
  }
}

void Receipts::add(const Window::Outcome& outcome) {
  for (const auto& [where, computed] : outcome.computed) {
    Confirmed& confirmed = confirmed_[{where.second, where.first}];
    confirmed.calls += computed.calls;
    if (units_of_sample_.empty()) continue;
    const double units_of_sample = units_of_sample_[static_cast<std::size_t>(where.first)];
    confirmed.units += computed.units_back;
    const auto whole = static_cast<SampleCount>(static_cast<double>(confirmed.units) / units_of_sample);
    confirmed.samples += whole;
    confirmed.units -= static_cast<std::int64_t>(static_cast<double>(whole) * units_of_sample);
  }
  if (!units_of_sample_.empty()) return;
  for (const auto& [where, samples] : outcome.weights) confirmed_[{where.second, where.first}].samples += samples;
}

std::optional<wire::CallReceipts> Receipts::tell() {
  if (!open_) open_ = take_list();
  is_told_ = open_.has_value();
  return open_;
}

void Receipts::on_reply() {
  if (std::exchange(is_told_, false)) open_.reset();
}

// The rest, if there are too many, goes with a later call.
std::optional<wire::CallReceipts> Receipts::take_list() {
  wire::CallReceipts list{.number = number_, .holders = {}};
  std::size_t cells = 0;
  for (auto entry = confirmed_.begin(); entry != confirmed_.end() && cells < wire::kReceiptCellsMax;) {
    const auto& [holder, cell] = entry->first;
    Confirmed& confirmed = entry->second;
    if (confirmed.samples == 0 && confirmed.calls == 0) {
      ++entry;
      continue;
    }
    if (list.holders.empty() || list.holders.back().holder != holder) list.holders.push_back({holder, 0, {}});
    list.holders.back().calls += confirmed.calls;
    list.holders.back().cells.push_back({cell, confirmed.samples});
    ++cells;
    confirmed.calls = confirmed.samples = 0;
    entry = confirmed.units > 0 ? std::next(entry) : confirmed_.erase(entry);
  }
  if (list.holders.empty()) return std::nullopt;
  ++number_;
  return list;
}

}  // namespace starling::routing
