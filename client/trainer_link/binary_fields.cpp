#include "client/trainer_link/binary_fields.h"

#include <fmt/core.h>

namespace starling::trainer_link {

void BinaryReader::refuse(std::string_view why) {
  status_ = Error{ErrorCode::corrupt, fmt::format("field '{}' {}", name_, why)};
}

const std::uint8_t* BinaryReader::take(std::size_t bytes) {
  if (rest_.size() < bytes) {
    refuse("is cut off");
    return nullptr;
  }
  const std::uint8_t* const begin = rest_.data();
  rest_ = rest_.subspan(bytes);
  return begin;
}

void BinaryReader::get(bool& member) {
  const auto value = number<std::uint8_t>();
  if (!value) return;
  if (*value > 1) return refuse("is neither true nor false");
  member = *value == 1;
}

void BinaryReader::get(double& member, const wire::Real& range) {
  const auto value = number<double>();
  if (!value) return;
  if (!(*value >= range.least && *value <= range.most)) return refuse("is out of range");  // NaN is, too
  member = *value;
}

void BinaryReader::get(std::string& member, const wire::Text& text) {
  const auto length = number<std::uint32_t>();
  if (!length) return;
  if (*length > text.bytes_max) return refuse("is too long");
  const std::uint8_t* const begin = take(*length);
  if (begin != nullptr) member.assign(reinterpret_cast<const char*>(begin), *length);
}

}  // namespace starling::trainer_link
