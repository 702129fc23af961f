#include "client/trainer_link/tasks.h"

#include <cstring>

#include "shared/base/verify.h"

namespace starling::trainer_link {
namespace {

// A stretch of the tray, in floats or in whole numbers of their size.
struct Slot {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(std::int32_t) == sizeof(float));

struct PackedTrunkTask {
  std::uint64_t micro_batch = 0;
  std::int32_t segment = 0;
  std::int32_t way = 0;
  std::uint64_t is_held_out = 0;
  Slot experts, places, results, inputs, outputs, inputs_gradient, text, scores;
};

struct PackedCellTask {
  std::int32_t cell = 0;
  std::int32_t is_back = 0;
  Slot counts, rows, inputs, upstream, answer;
};

template <typename Number>
Slot slot_of(std::span<Number> part, std::span<const float> tray) {
  if (part.empty()) return {};
  const auto* const from = reinterpret_cast<const float*>(part.data());
  VERIFY(from >= tray.data() && from + part.size() <= tray.data() + tray.size());
  return {static_cast<std::uint64_t>(from - tray.data()), part.size()};
}

// Takes stretches of a tray, and notes whether one lies outside.
class Places {
 public:
  explicit Places(std::span<float> tray) : tray_(tray) {}
  std::span<float> floats(const Slot& slot) {
    const bool inside = slot.first <= tray_.size() && slot.count <= tray_.size() - slot.first;
    all_inside_ = all_inside_ && inside;
    return inside ? tray_.subspan(slot.first, slot.count) : std::span<float>();
  }
  std::span<std::int32_t> numbers(const Slot& slot) {
    const std::span<float> found = floats(slot);
    return {reinterpret_cast<std::int32_t*>(found.data()), found.size()};
  }
  [[nodiscard]] Status status() const {
    return all_inside_ ? Status() : Error{ErrorCode::corrupt, "a task's values lie outside of the tray"};
  }

 private:
  std::span<float> tray_;
  bool all_inside_ = true;
};

template <typename Packed>
std::string bytes_of(const Packed& packed) {
  return {reinterpret_cast<const char*>(&packed), sizeof packed};
}

template <typename Packed>
Result<Packed> from_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(Packed)) return Error{ErrorCode::corrupt, "these bytes are no task"};
  Packed packed;
  std::memcpy(&packed, bytes.data(), sizeof packed);
  return packed;
}

}  // namespace

std::string pack(const routing::TrunkTask& task, std::span<const float> tray) {
  return bytes_of(PackedTrunkTask{task.step.micro_batch, task.step.segment, static_cast<std::int32_t>(task.step.way),
                                  task.is_held_out ? 1U : 0U, slot_of(task.experts, tray), slot_of(task.places, tray),
                                  slot_of(task.results, tray), slot_of(task.inputs, tray), slot_of(task.outputs, tray),
                                  slot_of(task.inputs_gradient, tray), slot_of(task.text, tray),
                                  slot_of(task.scores, tray)});
}

std::string pack(const CellTask& task, std::span<const float> tray) {
  return bytes_of(PackedCellTask{task.cell, task.is_back ? 1 : 0, slot_of(task.counts, tray), slot_of(task.rows, tray),
                                 slot_of(task.inputs, tray), slot_of(task.upstream, tray), slot_of(task.answer, tray)});
}

Result<routing::TrunkTask> unpack_trunk_task(std::string_view bytes, std::span<float> tray) {
  STARLING_ASSIGN(const PackedTrunkTask packed, from_bytes<PackedTrunkTask>(bytes));
  if (packed.segment < 0 || packed.way < 0 || packed.is_held_out > 1 ||
      packed.way > static_cast<std::int32_t>(routing::Way::judge)) {
    return Error{ErrorCode::corrupt, "these bytes are no task of a trunk"};
  }
  Places places(tray);
  routing::TrunkTask task;
  task.step = {packed.micro_batch, packed.segment, static_cast<routing::Way>(packed.way)};
  task.is_held_out = packed.is_held_out == 1;
  task.experts = places.numbers(packed.experts);
  task.places = places.numbers(packed.places);
  task.results = places.floats(packed.results);
  task.inputs = places.floats(packed.inputs);
  task.outputs = places.floats(packed.outputs);
  task.inputs_gradient = places.floats(packed.inputs_gradient);
  task.text = places.numbers(packed.text);
  task.scores = places.floats(packed.scores);
  STARLING_TRY(places.status());
  return task;
}

Result<CellTask> unpack_cell_task(std::string_view bytes, std::span<float> tray) {
  STARLING_ASSIGN(const PackedCellTask packed, from_bytes<PackedCellTask>(bytes));
  if (packed.is_back != 0 && packed.is_back != 1) {
    return Error{ErrorCode::corrupt, "these bytes are no task of a cell"};
  }
  Places places(tray);
  CellTask task;
  task.cell = packed.cell;
  task.is_back = packed.is_back != 0;
  task.counts = places.numbers(packed.counts);
  task.rows = places.numbers(packed.rows);
  task.inputs = places.floats(packed.inputs);
  task.upstream = places.floats(packed.upstream);
  task.answer = places.floats(packed.answer);
  STARLING_TRY(places.status());
  return task;
}

}  // namespace starling::trainer_link
