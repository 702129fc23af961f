// The models of client/models written in the usual way with LibTorch's modules, and a plain training loop around them.
#pragma once

#include <memory>
#include <span>

#include "client/models/model.h"
#include "shared/run/run_manifest.h"

namespace starling::bench {

class BareLoop {
 public:
  // Builds a gpt with learned positions and a squared rectifier, an albert, or a resnet of 18 layers.
  explicit BareLoop(const wire::RunManifest& manifest);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Takes parameters in the order of wire::model_layout.
  void load(std::span<const float> parameters);
  // Adds the gradient of the batch's mean loss; returns that loss in nats.
  double backward(const models::Batch& batch);
  // Clips, steps, and clears the gradient.
  void step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::bench
