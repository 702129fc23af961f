#include "tests/bench/python_loop.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <utility>

#include "shared/base/files.h"
#include "shared/run/manifest_fields.h"
#include "shared/wire/json_writer.h"
#include "shared/wire/safetensors.h"

namespace starling::bench {

namespace {

constexpr const char* kJob = "job.json";
constexpr const char* kTensors = "tensors.safetensors";

void append(std::string& bytes, const void* values, std::size_t size) {
  bytes.append(static_cast<const char*>(values), size);
}

// A file with "parameters" in the order of wire::model_layout, and the batches' tensors as
// "batch.<micro-batch>.<place>".
std::string tensors_of(std::span<const float> parameters, const std::vector<models::Batch>& batches) {
  std::vector<wire::TensorInfo> infos{
      {"parameters", wire::TensorType::f32, {static_cast<std::int64_t>(parameters.size())}}};
  std::string bytes;
  append(bytes, parameters.data(), parameters.size_bytes());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (std::size_t place = 0; place < batches[i].size(); ++place) {
      const at::Tensor values = batches[i][place].contiguous();
      const auto type = values.is_floating_point() ? wire::TensorType::f32 : wire::TensorType::i64;
      infos.push_back({fmt::format("batch.{}.{}", i, place), type, values.sizes().vec()});
      append(bytes, values.data_ptr(), values.nbytes());
    }
  }
  return wire::encode_tensor_head(infos) + bytes;
}

std::string job_of(const wire::RunManifest& manifest, int threads, std::size_t batches) {
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("threads", threads);
  out.integer("batches", static_cast<std::int64_t>(batches));
  out.number("clip_norm", manifest.optimizer.clip_norm);
  wire::write_fields(out, "model", manifest.model);
  out.integer("recent", manifest.model.recent);  // the default is left out
  out.close('}');
  return out.str();
}

bool has_pytorch(const std::string& python) {
  return std::system(fmt::format("'{}' -c 'import torch' 2> /dev/null", python).c_str()) == 0;
}

}  // namespace

Result<std::unique_ptr<PythonLoop>> PythonLoop::start(const std::string& python, int threads,
                                                      const wire::RunManifest& manifest,
                                                      std::span<const float> parameters,
                                                      const std::vector<models::Batch>& batches) {
  if (python.empty() || !has_pytorch(python)) return std::unique_ptr<PythonLoop>();
  std::unique_ptr<PythonLoop> loop(new PythonLoop());
  STARLING_TRY(write_file_atomically(loop->folder_ / kJob, job_of(manifest, threads, batches.size())));
  STARLING_TRY(write_file_atomically(loop->folder_ / kTensors, tensors_of(parameters, batches)));
  STARLING_ASSIGN(loop->child_, ChildProcess::start({STARLING_PYTHON_LOOP, (loop->folder_ / kJob).string(),
                                                     (loop->folder_ / kTensors).string()},
                                                    python));
  STARLING_ASSIGN(loop->first_loss_, loop->number());
  return loop;
}

Result<double> PythonLoop::number() {
  STARLING_ASSIGN(const std::string line, child_->receive());
  double value = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc()) return value;
  return Error{ErrorCode::corrupt, fmt::format("python_loop.py says '{}' where a number was due", line)};
}

Result<double> PythonLoop::step() {
  STARLING_TRY(child_->send("step"));
  return number();
}

}  // namespace starling::bench
