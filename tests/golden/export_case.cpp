// export_case FOLDER: exports a small gpt, a small albert and some small decoders with random parameters, each with a
// case of its own: inputs and our model's outputs. export_test.py compares PyTorch with them.
#include <ATen/ATen.h>
#include <torch/utils.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/models/model.h"
#include "shared/base/files.h"
#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/run/hugging_face.h"
#include "shared/run/model_layout.h"

namespace {

using namespace starling;

// Uniform in ±0.3: large enough that every path matters.
std::vector<float> random_parameters(const wire::ModelOptions& model) {
  std::vector<float> values(wire::parameter_count(model));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>(mix64(i) >> 11) * 0x1p-53 * 0.6 - 0.3);
  }
  return values;
}

at::Tensor random_integers(std::int64_t below, std::vector<std::int64_t> shape, std::uint64_t seed) {
  at::Tensor values = at::empty(shape, at::kLong);
  auto* data = values.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    data[i] = static_cast<std::int64_t>(mix64(seed << 32 | static_cast<std::uint64_t>(i)) %
                                        static_cast<std::uint64_t>(below));
  }
  return values;
}

using Named = std::vector<std::pair<std::string, at::Tensor>>;

void write_tensors(const std::filesystem::path& file, const Named& named) {
  std::vector<wire::TensorInfo> infos;
  for (const auto& [name, tensor] : named) {
    const auto type = tensor.scalar_type() == at::kFloat ? wire::TensorType::f32 : wire::TensorType::i64;
    infos.push_back({name, type, tensor.sizes().vec(), 0, 0});
  }
  std::string bytes = wire::encode_tensor_head(infos);
  for (const auto& [name, tensor] : named) bytes.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  VERIFY(write_file_atomically(file, bytes).ok());
}

// Writes a vector of the parameters' length under the names of its tensors there, and returns config.json.
std::string export_vector(const wire::ModelOptions& model, std::span<const float> vector,
                          const std::filesystem::path& file) {
  wire::ExportedModel exported = wire::export_model(model, wire::DataKind::tokens, vector);
  std::string bytes = wire::encode_tensor_head(exported.tensors);
  for (const auto& values : exported.values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  VERIFY(write_file_atomically(file, bytes).ok());
  return exported.config;
}

struct Case {
  Case(const wire::ModelOptions& model, const std::filesystem::path& folder) : parameters(random_parameters(model)) {
    VERIFY(ensure_directory(folder).ok());
    const std::string config = export_vector(model, parameters, folder / "model.safetensors");
    VERIFY(write_file_atomically(folder / "config.json", config).ok());
    gradient.resize(parameters.size());
    ours = models::make_model(model, flat(parameters), flat(gradient));
  }

  static at::Tensor flat(std::vector<float>& values) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
  }

  std::vector<float> parameters;
  std::vector<float> gradient;
  std::unique_ptr<models::Model> ours;
};

void write_gpt(const std::filesystem::path& folder) {
  wire::ModelOptions model;
  model.layers = 3;
  model.width = 24;
  model.heads = 3;
  model.context = 20;
  model.vocabulary = 50;
  model.activation = wire::Activation::gelu;
  model.recent = 0;
  VERIFY(wire::is_for_transformers(model));
  const Case made(model, folder);
  const at::Tensor tokens = random_integers(model.vocabulary, {2, model.context}, 1);
  const at::Tensor scores = made.ours->next_token_scores(tokens).view({2, model.context, model.vocabulary});
  write_tensors(folder / "case.safetensors", {{"words", tokens}, {"scores", scores}});
}

void write_albert(const std::filesystem::path& folder) {
  wire::ModelOptions model;
  model.architecture = wire::Architecture::albert;
  model.layers = 3;
  model.width = 24;
  model.heads = 3;
  model.context = 20;
  model.vocabulary = 50;
  model.embedding_width = 12;
  model.mlp_width = 40;
  const Case made(model, folder);
  const std::int64_t masked = wire::masked_tokens(model);
  const at::Tensor tokens = random_integers(model.vocabulary, {1, model.context}, 1);
  const at::Tensor segments = random_integers(2, {1, model.context}, 2);
  const at::Tensor places = random_integers(model.context, {1, masked}, 3);
  const at::Tensor guesses = random_integers(model.vocabulary, {1, masked}, 4);
  const at::Tensor order = random_integers(2, {1}, 5);
  const at::Tensor loss = made.ours->loss({tokens, segments, places, guesses, order}).reshape({1});
  write_tensors(folder / "case.safetensors", {{"words", tokens},
                                              {"segments", segments},
                                              {"places", places},
                                              {"guesses", guesses},
                                              {"order", order},
                                              {"loss", loss}});
}

// The scores, and the gradient of the loss, in whose tensors nothing is lost.
void write_decoder(const std::filesystem::path& folder, wire::ModelOptions model) {
  model.architecture = wire::Architecture::decoder;
  model.layers = 3;
  model.width = 24;
  model.heads = 4;
  model.context = 20;
  model.vocabulary = 50;
  model.mlp_width = 40;
  model.experts.load_loss = model.experts.z_loss = 0;
  VERIFY(wire::is_for_transformers(model));
  Case made(model, folder);
  const at::Tensor tokens = random_integers(model.vocabulary, {2, model.context}, 1);
  const at::Tensor targets = random_integers(model.vocabulary, {2, model.context}, 2);
  const at::Tensor scores = made.ours->next_token_scores(tokens).view({2, model.context, model.vocabulary});
  {
    const torch::AutoGradMode with_grad(true);
    made.ours->loss({tokens, targets}).backward();
  }
  export_vector(model, made.gradient, folder / "gradient.safetensors");
  write_tensors(folder / "case.safetensors", {{"words", tokens}, {"targets", targets}, {"scores", scores}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("export_case FOLDER: writes exported models with cases for export_test.py\n", stderr);
    return 2;
  }
  const at::NoGradGuard no_grad;
  const std::filesystem::path folder = argv[1];
  VERIFY(starling::ensure_directory(folder).ok());
  write_gpt(folder / "gpt2");
  write_albert(folder / "albert");
  write_decoder(folder / "llama_tied", {});
  wire::ModelOptions own;
  own.output_layer = wire::OutputLayer::own;
  own.kv_heads = 2;
  write_decoder(folder / "llama", own);
  own.experts.rows = 4;
  write_decoder(folder / "mixtral", own);
  own.experts.columns = 3;
  own.experts.active = 3;
  write_decoder(folder / "mixtral_grid", own);
  return 0;
}
