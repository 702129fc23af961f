#include "client/routing/window.h"

#include <algorithm>

#include "client/routing/tray_cutter.h"
#include "shared/base/finite.h"
#include "shared/base/verify.h"

namespace starling::routing {
namespace {

Grid grid_of(const wire::ModelOptions& model) { return {model.experts.rows, model.experts.columns}; }

// Tokens of a micro-batch of this many samples.
std::size_t tokens_in(const WindowOptions& options, SampleCount samples) {
  if (!options.text.empty()) return options.text.size();
  return static_cast<std::size_t>(samples) * static_cast<std::size_t>(options.model.context);
}

std::size_t slot_floats(const WindowOptions& options, std::size_t tokens) {
  const auto width = static_cast<std::size_t>(options.model.width);
  const auto active = static_cast<std::size_t>(options.model.experts.active);
  const std::size_t a_token = width * (wire::layers_with_experts(options.model).size() + active + 1) +
                              grid_of(options.model).scores() + 2 * active;
  return tokens * a_token;
}

}  // namespace

std::size_t Window::tray_floats(const WindowOptions& options, SampleCount micro_batch) {
  const std::size_t slots = options.in_flight_max * slot_floats(options, tokens_in(options, micro_batch));
  if (options.text.empty()) return slots;
  return slots + options.text.size() + static_cast<std::size_t>(options.model.vocabulary);
}

Window::Window(WindowOptions options, std::vector<wire::SampleRange> micro_batches, Holders& holders,
               std::span<float> tray, Mediator& mediator)
    : options_(std::move(options)),
      cells_(wire::cells_of(options_.model)),
      layers_(wire::layers_with_experts(options_.model)),
      samples_(std::move(micro_batches)),
      holders_(holders),
      mediator_(mediator),
      search_(grid_of(options_.model), options_.model.experts.active),
      book_(holders),
      weave_(static_cast<int>(layers_.size()) + 1, samples_.size(), options_.in_flight_max,
             options_.is_held_out || !options_.text.empty() ? Way::judge : Way::turn) {
  SampleCount most = 0;
  for (const wire::SampleRange& range : samples_) most = std::max(most, range.count);
  const std::size_t tokens = tokens_in(options_, most);
  const auto active = static_cast<std::size_t>(options_.model.experts.active);
  TrayCutter cutter(tray);
  if (!options_.text.empty()) {
    text_ = cutter.put(std::span<const std::int32_t>(options_.text));
    scores_ = cutter.floats(static_cast<std::size_t>(options_.model.vocabulary));
  }
  for (std::size_t i = 0; i < options_.in_flight_max; ++i) {
    Slots slots;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer)
      slots.inputs.push_back(cutter.floats(tokens * width()));
    slots.outputs = cutter.floats(tokens * grid_of(options_.model).scores());
    slots.results = cutter.floats(tokens * active * width());
    slots.inputs_gradient = cutter.floats(tokens * width());
    slots.experts = cutter.numbers(tokens * active);
    slots.places = cutter.numbers(tokens * active);
    slots_.push_back(std::move(slots));
    free_slots_.push_back(i);
  }
}

std::size_t Window::tokens_of(std::size_t micro_batch) const {
  return tokens_in(options_, samples_[micro_batch].count);
}

void Window::start() { move_on(); }

void Window::compute_next() {
  computing_ = weave_.take();
  if (!computing_) return;
  const Weave::Step& step = *computing_;
  if (!micro_batches_.contains(step.micro_batch)) {
    micro_batches_[step.micro_batch].slots = free_slots_.back();
    free_slots_.pop_back();
  }
  const MicroBatch& micro_batch = micro_batches_.at(step.micro_batch);
  const Slots& slots = slots_[micro_batch.slots];
  const std::size_t tokens = tokens_of(step.micro_batch), layer = static_cast<std::size_t>(step.segment);
  TrunkTask task{.step = step, .samples = samples_[step.micro_batch], .is_held_out = options_.is_held_out};
  task.text = text_;
  task.scores = scores_;
  if (step.segment > 0) {
    const std::size_t units = micro_batch.crossed[layer - 1].crossing.places().size();
    task.results = slots.results.first(units * width());
    task.places = slots.places.first(units);
    task.experts = slots.experts.first(tokens * static_cast<std::size_t>(options_.model.experts.active));
  }
  if (step.way == Way::forth) {
    task.inputs = slots.inputs[layer].first(tokens * width());
    task.outputs = slots.outputs.first(tokens * grid_of(options_.model).scores());
  }
  if (step.way == Way::back) task.inputs_gradient = slots.inputs_gradient.first(tokens * width());
  mediator_.start_task(task);
}

