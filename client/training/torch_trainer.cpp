#include "client/training/torch_trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "client/session/failure_text.h"
#include "client/trainer_link/audits.h"
#include "client/trainer_link/gradient_sum.h"
#include "client/training/batches.h"
#include "client/training/bucket_hooks.h"
#include "client/training/devices.h"
#include "client/training/graphics_card.h"
#include "client/training/guarded.h"
#include "client/training/micro_batch_size.h"
#include "client/training/precision.h"
#include "client/training/process_setup.h"
#include "client/training/replica.h"
#include "client/training/sampling.h"
#include "shared/base/finite.h"
#include "shared/base/permutation.h"
#include "shared/base/words.h"
#include "shared/run/epochs.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"
#include "shared/swarm/sketch.h"

namespace starling::training {

namespace {

constexpr int kThreadsMax = 64;
constexpr int kSampledTokensMax = 64 * 1024;
static_assert(wire::kSketchFloats == swarm::kSketchBuckets);

Status check_options(const TorchTrainerOptions& options) {
  const auto refuse = [](const std::string& why) {
    return Error{ErrorCode::invalid_argument, "create trainer: " + why};
  };
  if (options.gradient.size() != wire::parameter_count(options.manifest.model)) {
    return refuse("gradient memory does not fit the model");
  }
  if (options.state.size() != wire::state_size(options.manifest)) {
    return refuse("state memory does not fit the model");
  }
  if (options.local.size() != wire::local_state_size(options.manifest)) {
    return refuse("memory of local steps does not fit the model");
  }
  if (options.journal == nullptr) return refuse("no step journal");
  if (options.devices.empty()) return refuse("no device to compute on");
  if (options.threads < 1 || options.threads > kThreadsMax) {
    return refuse("threads is " + std::to_string(options.threads) + "; it must be 1 to " + std::to_string(kThreadsMax));
  }
  return {};
}

Copies copies_for(const std::vector<std::string>& devices, const wire::RunManifest& manifest) {
  if (devices.size() > 1 || !at::Device(devices.front()).is_cpu()) return Copies::all;
  return manifest.round.delay_parameter_updates && !manifest.local ? Copies::parameters : Copies::none;
}

// Seed of a script's random choices: equal on every computer for equal samples.
std::uint64_t chance_of(std::uint64_t seed, const wire::SampleRange& range) {
  const std::uint64_t place = mix64(static_cast<std::uint64_t>(range.lane)) ^ static_cast<std::uint64_t>(range.first);
  const std::uint64_t epoch = mix64(static_cast<std::uint64_t>(range.epoch));
  return mix64(seed ^ mix64(place ^ mix64(static_cast<std::uint64_t>(range.round) ^ epoch)));
}

// The piece of `range` that begins at its k-th sample.
wire::SampleRange piece_of(const wire::SampleRange& range, SampleCount k, SampleCount size) {
  return {range.round, range.lane, range.first + k, std::min(size, range.count - k), range.epoch};
}

Error not_finite(const char* what, const wire::SampleRange& samples) {
  return {ErrorCode::corrupt, std::string(what) + ": the gradient of lane " + std::to_string(samples.lane) +
                                  ", sample " + std::to_string(samples.first) + " of round " +
                                  std::to_string(samples.round) + " " + std::string(session::kNotFinite)};
}

// Has a model on copies compute with other parameters until this ends. A device that refuses the copy back is lost:
// then this process ends, and the next one begins with the right parameters.
class OtherParameters {
 public:
  OtherParameters(DeviceVectors& vectors, std::span<const float> parameters)
      : vectors_(vectors), kept_(static_cast<std::size_t>(vectors.parameters().numel())) {
    at::from_blob(kept_.data(), {static_cast<std::int64_t>(kept_.size())}).copy_(vectors_.parameters());
    try {
      vectors_.upload_from(parameters);
    } catch (...) {
      put_back();
      throw;
    }
  }
  OtherParameters(const OtherParameters&) = delete;
  OtherParameters& operator=(const OtherParameters&) = delete;
  ~OtherParameters() { put_back(); }

