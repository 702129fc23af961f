#include "client/routing/holders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "shared/base/verify.h"

namespace starling::routing {
namespace {

constexpr double kKept = 0.9;  // weight of an answer when the next one comes
constexpr double kErrorsOfPatience = 4;
constexpr double kUnknownPatienceS = 10;  // with a holder that has never answered
constexpr double kPatienceMinS = 0.25;
constexpr Duration kAloneMin = std::chrono::seconds(1);
constexpr Duration kAloneMax = std::chrono::seconds(60);

}  // namespace

void Holders::set(wire::CellIndex cell, std::vector<PeerId> holders) {
  if (holders.empty()) {
    holders_.erase(cell);
  } else {
    holders_[cell] = std::move(holders);
  }
}

bool Holders::is_held(wire::CellIndex cell) const { return holders_.contains(cell); }

std::span<const PeerId> Holders::holders_of(wire::CellIndex cell) const {
  const auto found = holders_.find(cell);
  return found == holders_.end() ? std::span<const PeerId>() : found->second;
}

double Holders::Record::expected_s(std::int64_t load) const {
  if (weight == 0) return 0;
  const double mean_units = units / weight;
  const double mean_seconds = seconds / weight;
  const double variance = units_squared / weight - mean_units * mean_units;
  const double covariance = units_seconds / weight - mean_units * mean_seconds;
  // Where all calls were alike, nothing tells latency from work: a larger one takes longer in proportion then.
  if (variance < 1e-3 * mean_units * mean_units)
    return mean_seconds * std::max(1.0, static_cast<double>(load) / mean_units);
  const double each = std::clamp(covariance / variance, 0.0, mean_seconds / mean_units);
  return mean_seconds + each * (static_cast<double>(load) - mean_units);
}

void Holders::Record::learn(std::int64_t load, double took_s) {
  const double off = weight > 0 ? std::abs(took_s - expected_s(load)) : took_s / 2;
  error = weight > 0 ? kKept * error + (1 - kKept) * off : off;
  for (double* sum : {&weight, &units, &seconds, &units_squared, &units_seconds}) *sum *= kKept;
  weight += 1;
  const auto ahead = static_cast<double>(load);
  units += ahead;
  seconds += took_s;
  units_squared += ahead * ahead;
  units_seconds += ahead * took_s;
}

std::optional<PeerId> Holders::choose(TimePoint now, wire::CellIndex cell, std::int64_t units,
                                      const std::set<PeerId>& but) const {
  const auto found = holders_.find(cell);
  if (found == holders_.end()) return std::nullopt;
  std::optional<PeerId> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const PeerId& holder : found->second) {
    if (but.contains(holder)) continue;
    const auto known = records_.find(holder);
    const Record record = known != records_.end() ? known->second : Record{};
    if (now < record.not_before) continue;
    // Who has never answered is tried with one call, and gets others only where nobody else is left.
    const bool is_tried = record.weight == 0 && record.open_calls > 0;
    const double expected = is_tried ? kUnknownPatienceS : record.expected_s(record.open_units + units);
    if (expected < best_s) {
      best = holder;
      best_s = expected;
    }
  }
  return best;
}

TimePoint Holders::free_at(wire::CellIndex cell, const std::set<PeerId>& but) const {
  TimePoint free = kNever;
  const auto found = holders_.find(cell);
  if (found == holders_.end()) return free;
  for (const PeerId& holder : found->second) {
    if (but.contains(holder)) continue;
    const auto record = records_.find(holder);
    free = std::min(free, record != records_.end() ? record->second.not_before : TimePoint{});
  }
  return free;
}

Holders::Sent Holders::on_sent(TimePoint now, const PeerId& holder, std::int64_t units) {
  Record& record = records_[holder];
  record.open_units += units;
  ++record.open_calls;
  return {holder, units, record.open_units, record.ended_units, now};
}

TimePoint Holders::late_at(const Sent& call) const {
  const Record& record = records_.at(call.holder);
  if (record.weight == 0) return call.at + from_seconds(kUnknownPatienceS);
  const std::int64_t ahead = std::max(call.units, call.load - (record.ended_units - call.ended_before));
  const double usual = record.expected_s(ahead) + kErrorsOfPatience * record.error;
  return std::max(call.at, record.answered_at) + from_seconds(std::max(kPatienceMinS, usual));
}

Holders::Record& Holders::end(const Sent& call) {
  Record& record = records_.at(call.holder);
  VERIFY(record.open_calls > 0 && record.open_units >= call.units);
  record.open_units -= call.units;
  record.ended_units += call.units;
  --record.open_calls;
  return record;
}

void Holders::on_answered(TimePoint now, const Sent& call) {
  Record& record = end(call);
  record.failures = 0;
  record.answered_at = now;
  record.learn(call.load, to_seconds(now - call.at));
}

void Holders::on_given_up(TimePoint now, const Sent& call) {
  Record& record = end(call);
  const double took_s = to_seconds(now - call.at);
  if (took_s > record.expected_s(call.load)) record.learn(call.load, took_s);
}

void Holders::on_failed(TimePoint now, const Sent& call) {
  Record& record = end(call);
  const Duration alone = kAloneMin * (1 << std::min(record.failures++, 6));
  record.not_before = std::max(record.not_before, now + std::min(alone, kAloneMax));
}

void Holders::on_refused(const Sent& call, TimePoint not_before) {
  Record& record = end(call);
  record.not_before = std::max(record.not_before, not_before);
}

}  // namespace starling::routing