void Window::on_computed(TimePoint now, double loss) {
  VERIFY(computing_);
  const Weave::Step step = *computing_;
  computing_.reset();
  weave_.on_computed();
  if (step.way == Way::turn || step.way == Way::judge) outcome_.loss_sum += loss;
  if (step.way == Way::forth) {
    ask_forth(now, step);
  } else if (step.way == Way::judge) {
    release(step.micro_batch);
  } else if (step.segment > 0) {
    ask_back(now, step.micro_batch, static_cast<std::size_t>(step.segment) - 1);
  } else {
    finish(now, step.micro_batch);
  }
  move_on();
}

void Window::ask_forth(TimePoint now, const Weave::Step& step) {
  MicroBatch& micro_batch = micro_batches_.at(step.micro_batch);
  const Slots& slots = slots_[micro_batch.slots];
  const auto layer = static_cast<std::size_t>(step.segment);
  const std::size_t tokens = tokens_of(step.micro_batch);
  std::vector<bool> held(static_cast<std::size_t>(wire::experts_in_layer(options_.model)), false);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const wire::Cell& cell = cells_[i];
    if (cell.layer != layers_[layer] || !holders_.is_held(static_cast<wire::CellIndex>(i))) continue;
    std::fill_n(held.begin() + cell.first_expert, cell.experts, true);
  }
  const auto active = static_cast<std::size_t>(options_.model.experts.active);
  std::vector<std::int32_t> chosen(tokens * active);
  search_.choose(held, slots.outputs.first(tokens * grid_of(options_.model).scores()), chosen);
  micro_batch.crossed.push_back(
      {Crossing(cells_, layers_[layer], options_.model.experts.active, std::move(chosen)), 0, {}, {}});
  Crossed& crossed = micro_batch.crossed.back();
  const Crossing& crossing = crossed.crossing;
  // A result that nobody gives is 0, and finite.
  std::fill_n(slots.results.begin(), crossing.places().size() * width(), 0.0F);
  std::copy(crossing.places().begin(), crossing.places().end(), slots.places.begin());
  Open open{step.micro_batch, layer, false, {}};
  std::vector<CallBook::Part> parts;
  for (const Crossing::Part& part : crossing.parts()) {
    open.parts.push_back(parts.size());
    parts.push_back({part.cell, static_cast<std::int64_t>(part.units()), part.tokens, {}});
  }
  crossed.answered_by.resize(parts.size());
  crossed.kept_by.resize(parts.size());
  crossed.exchange =
      book_.begin(now, {static_cast<std::int32_t>(tokens), options_.answers_min, options_.budget}, std::move(parts));
  open_.emplace(crossed.exchange, std::move(open));
}

void Window::ask_back(TimePoint now, std::size_t micro_batch_number, std::size_t layer) {
  const MicroBatch& micro_batch = micro_batches_.at(micro_batch_number);
  const Crossed& crossed = micro_batch.crossed[layer];
  const std::size_t tokens = tokens_of(micro_batch_number);
  std::fill_n(slots_[micro_batch.slots].inputs_gradient.begin(), tokens * width(), 0.0F);
  Open open{micro_batch_number, layer, true, {}};
  std::vector<CallBook::Part> parts;
  for (std::size_t i = 0; i < crossed.answered_by.size(); ++i) {
    if (!crossed.answered_by[i]) continue;
    const Crossing::Part& part = crossed.crossing.parts()[i];
    open.parts.push_back(i);
    parts.push_back({part.cell, static_cast<std::int64_t>(part.units()), part.tokens, crossed.answered_by[i]});
  }
  const ExchangeId exchange =
      book_.begin(now, {static_cast<std::int32_t>(tokens), 0, options_.budget, /*once=*/true}, std::move(parts));
  open_.emplace(exchange, std::move(open));
}

void Window::move_on() {
  for (const CallBook::Send& next : book_.take_sends()) send(next);
  for (const CallBook::Ended& ended : book_.take_ended()) {
    end_exchange(ended);
    weave_.on_exchanged(open_.at(ended.exchange).micro_batch);
    open_.erase(ended.exchange);
  }
  if (!computing_) compute_next();
}

void Window::send(const CallBook::Send& send) {
  const Open& open = open_.at(send.exchange);
  const MicroBatch& micro_batch = micro_batches_.at(open.micro_batch);
  const Slots& slots = slots_[micro_batch.slots];
  const Crossed& crossed = micro_batch.crossed[open.layer];
  const std::size_t number = open.parts[send.part];
  const Crossing::Part& part = crossed.crossing.parts()[number];
  OutgoingCall call{.send = send, .cell = part.cell, .is_back = open.is_back, .counts = part.counts, .rows = part.rows};
  std::vector<float> inputs;
  if (open.is_back) {
    call.upstream = slots.results.subspan(part.first * width(), part.units() * width());
    if (crossed.kept_by[number] == send.holder) call.kept = crossed.exchange;
  }
  if (!call.kept) {
    inputs = rows_at(slots.inputs[open.layer], part.tokens, width());
    call.inputs = inputs;
  }
  mediator_.send_call(call);
}

