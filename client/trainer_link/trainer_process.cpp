#include "client/trainer_link/trainer_process.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "client/optim/fragment_step.h"
#include "client/optim/optimizer.h"
#include "client/trainer_link/audits.h"
#include "client/trainer_link/child_link.h"
#include "client/trainer_link/gradient_sum.h"
#include "client/trainer_link/shared_region.h"
#include "client/trainer_link/task_link.h"
#include "shared/base/mutex.h"
#include "shared/base/verify.h"
#include "shared/run/cells.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"

namespace starling::trainer_link {
namespace {

constexpr std::string_view kNoCardForPrograms = "the run's model is a program of the project's own, and gets no card";
constexpr double kForwardShare = 1.0 / 3;  // share of a sample's operations; the rest is the backward pass

}  // namespace

struct TrainerProcess::Impl {
  Impl(TrainerProcessOptions given, SharedRegion shared)
      : options(std::move(given)),
        region(std::move(shared)),
        optimizer(options.manifest),
        link(options, region.layout(), region.fd()),
        flops_per_sample(options.manifest.flops_per_sample) {
    if (wire::gossips(options.manifest.local)) buckets = wire::buckets(options.manifest.model);
    if (wire::computes_tasks(options.manifest.model)) {
      tasks = std::make_unique<TaskLink>(link, options.manifest, options.shard_for);
    }
    link.on_bucket_stepped([this](int number) { return note_stepped(static_cast<std::size_t>(number)); });
  }

  Status note_stepped(std::size_t number) {
    if (number >= stepped.size() || stepped[number]) {
      return Error{ErrorCode::corrupt, fmt::format("bucket {} cannot have stepped now", number)};
    }
    stepped[number] = true;
    if (bucket_stepped) bucket_stepped(buckets[number]);
    return {};
  }

  // Leaves the gradient in the region without adding it.
  Result<Reply> train(Request request) {
    const double work = flops_per_sample * static_cast<double>(request.samples.count);
    stepped.assign(buckets.size(), false);
    if (audited.held() && stepped_since_audit.exchange(false)) {
      audited.release();
      request.ends_audits = true;
    }
    const TrainerProcessView child = link.view();
    const bool has_parameters =
        options.manifest.round.delay_parameter_updates && child.pid != 0 && child.starts == begun_child;
    if (has_parameters && !begins_sum && !begins_ahead && !merges_step) {
      return link.call_living(std::move(request), work);
    }
    const MutexLock lock(state_mutex);
    const bool begins = request.begins_sum = begins_sum.exchange(false);
    const bool ahead = request.begins_ahead = begins_ahead.exchange(false);
    const bool merges = request.merges_step = merges_step.exchange(false);
    request.knows_own = std::exchange(knows_own, false);
    auto reply = link.call(std::move(request), work);
    if (reply.ok()) {
      begun_child = link.view().starts;
    } else {  // the next batch does these again, except that a failed batch has overwritten the own mean
      if (begins) begins_sum = true;
      if (ahead && is_local()) begins_ahead = true;
      if (merges) merges_step = true;
    }
    return reply;
  }

  // Sends the request for an audit at these parameters.
  Result<Reply> audit(Request request, std::span<const float> parameters) {
    // The child computes where the mean that the next batch looks ahead with may lie.
    std::vector<float> own_mean;
    if (has_own_mean()) own_mean.assign(region.gradient().begin(), region.gradient().end());
    auto reply = audit_in_child(std::move(request), parameters);
    if (!own_mean.empty()) std::copy(own_mean.begin(), own_mean.end(), region.gradient().begin());
    return reply;
  }

  Result<Reply> audit_in_child(Request request, std::span<const float> parameters) {
    STARLING_TRY(audited.hold(parameters));
    if (const TrainerProcessView child = link.view(); child.pid == 0 || !audited.is_at(child.starts)) {
      Request at;
      at.command = Command::audit_parameters;
      at.data_fd = audited.fd();
      STARLING_TRY(link.call(std::move(at), static_cast<double>(parameters.size())).status());
      audited.went_to(link.view().starts);
    }
    const double work = flops_per_sample * static_cast<double>(request.samples.count);
    return link.call_living(std::move(request), work);
  }

  bool has_own_mean() {
    const MutexLock lock(state_mutex);
    return knows_own;
  }

  // The file of the samples' shard, for the request to send; none without shards.
  Result<UniqueFd> shard_of(const wire::SampleRange& samples) const {
    if (!options.shard_for) return UniqueFd();
    return options.shard_for(samples);
  }
  Result<UniqueFd> held_shard_of(const wire::SampleRange& samples) const {
    if (!options.held_shard_for) return UniqueFd();
    return options.held_shard_for(samples);
  }

  [[nodiscard]] bool is_local() const { return options.manifest.local.has_value(); }
  // Whether the volunteer's own displacement or gradient is used while it is averaged.
  [[nodiscard]] bool uses_own() const { return !is_local() || options.manifest.local->eager; }

