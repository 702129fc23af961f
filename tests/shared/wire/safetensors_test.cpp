#include "shared/wire/safetensors.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling;
using namespace starling::wire;

namespace {

std::vector<TensorInfo> three_tensors() {
  return {{"words", TensorType::u16, {5}}, {"matrix", TensorType::f32, {2, 3}}, {"scalar", TensorType::i64, {}}};
}

std::string file_of(std::vector<TensorInfo> tensors) {
  std::string file = encode_tensor_head(tensors, {{"made_by", "a test"}});
  file.resize(tensors.back().end, 'x');
  return file;
}

Result<std::vector<TensorInfo>> read(const std::string& file) {
  return read_tensor_head({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, file.size());
}

// A file of `header` and `data_bytes` bytes.
std::string raw(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size() & 0xff);
  file[1] = static_cast<char>(header.size() >> 8);
  return file + header + std::string(data_bytes, 'x');
}

}  // namespace

TEST_CASE("tensors come back with their names, types, shapes and places, aligned") {
  const std::string file = file_of(three_tensors());
  const auto tensors = read(file);
  REQUIRE(tensors.ok());
  REQUIRE(tensors->size() == 3);
  const TensorInfo* matrix = find_tensor(*tensors, "matrix");
  REQUIRE(matrix != nullptr);
  CHECK(matrix->type == TensorType::f32);
  CHECK(matrix->shape == std::vector<std::int64_t>{2, 3});
  CHECK(matrix->elements() == 6);
  CHECK(matrix->end - matrix->begin == 24);
  CHECK(tensors->front().begin % 64 == 0);
  CHECK(tensors->back().end == file.size());
  CHECK(find_tensor(*tensors, "scalar")->elements() == 1);
  CHECK(find_tensor(*tensors, "none") == nullptr);
}

TEST_CASE("a header that lies about sizes, places, types or itself is refused") {
  const std::string good = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  REQUIRE(read(raw(good, 4)).ok());
  CHECK_FALSE(read(raw(good, 5)).ok());  // bytes that belong to no tensor
  CHECK_FALSE(read(raw(good, 3)).ok());
  for (
      const char* header : {
          R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"U9","shape":[4],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})",
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0]}})",
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[-4,0]}})",
          R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
          R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]}})",
          R"({"a":[]})",
          R"([])",
      }) {
    CAPTURE(header);
    CHECK_FALSE(read(raw(header, 4)).ok());
  }
}

TEST_CASE("a file cut short anywhere is refused") {
  const std::string file = file_of(three_tensors());
  for (std::size_t size = 0; size < file.size(); ++size) CHECK_FALSE(read(file.substr(0, size)).ok());
  std::string long_header = file;
  long_header[6] = 1;
  CHECK_FALSE(read(long_header).ok());
}
