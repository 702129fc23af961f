#include "client/serving/desk.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "shared/base/finite.h"
#include "shared/base/verify.h"

namespace starling::serving {
namespace {

constexpr Duration kWaitMin = std::chrono::milliseconds(20);
constexpr Duration kSteppingWait = std::chrono::milliseconds(500);

Error breach(std::string what) { return {ErrorCode::invalid_argument, "admit a call: " + std::move(what)}; }

Admission refused(Refusal::Reason reason, Duration wait = {}) { return {Refusal{reason, wait}, 0}; }

// Whether each row is one of the inputs, and each input has a row.
bool names_all_inputs(const Call& call) {
  std::vector<bool> is_named(static_cast<std::size_t>(call.inputs), false);
  std::int32_t named = 0;
  for (const std::int32_t row : call.rows) {
    if (row < 0 || row >= call.inputs) return false;
    const auto place = static_cast<std::size_t>(row);
    if (!is_named[place]) ++named;
    is_named[place] = true;
  }
  return named == call.inputs;
}

}  // namespace

Desk::Desk(const DeskOptions& options) : options_(options), kept_(options.keep), account_(options.samples_max) {
  VERIFY(options.width >= 1 && options.units_max >= 1 && options.keep > Duration{} && options.budget_max > Duration{});
}

void Desk::hold(wire::CellIndex cell, int experts, RoundIndex round) {
  VERIFY(experts >= 1);
  held_[cell] = {experts, round};
}

void Desk::set_round(wire::CellIndex cell, RoundIndex round) { held_.at(cell).round = round; }

std::vector<CallKey> Desk::let_go(wire::CellIndex cell) {
  std::vector<CallKey> failed = queue_.keys_of_cell(cell);
  for (const CallKey& key : failed) end(key);
  kept_.forget_cell(cell);
  held_.erase(cell);
  return failed;
}

std::vector<CallKey> Desk::pause() {
  std::vector<CallKey> failed = on_computing_failed();
  for (const CallKey& key : queue_.keys()) {
    end(key);
    failed.push_back(key);
  }
  kept_.forget_all();
  is_paused_ = true;
  return failed;
}

Admission Desk::admit(TimePoint now, Call call) {
  using enum Refusal::Reason;
  on_timer(now);
  if (is_paused_) return refused(paused);
  const auto held = held_.find(call.cell);
  if (held == held_.end()) return refused(not_held);
  if (const Status valid = check(call, held->second.experts); !valid.ok()) {
    return {Refusal{invalid, {}, valid.error()}, 0};
  }
  if (call.round > held->second.round) return refused(stepping, kSteppingWait);
  if (call.kept && !kept_.has(call)) return refused(forgotten);
  OpenCall open = opened(now, std::move(call));
  if (const std::optional<Duration> wait = busy_for(now, open)) return refused(busy, *wait);
  if (open.call.kept) open.kept = kept_.take(open.call);
  const std::size_t floats = open.floats_to_come;
  bytes_ += open.bytes;
  queue_.add(std::move(open));
  give_up_kept();
  return {std::nullopt, floats};
}

Status Desk::check(const Call& call, int experts) const {
  if (std::ssize(call.counts) != experts) {
    return breach("it has counts of " + std::to_string(call.counts.size()) + " experts, the cell has " +
                  std::to_string(experts));
  }
  if (std::ranges::any_of(call.counts, [](std::int32_t count) { return count < 0; })) {
    return breach("a count is negative");
  }
  if (call.rows.empty()) return breach("it has no units");
  if (call.units() > options_.units_max) return breach("it has " + std::to_string(call.units()) + " units");
  if (std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0}) != call.units()) {
    return breach("its counts do not add up to its units");
  }
  if (call.inputs < 1 || call.inputs > call.units() || !names_all_inputs(call)) {
    return breach("its units do not name all of its inputs, and no others");
  }
  if (call.budget <= Duration{}) return breach("it has no time");
  if (call.kept && !call.is_back) return breach("it brings no inputs on the way forth");
  if (queue_.contains(call.key) || is_computed(call.key)) return breach("another one with this id is open");
  const std::size_t calls = queue_.load(call.key.caller, {}).own_calls + computed_of(call.key.caller);
  if (calls >= options_.calls_max_per_caller) return breach("too many calls are open");
  return {};
}

