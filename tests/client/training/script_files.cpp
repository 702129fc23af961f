#include "tests/client/training/script_files.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/utils.h>

#include <sstream>
#include <utility>

#include "shared/wire/safetensors.h"

namespace starling::training::testing {

ScriptFiles make_script(const std::vector<wire::ScriptModel::Tensor>& tensors, const std::string& forward,
                        const std::vector<wire::ScriptModel::Tensor>& buffers) {
  torch::jit::Module module("Model");
  const at::Generator chance = at::detail::createCPUGenerator(7);
  std::vector<wire::TensorInfo> infos;
  std::string bytes;
  for (const wire::ScriptModel::Tensor& tensor : tensors) {
    const at::Tensor values = at::randn(tensor.shape, chance) * 0.1;
    bytes.append(static_cast<const char*>(values.data_ptr()), values.nbytes());
    infos.push_back({tensor.name, wire::TensorType::f32, tensor.shape});
    at::Tensor parameter = values.clone();
    parameter.set_requires_grad(true);
    module.register_parameter(tensor.name, parameter, /*is_buffer=*/false);
  }
  for (const wire::ScriptModel::Tensor& buffer : buffers) module.register_buffer(buffer.name, at::zeros(buffer.shape));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(forward);
  std::ostringstream program;
  module.save(program);
  return {program.str(), wire::encode_tensor_head(infos) + bytes, tensors};
}

ScriptFiles perceptron(std::int64_t inputs, std::int64_t width, std::int64_t classes, double dropout) {
  return make_script({{"hidden_weight", {width, inputs}},
                      {"hidden_bias", {width}},
                      {"classes_weight", {classes, width}},
                      {"classes_bias", {classes}}},
                     "def forward(self, values, classes):\n"
                     "    x = torch.addmm(self.hidden_bias, values.flatten(1), self.hidden_weight.t()).relu()\n"
                     "    x = torch.dropout(x, " +
                         std::to_string(dropout) +
                         ", self.training)\n"
                         "    scores = torch.addmm(self.classes_bias, x, self.classes_weight.t())\n"
                         "    return torch.nll_loss(torch.log_softmax(scores, 1), classes)\n");
}

ScriptFiles byte_guesser() {
  return make_script({{"embedding", {256, 64}},
                      {"hidden_weight", {128, 64}},
                      {"hidden_bias", {128}},
                      {"scores_weight", {256, 128}},
                      {"scores_bias", {256}}},
                     "def forward(self, words, targets):\n"
                     "    x = torch.embedding(self.embedding, words.flatten())\n"
                     "    x = torch.addmm(self.hidden_bias, x, self.hidden_weight.t()).relu()\n"
                     "    scores = torch.addmm(self.scores_bias, x, self.scores_weight.t())\n"
                     "    return torch.nll_loss(torch.log_softmax(scores, 1), targets.flatten())\n");
}

void describe(const ScriptFiles& files, wire::ModelOptions& model) {
  model.architecture = wire::Architecture::script;
  model.script.program.sha256.bytes.fill(1);  // a reader of the file has checked its digest before
  model.script.program.bytes = static_cast<std::int64_t>(files.program.size());
  model.script.parameters.sha256.bytes.fill(2);
  model.script.parameters.bytes = static_cast<std::int64_t>(files.parameters.size());
  model.script.tensors = files.tensors;
}

}  // namespace starling::training::testing
