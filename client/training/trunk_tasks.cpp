#include "client/training/trunk_tasks.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/models/trunk.h"
#include "client/training/precision.h"
#include "client/training/tensor_views.h"
#include "shared/run/model_layout.h"

namespace starling::training {
namespace {

at::Tensor whole_numbers(std::span<const std::int32_t> numbers) {
  return at::tensor(std::vector<std::int64_t>(numbers.begin(), numbers.end()), at::kLong);
}

Error refused(const std::string& why) { return {ErrorCode::invalid_argument, "compute a segment: " + why}; }

}  // namespace

// A segment that ended with experts.
struct TrunkTasks::Passed {
  models::Asked end;      // in the graph of the segment
  at::Tensor gate_loss;   // likewise: of the gate before; undefined for the first segment
  models::Asked asked{};  // its values, in the graph of the next segment
  at::Tensor results{};   // the values that experts gave, likewise
};

struct TrunkTasks::MicroBatch {
  models::Batch batch;
  std::int64_t tokens = 0;
  std::vector<Passed> passed;
  bool is_on_way_back = false;
};

TrunkTasks::TrunkTasks(const wire::ModelOptions& trunk, std::span<float> parameters, std::span<float> gradient,
                       bool bf16)
    : options_(trunk),
      bf16_(bf16),
      trunk_(std::make_unique<models::Trunk>(trunk, vector_view(parameters), vector_view(gradient))) {}

TrunkTasks::~TrunkTasks() = default;

Status TrunkTasks::end_segment(MicroBatch& micro_batch, Passed passed, const Asking& asking) const {
  if (asking.inputs.size() != static_cast<std::size_t>(passed.end.inputs.numel()) ||
      asking.outputs.size() != static_cast<std::size_t>(passed.end.outputs.numel())) {
    return refused("there is other room for what it asks than it needs");
  }
  copy_to(passed.end.inputs.detach(), asking.inputs);
  copy_to(passed.end.outputs.detach(), asking.outputs);
  passed.asked = {passed.end.stream.detach().requires_grad_(true), at::Tensor(),
                  passed.end.outputs.detach().requires_grad_(true)};
  micro_batch.passed.push_back(std::move(passed));
  return {};
}

Status TrunkTasks::check(const MicroBatch& micro_batch, const Answers& answers) const {
  const auto places = static_cast<std::size_t>(micro_batch.tokens * options_.experts.active);
  const auto width = static_cast<std::size_t>(options_.width);
  if (answers.experts.size() != places || answers.results.size() != answers.places.size() * width) {
    return refused("these are not the answers for its tokens");
  }
  const int experts = wire::experts_in_layer(options_);
  const bool known = std::all_of(answers.experts.begin(), answers.experts.end(),
                                 [experts](std::int32_t expert) { return expert < experts; });
  const bool placed = std::all_of(answers.places.begin(), answers.places.end(), [places](std::int32_t place) {
    return place >= 0 && static_cast<std::size_t>(place) < places;
  });
  return known && placed ? Status() : refused("an answer is of an expert or a place that there is not");
}

models::ExpertResults TrunkTasks::take(const Answers& answers, Passed& passed) const {
  passed.results = rows_view(answers.results, options_.width).clone().requires_grad_(true);
  return {whole_numbers(answers.experts).view({-1, options_.experts.active}), whole_numbers(answers.places),
          passed.results};
}

Status TrunkTasks::begin(MicroBatchId id, models::Batch batch, const Asking& asking) {
  if (micro_batches_.contains(id)) return refused("the micro-batch has begun before");
  auto micro_batch = std::make_unique<MicroBatch>();
  micro_batch->batch = std::move(batch);
  micro_batch->tokens = micro_batch->batch.at(0).numel();
  const Precision precision(bf16_, at::kCPU);
  STARLING_TRY(end_segment(*micro_batch, {trunk_->begin(micro_batch->batch.at(0)), {}}, asking));
  micro_batches_.emplace(id, std::move(micro_batch));
  return {};
}

Status TrunkTasks::go_on(MicroBatchId id, const Answers& answers, const Asking& asking) {
  const auto found = micro_batches_.find(id);
  if (found == micro_batches_.end()) return refused("there is no such micro-batch");
  MicroBatch& micro_batch = *found->second;
  const int segment = static_cast<int>(micro_batch.passed.size());
  if (micro_batch.is_on_way_back || segment >= trunk_->segments() - 1) return refused("it is not the next one");
  STARLING_TRY(check(micro_batch, answers));
  Passed& before = micro_batch.passed.back();
  const models::ExpertResults results = take(answers, before);
  const Precision precision(bf16_, at::kCPU);
  models::Middle middle = trunk_->go_on(segment, before.asked, results, micro_batch.batch.at(0).size(0));
  return end_segment(micro_batch, {std::move(middle.asked), std::move(middle.gate_loss)}, asking);
}

Result<TrunkTasks::MicroBatch*> TrunkTasks::at_last(MicroBatchId id, const Answers& answers) {
  const auto found = micro_batches_.find(id);
  if (found == micro_batches_.end()) return refused("there is no such micro-batch");
  MicroBatch& micro_batch = *found->second;
  if (micro_batch.is_on_way_back || static_cast<int>(micro_batch.passed.size()) != trunk_->segments() - 1) {
    return refused("it is not the last one");
  }
  STARLING_TRY(check(micro_batch, answers));
  return &micro_batch;
}

Result<TrunkTasks::Scored> TrunkTasks::judge(MicroBatchId id, const Answers& answers) {
  STARLING_ASSIGN(MicroBatch* const last, at_last(id, answers));
  Passed& before = last->passed.back();
  const models::ExpertResults results = take(answers, before);
  Scored scored;
  {
    const Precision precision(bf16_, at::kCPU);
    scored.scores = trunk_->scores(before.asked, results, last->batch.at(0).size(0));
  }
  scored.batch = std::move(last->batch);
  drop(id);
  return scored;
}

Result<double> TrunkTasks::turn(MicroBatchId id, const Answers& answers) {
  STARLING_ASSIGN(MicroBatch* const last, at_last(id, answers));
  MicroBatch& micro_batch = *last;
  Passed& before = micro_batch.passed.back();
  const models::ExpertResults results = take(answers, before);
  at::Tensor loss;
  {
    const Precision precision(bf16_, at::kCPU);
    loss = trunk_->loss(before.asked, results, micro_batch.batch);
  }
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) {
    drop(id);
    return Error{ErrorCode::corrupt, "train a micro-batch: its loss is not finite"};
  }
  loss.backward();
  if (!answers.results.empty()) copy_to(before.results.grad(), answers.results);
  micro_batch.is_on_way_back = true;
  return value;
}

