#include "client/daemon/cell_work.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "client/routing/tray_cutter.h"
#include "shared/base/verify.h"
#include "shared/crypto/secrets.h"

namespace starling::daemon {
namespace {

// Most tokens that are predicted to measure a model: a quarter of what a model that is whole takes, since all of them
// cross the network.
constexpr SampleCount kEvaluatedTokensMax = wire::kEvaluatedTokensMax / 4;
constexpr std::int64_t kLostOneIn = 100;  // units, at most, without which a measurement still stands
constexpr Duration kWaitMax = std::chrono::seconds(1);
constexpr Duration kNotHeldFor = std::chrono::seconds(1);  // a holder that has let go, or paused, is left alone
constexpr RoundIndex kNotNow = -1;  // the round of a cell whose state is not the swarm's at the moment: callers wait
constexpr Duration kRetryAfter = std::chrono::seconds(1);  // the trainer is started again within that
constexpr Duration kRefusedMin = std::chrono::milliseconds(20);

std::int64_t in_ms(Duration duration) {
  return std::clamp<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count(), 0,
                                  wire::kCallBudgetMaxMs);
}

// Units of a token in one cell, at most.
std::int64_t units_of_token(const wire::ModelOptions& model) {
  return std::min(model.experts.active, model.experts.cells.experts);
}

std::int64_t tokens_of(const wire::RunManifest& trunk, SampleCount samples) { return samples * trunk.model.context; }

// The size of the pieces in which a window of this size is computed. A short one is cut so that as many are in flight.
SampleCount piece_size(const CellWorkOptions& options, SampleCount samples) {
  const auto pieces = static_cast<SampleCount>(options.in_flight_max);
  const auto most = static_cast<SampleCount>(wire::kCallUnitsMax) /
                    (tokens_of(options.trunk, 1) * units_of_token(options.trunk.model));
  const SampleCount wanted = std::min(options.piece_samples, (samples + pieces - 1) / pieces);
  return std::clamp<SampleCount>(wanted, 1, std::max<SampleCount>(1, most));
}

serving::DeskOptions desk_options(const CellWorkOptions& options) {
  serving::DeskOptions desk;
  desk.width = static_cast<std::size_t>(options.trunk.model.width);
  desk.bytes_max = options.desk_bytes;
  desk.units_max =
      std::min<std::int64_t>(wire::kCallUnitsMax, tokens_of(options.trunk, options.trunk.micro_batch_size) *
                                                      units_of_token(options.trunk.model));
  desk.batch_units = std::min(desk.batch_units, desk.units_max);
  return desk;
}

routing::WindowOptions window_options(const CellWorkOptions& options) {
  return {.model = options.trunk.model,
          .in_flight_max = options.in_flight_max,
          .answers_min = options.trunk.model.experts.cells.answers_min,
          .budget = options.budget};
}

routing::WindowOptions text_options(const CellWorkOptions& options, std::vector<std::int32_t> text) {
  routing::WindowOptions window = window_options(options);
  window.in_flight_max = 1;
  window.answers_min = 0;
  window.text = std::move(text);
  return window;
}

// The tray's room for a batch of others' calls: inputs, upstream and answer, rows and counts.
std::size_t serving_floats(const CellWorkOptions& options) {
  const auto units = static_cast<std::size_t>(desk_options(options).units_max);
  const auto width = static_cast<std::size_t>(options.trunk.model.width);
  return units * (3 * width + 1) + static_cast<std::size_t>(options.trunk.model.experts.cells.experts);
}

serving::Call call_at_desk(const PeerId& caller, const Hash128& id, const wire::Call& call) {
  // The caller's round is the trunk's, and a cell counts its own: calls wait for a cell that is not served, and not for
  // its steps.
  serving::Call at_desk{.key = {caller, id}, .cell = call.cell, .is_back = call.is_back};
  at_desk.counts = call.counts;
  at_desk.rows = call.rows;
  at_desk.inputs = call.inputs;
  at_desk.budget = std::chrono::milliseconds(call.budget_ms);
  at_desk.kept = call.kept;
  return at_desk;
}

// Nothing for a breach of the protocol.
std::optional<wire::Refusal> told(const serving::Refusal& refusal) {
  using Reason = serving::Refusal::Reason;
  switch (refusal.reason) {
    case Reason::busy:
      return wire::Refusal{wire::RefusalReason::busy, in_ms(refusal.wait)};
    case Reason::stepping:
      return wire::Refusal{wire::RefusalReason::stepping, in_ms(refusal.wait)};
    case Reason::not_held:
      return wire::Refusal{wire::RefusalReason::not_held, 0};
    case Reason::forgotten:
      return wire::Refusal{wire::RefusalReason::forgotten, 0};
    case Reason::paused:
      return wire::Refusal{wire::RefusalReason::paused, 0};
    case Reason::invalid:
      return std::nullopt;
  }
  return std::nullopt;
}

Duration left_alone_for(const wire::Refusal& refusal) {
  const bool is_away = refusal.reason == wire::RefusalReason::not_held || refusal.reason == wire::RefusalReason::paused;
  return is_away ? kNotHeldFor : std::max<Duration>(kRefusedMin, std::chrono::milliseconds(refusal.wait_ms));
}

}  // namespace