void Window::on_answer(TimePoint now, ExchangeId exchange, std::size_t part_number, const PeerId& holder,
                       std::span<const float> values) {
  const auto found = open_.find(exchange);
  if (found == open_.end() || part_number >= found->second.parts.size()) return;
  const Open& open = found->second;
  const MicroBatch& micro_batch = micro_batches_.at(open.micro_batch);
  const Slots& slots = slots_[micro_batch.slots];
  const Crossing::Part& part = micro_batch.crossed[open.layer].crossing.parts()[open.parts[part_number]];
  const std::size_t rows = open.is_back ? part.tokens.size() : part.units();
  const bool fits = values.size() == rows * width() && all_finite(values);
  if (!fits) return on_failed(now, exchange, part_number, holder);
  if (book_.on_answer(now, exchange, part_number, holder)) {
    if (open.is_back) {
      add_rows_at(values, part.tokens, width(), slots.inputs_gradient);
    } else {
      std::copy(values.begin(), values.end(),
                slots.results.begin() + static_cast<std::ptrdiff_t>(part.first * width()));
    }
  }
  move_on();
}

void Window::on_refused(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder, Duration not_for) {
  book_.on_refused(now, exchange, part, holder, not_for);
  move_on();
}

void Window::on_forgotten(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder) {
  const auto found = open_.find(exchange);
  if (found != open_.end() && part < found->second.parts.size()) {
    const Open& open = found->second;
    micro_batches_.at(open.micro_batch).crossed[open.layer].kept_by[open.parts[part]].reset();
  }
  on_refused(now, exchange, part, holder, Duration(0));
}

void Window::on_failed(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder) {
  book_.on_failed(now, exchange, part, holder);
  move_on();
}

void Window::on_gone(TimePoint now, const PeerId& holder) {
  book_.on_gone(now, holder);
  move_on();
}

void Window::on_timer(TimePoint now) {
  book_.on_timer(now);
  move_on();
}

void Window::end_exchange(const CallBook::Ended& ended) {
  const Open& open = open_.at(ended.exchange);
  MicroBatch& micro_batch = micro_batches_.at(open.micro_batch);
  Crossed& crossed = micro_batch.crossed[open.layer];
  for (std::size_t i = 0; i < open.parts.size(); ++i) {
    const std::size_t number = open.parts[i];
    const Crossing::Part& part = crossed.crossing.parts()[number];
    const auto units = static_cast<std::int64_t>(part.units());
    if (ended.answered_by[i]) {
      Outcome::Computed& computed = outcome_.computed[{part.cell, *ended.answered_by[i]}];
      computed.calls += 1;
      computed.units_back += open.is_back ? units : 0;
    }
    if (open.is_back) {
      if (ended.answered_by[i]) micro_batch.weighed_by[part.cell] = *ended.answered_by[i];
      continue;
    }
    crossed.answered_by[number] = crossed.kept_by[number] = ended.answered_by[i];
    if (!ended.answered_by[i]) crossed.crossing.lose(number);
    (ended.answered_by[i] ? outcome_.units : outcome_.units_lost) += units;
  }
  if (open.is_back) return;
  const std::vector<std::int32_t>& experts = crossed.crossing.experts();
  std::copy(experts.begin(), experts.end(), slots_[micro_batch.slots].experts.begin());
}

void Window::finish(TimePoint now, std::size_t number) {
  const std::map<wire::CellIndex, PeerId> weighed_by = std::move(micro_batches_.at(number).weighed_by);
  const SampleCount samples = samples_[number].count;
  release(number);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto cell = static_cast<wire::CellIndex>(i);
    // A sample counts in every cell, as in a model that is whole: experts that it does not go through have a gradient
    // of 0 from it.
    const auto weighed = weighed_by.find(cell);
    std::optional<PeerId> holder = weighed != weighed_by.end() ? weighed->second : holders_.choose(now, cell, 0, {});
    if (!holder && holders_.is_held(cell)) holder = holders_.holders_of(cell).front();  // all are left alone just now
    if (holder) outcome_.weights[{cell, *holder}] += samples;
  }
}

void Window::release(std::size_t number) {
  const auto found = micro_batches_.find(number);
  outcome_.samples += samples_[number].count;
  free_slots_.push_back(found->second.slots);
  micro_batches_.erase(found);
}

}  // namespace starling::routing
