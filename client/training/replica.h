// A run's model on one device. With several devices, each has a replica of its own, and they share every batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "client/models/model.h"
#include "client/training/batch_ahead.h"
#include "client/training/device_vectors.h"

namespace starling::training {

struct Replica {
  // `given` are the device's vectors; `device_name` is LibTorch's. Throws as make_model does.
  Replica(const std::string& device_name, DeviceVectors given, const wire::ModelOptions& options,
          std::span<const std::uint8_t> program)
      : device(device_name),
        vectors(std::move(given)),
        model(models::make_model(options, vectors.parameters(), vectors.gradient(), program)) {}

  at::Device device;
  DeviceVectors vectors;
  std::unique_ptr<models::Model> model;
  BatchAhead ahead;
};

}  // namespace starling::training