CellWork::CellWork(CellWorkOptions options, transport::PeerNetwork& net, trainer_link::TrainerProcess& trainer,
                   const Clock& clock, Listener listener)
    : options_(std::move(options)),
      net_(net),
      trainer_(trainer),
      clock_(clock),
      listener_(std::move(listener)),
      cells_(wire::cells_of(options_.trunk.model)),
      held_(options_.trunk, trainer_.tasks()),
      desk_(desk_options(options_)) {
  net_.take_calls_by(this);
}

CellWork::~CellWork() { net_.take_calls_by(nullptr); }

Status CellWork::prepare() {
  const std::vector<std::int32_t> longest(static_cast<std::size_t>(options_.trunk.model.context));
  const SampleCount longest_window = options_.piece_samples * static_cast<SampleCount>(options_.in_flight_max);
  const std::size_t window =
      std::max(Window::tray_floats(window_options(options_), piece_size(options_, longest_window)),
               Window::tray_floats(text_options(options_, longest), 1));
  const std::size_t serving = serving_floats(options_);
  STARLING_TRY(trainer_.tasks().make_tray(window + serving));
  window_tray_ = trainer_.tasks().tray().first(window);
  serving_tray_ = trainer_.tasks().tray().last(serving);
  return {};
}

Result<std::span<float>> CellWork::hold(wire::CellIndex cell) {
  STARLING_ASSIGN(const std::span<float> state, held_.hold(cell));
  const MutexLock lock(mutex_);
  desk_.hold(cell, cells_[static_cast<std::size_t>(cell)].experts, kNotNow);
  return state;
}

void CellWork::serve_cell(wire::CellIndex cell, RoundIndex round) {
  held_.serve(cell, round);
  const MutexLock lock(mutex_);
  desk_.set_round(cell, round);
}

void CellWork::stop_serving(wire::CellIndex cell) {
  held_.stop(cell);
  const MutexLock lock(mutex_);
  for (const serving::CallKey& key : desk_.let_go(cell))
    refuse(key, {wire::RefusalReason::stepping, in_ms(kRetryAfter)});
  (void)desk_.take_weights(cell);
  desk_.hold(cell, cells_[static_cast<std::size_t>(cell)].experts, kNotNow);
}

void CellWork::let_go(wire::CellIndex cell) {
  run_errands();
  if (!held_.let_go(cell)) return;
  const MutexLock lock(mutex_);
  served_.units.erase(cell);
  for (const serving::CallKey& key : desk_.let_go(cell)) refuse(key, {wire::RefusalReason::not_held, 0});
  (void)desk_.take_weights(cell);
}

void CellWork::pause(bool paused) {
  const MutexLock lock(mutex_);
  if (std::exchange(signals_.is_paused, paused) == paused) return;
  if (!paused) return desk_.resume();
  for (const serving::CallKey& key : desk_.pause()) refuse(key, {wire::RefusalReason::paused, 0});
  signals_.is_new = true;
  changed_.notify_all();
}

bool CellWork::is_covered() const {
  std::set<int> covered;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (holders_.is_held(static_cast<wire::CellIndex>(i))) covered.insert(cells_[i].layer);
  }
  return covered.size() == wire::layers_with_experts(options_.trunk.model).size();
}