bool Desk::is_computed(const CallKey& key) const {
  return under_way_ && std::ranges::any_of(under_way_->calls, [&key](const OpenCall& open) {
           return open.call.key == key && !open.is_dropped;
         });
}

std::size_t Desk::computed_of(const PeerId& caller) const {
  if (!under_way_) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(under_way_->calls, [&caller](const OpenCall& open) {
    return open.call.key.caller == caller && !open.is_dropped;
  }));
}

OpenCall Desk::opened(TimePoint now, Call call) const {
  const auto inputs = static_cast<std::size_t>(call.inputs) * options_.width;
  const auto units = static_cast<std::size_t>(call.units()) * options_.width;
  const std::size_t upstream = call.is_back ? units : 0;
  const std::size_t answer = call.is_back ? inputs : units;
  OpenCall open;
  open.ends_at = now + std::min(call.budget, options_.budget_max);
  open.expected = times_.expected(call.cell, call.is_back, call.units());
  open.floats_to_come = (call.kept ? 0 : inputs) + upstream;
  open.bytes_in = (inputs + upstream) * sizeof(float);
  open.bytes = open.bytes_in + answer * sizeof(float);
  open.call = std::move(call);
  return open;
}

std::optional<Duration> Desk::busy_for(TimePoint now, const OpenCall& call) const {
  const CallQueue::Load load = queue_.load(call.call.key.caller, call.expected);
  if (call.bytes > options_.bytes_max) return options_.budget_max;
  // A caller's first call may take all memory that is free. With further ones it gets no more than it leaves free, so
  // that there is room for others whatever it sends (dynamic thresholds; Choudhury and Hahne, Dynamic queue length
  // thresholds for shared-memory packet switches, 1998).
  const std::uint64_t free = options_.bytes_max - bytes_;
  const std::uint64_t needed = load.own_bytes == 0 ? call.bytes : load.own_bytes + 2 * call.bytes;
  if (needed > free) {
    const double missing = static_cast<double>(needed - free) / static_cast<double>(bytes_);
    const Duration until_all = rest_of_batch(now) + load.all;
    const Duration wait = from_seconds(to_seconds(until_all) * std::min(missing, 1.0));
    return std::clamp(wait, kWaitMin, options_.budget_max);
  }
  const Duration late = now + rest_of_batch(now) + load.ahead - call.ends_at;
  if (late > Duration{}) return std::clamp(late, kWaitMin, options_.budget_max);
  return std::nullopt;
}

std::size_t Desk::floats_to_come(const CallKey& key) {
  const OpenCall* const open = queue_.find(key);
  return open == nullptr || open->is_ready ? 0 : open->floats_to_come;
}

Status Desk::on_received(const CallKey& key, std::vector<float> values) {
  OpenCall* const open = queue_.find(key);
  if (open == nullptr) return {};
  VERIFY(values.size() == open->floats_to_come);
  if (!all_within(values, kCallValueMax)) {
    end(key);
    return Error{ErrorCode::corrupt,
                 "receive call " + key.id.brief() + ": a value is not finite, or larger than any activation"};
  }
  open->received = std::move(values);
  open->is_ready = true;
  return {};
}

void Desk::drop(const CallKey& key) {
  if (end(key) || !under_way_) return;
  for (OpenCall& open : under_way_->calls) open.is_dropped = open.is_dropped || open.call.key == key;
}

void Desk::on_gone(const PeerId& caller) {
  for (const CallKey& key : queue_.keys_of_caller(caller)) end(key);
  queue_.forget_turn(caller);
  kept_.forget_caller(caller);
  if (!under_way_) return;
  for (OpenCall& open : under_way_->calls) open.is_dropped = open.is_dropped || open.call.key.caller == caller;
}

bool Desk::end(const CallKey& key) {
  const std::optional<OpenCall> open = queue_.take_out(key);
  if (open) bytes_ -= open->bytes;
  return open.has_value();
}

