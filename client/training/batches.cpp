#include "client/training/batches.h"

#include <ATen/ATen.h>
#include <torch/utils.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/training/masking.h"
#include "shared/run/epochs.h"
#include "shared/run/model_layout.h"

namespace starling::training {

namespace {

constexpr std::int64_t kEvaluationBatch = 16;  // samples at a time
constexpr std::uint64_t kEvaluationSeed = 0x68656c64206f7574;

using Starts = std::vector<std::int64_t>;

std::span<std::int64_t> row_of(const at::Tensor& rows, std::size_t row) {
  const auto length = static_cast<std::size_t>(rows.size(1));
  return {rows.data_ptr<std::int64_t>() + row * length, length};
}

// Memory for values that `reader` gets. A graphics card reads pinned memory by itself; if there is none, ordinary
// memory is used.
at::Tensor empty_for(const at::Device& reader, at::IntArrayRef shape, at::ScalarType type) {
  if (reader.is_cuda()) {
    try {
      return at::empty(shape, at::TensorOptions(type).pinned_memory(true));
    } catch (const c10::Error&) {
    }
  }
  return at::empty(shape, type);
}

at::Tensor integers(std::size_t rows, std::int64_t columns, const at::Device& reader) {
  return empty_for(reader, {static_cast<std::int64_t>(rows), columns}, at::kLong);
}

// Windows of `length` tokens at each start, and their targets, one token later.
Result<models::Batch> windows_at(const Dataset& data, const Starts& starts, std::int64_t length,
                                 const at::Device& reader = at::kCPU) {
  models::Batch batch{integers(starts.size(), length, reader), integers(starts.size(), length, reader)};
  for (std::size_t row = 0; row < starts.size(); ++row) {
    STARLING_TRY(data.copy_tokens(starts[row], row_of(batch[0], row)));
    STARLING_TRY(data.copy_tokens(starts[row] + 1, row_of(batch[1], row)));
  }
  return batch;
}

Result<models::Batch> masked_at(const wire::RunManifest& manifest, const Dataset& data, const Starts& starts,
                                std::uint64_t seed, const at::Device& reader) {
  const wire::ModelOptions& model = manifest.model;
  const std::int64_t masked = wire::masked_tokens(model);
  models::Batch batch{integers(starts.size(), model.context, reader), integers(starts.size(), model.context, reader),
                      integers(starts.size(), masked, reader), integers(starts.size(), masked, reader),
                      empty_for(reader, {static_cast<std::int64_t>(starts.size())}, at::kLong)};
  std::vector<std::int64_t> text(static_cast<std::size_t>(text_tokens(model)));
  for (std::size_t row = 0; row < starts.size(); ++row) {
    STARLING_TRY(data.copy_tokens(starts[row], text));
    MaskedSample sample = mask_words(
        model, text, [&data](std::int64_t token) { return data.starts_word(token); },
        seed ^ mix64(static_cast<std::uint64_t>(starts[row])));
    for (std::int64_t& place : sample.places) place += static_cast<std::int64_t>(row) * model.context;
    std::copy(sample.tokens.begin(), sample.tokens.end(), row_of(batch[0], row).begin());
    std::copy(sample.segments.begin(), sample.segments.end(), row_of(batch[1], row).begin());
    std::copy(sample.places.begin(), sample.places.end(), row_of(batch[2], row).begin());
    std::copy(sample.guesses.begin(), sample.guesses.end(), row_of(batch[3], row).begin());
    batch[4].data_ptr<std::int64_t>()[row] = sample.swapped ? 1 : 0;
  }
  return batch;
}

Result<models::Batch> samples_at(const Dataset& data, const Starts& starts, const at::Device& reader) {
  std::vector<std::int64_t> shape = data.value_shape();
  shape.insert(shape.begin(), static_cast<std::int64_t>(starts.size()));
  models::Batch batch{empty_for(reader, shape, at::kFloat), empty_for(reader, {shape[0]}, at::kLong)};
  const auto values = static_cast<std::size_t>(data.values());
  for (std::size_t row = 0; row < starts.size(); ++row) {
    data.copy_values(starts[row], {batch[0].data_ptr<float>() + row * values, values});
    STARLING_ASSIGN(batch[1].data_ptr<std::int64_t>()[row], data.class_of(starts[row]));
  }
  return batch;
}

// `seed` seeds the random choices.
Result<models::Batch> batch_at(const wire::RunManifest& manifest, const Dataset& data, const Starts& starts,
                               std::uint64_t seed, const at::Device& reader = at::kCPU) {
  switch (wire::sample_form(manifest)) {
    case wire::SampleForm::masked_tokens:
      return masked_at(manifest, data, starts, seed, reader);
    case wire::SampleForm::labelled:
      return samples_at(data, starts, reader);
    case wire::SampleForm::next_token:
      break;
  }
  return windows_at(data, starts, manifest.model.context, reader);
}

// Space of the actual data, which may be more than the manifest's.
std::int64_t space_of(const wire::RunManifest& manifest, const Dataset& data) {
  const bool labelled = wire::sample_form(manifest) == wire::SampleForm::labelled;
  return labelled ? data.items() : wire::window_space(data.items(), manifest.model.context);
}

std::int64_t bytes_of(const Dataset& data, const at::Tensor& tokens) {
  std::int64_t bytes = 0;
  const at::Tensor flat = tokens.reshape({-1});
  const auto* token = flat.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < flat.numel(); ++i) bytes += data.bytes_of_token(token[i]);
  return bytes > 0 ? bytes : flat.numel();
}

// The next of `taken` places, from the first-th on, spread evenly among `places`, which are `apart` items apart.
Starts spread(std::int64_t first, std::int64_t taken, std::int64_t places, std::int64_t apart) {
  Starts starts;
  for (std::int64_t i = first; i < std::min(first + kEvaluationBatch, taken); ++i) {
    starts.push_back(i * places / taken * apart);
  }
  return starts;
}

void add(const models::Hits& hits, models::Hits& sum) {
  sum.predictions += hits.predictions;
  sum.right += hits.right;
}

std::optional<double> accuracy_of(const models::Hits& hits) {
  if (hits.predictions == 0) return std::nullopt;
  return static_cast<double>(hits.right) / static_cast<double>(hits.predictions);
}

Result<session::Evaluation> evaluate_text(const models::Model& model, int context, const Dataset& data,
                                          const at::Device& device) {
  const wire::HeldOutWindows windows = wire::held_out_windows(data.items(), context);
  HeldOutSums sums;
  for (std::int64_t first = 0; first < windows.taken; first += kEvaluationBatch) {
    const std::int64_t count = std::min(kEvaluationBatch, windows.taken - first);
    STARLING_ASSIGN(const models::Batch batch, held_out_batch(data, context, first, count));
    sums.add(model.next_token_scores(batch[0].to(device)), batch, windows.scored, data);
  }
  return sums.evaluation();
}

Result<session::Evaluation> evaluate_windows(const models::Model& model, int context, const Dataset& data,
                                             const at::Device& device) {
  const std::int64_t windows = (data.items() - 1) / context;  // disjoint windows
  const std::int64_t taken =
      std::min<std::int64_t>(windows, std::max<std::int64_t>(1, wire::kEvaluatedTokensMax / context));
  double nats = 0;
  std::int64_t bytes = 0;
  for (std::int64_t window = 0; window < taken; window += kEvaluationBatch) {
    const Starts starts = spread(window, taken, windows, context);
    STARLING_ASSIGN(const models::Batch batch, windows_at(data, starts, context));
    nats += model.loss(on_device(batch, device)).item<double>() * context;
    bytes += bytes_of(data, batch[1]);
  }
  return session::Evaluation{nats / static_cast<double>(bytes) / std::numbers::ln2, bytes};
}

Result<session::Evaluation> evaluate_samples(const models::Model& model, const wire::RunManifest& manifest,
                                             const Dataset& data, const at::Device& device) {
  const std::int64_t space = space_of(manifest, data);
  const bool labelled = wire::sample_form(manifest) == wire::SampleForm::labelled;
  const std::int64_t most =
      labelled ? kEvaluatedSamplesMax : std::max<std::int64_t>(1, wire::kEvaluatedTokensMax / manifest.model.context);
  const std::int64_t taken = std::min(space, most);
  double nats = 0;
  models::Hits hits;
  for (std::int64_t sample = 0; sample < taken; sample += kEvaluationBatch) {
    const Starts starts = spread(sample, taken, space, 1);
    STARLING_ASSIGN(models::Batch batch, batch_at(manifest, data, starts, kEvaluationSeed));
    batch = on_device(std::move(batch), device);
    const models::Judged judged = model.judge(batch);
    nats += judged.loss.item<double>();
    add(judged.hits, hits);
  }
  return session::Evaluation{nats / static_cast<double>(taken) / std::numbers::ln2, taken, accuracy_of(hits)};
}

}  // namespace