 private:
  void put_back() noexcept { vectors_.upload_from(std::span<const float>(kept_)); }

  DeviceVectors& vectors_;
  std::vector<float> kept_;
};

}  // namespace

struct TorchTrainer::Impl {
  Impl(const TorchTrainerOptions& opts, TrainingData train_data, Dataset held_out_data)
      : options(opts),
        optimizer(options.manifest),
        train(std::move(train_data)),
        held_out(std::move(held_out_data)),
        local(options.manifest.local ? std::make_unique<optim::LocalSteps>(options.manifest, agreed(), options.local)
                                     : nullptr),
        pieces(options.manifest.micro_batch_size) {
    const Copies copies = copies_for(options.devices, options.manifest);
    // Batches are assembled ahead only for devices with a spare thread: a computing processor has none, and each device
    // uses one of the allowed threads.
    looks_ahead = copies == Copies::all && options.threads > static_cast<int>(options.devices.size());
    const std::span<float> parameters = local ? local->parameters() : agreed();
    for (const std::string& device : options.devices) {
      replicas.emplace_back(device, DeviceVectors(at::Device(device), copies, parameters, options.gradient),
                            options.manifest.model, options.program);
    }
  }

  // The replica that evaluates and samples text, and the only one without several devices.
  [[nodiscard]] Replica& first() { return replicas.front(); }

  void upload() {
    for (Replica& replica : replicas) replica.vectors.upload();
  }

  // Parameters that all replicas share.
  [[nodiscard]] std::span<float> agreed() { return options.state.first(optimizer.parameter_count()); }

  // The mean: `sum` itself for one sample, otherwise computed into the scratch of a micro-batch.
  [[nodiscard]] std::span<const float> mean_of(std::span<const float> sum, SampleCount samples) const {
    if (samples == 1) return sum;
    std::transform(sum.begin(), sum.end(), options.gradient.begin(),
                   [samples](float value) { return value / static_cast<float>(samples); });
    return options.gradient;
  }

  // Calls body() while the model computes with the agreed parameters instead of own ones.
  template <typename Body>
  auto at_agreed(Body body) -> decltype(body()) {
    if (!local) {
      upload();
      return body();
    }
    const std::span<float> own = local->parameters();
    const std::vector<float> kept(own.begin(), own.end());
    std::copy(agreed().begin(), agreed().end(), own.begin());
    upload();
    auto result = body();
    std::copy(kept.begin(), kept.end(), own.begin());
    return result;
  }

  // Computes the gradient of all samples into options.gradient; returns their loss.
  Result<double> gradient_of(const wire::SampleRange& samples) {
    if (std::exchange(stale, false)) upload();
    at::manual_seed(chance_of(options.manifest.seed, samples));
    if (replicas.size() > 1) return shared_gradient_of(samples);
    STARLING_ASSIGN(const double loss_sum, sum_gradient(first(), samples, samples.count));
    if (!under_way) {
      first().vectors.download_gradient();
      return loss_sum;
    }
    for (const wire::Bucket& bucket : local->buckets()) step_bucket(bucket);  // the buckets that the loss did not use
    return loss_sum;
  }

  // gradient_of() on all devices at once, each of which takes a stretch of the samples.
  Result<double> shared_gradient_of(const wire::SampleRange& samples) {
    const auto devices = static_cast<SampleCount>(replicas.size());
    const SampleCount each = (samples.count + devices - 1) / devices;
    std::vector<Result<double>> losses(replicas.size(), 0.0);
    {
      std::vector<std::jthread> computing;  // joined at the block's end
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        const SampleCount from = std::min(samples.count, static_cast<SampleCount>(i) * each);
        computing.emplace_back([this, &replica = replicas[i], &loss = losses[i], part = piece_of(samples, from, each),
                                count = samples.count] {
          loss = guarded("train batch", [&] { return sum_gradient(replica, part, count); });
        });
      }
    }
    double loss_sum = 0;
    for (const Result<double>& loss : losses) {
      if (!loss.ok()) return loss;
      loss_sum += *loss;
    }
    first().vectors.download_gradient();
    for (std::size_t i = 1; i < replicas.size(); ++i) replicas[i].vectors.add_gradient();
    return loss_sum;
  }

