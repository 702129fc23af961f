// Files by their digest: training data, and everything else that a manifest names.
#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"

namespace starling::api {
namespace {

// Reads "bytes=N-" and nothing else; a header of any other form is ignored, like HTTP allows.
std::optional<std::int64_t> range_start(std::string_view header) {
  constexpr std::string_view kPrefix = "bytes=";
  if (!header.starts_with(kPrefix) || !header.ends_with('-')) return std::nullopt;
  header = header.substr(kPrefix.size(), header.size() - kPrefix.size() - 1);
  std::int64_t start = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), start);
  if (error != std::errc() || end != header.data() + header.size() || start < 0) return std::nullopt;
  return start;
}

}  // namespace

gate::Response artefact(const Api& api, const gate::Request& request) {
  const auto digest = Digest::from_hex(request.suffix);
  if (!digest) return error_response({ErrorCode::not_found, "an artefact is named by 64 lower-case hex digits"});
  const auto record = api.stores.training.artefacts.find(*digest);
  if (!record) return error_response(told(record.error()));

  gate::Response response;
  response.content_type = "application/octet-stream";
  response.headers = {{"Cache-Control", "public, max-age=31536000, immutable"},
                      {"Accept-Ranges", "bytes"},
                      {"X-Content-Type-Options", "nosniff"}};
  const std::int64_t start = range_start(request.header("Range")).value_or(0);
  if (start > 0) {
    if (start >= record->bytes) {
      response.status = 416;
      response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", record->bytes));
      return response;
    }
    response.status = 206;
    response.headers.emplace_back("Content-Range",
                                  fmt::format("bytes {}-{}/{}", start, record->bytes - 1, record->bytes));
  }
  response.file = gate::FileBody{api.artefacts / digest->hex(), start, record->bytes - start};
  return response;
}

}  // namespace starling::api