void CellWork::set_holders(const std::map<wire::CellIndex, std::vector<PeerId>>& holders) {
  for (wire::CellIndex cell = 0; static_cast<std::size_t>(cell) < cells_.size(); ++cell) {
    const auto found = holders.find(cell);
    holders_.set(cell, found != holders.end() ? found->second : std::vector<PeerId>());
  }
}

std::vector<wire::SampleRange> CellWork::pieces_of(const wire::SampleRange& samples) const {
  std::vector<wire::SampleRange> pieces;
  const SampleCount size = piece_size(options_, samples.count);
  for (SampleCount first = 0; first < samples.count; first += size) {
    wire::SampleRange piece = samples;
    piece.first += first;
    piece.count = std::min(size, samples.count - first);
    pieces.push_back(piece);
  }
  return pieces;
}

Result<session::BatchReport> CellWork::train(const wire::SampleRange& samples, std::span<float> into) {
  const TimePoint began = clock_.now();
  Window window(window_options(options_), pieces_of(samples), holders_, window_tray_, *this);
  STARLING_TRY(carry_out(window, {.round = samples.round}));
  STARLING_TRY(trainer_.add_window(into));
  tell_weights(window.outcome(), samples.round);
  if (listener_.trained) listener_.trained(window.outcome());
  return session::BatchReport{samples.count, window.outcome().loss_sum, to_seconds(clock_.now() - began)};
}

Result<session::Evaluation> CellWork::evaluate() {
  const wire::DataOptions& data = options_.trunk.data;
  const std::int64_t tokens = data.kind == wire::DataKind::bytes ? data.validation.bytes : data.validation_items;
  const wire::HeldOutWindows windows = wire::held_out_windows(tokens, options_.trunk.model.context);
  const SampleCount batch = options_.trunk.micro_batch_size;
  const SampleCount batches = (windows.taken + batch - 1) / batch;
  const SampleCount taken = std::clamp<SampleCount>(kEvaluatedTokensMax / (windows.scored * batch), 1, batches);
  std::vector<wire::SampleRange> pieces;
  for (SampleCount i = 0; i < taken; ++i) {
    const SampleCount first = i * batches / taken * batch;
    const wire::SampleRange all{.first = first, .count = std::min(batch, windows.taken - first)};
    for (const wire::SampleRange& piece : pieces_of(all)) pieces.push_back(piece);
  }
  routing::WindowOptions options = window_options(options_);
  options.is_held_out = true;
  options.answers_min = 0;
  Window window(std::move(options), std::move(pieces), holders_, window_tray_, *this);
  STARLING_TRY(carry_out(window, {.has_to_be_whole = true}));
  return trainer_.evaluate();
}

Result<std::vector<float>> CellWork::score_next(std::span<const int> text) {
  const std::span<const int> last =
      text.last(std::min(text.size(), static_cast<std::size_t>(options_.trunk.model.context)));
  Window window(text_options(options_, {last.begin(), last.end()}), {{.count = 1}}, holders_, window_tray_, *this);
  STARLING_TRY(carry_out(window, {.has_to_be_whole = true}));
  return std::vector<float>(window.scores().begin(), window.scores().end());
}

Status CellWork::carry_out(Window& window, OwnCalls own) {
  if (!is_covered()) {
    return Error{ErrorCode::failed_precondition, "nobody who can be called holds experts of one of the layers yet"};
  }
  trainer_.tasks().begin_window();
  own_ = std::move(own);
  {
    const MutexLock lock(mutex_);
    ended_.clear();
    to_self_.clear();
    signals_.has_window = true;
  }
  const Status status = run_window(window);
  for (const auto& [place, id] : own_.open) {
    if (place.holder != options_.self) net_.call_off(place.holder, id);
  }
  bool calls_wait = false;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, place] : to_self_) desk_.drop({options_.self, id});
    signals_.has_window = false;
    calls_wait = desk_.view(clock_.now()).calls > 0 || !errands_.empty();
  }
  if (calls_wait && listener_.calls_wait) listener_.calls_wait();
  return status;
}