  // A batch on the replica's device. Also starts to assemble the `next` samples for it, unless they are in another
  // shard.
  Result<models::Batch> batch_of(Replica& replica, const wire::SampleRange& samples, const wire::SampleRange& next) {
    auto ahead = replica.ahead.take(samples);
    auto batch = ahead ? std::move(*ahead) : sample_batch(options.manifest, *train, samples, replica.device);
    if (looks_ahead && wire::shard_of(options.manifest, next) == wire::shard_of(options.manifest, samples)) {
      replica.ahead.begin(next, [this, data = train, next, device = replica.device] {
        return sample_batch(options.manifest, *data, next, device);
      });
    }
    if (batch.ok()) batch = on_device(std::move(batch).value(), replica.device);
    return batch;
  }

  // Computes the gradient of these samples into the replica's vector; returns their loss. The next request is expected
  // to be `apart` samples after these, as it is until the round is over; any other batch is assembled when requested.
  Result<double> sum_gradient(Replica& replica, const wire::SampleRange& samples, SampleCount apart) {
    wire::SampleRange expected = samples;
    expected.first += apart;
    replica.vectors.clear_gradient();
    double loss_sum = 0;
    const SampleCount size = pieces.size();
    replica.model->set_training(true);
    for (SampleCount k = 0; k < samples.count; k += size) {
      const bool is_last = k + size >= samples.count;
      const wire::SampleRange next = is_last ? piece_of(expected, 0, size) : piece_of(samples, k + size, size);
      STARLING_ASSIGN(const models::Batch batch, batch_of(replica, piece_of(samples, k, size), next));
      const at::Tensor loss = loss_of(replica, batch);
      if (is_last && steps_while_back() && std::isfinite(loss_sum + loss.item<double>()))
        step_while_back(loss, samples);
      loss.backward();
      loss_sum += loss.item<double>();
    }
    return loss_sum;
  }

  [[nodiscard]] at::Tensor loss_of(const Replica& replica, const models::Batch& batch) const {
    const Precision precision(computes_in_bf16(), replica.device);
    return replica.model->loss(batch);
  }

  // Computes the gradient of all samples at other parameters into options.gradient, in pieces of that size; returns
  // their loss. Changes nothing that batches are computed with.
  Result<double> gradient_at(std::span<const float> parameters, const wire::SampleRange& samples, SampleCount size) {
    at::manual_seed(chance_of(options.manifest.seed, samples));
    if (copies_for(options.devices, options.manifest) == Copies::all) {
      const OtherParameters other(first().vectors, parameters);
      return audited_gradient(first(), samples, size);
    }
    // The processor's: another model, of views alone, on the parameters where they lie. It only reads them.
    const std::span<float> views{const_cast<float*>(parameters.data()), parameters.size()};
    Replica replica("cpu", DeviceVectors(at::kCPU, Copies::none, views, options.gradient), options.manifest.model,
                    options.program);
    return audited_gradient(replica, samples, size);
  }

  Result<double> audited_gradient(Replica& replica, const wire::SampleRange& samples, SampleCount size) {
    replica.vectors.clear_gradient();
    replica.model->set_training(true);
    double loss_sum = 0;
    for (SampleCount k = 0; k < samples.count; k += size) {
      STARLING_ASSIGN(models::Batch batch,
                      sample_batch(options.manifest, *train, piece_of(samples, k, size), replica.device));
      const at::Tensor loss = loss_of(replica, on_device(std::move(batch), replica.device));
      loss.backward();
      loss_sum += loss.item<double>();
    }
    replica.vectors.download_gradient();
    return loss_sum;
  }

  // gradient_at(), in pieces that fit in memory; those of batches keep their size, since other sizes round otherwise.
  Result<double> gradient_that_fits_at(std::span<const float> parameters, const wire::SampleRange& samples) {
    SampleCount size = pieces.size();
    while (true) {
      auto loss_sum = guarded("audit a batch", [&] { return gradient_at(parameters, samples, size); });
      if (loss_sum.ok() || loss_sum.error().code != ErrorCode::resource_exhausted || size == 1) return loss_sum;
      size = (size + 1) / 2;
      ::malloc_trim(0);
      trim_graphics_memory();
    }
  }

