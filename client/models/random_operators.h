// Operators of a TorchScript program that draw random numbers.
#pragma once

#include <optional>
#include <string>

namespace torch::jit {
struct Module;
}  // namespace torch::jit

namespace starling::models {

// The first such operator that the program's loss may use, in training: "aten::dropout". Unset: there is none.
std::optional<std::string> random_operator(const torch::jit::Module& program);

}  // namespace starling::models