Status CellWork::run_window(Window& window) {
  const auto is_paused = [this] {
    const MutexLock lock(mutex_);
    return signals_.is_paused;
  };
  const auto is_spoilt = [&] {
    const Window::Outcome& outcome = window.outcome();
    return own_.has_to_be_whole && outcome.units_lost * kLostOneIn > outcome.units + outcome.units_lost;
  };
  window.start();
  while (!window.is_done() && !is_spoilt()) {
    if (is_paused()) return Error{ErrorCode::unavailable, "training is paused"};
    run_errands();
    take_ended(window);
    window.on_timer(clock_.now());
    if (own_.task) {
      const routing::TrunkTask task = *std::exchange(own_.task, std::nullopt);
      STARLING_ASSIGN(const double loss, trainer_.tasks().run(task));
      window.on_computed(clock_.now(), loss);
      (void)serve_batch();  // others' calls have the next turn
    } else if (!serve_batch()) {
      wait(window);
    }
  }
  if (!is_spoilt()) return {};
  return Error{ErrorCode::unavailable, "experts did not answer for too many of the tokens"};
}

void CellWork::wait(const Window& window) {
  const Duration most = std::clamp<Duration>(window.next_deadline() - clock_.now(), Duration(0), kWaitMax);
  const MutexLock lock(mutex_);
  if (!signals_.is_new) changed_.wait_for(mutex_, most);
  signals_.is_new = false;
}

void CellWork::take_ended(Window& window) {
  std::deque<Ended> ended;
  {
    const MutexLock lock(mutex_);
    ended.swap(ended_);
  }
  for (const Ended& each : ended) {
    const auto& [exchange, part, holder] = std::tie(each.place.exchange, each.place.part, each.place.holder);
    const auto open = own_.open.find(each.place);
    if (open == own_.open.end() || open->second != each.id) continue;  // its window has ended
    own_.open.erase(open);
    const TimePoint now = clock_.now();
    if (each.outcome.answer) {
      window.on_answer(now, exchange, part, holder, each.outcome.values);
    } else if (!each.outcome.refusal) {
      window.on_failed(now, exchange, part, holder);
    } else if (each.outcome.refusal->reason == wire::RefusalReason::forgotten) {
      window.on_forgotten(now, exchange, part, holder);
    } else {
      window.on_refused(now, exchange, part, holder, left_alone_for(*each.outcome.refusal));
    }
  }
}

void CellWork::tell_weights(const Window::Outcome& outcome, RoundIndex round) {
  std::map<PeerId, wire::Weights> weights;
  for (const auto& [where, samples] : outcome.weights) {  // in the order of cells
    wire::Weights& told = weights[where.second];
    told.round = round;
    told.cells.push_back(where.first);
    told.samples.push_back(samples);
  }
  for (auto& [holder, told] : weights) {
    if (holder != options_.self) {
      net_.weigh(holder, std::move(told));
    } else {
      (void)weighed(holder, told);
    }
  }
}

void CellWork::start_task(const routing::TrunkTask& task) { own_.task = task; }

void CellWork::send_call(const routing::OutgoingCall& call) {
  const Place place{call.send.exchange, call.send.part, call.send.holder};
  Hash128 id;
  crypto::fill_random(id.bytes);
  own_.open[place] = id;
  if (!call.is_back) own_.forth[{place.exchange, call.cell, place.holder}] = id;
  wire::Call head{.cell = call.cell, .is_back = call.is_back, .round = own_.round};
  head.counts.assign(call.counts.begin(), call.counts.end());
  head.rows.assign(call.rows.begin(), call.rows.end());
  head.inputs = 1 + *std::max_element(call.rows.begin(), call.rows.end());
  head.budget_ms = std::max<std::int64_t>(1, in_ms(call.send.budget));
  if (call.kept) {
    const auto forth = own_.forth.find({*call.kept, call.cell, place.holder});
    VERIFY(forth != own_.forth.end());
    head.kept = forth->second;
  }
  std::vector<float> both;
  std::span<const float> values = call.upstream.empty() ? call.inputs : call.upstream;
  if (!call.inputs.empty() && !call.upstream.empty()) {
    both.assign(call.inputs.begin(), call.inputs.end());
    both.insert(both.end(), call.upstream.begin(), call.upstream.end());
    values = both;
  }
  if (place.holder == options_.self) return call_self(place, id, head, {values.begin(), values.end()});
  const wire::Codec codec = options_.trunk.model.experts.cells.codec;
  transport::OutgoingCall outgoing{.holder = place.holder, .id = id, .call = std::move(head), .codec = codec};
  outgoing.width = width();
  outgoing.values = values;
  outgoing.done = [this, place, id](transport::CallOutcome outcome) {
    const MutexLock lock(mutex_);
    note_end({place, id, std::move(outcome)});
  };
  net_.call(std::move(outgoing));
}