  Status step_beside_batches(RoundIndex round, std::span<const float> gradient) {
    const MutexLock lock(state_mutex);
    region.journal().clear();
    Status status = wire::fragments(options.manifest) > 1
                        ? optim::step_fragment(options.manifest, round, gradient, region.state())
                        : optimizer.step(round, gradient, region.state(), region.journal());
    // Without a batch since the round was cut, no steps are under way.
    const bool was_cut = !begins_ahead.exchange(false);
    knows_own = false;
    if (status.ok()) stepped_round = round;
    (is_local() && was_cut ? merges_step : begins_sum) = true;
    return status;
  }

  // Sends a request that is answered at the state's parameters.
  Result<Reply> call_at_state(Request request, double work) {
    const MutexLock lock(state_mutex);
    return link.call(std::move(request), work);
  }

  [[nodiscard]] double work_of_evaluation() const {
    const wire::DataOptions& data = options.manifest.data;
    const bool labelled = wire::sample_form(options.manifest) == wire::SampleForm::labelled;
    const auto items =
        static_cast<double>(data.kind == wire::DataKind::bytes ? data.validation.bytes : data.validation_items);
    return kForwardShare * flops_per_sample * (1 + items / (labelled ? 1 : options.manifest.model.context));
  }

  TrainerProcessOptions options;
  SharedRegion region;
  optim::Optimizer optimizer;
  ChildLink link;
  double flops_per_sample;
  // Guards the parameters that a child beginning at the state reads, and a step changes. Other batches need it only
  // without delayed updates, and then one thread makes all calls.
  Mutex state_mutex;
  // Flags for the next batch; see Request.
  std::atomic<bool> begins_sum{true};
  std::atomic<bool> begins_ahead{false};
  std::atomic<bool> merges_step{false};
  bool knows_own GUARDED_BY(state_mutex) = false;
  std::int64_t begun_child = 0;  // number of starts of the child that has parameters; used by the computing thread
  RoundIndex stepped_round GUARDED_BY(state_mutex) = -1;
  std::atomic<std::int64_t> steps_taken_here{0};
  // The members below belong to the computing thread.
  std::vector<wire::Bucket> buckets;  // empty without gossip
  std::vector<bool> stepped;          // buckets of the batch under way
  std::function<void(const wire::Bucket&)> bucket_stepped;
  std::unique_ptr<TaskLink> tasks;  // null for a whole model
  AuditedParameters audited;
  std::atomic<bool> stepped_since_audit{false};  // any thread
};

Result<std::unique_ptr<TrainerProcess>> TrainerProcess::create(TrainerProcessOptions options) {
  if (options.limits.threads < 1 || options.limits.threads > kThreadsMax) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("compute with {} threads: 1 to {} are possible", options.limits.threads, kThreadsMax)};
  }
  const session::StateLayout layout{wire::parameter_count(options.manifest.model),
                                    wire::moment_vectors(options.manifest.optimizer)};
  STARLING_ASSIGN(SharedRegion region, SharedRegion::create(layout, wire::local_state_size(options.manifest)));
  return std::unique_ptr<TrainerProcess>(
      new TrainerProcess(std::make_unique<Impl>(std::move(options), std::move(region))));
}

TrainerProcess::TrainerProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TrainerProcess::~TrainerProcess() = default;

session::StateLayout TrainerProcess::layout() const { return impl_->region.layout(); }

std::span<float> TrainerProcess::state() {
  if (!impl_->is_local()) impl_->begins_sum = true;
  return impl_->region.state();
}

std::span<float> TrainerProcess::own_parameters() {
  VERIFY(impl_->is_local());
  return impl_->region.local().first(layout().parameter_count);
}

void TrainerProcess::on_bucket_stepped(std::function<void(const wire::Bucket&)> stepped) {
  impl_->bucket_stepped = std::move(stepped);
}

Status TrainerProcess::initialize() { return make_initial_state(state()); }

Status TrainerProcess::make_initial_state(std::span<float> into) const {
  const wire::RunManifest& manifest = impl_->options.manifest;
  if (!wire::has_program(manifest.model)) {
    state::fill_initial_state(manifest, into);
    return {};
  }
  STARLING_ASSIGN(const state::ParameterFile file, state::open_parameters(impl_->options.initial_parameters));
  return state::load_initial_state(manifest, file, into);
}

void TrainerProcess::begin_sum() {
  const MutexLock lock(impl_->state_mutex);
  impl_->begins_sum = true;
  impl_->begins_ahead = impl_->merges_step = impl_->knows_own = false;
}

void TrainerProcess::begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) {
  const MutexLock lock(impl_->state_mutex);
  const bool is_late = round == impl_->stepped_round;
  impl_->knows_own = !is_late && samples > 0 && impl_->uses_own();
  impl_->begins_ahead = !is_late && (impl_->knows_own || impl_->is_local());
  if (!impl_->is_local() || is_late) impl_->begins_sum = true;
  if (!impl_->knows_own) return;
  std::transform(own_sum.begin(), own_sum.end(), impl_->region.gradient().begin(),
                 [samples](float value) { return value / static_cast<float>(samples); });
}

