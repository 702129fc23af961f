#include "client/trainer_link/task_link.h"

#include <utility>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::trainer_link {
namespace {

Request request_of(Command command) {
  Request request;
  request.command = command;
  return request;
}

}  // namespace

TaskLink::TaskLink(ChildLink& link, const wire::RunManifest& trunk,
                   const std::function<Result<UniqueFd>(const wire::SampleRange& samples)>& shard_for)
    : link_(link), trunk_(trunk), shard_for_(shard_for), cells_(wire::cells_of(trunk.model)) {}

Status TaskLink::make_tray(std::size_t floats) {
  STARLING_ASSIGN(tray_, SharedFloats::create(floats, "the values that go to experts and come back"));
  tray_given_ = false;
  return {};
}

Result<CellMemory> TaskLink::hold(wire::CellIndex cell) {
  VERIFY(cell >= 0 && static_cast<std::size_t>(cell) < cells_.size());
  const std::size_t gradient = cells_[static_cast<std::size_t>(cell)].count;
  const std::size_t state = wire::computed_state_size(wire::piece_of(trunk_, cell));
  if (!held_.contains(cell)) {
    STARLING_ASSIGN(SharedFloats floats, SharedFloats::create(state + gradient, "experts and their optimizer"));
    held_.emplace(cell, std::move(floats));
  }
  const std::span<float> all = held_.at(cell).all();
  return CellMemory{all.first(state), all.subspan(state)};
}

void TaskLink::let_go(wire::CellIndex cell) {
  held_.erase(cell);
  if (!cells_given_.erase(cell) || link_.view().starts != given_child_) return;
  Request request = request_of(Command::let_go_cell);
  request.cell = cell;
  (void)link_.call_living(std::move(request), 1);  // a child that is gone holds nothing
}

Status TaskLink::prepare() {
  VERIFY(!tray_.all().empty());
  if (const TrainerProcessView child = link_.view(); child.pid == 0 || child.starts != given_child_) {
    tray_given_ = false;
    cells_given_.clear();
  }
  if (!tray_given_) {
    Request request = request_of(Command::open_tray);
    request.data_fd = tray_.fd();
    STARLING_TRY(link_.call(std::move(request), 1).status());
    given_child_ = link_.view().starts;
    tray_given_ = true;
  }
  for (const auto& [cell, floats] : held_) {
    if (cells_given_.contains(cell)) continue;
    Request request = request_of(Command::hold_cell);
    request.cell = cell;
    request.data_fd = floats.fd();
    STARLING_TRY(link_.call_living(std::move(request), 1).status());
    cells_given_.insert(cell);
  }
  return {};
}

Result<double> TaskLink::run(const routing::TrunkTask& task) {
  STARLING_TRY(prepare());
  if (!begins_window_ && given_child_ != window_child_) {
    return Error{ErrorCode::unavailable, "the trainer that had the micro-batches is gone"};
  }
  Request request = request_of(Command::trunk_task);
  request.begins_sum = std::exchange(begins_window_, false);
  if (request.begins_sum) window_child_ = given_child_;
  request.text = pack(task, tray_.all());
  request.samples = task.samples;
  UniqueFd shard;
  if (shard_for_ && !task.is_held_out && task.text.empty() && task.step.segment == 0 &&
      task.step.way == routing::Way::forth) {
    STARLING_ASSIGN(shard, shard_for_(task.samples));
    request.data_fd = shard.get();
  }
  const double work = trunk_.flops_per_sample * static_cast<double>(task.samples.count);
  STARLING_ASSIGN(const Reply reply, link_.call_living(std::move(request), work));
  return reply.batch.loss_sum;
}

Status TaskLink::run(const CellTask& task) {
  STARLING_TRY(prepare());
  Request request = request_of(Command::cell_task);
  request.text = pack(task, tray_.all());
  const double an_input = 8.0 * trunk_.model.width * trunk_.model.mlp_width * 3;  // operations, both ways
  return link_.call_living(std::move(request), an_input * static_cast<double>(task.rows.size())).status();
}

}  // namespace starling::trainer_link