Result<models::Batch> sample_batch(const wire::RunManifest& manifest, const Dataset& data,
                                   const wire::SampleRange& range, const at::Device& reader) {
  STARLING_ASSIGN(const Starts starts, wire::sample_starts(manifest, range, space_of(manifest, data)));
  return batch_at(manifest, data, starts, mix64(manifest.seed ^ mix64(~static_cast<std::uint64_t>(range.round))),
                  reader);
}

void HeldOutSums::add(const at::Tensor& scores, const models::Batch& batch, std::int64_t scored, const Dataset& data) {
  const std::int64_t rows = batch[0].size(0), length = batch[0].size(1);
  const at::Tensor all = scores.view({rows, length, -1});
  const at::Tensor last = all.narrow(1, length - scored, scored).reshape({rows * scored, -1});
  const at::Tensor tokens = batch[1].narrow(1, length - scored, scored);
  const at::Tensor targets = tokens.reshape({-1}).to(last.device());
  nats += models::class_loss(last, targets).item<double>();
  training::add(models::hits_of(last, targets), hits);
  bytes += bytes_of(data, tokens);
}

session::Evaluation HeldOutSums::evaluation() const {
  return {nats / static_cast<double>(bytes) / std::numbers::ln2, bytes, accuracy_of(hits)};
}

