// The model of client/models as anyone would write it with LibTorch's modules, and the plain loop around it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "shared/wire/run_manifest.h"

namespace starling::bench {

class BareLoop {
 public:
  explicit BareLoop(const wire::RunManifest& manifest);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Takes over parameters in the order of wire::model_layout.
  void load(std::span<const float> parameters);
  // Adds the gradient of the mean loss over the windows of `text` that begin at `starts`; that loss in nats.
  double backward(std::span<const std::uint8_t> text, std::span<const std::int64_t> starts);
  // Clips, steps, and forgets the gradient.
  void step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::bench
