#include "coordinator/dataset/held_out_search.h"

#include <algorithm>
#include <cstring>

#include "shared/base/hash.h"
#include "shared/base/permutation.h"

namespace starling::dataset {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd: a polynomial in it, modulo 2^64, is the hash of a stretch
constexpr std::size_t kFilterBits = std::size_t{1} << 24;

std::uint64_t hash_of(std::span<const std::uint8_t> sample) {
  const Hash128 hash = hash128(sample);
  std::uint64_t half = 0;
  std::memcpy(&half, hash.bytes.data(), sizeof half);
  return half;
}

std::size_t place_of(std::uint64_t hash) { return static_cast<std::size_t>(hash % kFilterBits); }

}  // namespace

HeldOutSearch::HeldOutSearch(const wire::DataParts& held_out) : may_hold_(kFilterBits) {
  if (!held_out.values) stretch_ = std::clamp<std::int64_t>(held_out.items, 1, kStretchTokens);
  const std::int64_t piece = std::max<std::int64_t>(1, stretch_);
  apart_ = piece * std::max<std::int64_t>(1, held_out.items / piece / kPiecesMax);
  for (std::int64_t i = 0; i < stretch_; ++i) out_factor_ *= kFactor;
  begin(held_out);
}

void HeldOutSearch::begin(const wire::DataParts& parts) {
  const wire::TensorInfo& tensor = parts.values ? *parts.values : parts.choices;
  type_ = tensor.type;
  unit_ = wire::bytes_of(type_) * static_cast<std::size_t>(parts.values ? parts.values_each : 1);
  pieces_.emplace(tensor, unit_);
  rolling_ = {std::vector<std::uint64_t>(static_cast<std::size_t>(stretch_))};
  samples_ = 0;
}

void HeldOutSearch::begin_training_file(const wire::DataParts& parts) { begin(parts); }

void HeldOutSearch::roll(std::uint64_t token) {
  std::uint64_t& place = rolling_.ring[rolling_.oldest];  // 0 until `stretch` tokens have come
  rolling_.hash = rolling_.hash * kFactor + (token + 1) - place * out_factor_;
  place = token + 1;
  rolling_.oldest = rolling_.oldest + 1 == rolling_.ring.size() ? 0 : rolling_.oldest + 1;
  rolling_.tokens += 1;
}

template <typename Take>
Status HeldOutSearch::read(std::span<const std::uint8_t> bytes, const Take& take) {
  return pieces_->add(bytes, [&](std::span<const std::uint8_t> units) -> Status {
    for (std::size_t at = 0; at < units.size(); at += unit_) {
      if (stretch_ == 0) {
        take(hash_of(units.subspan(at, unit_)), samples_++);
        continue;
      }
      const std::uint8_t* token = units.data() + at;
      roll(type_ == wire::TensorType::u8 ? *token : static_cast<std::uint64_t>(wire::number_at(type_, token)));
      if (rolling_.tokens >= stretch_) take(mix64(rolling_.hash), rolling_.tokens - stretch_);
    }
    return {};
  });
}

Status HeldOutSearch::add_held_out(std::span<const std::uint8_t> bytes) {
  return read(bytes, [this](std::uint64_t hash, std::int64_t begins) {
    if (begins % apart_ != 0) return;
    held_out_[hash].count += 1;
    may_hold_[place_of(hash)] = true;
    pieces_count_ += 1;
  });
}

Status HeldOutSearch::look_through(std::span<const std::uint8_t> bytes) {
  return read(bytes, [this](std::uint64_t hash, std::int64_t begins) {
    if (may_hold_[place_of(hash)]) find(hash, begins);
  });
}

void HeldOutSearch::find(std::uint64_t hash, std::int64_t begins) {
  const auto piece = held_out_.find(hash);
  if (piece == held_out_.end() || piece->second.found) return;
  piece->second.found = true;
  found_ += piece->second.count;
  if (!first_found_) first_found_ = begins;
}

double HeldOutSearch::share_found() const {
  return pieces_count_ == 0 ? 0 : static_cast<double>(found_) / static_cast<double>(pieces_count_);
}

}  // namespace starling::dataset