  [[nodiscard]] bool computes_in_bf16() const { return precision() == wire::Precision::bf16; }

  // The precision of products here, where the run asks for one that this machine may not have.
  [[nodiscard]] wire::Precision precision() const {
    const wire::Precision wanted = options.manifest.precision;
    const bool has = wanted == wire::Precision::bf16 ? options.bf16 : replicas.front().device.is_cuda();
    return has ? wanted : wire::Precision::fp32;
  }

  // Whether buckets may step before the whole gradient is complete. A script may use a parameter in unknown ways
  // besides its gradient, so it is excluded.
  [[nodiscard]] bool steps_while_back() const {
    return replicas.size() == 1 && local && local->buckets_step_apart() && !wire::has_program(options.manifest.model);
  }

  void step_while_back(const at::Tensor& loss, const wire::SampleRange& samples) {
    under_way.emplace(StepUnderWay{samples.round, samples.count, std::vector<bool>(local->buckets().size()), {}});
    on_complete(loss, first().vectors.gradient(), local->buckets(),
                [this](const wire::Bucket& bucket) { step_bucket(bucket); });
  }

  void step_bucket(const wire::Bucket& bucket) {
    if (under_way->stepped[bucket.number] || !under_way->status.ok()) return;
    under_way->stepped[bucket.number] = true;
    first().vectors.download_gradient(bucket);
    under_way->status = local->step_bucket(under_way->round, under_way->samples, bucket, options.gradient);
    if (under_way->status.ok() && options.bucket_stepped) options.bucket_stepped(bucket);
  }

  // Does the rest of a local step when the gradient is complete.
  Status finish_local_step(const wire::SampleRange& samples) {
    if (!under_way) return local->step(samples.round, samples.count, options.gradient, options.bucket_stepped);
    const Status status = std::exchange(under_way, {})->status;
    if (status.ok()) {
      local->end_step(samples.count);
    } else {
      begins_sum = true;  // begins again when the buckets that have stepped are no longer the caller's
    }
    return status;
  }

  // Called when the backward pass has failed. Returns whether buckets had stepped: then the gradient cannot be computed
  // again.
  bool drop_step_under_way() {
    const auto dropped = std::exchange(under_way, {});
    if (!dropped || std::none_of(dropped->stepped.begin(), dropped->stepped.end(), std::identity())) return false;
    local->drop_step();
    return begins_sum = true;  // begins again, as above
  }

  // gradient_of(), in pieces that fit in memory.
  Result<double> gradient_that_fits(const wire::SampleRange& samples) {
    while (true) {
      auto loss_sum = guarded("train batch", [&] { return gradient_of(samples); });
      const bool is_lost = !loss_sum.ok() && drop_step_under_way();
      if (loss_sum.ok() || loss_sum.error().code != ErrorCode::resource_exhausted) return loss_sum;
      if (!pieces.on_out_of_memory()) {
        return Error{ErrorCode::resource_exhausted,
                     "train batch: a single sample of this model takes more memory than there is, or than your limits "
                     "leave: allow more with `starling prefs set memory_idle_percent`, or close other programs"};
      }
      ::malloc_trim(0);
      trim_graphics_memory();
      if (is_lost) return loss_sum;
    }
  }

  TorchTrainerOptions options;
  optim::Optimizer optimizer;
  TrainingData train;
  Dataset held_out;
  std::unique_ptr<optim::LocalSteps> local;  // null when gradients are averaged
  // A step whose buckets step during the backward pass.
  struct StepUnderWay {
    RoundIndex round = 0;
    SampleCount samples = 0;
    std::vector<bool> stepped;  // buckets that have stepped
    Status status;              // error of the first bucket that could not step
  };
  std::optional<StepUnderWay> under_way;
  bool begins_sum = true;
  bool stale = true;              // the model's parameters are not those that batches are to be computed with
  std::vector<Replica> replicas;  // one for each device
  MicroBatchSize pieces;
  bool looks_ahead = false;  // the next batch is assembled while the present one is computed
};