void CellWork::call_self(const Place& place, const Hash128& id, const wire::Call& call, std::vector<float> values) {
  const MutexLock lock(mutex_);
  const serving::CallKey key{options_.self, id};
  const serving::Admission admission = desk_.admit(clock_.now(), call_at_desk(options_.self, id, call));
  transport::CallOutcome outcome;
  if (admission.refusal) {
    outcome.refusal = told(*admission.refusal);
    outcome.failure = admission.refusal->breach.message;
    return note_end({place, id, std::move(outcome)});
  }
  if (const Status status = desk_.on_received(key, std::move(values)); !status.ok()) {
    outcome.failure = status.error().message;
    return note_end({place, id, std::move(outcome)});
  }
  to_self_[id] = place;
  signals_.is_new = true;
}

void CellWork::note_end(Ended ended) {
  ended_.push_back(std::move(ended));
  signals_.is_new = true;
  changed_.notify_all();
}

void CellWork::soon(std::function<void()> errand) {
  bool is_idle = false;
  {
    const MutexLock lock(mutex_);
    errands_.push_back(std::move(errand));
    signals_.is_new = true;
    changed_.notify_all();
    is_idle = !signals_.has_window;
  }
  if (is_idle && listener_.calls_wait) listener_.calls_wait();
}

void CellWork::run_errands() {
  std::vector<std::function<void()>> errands;
  {
    const MutexLock lock(mutex_);
    errands.swap(errands_);
  }
  for (const auto& errand : errands) errand();
}

bool CellWork::serve() {
  run_errands();
  return serve_batch();
}

bool CellWork::serve_batch() {
  const std::optional<Serving> serving = take_batch();
  if (!serving) return false;
  const TimePoint began = clock_.now();
  const Status status = held_.compute(serving->task);
  const Duration took = clock_.now() - began;
  std::vector<serving::Answered> answers;
  {
    const MutexLock lock(mutex_);
    if (status.ok()) {
      if (!serving->task.is_back) served_.add(serving->task);
      answers = desk_.on_computed(clock_.now(), to_seconds(took), serving->answer);
    } else {
      // Samples whose gradient is gone count no more.
      if (serving->task.is_back) (void)desk_.take_weights(serving->task.cell);
      for (const serving::CallKey& key : desk_.on_computing_failed()) {
        refuse(key, {wire::RefusalReason::busy, in_ms(kRetryAfter)});
      }
    }
  }
  send_answers(std::move(answers), {held_.round_of(serving->task.cell), in_ms(took), desk_options(options_).units_max});
  return true;
}

std::optional<CellWork::Serving> CellWork::take_batch() {
  const MutexLock lock(mutex_);
  desk_.on_timer(clock_.now());
  for (const serving::CallKey& key : desk_.take_expired()) refuse(key, {wire::RefusalReason::busy, 0});
  const std::optional<serving::Batch> batch = desk_.take(clock_.now());
  if (!batch) return std::nullopt;
  routing::TrayCutter tray(serving_tray_);
  Serving serving;
  serving.task.cell = batch->cell;
  serving.task.is_back = batch->is_back;
  serving.task.counts = tray.put(batch->counts);
  serving.task.rows = tray.put(batch->rows);
  serving.task.inputs = tray.put(batch->inputs);
  serving.task.upstream = tray.put(batch->upstream);
  serving.answer = tray.floats(batch->is_back ? batch->inputs.size() : batch->rows.size() * width());
  serving.task.answer = serving.answer;
  return serving;
}

void CellWork::Served::add(const trainer_link::CellTask& task) {
  std::vector<std::int64_t>& of_cell = units[task.cell];
  of_cell.resize(task.counts.size());
  std::transform(task.counts.begin(), task.counts.end(), of_cell.begin(), of_cell.begin(), std::plus<>());
}

