#include "coordinator/gate/reply.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/result.h"
#include "shared/protocol/error_reply.h"

namespace starling::gate {
namespace {

constexpr int kRetryAfterSeconds = 2;

struct StatusText {
  int status;
  const char* text;
  ErrorCode code;
};
constexpr StatusText kStatusTexts[] = {
    {400, "Bad Request", ErrorCode::invalid_argument},
    {408, "Request Timeout", ErrorCode::deadline_exceeded},
    {413, "Payload Too Large", ErrorCode::resource_exhausted},
    {414, "URI Too Long", ErrorCode::resource_exhausted},
    {431, "Request Header Fields Too Large", ErrorCode::resource_exhausted},
    {500, "Internal Server Error", ErrorCode::internal},
    {503, "Service Unavailable", ErrorCode::unavailable},
    {505, "HTTP Version Not Supported", ErrorCode::unsupported},
};

}  // namespace

bool FileSlice::read_some(std::string& to, std::size_t bytes_max) {
  const std::size_t wanted = std::min<std::size_t>(bytes_max, static_cast<std::size_t>(left_));
  const std::size_t before = to.size();
  to.resize(before + wanted);
  const ssize_t got = ::pread(fd_, to.data() + before, wanted, offset_);
  if (got <= 0) return false;
  to.resize(before + static_cast<std::size_t>(got));
  offset_ += got;
  left_ -= got;
  return true;
}

Reply error_reply(int status, const std::string& message, bool close) {
  const auto* known = std::find_if(std::begin(kStatusTexts), std::end(kStatusTexts),
                                   [status](const StatusText& each) { return each.status == status; });
  VERIFY(known != std::end(kStatusTexts));
  const std::string body = wire::encode(wire::ErrorReply{std::string(to_string(known->code)), message});
  Reply reply;
  reply.bytes = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", status,
                            known->text, body.size());
  if (status == 503) reply.bytes += fmt::format("Retry-After: {}\r\n", kRetryAfterSeconds);
  if (close) reply.bytes += "Connection: close\r\n";
  reply.bytes += "\r\n" + body;
  reply.close = close;
  return reply;
}

}  // namespace starling::gate
