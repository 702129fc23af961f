// The volunteer's calls: those of its own window, and those that it answers.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "tests/sim/cell_volunteer.h"

namespace starling::sim {
namespace {

constexpr Duration kNotHeldFor = std::chrono::seconds(1);
constexpr Duration kRefusedMin = std::chrono::milliseconds(20);
constexpr Duration kRetryAfter = std::chrono::seconds(1);
constexpr double kThinksMaxS = 1.5;  // from one window to the next

routing::WindowOptions window_options(const CellSwarmOptions& options, const wire::ModelOptions& model) {
  return {.model = model, .in_flight_max = 2, .answers_min = model.experts.cells.answers_min, .budget = options.budget};
}

// The longest that exchanges of a window may take, one after the other.
Duration longest_exchanges(const CellSwarmOptions& options) {
  const int in_turn = (options.micro_batches + 1) / 2;
  return in_turn * 2 * options.layers * options.budget + std::chrono::seconds(1);
}

serving::Call call_at_desk(const PeerId& caller, const Hash128& id, const wire::Call& call) {
  serving::Call at_desk{.key = {caller, id}, .cell = call.cell, .is_back = call.is_back};
  at_desk.counts = call.counts;
  at_desk.rows = call.rows;
  at_desk.inputs = call.inputs;
  at_desk.budget = std::chrono::milliseconds(call.budget_ms);
  at_desk.kept = call.kept;
  return at_desk;
}

wire::Refusal told(const serving::Refusal& refusal) {
  using Reason = serving::Refusal::Reason;
  switch (refusal.reason) {
    case Reason::busy:
      return {wire::RefusalReason::busy, to_ms(refusal.wait)};
    case Reason::stepping:
      return {wire::RefusalReason::stepping, to_ms(refusal.wait)};
    case Reason::forgotten:
      return {wire::RefusalReason::forgotten, 0};
    case Reason::paused:
      return {wire::RefusalReason::paused, 0};
    default:
      return {wire::RefusalReason::not_held, 0};
  }
}

Duration left_alone_for(const wire::Refusal& refusal) {
  const bool is_away = refusal.reason == wire::RefusalReason::not_held || refusal.reason == wire::RefusalReason::paused;
  return is_away ? kNotHeldFor : std::max<Duration>(kRefusedMin, std::chrono::milliseconds(refusal.wait_ms));
}

}  // namespace

void CellVolunteer::begin_window_later(Duration wait) {
  schedule(now() + wait, [this] { begin_window(); });
}

bool CellVolunteer::is_covered() const {
  std::set<int> covered;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (holders_.is_held(static_cast<wire::CellIndex>(i))) covered.insert(cells_[i].layer);
  }
  return covered.size() == static_cast<std::size_t>(world_.options().layers);
}

void CellVolunteer::begin_window() {
  VERIFY(!own_);
  if (life_.is_paused || !is_covered()) return begin_window_later(std::chrono::seconds(1));
  const CellSwarmOptions& options = world_.options();
  const routing::WindowOptions window = window_options(options, world_.run().model);
  std::vector<wire::SampleRange> pieces;
  for (int i = 0; i < options.micro_batches; ++i) {
    pieces.push_back({0, index(), std::exchange(next_sample_, next_sample_ + options.micro_batch), options.micro_batch,
                      wire::kNoEpoch});
  }
  tray_.resize(routing::Window::tray_floats(window, options.micro_batch));
  routing::Window::Mediator& hands = *this;
  own_.emplace(window, std::move(pieces), holders_, tray_, hands);
  own_->ends_by = now() + longest_exchanges(options);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    own_->held.push_back(holders_.is_held(static_cast<wire::CellIndex>(i)));
  }
  own_->window.start();
  wake();
}

void CellVolunteer::start_task(const routing::TrunkTask& task) {
  own_->task = task;
  const std::string wrong = own_->check.on_task(task);
  if (!wrong.empty()) world_.checks().fail(fmt::format("caller {}: {}", index(), wrong));
}

void CellVolunteer::run_own_task() {
  const routing::TrunkTask task = *std::exchange(own_->task, std::nullopt);
  const auto tokens = static_cast<double>(task.samples.count * world_.run().model.context);
  compute(compute_time(tokens), [this, task] {
    const double loss = trunk_.run(task);
    std::vector<bool> held;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      held.push_back(holders_.is_held(static_cast<wire::CellIndex>(i)));
    }
    own_->check.on_computed(now(), task, held);
    own_->window.on_computed(now(), loss);
    trainer_.is_others_turn = true;
  });
}