TorchTrainer::TorchTrainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchTrainer::~TorchTrainer() = default;

Result<std::unique_ptr<TorchTrainer>> TorchTrainer::create(const TorchTrainerOptions& options) {
  using Created = Result<std::unique_ptr<TorchTrainer>>;
  STARLING_TRY(check_options(options));
  return guarded("create trainer", [&]() -> Created {
    set_up_process(options.threads, options.manifest.precision);
    const wire::RunManifest& manifest = options.manifest;
    TrainingData train;
    if (manifest.data.shards.empty()) {
      STARLING_ASSIGN(train, open_training_data(manifest, {options.train_bytes, nullptr}));
    }
    STARLING_ASSIGN(Dataset held_out,
                    Dataset::open(manifest, options.validation_bytes, wire::held_out_items_min(manifest)));
    return std::unique_ptr<TorchTrainer>(
        new TorchTrainer(std::make_unique<Impl>(options, std::move(train), std::move(held_out))));
  });
}

wire::ComputeDevice TorchTrainer::device() const {
  wire::ComputeDevice device = describe_devices(impl_->options.devices, impl_->options.processor);
  device.precision = word_of(impl_->precision());
  return device;
}

session::StateLayout TorchTrainer::layout() const {
  return {impl_->optimizer.parameter_count(), wire::moment_vectors(impl_->options.manifest.optimizer)};
}

std::span<float> TorchTrainer::state() {
  impl_->stale = impl_->stale || !impl_->options.manifest.round.delay_parameter_updates;
  return impl_->options.state;
}

Status TorchTrainer::initialize() {
  if (wire::has_program(impl_->options.manifest.model)) {
    return Error{ErrorCode::unsupported, "the parameters of a script are read by who gives them to this trainer"};
  }
  state::fill_initial_state(impl_->options.manifest, state());
  impl_->options.journal->clear();
  return {};
}

void TorchTrainer::begin_sum() { impl_->begins_sum = true; }

void TorchTrainer::begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) {
  if (!impl_->local) {
    impl_->begins_sum = true;
  } else if (!impl_->begins_sum) {
    impl_->local->cut(round);
  }
  if (samples == 0) return;
  const std::span<const float> gradient = impl_->mean_of(own_sum, samples);
  const auto look_ahead = [&](std::span<float> parameters) {
    return impl_->optimizer.parameters_after(round, gradient, impl_->options.state, parameters);
  };
  // If this fails, for lack of memory for example, the present parameters are used.
  const Status done = guarded("look ahead", [&]() -> Status {
    if (!impl_->local) {
      STARLING_TRY(impl_->first().vectors.upload_from(look_ahead));
      for (std::size_t i = 1; i < impl_->replicas.size(); ++i) {
        impl_->replicas[i].vectors.upload_from(impl_->first().vectors);
      }
      return {};
    }
    std::vector<float> expected(impl_->optimizer.parameter_count());
    STARLING_TRY(look_ahead(expected));
    impl_->local->cut_to(expected);
    return {};
  });
  if (done.ok()) impl_->begins_sum = impl_->stale = false;
}

void TorchTrainer::merge_step() {
  if (impl_->local && !impl_->begins_sum) impl_->local->merge();
}

