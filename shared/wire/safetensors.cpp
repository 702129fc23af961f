#include "shared/wire/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kTensorsMax = 20'000;
constexpr std::size_t kDimensionsMax = 8;
constexpr std::size_t kWordMax = 16;
constexpr std::int64_t kSizeMax = std::int64_t{1} << 48;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeName {
  TensorType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kTypes = {
    TypeName{TensorType::u8, "U8", 1},   TypeName{TensorType::u16, "U16", 2}, TypeName{TensorType::i32, "I32", 4},
    TypeName{TensorType::i64, "I64", 8}, TypeName{TensorType::f32, "F32", 4},
};

Error bad(std::string_view why) { return {ErrorCode::corrupt, fmt::format("tensor file: {}", why)}; }

// Returns the bytes of a tensor; none when they are more than a file can have.
std::optional<std::uint64_t> size_of(const TensorInfo& tensor) {
  std::uint64_t bytes = bytes_of(tensor.type);
  for (const std::int64_t size : tensor.shape) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor != 0 && bytes > static_cast<std::uint64_t>(kSizeMax) / factor) return std::nullopt;
    bytes *= factor;
  }
  return bytes;
}

TensorInfo read_tensor(std::string_view name, JsonReader& reader) {
  TensorInfo tensor;
  tensor.name = name;
  std::string type;
  reader.text("dtype", type, kWordMax);
  const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& t) { return t.name == type; });
  if (known == kTypes.end()) {
    reader.refuse("dtype", fmt::format("it is '{}', and must be one of U8, U16, I32, I64 and F32", type));
  } else {
    tensor.type = known->type;
  }
  reader.list("shape", kDimensionsMax,
              [&](JsonReader& item) { item.integer("", tensor.shape.emplace_back(), 0, kSizeMax); });
  std::vector<std::int64_t> place;
  reader.list("data_offsets", 2, [&](JsonReader& item) { item.integer("", place.emplace_back(), 0, kSizeMax); });
  if (place.size() != 2) {
    reader.refuse("data_offsets", "must be two numbers");
  } else {
    tensor.begin = static_cast<std::uint64_t>(place[0]);
    tensor.end = static_cast<std::uint64_t>(place[1]);
  }
  return tensor;
}

// Checks places, still counted from the header's end: in their order and without gaps.
Status check_places(std::vector<TensorInfo>& tensors, std::uint64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t next = 0;
  for (const TensorInfo& tensor : tensors) {
    const auto size = size_of(tensor);
    if (tensor.begin != next || !size || tensor.end < tensor.begin || tensor.end - tensor.begin != *size) {
      return bad(fmt::format("'{}' does not lie where its shape and the tensors before it say", tensor.name));
    }
    next = tensor.end;
  }
  return next == data_bytes ? Status() : bad("its tensors do not fill it");
}

}  // namespace

std::string_view to_string(TensorType type) { return kTypes[static_cast<std::size_t>(type)].name; }
std::size_t bytes_of(TensorType type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

std::int64_t TensorInfo::elements() const { return static_cast<std::int64_t>((end - begin) / bytes_of(type)); }

Result<std::vector<TensorInfo>> read_tensor_head(std::span<const std::uint8_t> start, std::uint64_t file_bytes) {
  if (start.size() < kLengthBytes) return bad("it is shorter than its header");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint64_t{start[i]} << (8 * i);
  if (length > kTensorHeadBytesMax - kLengthBytes) return bad(fmt::format("it claims a header of {} bytes", length));
  const std::uint64_t data_at = kLengthBytes + length;
  if (data_at > start.size() || data_at > file_bytes) return bad("it is shorter than its header");
  const std::string_view json(reinterpret_cast<const char*>(start.data()) + kLengthBytes,
                              static_cast<std::size_t>(length));
  auto document = JsonDocument::parse(json, kTensorHeadBytesMax);
  if (!document.ok()) return bad(document.error().message);
  std::vector<TensorInfo> tensors;
  JsonReader root = document->root();
  root.fields(kTensorsMax, [&](std::string_view name, JsonReader& reader) {
    if (name != kMetadata) tensors.push_back(read_tensor(name, reader));
  });
  if (!root.status().ok()) return bad(root.status().error().message);
  STARLING_TRY(check_places(tensors, file_bytes - data_at));
  for (TensorInfo& tensor : tensors) {
    tensor.begin += data_at;
    tensor.end += data_at;
  }
  return tensors;
}

const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors, std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string encode_tensor_head(std::vector<TensorInfo>& tensors,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  JsonWriter writer;
  writer.open("", '{');
  if (!metadata.empty()) {
    writer.open(kMetadata, '{');
    for (const auto& [name, value] : metadata) writer.text(name, value);
    writer.close('}');
  }
  std::uint64_t next = 0;
  for (TensorInfo& tensor : tensors) {
    tensor.begin = next;
    next += size_of(tensor).value_or(0);
    tensor.end = next;
    writer.open(tensor.name, '{');
    writer.text("dtype", to_string(tensor.type));
    writer.open("shape", '[');
    for (const std::int64_t size : tensor.shape) writer.integer("", size);
    writer.close(']');
    writer.open("data_offsets", '[');
    writer.integer("", static_cast<std::int64_t>(tensor.begin));
    writer.integer("", static_cast<std::int64_t>(tensor.end));
    writer.close(']');
    writer.close('}');
  }
  writer.close('}');
  std::string header = std::move(writer.str());
  while ((kLengthBytes + header.size()) % kAlignment != 0) header += ' ';
  std::string head;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    head += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i) & 0xff);
  }
  for (TensorInfo& tensor : tensors) {
    tensor.begin += head.size() + header.size();
    tensor.end += head.size() + header.size();
  }
  return head + header;
}

}  // namespace starling::wire