Status TrunkTasks::back(MicroBatchId id, std::span<const float> inputs, std::span<float> results) {
  const auto found = micro_batches_.find(id);
  if (found == micro_batches_.end()) return refused("there is no such micro-batch");
  MicroBatch& micro_batch = *found->second;
  if (!micro_batch.is_on_way_back) return refused("it is not on its way back");
  Passed& passed = micro_batch.passed.back();
  const bool is_first = micro_batch.passed.size() == 1;
  const std::int64_t begun_with = is_first ? 0 : micro_batch.passed.end()[-2].results.numel();
  if (inputs.size() != static_cast<std::size_t>(passed.end.inputs.numel()) ||
      results.size() != static_cast<std::size_t>(begun_with)) {
    return refused("there is other room for gradients than it needs");
  }
  std::vector<at::Tensor> ends{passed.end.stream, passed.end.inputs, passed.end.outputs};
  std::vector<at::Tensor> gradients{passed.asked.stream.grad(), rows_view(inputs, options_.width),
                                    passed.asked.outputs.grad()};
  if (!is_first) {
    ends.push_back(passed.gate_loss);
    gradients.push_back(at::ones_like(passed.gate_loss));
  }
  torch::autograd::backward(ends, gradients);
  if (is_first) {
    micro_batches_.erase(found);
    return {};
  }
  if (!results.empty()) copy_to(micro_batch.passed.end()[-2].results.grad(), results);
  micro_batch.passed.pop_back();
  return {};
}

void TrunkTasks::drop(MicroBatchId id) { micro_batches_.erase(id); }

void TrunkTasks::drop_all() { micro_batches_.clear(); }

}  // namespace starling::training
