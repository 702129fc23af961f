#include "client/storage/checkpoint_format.h"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <limits>

#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

constexpr std::string_view kFormat = "starling-checkpoint-1";
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kWordMax = 128;
constexpr std::int64_t kOffsetMax = std::numeric_limits<std::int64_t>::max();

std::string tensor_name(int vector) { return vector == 0 ? "parameters" : fmt::format("optimizer.{}", vector); }

void write_tensor(wire::JsonWriter& writer, int vector, std::size_t parameter_count) {
  const std::size_t bytes = parameter_count * sizeof(float);
  writer.open(tensor_name(vector), '{');
  writer.text("dtype", "F32");
  writer.open("shape", '[');
  writer.integer("", static_cast<std::int64_t>(parameter_count));
  writer.close(']');
  writer.open("data_offsets", '[');
  writer.integer("", static_cast<std::int64_t>(bytes * static_cast<std::size_t>(vector)));
  writer.integer("", static_cast<std::int64_t>(bytes * static_cast<std::size_t>(vector + 1)));
  writer.close(']');
  writer.close('}');
}

// Refuses unless the list holds exactly these integers.
void expect_integers(wire::JsonReader& reader, std::string_view name, std::span<const std::size_t> expected) {
  std::size_t count = 0;
  bool equal = true;
  reader.list(name, expected.size(), [&](wire::JsonReader& item) {
    std::int64_t value = 0;
    item.integer("", value, 0, kOffsetMax);
    equal = equal && static_cast<std::size_t>(value) == expected[count];
    ++count;
  });
  if (!equal || count != expected.size()) reader.refuse(name, "not what this run's model has");
}

void expect_tensor(wire::JsonReader& reader, int vector, std::size_t parameter_count) {
  const std::size_t bytes = parameter_count * sizeof(float);
  reader.object(tensor_name(vector), [&](wire::JsonReader& tensor) {
    std::string type;
    tensor.text("dtype", type, kWordMax);
    if (type != "F32") tensor.refuse("dtype", "not F32");
    const std::size_t shape[] = {parameter_count};
    expect_integers(tensor, "shape", shape);
    const std::size_t offsets[] = {bytes * static_cast<std::size_t>(vector),
                                   bytes * static_cast<std::size_t>(vector + 1)};
    expect_integers(tensor, "data_offsets", offsets);
  });
}

void read_metadata(wire::JsonReader& metadata, const StateShape& shape, CheckpointInfo& info) {
  std::string format;
  metadata.text("format", format, kWordMax);
  if (format != kFormat) metadata.refuse("format", "not a checkpoint of this version");
  metadata.text("run_id", info.run_id, kWordMax);
  if (info.run_id != shape.run_id) metadata.refuse("run_id", "another run's");
  std::string round;  // metadata values are strings in this layout
  metadata.text("round", round, kWordMax);
  const auto parsed = std::from_chars(round.data(), round.data() + round.size(), info.round);
  if (parsed.ec != std::errc() || parsed.ptr != round.data() + round.size() || info.round < 0) {
    metadata.refuse("round", "not a number");
  }
  wire::read_id(metadata, "state_digest", info.state_digest);
}

}  // namespace

std::string encode_head(const CheckpointInfo& info, const StateShape& shape) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.open("__metadata__", '{');
  writer.text("format", kFormat);
  writer.text("run_id", info.run_id);
  writer.text("round", std::to_string(info.round));
  writer.text("state_digest", info.state_digest.hex());
  writer.close('}');
  for (int vector = 0; vector <= shape.optimizer_vectors; ++vector) write_tensor(writer, vector, shape.parameter_count);
  writer.close('}');
  std::string header = std::move(writer.str());
  while ((kHeaderLengthBytes + header.size()) % kAlignment != 0) header += ' ';
  const std::uint64_t length = header.size();
  std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  return head + header;
}

Result<std::size_t> decode_header_length(std::span<const std::uint8_t, kHeaderLengthBytes> first,
                                         std::uint64_t file_bytes, const StateShape& shape) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kHeaderLengthBytes; ++i) length |= std::uint64_t{first[i]} << (8 * i);
  if (length > kCheckpointHeaderMax) {
    return Error{ErrorCode::corrupt,
                 fmt::format("claims a header of {} bytes; at most {} are possible", length, kCheckpointHeaderMax)};
  }
  const std::uint64_t expected = kHeaderLengthBytes + length + shape.data_bytes();
  if (file_bytes != expected) {
    return Error{ErrorCode::corrupt, fmt::format("has {} bytes where this run's state makes {}", file_bytes, expected)};
  }
  return static_cast<std::size_t>(length);
}

Result<CheckpointInfo> decode_header(std::string_view json, const StateShape& shape) {
  auto info = wire::decode_json<CheckpointInfo>(
      json, "header", kCheckpointHeaderMax, [&](wire::JsonReader& reader, CheckpointInfo& read) {
        reader.object("__metadata__", [&](wire::JsonReader& metadata) { read_metadata(metadata, shape, read); });
        for (int vector = 0; vector <= shape.optimizer_vectors; ++vector) {
          expect_tensor(reader, vector, shape.parameter_count);
        }
      });
  if (!info.ok()) return Error{ErrorCode::corrupt, info.error().message};
  return info;
}

}  // namespace starling::storage