void CellVolunteer::send_call(const routing::OutgoingCall& call) {
  const std::string wrong = own_->check.on_call(now(), call);
  if (!wrong.empty()) world_.checks().fail(fmt::format("caller {}: {}", index(), wrong));
  const Place place{call.send.exchange, call.send.part, call.send.holder};
  Hash128 id;
  for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(rng_());
  own_->open[place] = id;
  if (!call.is_back) own_->forth[{place.exchange, call.cell, place.holder}] = id;
  wire::Call head{.cell = call.cell, .is_back = call.is_back, .round = 0};
  head.counts.assign(call.counts.begin(), call.counts.end());
  head.rows.assign(call.rows.begin(), call.rows.end());
  head.inputs = 1 + *std::max_element(call.rows.begin(), call.rows.end());
  head.budget_ms = std::max<std::int64_t>(1, to_ms(call.send.budget));
  if (call.kept) head.kept = own_->forth.at({*call.kept, call.cell, place.holder});
  if (call.is_back) {
    world_.checks().on_sent_back(call.cell, {call.counts, call.rows, own_->check.inputs_of(call), call.upstream});
  }
  std::vector<float> values(call.inputs.begin(), call.inputs.end());
  values.insert(values.end(), call.upstream.begin(), call.upstream.end());
  if (place.holder == means_.id) return call_self(place, id, head, values);
  transport::OutgoingCall outgoing{
      .holder = place.holder, .id = id, .call = std::move(head), .codec = wire::Codec::fp32};
  outgoing.width = width();
  outgoing.values = values;
  outgoing.done = [this, place, id](transport::CallOutcome outcome) {
    if (own_) own_->ended.push_back({place, id, std::move(outcome)});
    wake();
  };
  post_->call(std::move(outgoing));
}

void CellVolunteer::call_self(const Place& place, const Hash128& id, const wire::Call& call,
                              std::span<const float> values) {
  const serving::CallKey key{means_.id, id};
  const serving::Admission admission = desk_->admit(now(), call_at_desk(means_.id, id, call));
  if (admission.refusal) {
    if (admission.refusal->reason == serving::Refusal::Reason::invalid) {
      world_.checks().fail("a call is refused: " + admission.refusal->breach.message);
    }
    transport::CallOutcome outcome;
    outcome.refusal = told(*admission.refusal);
    own_->ended.push_back({place, id, std::move(outcome)});
    return wake();
  }
  VERIFY(desk_->on_received(key, {values.begin(), values.end()}).ok());
  own_->to_self[id] = place;
  wake();
}

void CellVolunteer::take_ended() {
  for (const Ended& each : std::exchange(own_->ended, {})) {
    const auto& [place, id, outcome] = each;
    const auto open = own_->open.find(place);
    if (open == own_->open.end() || open->second != id) continue;  // its window has ended
    own_->open.erase(open);
    own_->check.on_ended(now(), place.exchange, place.part, outcome.answer ? world_.checks().take_state(id) : nullptr);
    if (outcome.answer) {
      own_->window.on_answer(now(), place.exchange, place.part, place.holder, outcome.values);
    } else if (!outcome.refusal) {
      own_->window.on_failed(now(), place.exchange, place.part, place.holder);
    } else if (outcome.refusal->reason == wire::RefusalReason::forgotten) {
      own_->window.on_forgotten(now(), place.exchange, place.part, place.holder);
    } else {
      ++world_.result().refused;
      own_->window.on_refused(now(), place.exchange, place.part, place.holder, left_alone_for(*outcome.refusal));
    }
  }
  own_->window.on_timer(now());
  own_->check.on_time(now());
  if (!own_->window.is_done() && own_->window.next_deadline() <= now()) {
    world_.checks().fail(fmt::format("caller {} waits for something that should be over", index()));
  }
  if (now() > own_->ends_by) world_.checks().fail(fmt::format("caller {} has a window beyond its budget", index()));
}

void CellVolunteer::finish_window() {
  const routing::Window::Outcome outcome = own_->window.outcome();
  const std::vector<bool> held = own_->held;
  end_window();
  ++windows_done_;
  world_.checks().on_window(index(), outcome, held);
  world_.on_window(*this, outcome);
  tell_weights(outcome);
  receipts_->add(outcome);
}

void CellVolunteer::end_window() {
  for (const auto& [place, id] : own_->open) {
    if (place.holder != means_.id) post_->call_off(place.holder, id);
  }
  for (const auto& [id, place] : own_->to_self) desk_->drop({means_.id, id});
  own_.reset();
  trunk_.forget();
  begin_window_later(from_seconds(uniform(0, kThinksMaxS)));
}

void CellVolunteer::tell_weights(const routing::Window::Outcome& outcome) {
  std::map<PeerId, wire::Weights> weights;
  for (const auto& [where, samples] : outcome.weights) {  // in the order of cells
    wire::Weights& told = weights[where.second];
    told.cells.push_back(where.first);
    told.samples.push_back(samples);
  }
  for (const auto& [holder, told] : weights) {
    if (holder == means_.id) {
      (void)weighed(holder, told);
    } else {
      post_->weigh(holder, told);
    }
  }
}

// CellWork::take_batch() and CellWork::compute().
bool CellVolunteer::serve_batch() {
  desk_->on_timer(now());
  for (const serving::CallKey& key : desk_->take_expired()) refuse(key, {wire::RefusalReason::busy, 0});
  const std::optional<serving::Batch> batch = desk_->take(now());
  check_desk();
  if (!batch) return false;
  Serving serving{.cell = batch->cell, .is_back = batch->is_back};
  serving.counts.assign(batch->counts.begin(), batch->counts.end());
  serving.rows.assign(batch->rows.begin(), batch->rows.end());
  serving.inputs.assign(batch->inputs.begin(), batch->inputs.end());
  serving.upstream.assign(batch->upstream.begin(), batch->upstream.end());
  const Duration time = compute_time(static_cast<double>(serving.rows.size()) * (serving.is_back ? 2 : 1));
  serving.seconds = to_seconds(time);
  compute(time, [this, serving] { finish_batch(serving); });
  return true;
}

