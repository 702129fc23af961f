#include "client/serving/kept_inputs.h"

#include <span>
#include <utility>

#include "shared/base/verify.h"

namespace starling::serving {
namespace {

std::uint64_t bytes_of(const std::vector<float>& values) { return values.size() * sizeof(float); }

Hash128 hash_of_units(const Call& call) {
  std::vector<std::int32_t> numbers = call.counts;
  numbers.insert(numbers.end(), call.rows.begin(), call.rows.end());
  return hash128({reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * sizeof(std::int32_t)});
}

}  // namespace

void KeptInputs::add(TimePoint now, const Call& forth, std::vector<float> inputs) {
  const auto known = by_key_.find(forth.key);
  if (known != by_key_.end()) erase(known->second);
  bytes_ += bytes_of(inputs);
  entries_.push_back({forth.key, forth.cell, forth.inputs, hash_of_units(forth), now + keep_, std::move(inputs)});
  by_key_.emplace(forth.key, std::prev(entries_.end()));
}

bool KeptInputs::has(const Call& back) const {
  if (!back.kept) return false;
  const auto known = by_key_.find({back.key.caller, *back.kept});
  if (known == by_key_.end()) return false;
  const Entry& entry = *known->second;
  return entry.cell == back.cell && entry.rows == back.inputs && entry.units == hash_of_units(back);
}

std::vector<float> KeptInputs::take(const Call& back) {
  VERIFY(back.kept);
  const auto entry = by_key_.at({back.key.caller, *back.kept});
  const std::uint64_t bytes = bytes_of(entry->inputs);
  std::vector<float> inputs = std::move(entry->inputs);
  entry->inputs.clear();
  bytes_ -= bytes;
  erase(entry);
  return inputs;
}

KeptInputs::Entries::iterator KeptInputs::erase(Entries::iterator entry) {
  bytes_ -= bytes_of(entry->inputs);
  by_key_.erase(entry->key);
  return entries_.erase(entry);
}

void KeptInputs::give_up_oldest() {
  VERIFY(!entries_.empty());
  erase(entries_.begin());
}

void KeptInputs::forget_caller(const PeerId& caller) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->key.caller == caller ? erase(entry) : std::next(entry);
  }
}

void KeptInputs::forget_cell(wire::CellIndex cell) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->cell == cell ? erase(entry) : std::next(entry);
  }
}

void KeptInputs::forget_all() {
  entries_.clear();
  by_key_.clear();
  bytes_ = 0;
}

void KeptInputs::on_timer(TimePoint now) {
  while (!entries_.empty() && entries_.front().ends_at <= now) give_up_oldest();
}

TimePoint KeptInputs::next_deadline() const { return entries_.empty() ? kNever : entries_.front().ends_at; }

}  // namespace starling::serving
