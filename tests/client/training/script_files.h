// TorchScript programs with their parameters, as an operator would bring them, made without Python.
#pragma once

#include <string>
#include <vector>

#include "shared/wire/model_options.h"

namespace starling::training::testing {

struct ScriptFiles {
  std::string program;     // what torch.jit.save writes
  std::string parameters;  // safetensors
  std::vector<wire::ScriptModel::Tensor> tensors;
};

// `forward`: the method's source; "self.NAME" is a parameter or, of zeros, one of the buffers.
ScriptFiles make_script(const std::vector<wire::ScriptModel::Tensor>& tensors, const std::string& forward,
                        const std::vector<wire::ScriptModel::Tensor>& buffers = {});

// A perceptron of one hidden layer: "hidden_weight", "hidden_bias", "classes_weight", "classes_bias", of so many inputs
// and classes. `dropout` of what the hidden layer says.
ScriptFiles perceptron(std::int64_t inputs, std::int64_t width, std::int64_t classes, double dropout = 0);

// Guesses each byte from the one before: the model of tests/e2e/export_model.py.
ScriptFiles byte_guesser();

// The manifest's part of it.
void describe(const ScriptFiles& files, wire::ModelOptions& model);

}  // namespace starling::training::testing
