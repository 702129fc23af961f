// A run small enough for a test, and a trainer process in it that does what the test asks of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/trainer_link/trainer_process.h"

namespace starling::trainer_link::testing {

// Gradients are exact: count x (parameter - target), so every number can be foretold.
inline float target_of(std::size_t parameter) { return static_cast<float>(parameter % 7) * 0.125F; }

// Sanitizers reserve more memory than any limit allows, and need system calls that the sandbox refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// What a child writes at the start of its training data when it begins to hang.
constexpr std::string_view kHanging = "hanging";

wire::RunManifest tiny_manifest(int width = 16, int layers = 1);

// `behaviour` is what test_child.cpp understands: "crash 2", "hang 1", …; empty: behaves.
TrainerProcessOptions tiny_options(const std::string& child, const std::string& behaviour = "");

}  // namespace starling::trainer_link::testing
