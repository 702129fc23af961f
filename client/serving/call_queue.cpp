#include "client/serving/call_queue.h"

#include <algorithm>
#include <tuple>

#include "shared/base/verify.h"

namespace starling::serving {

void CallQueue::add(OpenCall call) {
  const CallKey key = call.call.key;
  call.number = ++last_number_;
  Caller& caller = callers_[key.caller];
  caller.bytes += call.bytes;
  caller.expected += call.expected;
  deadlines_.emplace(call.ends_at, key);
  const bool is_new = caller.calls.emplace(key.id, std::move(call)).second;
  VERIFY(is_new);
}

OpenCall* CallQueue::find(const CallKey& key) {
  const auto caller = callers_.find(key.caller);
  if (caller == callers_.end()) return nullptr;
  const auto call = caller->second.calls.find(key.id);
  return call != caller->second.calls.end() ? &call->second : nullptr;
}

bool CallQueue::contains(const CallKey& key) const {
  const auto caller = callers_.find(key.caller);
  return caller != callers_.end() && caller->second.calls.contains(key.id);
}

std::optional<OpenCall> CallQueue::take_out(const CallKey& key) {
  const auto caller = callers_.find(key.caller);
  if (caller == callers_.end()) return std::nullopt;
  auto node = caller->second.calls.extract(key.id);
  if (node.empty()) return std::nullopt;
  OpenCall& call = node.mapped();
  caller->second.bytes -= call.bytes;
  caller->second.expected -= call.expected;
  deadlines_.erase({call.ends_at, key});
  return std::move(call);
}

std::vector<CallKey> CallQueue::keys() const {
  std::vector<CallKey> keys;
  for (const auto& [ends_at, key] : deadlines_) keys.push_back(key);
  return keys;
}

std::vector<CallKey> CallQueue::keys_of_cell(wire::CellIndex cell) const {
  std::vector<CallKey> keys;
  for (const auto& [caller, state] : callers_) {
    for (const auto& [id, call] : state.calls) {
      if (call.call.cell == cell) keys.push_back({caller, id});
    }
  }
  return keys;
}

std::vector<CallKey> CallQueue::keys_of_caller(const PeerId& caller) const {
  std::vector<CallKey> keys;
  const auto known = callers_.find(caller);
  if (known == callers_.end()) return keys;
  for (const auto& [id, call] : known->second.calls) keys.push_back({caller, id});
  return keys;
}

std::vector<CallKey> CallQueue::keys_that_end_by(TimePoint now) const {
  std::vector<CallKey> keys;
  for (const auto& [ends_at, key] : deadlines_) {
    if (ends_at > now) break;
    keys.push_back(key);
  }
  return keys;
}

TimePoint CallQueue::next_deadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }

const OpenCall* CallQueue::next_in_turn() const {
  const OpenCall* next = nullptr;
  std::pair<std::uint64_t, std::uint64_t> least;  // turn, number
  for (const auto& [caller, state] : callers_) {
    for (const auto& [id, call] : state.calls) {
      const std::pair order{state.turn, call.number};
      if (!call.is_ready || (next != nullptr && order >= least)) continue;
      next = &call;
      least = order;
    }
  }
  return next;
}

std::vector<const OpenCall*> CallQueue::others_in_turn(const OpenCall& first) const {
  // The oldest one of each caller, in turn, then the second oldest of each, and so on.
  std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t, const OpenCall*>> ordered;
  for (const auto& [caller, state] : callers_) {
    std::vector<std::pair<std::uint64_t, const OpenCall*>> own;
    for (const auto& [id, call] : state.calls) {
      const bool is_like = call.call.cell == first.call.cell && call.call.is_back == first.call.is_back;
      if (call.is_ready && is_like) own.emplace_back(call.number, &call);
    }
    std::ranges::sort(own);
    for (std::size_t place = 0; place < own.size(); ++place) {
      const auto [number, call] = own[place];
      if (call != &first) ordered.emplace_back(place, state.turn, number, call);
    }
  }
  std::ranges::sort(ordered);
  std::vector<const OpenCall*> others;
  for (const auto& [place, turn, number, call] : ordered) others.push_back(call);
  return others;
}

std::vector<OpenCall> CallQueue::take_batch(const BatchLimits& limits) {
  const OpenCall* const first = next_in_turn();
  if (first == nullptr) return {};
  std::vector<CallKey> keys{first->call.key};
  std::int64_t units = first->call.units();
  std::uint64_t bytes = first->bytes_in;
  for (const OpenCall* call : others_in_turn(*first)) {
    if (units + call->call.units() > limits.units || bytes + call->bytes_in > limits.bytes) continue;
    keys.push_back(call->call.key);
    units += call->call.units();
    bytes += call->bytes_in;
  }
  ++batches_;
  std::vector<OpenCall> batch;
  for (const CallKey& key : keys) {
    callers_.at(key.caller).turn = batches_;
    batch.push_back(*take_out(key));
  }
  return batch;
}

CallQueue::Load CallQueue::load(const PeerId& caller, Duration expected) const {
  Load load;
  const auto known = callers_.find(caller);
  if (known != callers_.end()) {
    load.own_calls = known->second.calls.size();
    load.own_bytes = known->second.bytes;
    load.ahead = known->second.expected;
  }
  // By turns, each other caller gets about as much time as this one before the new call is computed.
  const Duration own = load.ahead + expected;
  load.ahead = own;
  for (const auto& [other, state] : callers_) {
    load.all += state.expected;
    if (other != caller) load.ahead += std::min(state.expected, own);
  }
  return load;
}

}  // namespace starling::serving
