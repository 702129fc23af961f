#include "client/training/torch_trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "client/models/gpt.h"
#include "client/optim/initial_state.h"
#include "client/optim/optimizer.h"
#include "client/trainer_link/gradient_sum.h"
#include "client/training/process_setup.h"
#include "client/training/sampling.h"
#include "client/training/windows.h"
#include "shared/wire/model_layout.h"

namespace starling::training {

namespace {

constexpr int kByteValues = 256;
constexpr int kThreadsMax = 64;
constexpr int kSampledBytesMax = 64 * 1024;

// Runs `body` (returning Status or a Result) with LibTorch's exceptions turned into errors.
template <typename Body>
auto guarded(const char* what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::resource_exhausted, std::string(what) + ": out of memory"};
  } catch (const c10::Error& error) {
    return Error{ErrorCode::internal, std::string(what) + ": " + error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string(what) + ": " + error.what()};
  }
}

at::Tensor view_of(std::span<float> values) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::TensorOptions(at::kFloat));
}

Status check_options(const TorchTrainerOptions& options) {
  const wire::ModelOptions& model = options.manifest.model;
  const auto refuse = [](const std::string& why) {
    return Error{ErrorCode::invalid_argument, "create trainer: " + why};
  };
  if (model.architecture != "gpt" || model.vocabulary != kByteValues) {
    return Error{ErrorCode::unsupported,
                 "create trainer: this client knows architecture 'gpt' over 256 byte values, "
                 "not '" +
                     model.architecture + "' over " + std::to_string(model.vocabulary)};
  }
  const std::size_t parameters = wire::parameter_count(model);
  if (options.gradient.size() != parameters) return refuse("gradient memory does not fit the model");
  if (options.state.size() != wire::state_size(options.manifest)) {
    return refuse("state memory does not fit the model");
  }
  if (wire::sample_space(static_cast<std::int64_t>(options.train_bytes.size()), model.context) < 1) {
    return refuse("the training text is shorter than one sample");
  }
  if (options.validation_bytes.size() < 2) return refuse("the validation text is empty");
  if (options.journal == nullptr) return refuse("no step journal");
  if (options.threads < 1 || options.threads > kThreadsMax) {
    return refuse("threads is " + std::to_string(options.threads) + "; it must be 1 to " + std::to_string(kThreadsMax));
  }
  return {};
}

}  // namespace

struct TorchTrainer::Impl {
  explicit Impl(TorchTrainerOptions opts)
      : options(std::move(opts)),
        optimizer(options.manifest),
        model(options.manifest.model, view_of(options.state.first(optimizer.parameter_count())),
              view_of(options.gradient)) {}

  TorchTrainerOptions options;
  optim::Optimizer optimizer;
  models::Gpt model;
};

TorchTrainer::TorchTrainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchTrainer::~TorchTrainer() = default;

Result<std::unique_ptr<TorchTrainer>> TorchTrainer::create(const TorchTrainerOptions& options) {
  using Created = Result<std::unique_ptr<TorchTrainer>>;
  STARLING_TRY(check_options(options));
  return guarded("create trainer", [&]() -> Created {
    set_up_process(options.threads);
    return std::unique_ptr<TorchTrainer>(new TorchTrainer(std::make_unique<Impl>(options)));
  });
}

session::StateLayout TorchTrainer::layout() const {
  return {impl_->optimizer.parameter_count(), wire::moment_vectors(impl_->options.manifest.optimizer)};
}

std::span<float> TorchTrainer::state() { return impl_->options.state; }

Status TorchTrainer::initialize() {
  optim::fill_initial_state(impl_->options.manifest, impl_->options.state);
  impl_->options.journal->clear();
  return {};
}

Result<session::BatchReport> TorchTrainer::train_batch(const wire::SampleRange& samples, std::span<float> into) {
  const TorchTrainerOptions& options = impl_->options;
  VERIFY(into.size() == options.gradient.size());
  return guarded("train batch", [&]() -> Result<session::BatchReport> {
    const auto begin = std::chrono::steady_clock::now();
    STARLING_ASSIGN(const Windows batch, sample_windows(options.manifest, options.train_bytes, samples));
    std::fill(options.gradient.begin(), options.gradient.end(), 0.0F);
    const at::Tensor loss = impl_->model.loss(batch.tokens, batch.targets);
    loss.backward();
    const auto loss_sum = loss.item<double>();
    if (!std::isfinite(loss_sum) || !trainer_link::add_gradient(options.gradient, into).ok()) {
      return Error{ErrorCode::corrupt, "train batch: the gradient of lane " + std::to_string(samples.lane) +
                                           ", sample " + std::to_string(samples.first) + " of round " +
                                           std::to_string(samples.round) + " is not finite"};
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    return session::BatchReport{samples.count, loss_sum, elapsed.count()};
  });
}

Status TorchTrainer::step(RoundIndex round, std::span<const float> gradient) {
  return impl_->optimizer.step(round, gradient, impl_->options.state, *impl_->options.journal);
}

Result<session::Evaluation> TorchTrainer::evaluate() {
  return guarded("evaluate", [&]() -> Result<session::Evaluation> {
    return evaluate_held_out(impl_->model, impl_->options.manifest.model, impl_->options.validation_bytes);
  });
}

Result<std::string> TorchTrainer::sample_text(const std::string& prompt, int length, double temperature) {
  if (length < 0 || length > kSampledBytesMax || !(temperature >= 0)) {
    return Error{ErrorCode::invalid_argument, "sample text: length must be 0 to " + std::to_string(kSampledBytesMax) +
                                                  " bytes and the temperature not negative"};
  }
  return guarded("sample text", [&]() -> Result<std::string> {
    return continue_text(impl_->model, impl_->options.manifest, {prompt, length, temperature});
  });
}

}  // namespace starling::training