std::optional<Batch> Desk::take(TimePoint now) {
  on_timer(now);
  if (is_paused_ || under_way_) return std::nullopt;
  // Several calls need room for a copy of their values.
  std::vector<OpenCall> calls = queue_.take_batch({options_.batch_units, options_.bytes_max - bytes_});
  if (calls.empty()) return std::nullopt;
  BatchUnderWay& batch = under_way_.emplace();
  batch.calls = std::move(calls);
  batch.done_at = now;
  for (const OpenCall& open : batch.calls) batch.done_at += open.expected;
  const Call& call = batch.calls.front().call;
  const std::vector<Share> shares = shares_of(batch.calls);
  if (shares.size() == 1) {
    const Share& share = shares.front();
    return Batch{call.cell, call.is_back, share.counts, share.rows, share.inputs, share.upstream};
  }
  for (const OpenCall& open : batch.calls) batch.merged_bytes += open.bytes_in;
  bytes_ += batch.merged_bytes;
  give_up_kept();
  batch.merged = merge(shares, options_.width);
  const Merged& merged = batch.merged;
  return Batch{call.cell, call.is_back, merged.counts, merged.rows, merged.inputs, merged.upstream};
}

std::vector<Answered> Desk::on_computed(TimePoint now, double seconds, std::span<const float> answer) {
  if (!under_way_) return {};
  BatchUnderWay done = *std::exchange(under_way_, std::nullopt);
  bytes_ -= done.merged_bytes;
  done.merged = {};
  const std::vector<Share> shares = shares_of(done.calls);
  const wire::CellIndex cell = done.calls.front().call.cell;
  const bool is_back = done.calls.front().call.is_back;
  std::vector<std::vector<float>> parts =
      is_back ? split_gradient(shares, answer) : split_results(shares, answer, options_.width);
  std::vector<Answered> answered;
  std::int64_t units = 0;
  for (std::size_t i = 0; i < done.calls.size(); ++i) {
    OpenCall& open = done.calls[i];
    bytes_ -= open.bytes;
    units += open.call.units();
    account_.on_computed(open.call.key.caller, cell, is_back, open.call.units());
    if (open.is_dropped) continue;
    answered.push_back({open.call.key, std::move(parts[i])});
    if (!is_back && held_.contains(cell)) kept_.add(now, open.call, std::move(open.received));
  }
  times_.add(cell, is_back, units, seconds);
  return answered;
}

std::vector<CallKey> Desk::on_computing_failed() {
  if (!under_way_) return {};
  std::vector<CallKey> failed;
  bytes_ -= under_way_->merged_bytes;
  for (const OpenCall& open : under_way_->calls) {
    bytes_ -= open.bytes;
    if (!open.is_dropped) failed.push_back(open.call.key);
  }
  under_way_.reset();
  return failed;
}

void Desk::on_timer(TimePoint now) {
  kept_.on_timer(now);
  for (const CallKey& key : queue_.keys_that_end_by(now)) {
    end(key);
    expired_.push_back(key);
  }
}

TimePoint Desk::next_deadline() const { return std::min(kept_.next_deadline(), queue_.next_deadline()); }

std::vector<CallKey> Desk::take_expired() { return std::exchange(expired_, {}); }

SampleCount Desk::add_weight(const PeerId& caller, wire::CellIndex cell, SampleCount samples) {
  return held_.contains(cell) ? account_.add_weight(caller, cell, samples) : 0;
}

Desk::View Desk::view(TimePoint now) const {
  View view{bytes(), kept_.bytes(), queue_.keys().size(), 0};
  if (under_way_) {
    view.calls += static_cast<std::size_t>(std::ranges::count(under_way_->calls, false, &OpenCall::is_dropped));
  }
  view.queue_s = to_seconds(rest_of_batch(now) + queue_.load({}, {}).all);
  return view;
}

Duration Desk::rest_of_batch(TimePoint now) const {
  return under_way_ ? std::max(under_way_->done_at - now, Duration{}) : Duration{};
}

Share Desk::share_of(const OpenCall& open) const {
  const std::span<const float> received(open.received);
  const std::size_t inputs = static_cast<std::size_t>(open.call.inputs) * options_.width;
  if (open.call.kept) return {open.call.counts, open.call.rows, open.kept, received};
  return {open.call.counts, open.call.rows, received.first(inputs), received.subspan(inputs)};
}

std::vector<Share> Desk::shares_of(const std::vector<OpenCall>& calls) const {
  std::vector<Share> shares;
  for (const OpenCall& open : calls) shares.push_back(share_of(open));
  return shares;
}

void Desk::give_up_kept() {
  while (bytes() > options_.bytes_max) kept_.give_up_oldest();
}

}  // namespace starling::serving