Result<session::BatchReport> TorchTrainer::train_batch(const wire::SampleRange& samples, std::span<float> into) {
  const TorchTrainerOptions& options = impl_->options;
  VERIFY(into.size() == options.gradient.size());
  const auto begin = std::chrono::steady_clock::now();
  const bool begins = std::exchange(impl_->begins_sum, false);
  if (impl_->local && begins) impl_->local->begin();
  // With delayed updates the state may be in the middle of a step, unless a sum begins. Own parameters never are.
  impl_->stale = impl_->stale || begins || impl_->local;
  if (options.shard_bytes) {
    STARLING_ASSIGN(impl_->train, open_training_data(options.manifest, options.shard_bytes()));
  }
  STARLING_ASSIGN(const double loss_sum, impl_->gradient_that_fits(samples));
  if (impl_->local && std::isfinite(loss_sum)) {
    STARLING_TRY(impl_->finish_local_step(samples));
  }
  const bool in_place = into.data() == options.gradient.data();
  const bool is_finite = std::isfinite(loss_sum) &&
                         (in_place ? all_finite(into) : trainer_link::add_gradient(options.gradient, into).ok());
  if (!is_finite) {
    return not_finite("train batch", samples);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  impl_->pieces.on_time(samples.count, elapsed.count());
  return session::BatchReport{samples.count, loss_sum, elapsed.count()};
}

Status TorchTrainer::audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                                 std::span<const float> parameters, std::span<double> sketches) {
  const TorchTrainerOptions& options = impl_->options;
  VERIFY(parameters.size() == options.gradient.size() && sketches.size() == parts.size() * wire::kSketchFloats);
  STARLING_TRY(trainer_link::check_parts(parts, parameters.size()));
  if (const std::string random = impl_->first().model->random_operator(); !random.empty()) {
    return Error{ErrorCode::unsupported, "audit a batch: the run's model draws random numbers (" + random +
                                             "), so nobody can compute it again"};
  }
  if (options.shard_bytes) {
    STARLING_ASSIGN(impl_->train, open_training_data(options.manifest, options.shard_bytes()));
  }
  STARLING_ASSIGN(const double loss_sum, impl_->gradient_that_fits_at(parameters, samples));
  if (!std::isfinite(loss_sum) || !all_finite(options.gradient)) {
    return not_finite("audit a batch", samples);
  }
  for (const wire::SketchedPart& part : parts) {
    const auto first = static_cast<std::size_t>(part.first);
    swarm::Sketch sketch{};
    swarm::add_to_sketch(part.seed, part.first,
                         std::span<const float>(options.gradient).subspan(first, static_cast<std::size_t>(part.floats)),
                         sketch);
    std::transform(sketch.begin(), sketch.end(), sketches.begin(), sketches.begin(), std::plus<>());
    sketches = sketches.subspan(sketch.size());
  }
  return {};
}

Status TorchTrainer::step(RoundIndex round, std::span<const float> gradient) {
  return impl_->optimizer.step(round, gradient, state(), *impl_->options.journal);
}

Result<session::Evaluation> TorchTrainer::evaluate() {
  return guarded("evaluate", [&]() -> Result<session::Evaluation> {
    const Replica& replica = impl_->first();
    replica.model->set_training(false);
    return impl_->at_agreed(
        [&] { return evaluate_held_out(*replica.model, impl_->options.manifest, impl_->held_out, replica.device); });
  });
}

Result<std::vector<int>> TorchTrainer::sample_tokens(std::span<const int> prompt, int count, double temperature) {
  if (count < 0 || count > kSampledTokensMax || !(temperature >= 0)) {
    return Error{ErrorCode::invalid_argument, "sample text: its length must be 0 to " +
                                                  std::to_string(kSampledTokensMax) +
                                                  " words and the temperature not negative"};
  }
  const wire::RunManifest& manifest = impl_->options.manifest;
  if (!wire::writes_text(manifest.model)) {
    return Error{ErrorCode::unsupported, "sample text: only a gpt writes text here; this run trains '" +
                                             std::string(word_of(manifest.model.architecture)) + "'"};
  }
  const int vocabulary = manifest.model.vocabulary;
  if (std::any_of(prompt.begin(), prompt.end(), [&](int token) { return token < 0 || token >= vocabulary; })) {
    return Error{ErrorCode::invalid_argument,
                 "sample text: the prompt has words beyond the model's vocabulary of " + std::to_string(vocabulary)};
  }
  return guarded("sample text", [&]() -> Result<std::vector<int>> {
    const Replica& replica = impl_->first();
    return impl_->at_agreed([&] {
      return continue_tokens(*replica.model, manifest, {prompt, count, temperature}, replica.device);
    });
  });
}

}  // namespace starling::training