Result<models::Batch> held_out_batch(const Dataset& data, int context, std::int64_t first, std::int64_t count) {
  const wire::HeldOutWindows windows = wire::held_out_windows(data.items(), context);
  if (first < 0 || count < 1 || first + count > windows.taken) {
    return Error{ErrorCode::invalid_argument, "read held-out text: there are no such windows"};
  }
  Starts starts;
  for (std::int64_t window = first; window < first + count; ++window) starts.push_back(windows.start(window));
  return windows_at(data, starts, windows.length);
}

models::Batch on_device(models::Batch batch, const at::Device& device) {
  for (at::Tensor& tensor : batch) tensor = tensor.to(tensor.options().device(device), true);
  return batch;
}

Result<session::Evaluation> evaluate_held_out(const models::Model& model, const wire::RunManifest& manifest,
                                              const Dataset& data, const at::Device& device) {
  const at::NoGradGuard no_grad;
  const int context = manifest.model.context;
  if (wire::sample_form(manifest) != wire::SampleForm::next_token) {
    return evaluate_samples(model, manifest, data, device);
  }
  // A script's loss is of whole windows, not of single tokens.
  if (wire::has_program(manifest.model)) return evaluate_windows(model, context, data, device);
  return evaluate_text(model, context, data, device);
}

}  // namespace starling::training
