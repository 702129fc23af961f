// TorchScript programs with their parameters, as an operator would supply them, made without Python.
#pragma once

#include <string>
#include <vector>

#include "shared/run/model_options.h"

namespace starling::training::testing {

struct ScriptFiles {
  std::string program;     // in the format of torch.jit.save
  std::string parameters;  // safetensors
  std::vector<wire::ScriptModel::Tensor> tensors;
};

// `forward`: the method's source. "self.NAME" is a parameter, or one of the buffers, which hold zeros.
ScriptFiles make_script(const std::vector<wire::ScriptModel::Tensor>& tensors, const std::string& forward,
                        const std::vector<wire::ScriptModel::Tensor>& buffers = {});

// A perceptron of one hidden layer with that many inputs and classes: "hidden_weight", "hidden_bias", "classes_weight",
// "classes_bias". `dropout`: the share of the hidden layer's outputs that are dropped.
ScriptFiles perceptron(std::int64_t inputs, std::int64_t width, std::int64_t classes, double dropout = 0);

// Guesses each byte from the one before: the model of tests/e2e/export_model.py.
ScriptFiles byte_guesser();

// Fills in the manifest's description of the script.
void describe(const ScriptFiles& files, wire::ModelOptions& model);

}  // namespace starling::training::testing