CellWork::Served CellWork::served() const {
  const MutexLock lock(mutex_);
  return served_;
}

void CellWork::send_answers(std::vector<serving::Answered> answers, const wire::Answer& answer) {
  std::vector<transport::OutgoingAnswer> outgoing;
  {
    const MutexLock lock(mutex_);
    served_.calls += std::ssize(answers);
    for (serving::Answered& each : answers) {
      const CallEnd end = end_of(each.key);
      if (end.place) {
        transport::CallOutcome outcome;
        outcome.answer = answer;
        outcome.values = std::move(each.values);
        note_end({*end.place, each.key.id, std::move(outcome)});
      } else if (end.codec) {
        outgoing.push_back({.caller = each.key.caller, .id = each.key.id, .answer = answer, .codec = *end.codec});
        outgoing.back().values = each.values;
      }
    }
  }
  for (transport::OutgoingAnswer& each : outgoing) net_.answer(std::move(each));  // encodes, which takes time
}

CellWork::CallEnd CellWork::end_of(const serving::CallKey& key) {
  CallEnd end;
  if (const auto found = codecs_.find(key); found != codecs_.end()) {
    end.codec = found->second;
    codecs_.erase(found);
  }
  if (key.caller != options_.self) return end;
  if (const auto found = to_self_.find(key.id); found != to_self_.end()) {
    end.place = found->second;
    to_self_.erase(found);
  }
  return end;
}

void CellWork::refuse(const serving::CallKey& key, const wire::Refusal& refusal) {
  const CallEnd end = end_of(key);
  if (key.caller != options_.self) return net_.refuse(key.caller, key.id, refusal);
  if (!end.place) return;
  transport::CallOutcome outcome;
  outcome.refusal = refusal;
  note_end({*end.place, key.id, std::move(outcome)});
}

Result<SampleCount> CellWork::take_gradient(wire::CellIndex cell, std::span<float> into) {
  SampleCount told = 0;
  {
    const MutexLock lock(mutex_);
    told = desk_.take_weights(cell).samples;
  }
  return held_.take_gradient(cell, told, into);
}

std::size_t CellWork::width() const { return static_cast<std::size_t>(options_.trunk.model.width); }

Result<std::optional<wire::Refusal>> CellWork::admit(const PeerId& caller, const Hash128& id, const wire::Call& call) {
  const MutexLock lock(mutex_);
  const serving::Admission admission = desk_.admit(clock_.now(), call_at_desk(caller, id, call));
  if (!admission.refusal) return std::optional<wire::Refusal>();
  const std::optional<wire::Refusal> refusal = told(*admission.refusal);
  if (!refusal) return Error{ErrorCode::corrupt, admission.refusal->breach.message};
  return refusal;
}

Status CellWork::received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) {
  bool is_idle = false;
  {
    const MutexLock lock(mutex_);
    const serving::CallKey key{caller, id};
    if (desk_.floats_to_come(key) == 0) return {};  // its time is over
    STARLING_TRY(desk_.on_received(key, std::move(values)));
    codecs_[key] = codec;
    signals_.is_new = true;
    changed_.notify_all();
    is_idle = !signals_.has_window;
  }
  if (is_idle && listener_.calls_wait) listener_.calls_wait();
  return {};
}

void CellWork::called_off(const PeerId& caller, const Hash128& id) {
  const MutexLock lock(mutex_);
  desk_.drop({caller, id});
  codecs_.erase({caller, id});
}

Status CellWork::weighed(const PeerId& caller, const wire::Weights& weights) {
  std::vector<wire::CellIndex> came;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < weights.cells.size(); ++i) {
      const SampleCount counted = desk_.add_weight(caller, weights.cells[i], weights.samples[i]);
      if (counted > 0) came.push_back(weights.cells[i]);
    }
  }
  if (!listener_.weights_came) return {};
  for (const wire::CellIndex cell : came) listener_.weights_came(cell);
  return {};
}

void CellWork::gone(const PeerId& caller) {
  const MutexLock lock(mutex_);
  desk_.on_gone(caller);
  std::erase_if(codecs_, [&caller](const auto& entry) { return entry.first.caller == caller; });
}

}  // namespace starling::daemon