void CellVolunteer::finish_batch(const Serving& serving) {
  const auto held = held_.find(serving.cell);
  if (held == held_.end()) {
    for (const serving::CallKey& key : desk_->on_computing_failed()) {
      refuse(key, {wire::RefusalReason::busy, to_ms(kRetryAfter)});
    }
    return;
  }
  const std::span<const float> parameters = world_.parameters(*this, serving.cell);
  const ExpertUnits units{serving.counts, serving.rows, serving.inputs, serving.upstream};
  std::vector<float> answer;
  if (serving.is_back) {
    world_.checks().on_gradient(index(), serving.cell, units);
    answer = gradient_of(parameters, units, width(), held->second.sum);
  } else {
    answer = results_of(parameters, units, width());
  }
  std::vector<serving::Answered> answers = desk_->on_computed(now(), serving.seconds, answer);
  const auto state = std::make_shared<const std::vector<float>>(parameters.begin(), parameters.end());
  for (const serving::Answered& each : answers) world_.checks().on_computed(each.key.id, state);
  if (!answers.empty()) world_.checks().on_answered(now(), id(), serving.cell);
  check_desk();
  send_answers(std::move(answers), {held->second.serves.value_or(0), 0, 0});
}

void CellVolunteer::send_answers(std::vector<serving::Answered> answers, const wire::Answer& answer) {
  for (serving::Answered& each : answers) {
    const auto codec = codecs_.find(each.key);
    if (each.key.caller != means_.id) {
      if (codec == codecs_.end()) continue;  // the caller was found to be gone
      transport::OutgoingAnswer outgoing{.caller = each.key.caller, .id = each.key.id, .answer = answer};
      outgoing.codec = codec->second;
      outgoing.values = each.values;
      codecs_.erase(codec);
      post_->answer(outgoing);
      continue;
    }
    if (!own_) continue;
    const auto place = own_->to_self.find(each.key.id);
    if (place == own_->to_self.end()) continue;
    transport::CallOutcome outcome;
    outcome.answer = answer;
    outcome.values = std::move(each.values);
    own_->ended.push_back({place->second, each.key.id, std::move(outcome)});
    own_->to_self.erase(place);
  }
}

void CellVolunteer::refuse(const serving::CallKey& key, const wire::Refusal& refusal) {
  codecs_.erase(key);
  if (key.caller != means_.id) return post_->refuse(key.caller, key.id, refusal);
  if (!own_) return;
  const auto place = own_->to_self.find(key.id);
  if (place == own_->to_self.end()) return;
  transport::CallOutcome outcome;
  outcome.refusal = refusal;
  own_->ended.push_back({place->second, key.id, std::move(outcome)});
  own_->to_self.erase(place);
}

void CellVolunteer::check_desk() {
  if (desk_->bytes() <= world_.options().desk_bytes) return;
  world_.checks().fail(fmt::format("the desk of volunteer {} holds {} bytes", index(), desk_->bytes()));
}

std::size_t CellVolunteer::width() const { return static_cast<std::size_t>(world_.run().model.width); }

Result<std::optional<wire::Refusal>> CellVolunteer::admit(const PeerId& caller, const Hash128& id,
                                                          const wire::Call& call) {
  const serving::Admission admission = desk_->admit(now(), call_at_desk(caller, id, call));
  if (!admission.refusal) return std::optional<wire::Refusal>();
  if (admission.refusal->reason == serving::Refusal::Reason::invalid) return admission.refusal->breach;
  return std::optional(told(*admission.refusal));
}

Status CellVolunteer::received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) {
  const serving::CallKey key{caller, id};
  if (desk_->floats_to_come(key) == 0) return {};  // its time is over
  STARLING_TRY(desk_->on_received(key, std::move(values)));
  codecs_[key] = codec;
  return {};
}

void CellVolunteer::called_off(const PeerId& caller, const Hash128& id) {
  desk_->drop({caller, id});
  codecs_.erase({caller, id});
}

Status CellVolunteer::weighed(const PeerId& caller, const wire::Weights& weights) {
  for (std::size_t i = 0; i < weights.cells.size(); ++i) {
    const wire::CellIndex cell = weights.cells[i];
    const SampleCount accepted = desk_->add_weight(caller, cell, weights.samples[i]);
    world_.checks().on_weights(cell, weights.samples[i], accepted);
    if (accepted > 0) world_.on_weights(*this, cell);
  }
  return {};
}

void CellVolunteer::gone(const PeerId& caller) {
  desk_->on_gone(caller);
  std::erase_if(codecs_, [&caller](const auto& entry) { return entry.first.caller == caller; });
}

}  // namespace starling::sim