Result<session::BatchReport> TrainerProcess::train_batch(const wire::SampleRange& samples, std::span<float> into) {
  VERIFY(into.size() == layout().parameter_count);
  Request request;
  request.command = Command::train_batch;
  request.samples = samples;
  STARLING_ASSIGN(const UniqueFd shard, impl_->shard_of(samples));
  request.data_fd = shard.get();
  STARLING_ASSIGN(const Reply reply, impl_->train(std::move(request)));
  if (reply.batch.samples != samples.count) {
    return impl_->link.condemn(Command::train_batch,
                               fmt::format("it reports {} samples of {}", reply.batch.samples, samples.count));
  }
  if (Status added = add_gradient(impl_->region.gradient(), into); !added.ok()) {
    return added.error().prefixed(to_string(Command::train_batch));
  }
  return reply.batch;
}

Status TrainerProcess::audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                                   std::span<const float> parameters, std::span<double> sketches) {
  VERIFY(parameters.size() == layout().parameter_count && sketches.size() == parts.size() * wire::kSketchFloats);
  STARLING_TRY(check_parts(parts, parameters.size()));
  Request request;
  request.command = Command::audit_batch;
  request.samples = samples;
  request.text = pack_parts(parts);
  STARLING_ASSIGN(const UniqueFd shard, impl_->held_shard_of(samples));
  request.data_fd = shard.get();
  STARLING_ASSIGN(const Reply reply, impl_->audit(std::move(request), parameters));
  const auto found = unpack_sketches(reply.text, parts.size());
  if (!found.ok()) return impl_->link.condemn(Command::audit_batch, found.error().message);
  std::transform(found->begin(), found->end(), sketches.begin(), sketches.begin(), std::plus<>());
  return {};
}

Status TrainerProcess::step(RoundIndex round, std::span<const float> gradient) {
  VERIFY(gradient.size() == wire::fragment_floats(impl_->options.manifest));
  impl_->stepped_since_audit = true;
  if (impl_->options.manifest.round.delay_parameter_updates) return impl_->step_beside_batches(round, gradient);
  auto& journal = impl_->region.journal();
  journal.clear();
  std::copy(gradient.begin(), gradient.end(), impl_->region.gradient().begin());
  Request request;
  request.command = Command::step;
  request.round = round;
  (void)impl_->link.call_living(std::move(request), impl_->optimizer.flops_per_step());
  // After this call the child is idle, dead or was never there, and the journal shows which part is left to do.
  const bool finished = journal.finished(round);
  Status status = impl_->optimizer.step(round, gradient, state(), journal);
  if (status.ok() && !finished) ++impl_->steps_taken_here;
  return status;
}

Result<session::Evaluation> TrainerProcess::evaluate() {
  Request request;
  request.command = Command::evaluate;
  STARLING_ASSIGN(const Reply reply, impl_->call_at_state(std::move(request), impl_->work_of_evaluation()));
  return reply.evaluation;
}

Result<std::vector<int>> TrainerProcess::sample_tokens(std::span<const int> prompt, int count, double temperature) {
  if (prompt.size() > kTokensMax || count < 0 || count > kTokensMax || !(temperature >= 0)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("sample text: at most {} words of prompt, as many of text, and a temperature of 0 or more",
                             kTokensMax)};
  }
  Request request;
  request.command = Command::sample_tokens;
  request.text = pack_tokens(prompt);
  request.count = count;
  request.temperature = temperature;
  STARLING_ASSIGN(const Reply reply,
                  impl_->call_at_state(std::move(request), kForwardShare * impl_->flops_per_sample * (1 + count)));
  return unpack_tokens(reply.text);
}

TaskLink& TrainerProcess::tasks() {
  VERIFY(impl_->tasks);
  return *impl_->tasks;
}

Status TrainerProcess::add_window(std::span<float> into) {
  VERIFY(into.size() == layout().parameter_count);
  return add_gradient(impl_->region.gradient(), into);
}

void TrainerProcess::set_share(const TrainerShare& wanted) {
  VERIFY(wanted.threads >= 1 && wanted.threads <= kThreadsMax);
  TrainerShare share = wanted;
  // A script would have access to the card's driver as the trainer does, so it gets no card.
  if (wire::has_program(impl_->options.manifest.model)) share.gpu_memory_percent = 0;
  ChildLimits& limits = impl_->options.limits;
  if (share == TrainerShare{limits.threads, limits.memory_bytes, limits.gpu_memory_percent}) return;
  impl_->link.stop();
  limits.threads = share.threads;
  limits.memory_bytes = share.memory_bytes;
  limits.gpu_memory_percent = share.gpu_memory_percent;
}

void TrainerProcess::stop() { impl_->link.stop(); }

void TrainerProcess::end_audits() { impl_->audited.release(); }

TrainerProcessView TrainerProcess::view() const {
  TrainerProcessView view = impl_->link.view();
  view.steps_taken_here = impl_->steps_taken_here;
  if (view.device && wire::has_program(impl_->options.manifest.model)) view.device->card_unused = kNoCardForPrograms;
  return view;
}

}  // namespace starling::trainer_link
