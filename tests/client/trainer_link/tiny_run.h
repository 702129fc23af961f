// A run small enough for a test, and a trainer process in it that behaves as the test asks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/trainer_link/trainer_process.h"

namespace starling::trainer_link::testing {

// Gradients are exact: count x (parameter - target), so every number can be predicted.
inline float target_of(std::size_t parameter) { return static_cast<float>(parameter % 7) * 0.125F; }

// Sanitizers reserve more memory than any limit allows, and need system calls that the sandbox refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Text that a child writes at the start of its training data when it begins to hang.
constexpr std::string_view kHanging = "hanging";

wire::RunManifest tiny_manifest(int width = 16, int layers = 1);

// `behaviour` is a text for test_child.cpp: "crash 2", "hang 1" and so on; empty: behaves well.
TrainerProcessOptions tiny_options(const std::string& child, const std::string& behaviour = "");

}  // namespace starling::trainer_link::testing
