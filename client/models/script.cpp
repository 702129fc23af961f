#include "client/models/script.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "client/models/flop_counter.h"
#include "client/models/memory_watch.h"
#include "client/models/random_operators.h"
#include "shared/run/model_layout.h"

namespace starling::models {

namespace {

// A file that lies in memory.
class MemoryFile final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t position, void* out, std::size_t count, const char*) const override {
    if (position > bytes_.size()) return 0;
    const std::size_t taken = std::min<std::size_t>(count, bytes_.size() - static_cast<std::size_t>(position));
    std::memcpy(out, bytes_.data() + position, taken);
    return taken;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

torch::jit::Module open_program(std::span<const std::uint8_t> program,
                                const at::Device& device = at::Device(at::kCPU)) {
  return torch::jit::load(std::make_unique<MemoryFile>(program), device);
}

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("the model's program: " + why); }

at::Tensor mean_loss(torch::jit::Module& module, const Batch& batch) {
  const c10::IValue loss = module.forward(std::vector<c10::IValue>(batch.begin(), batch.end()));
  if (!loss.isTensor() || loss.toTensor().numel() != 1 || !loss.toTensor().is_floating_point()) {
    refuse("forward returns no loss, which is a tensor of one number");
  }
  return loss.toTensor().reshape({});
}

class Script final : public Model {
 public:
  Script(torch::jit::Module module, const wire::ModelOptions& model, const at::Tensor& parameters,
         const at::Tensor& gradient)
      : module_(std::move(module)) {
    bind(model, parameters, gradient);
    for (const auto& buffer : module_.named_buffers()) buffers_.emplace_back(buffer.name, buffer.value.clone());
    module_.train();
  }

  [[nodiscard]] at::Tensor loss(const Batch& batch) const override {
    at::Tensor sum = mean_loss(module_, batch) * static_cast<double>(batch.at(0).size(0));
    if (!std::exchange(looked_at_buffers_, true)) check_buffers();
    return sum;
  }

  // Looked for when it is asked for: that takes a copy of the program.
  [[nodiscard]] std::string random_operator() const override { return models::random_operator(module_).value_or(""); }
  void set_training(bool on) override { module_.train(on); }

 private:
  // Makes the program's parameters views of the flat vectors.
  void bind(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient) {
    std::map<std::string, at::Tensor> own;
    for (const auto& parameter : module_.named_parameters()) own.emplace(parameter.name, parameter.value);
    std::map<const void*, std::pair<at::Tensor, at::Tensor>> views;  // keyed by the values' place in the file
    for (const wire::ParameterInfo& info : wire::model_layout(model)) {
      const auto found = own.find(info.name);
      if (found == own.end()) refuse("it has no parameter '" + info.name + "', which the manifest lists");
      const at::Tensor& tensor = found->second;
      if (tensor.scalar_type() != at::kFloat || tensor.sizes() != at::IntArrayRef(info.shape)) {
        refuse("its parameter '" + info.name + "' is not of the manifest's shape, or not of floats");
      }
      const auto view_of = [&info](const at::Tensor& flat) {
        return flat.narrow(0, static_cast<std::int64_t>(info.offset), static_cast<std::int64_t>(info.count))
            .view(info.shape);
      };
      views.try_emplace(tensor.data_ptr(), view_of(parameters), view_of(gradient));
    }
    // A parameter with two names is one; the manifest may list either.
    for (auto& [name, tensor] : own) {
      const auto view = views.find(tensor.data_ptr());
      if (view == views.end() || view->second.first.sizes() != tensor.sizes()) {
        refuse("its parameter '" + name + "' is not in the manifest");
      }
      tensor.set_data(view->second.first);
      tensor.set_requires_grad(true);
      tensor.mutable_grad() = view->second.second;
    }
  }

  // Refuses norms that keep averages over batches: these would differ between computers.
  void check_buffers() const {
    const at::NoGradGuard no_grad;
    for (const auto& buffer : module_.named_buffers()) {
      for (const auto& [name, before] : buffers_) {
        if (name == buffer.name && !before.equal(buffer.value)) {
          refuse("its buffer '" + name +
                 "' changes as it computes, and volunteers agree on parameters alone: use "
                 "norms over groups or layers, not over batches");
        }
      }
    }
    buffers_.clear();
  }

  mutable torch::jit::Module module_;
  mutable std::vector<std::pair<std::string, at::Tensor>> buffers_;  // values at loading; until they were checked
  mutable bool looked_at_buffers_ = false;
};

}  // namespace

std::unique_ptr<Model> load_script(const wire::ModelOptions& model, const at::Tensor& parameters,
                                   const at::Tensor& gradient, std::span<const std::uint8_t> program) {
  return std::make_unique<Script>(open_program(program, parameters.device()), model, parameters, gradient);
}

std::string random_operator_of(std::span<const std::uint8_t> program) {
  return random_operator(open_program(program)).value_or("");
}

SampleCost count_sample(std::span<const std::uint8_t> program, const SampleShape& sample) {
  Batch batch{at::zeros({1, sample.tokens}, at::kLong), at::zeros({1, sample.tokens}, at::kLong)};
  if (sample.tokens == 0) {
    std::vector<std::int64_t> shape = sample.values;
    shape.insert(shape.begin(), 1);
    batch = {at::zeros(shape), at::zeros({1}, at::kLong)};
  }
  torch::jit::Module module = open_program(program);
  module.train();
  // Bound gradients, as in training.
  for (at::Tensor parameter : module.parameters()) parameter.mutable_grad() = at::zeros_like(parameter);
  const FlopCounter counter;
  const MemoryWatch memory;
  mean_loss(module, batch).backward();
  return {counter.flops(), memory.most()};
}

}  // namespace starling::models
