#include "coordinator/web/compression.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace starling::web {
namespace {

constexpr std::size_t kWorthwhileBytes = 1000;  // less fits in a packet or two anyway
constexpr int kLevel = 6;                       // a page takes about a millisecond
constexpr int kGzipWindow = 15 + 16;            // zlib's notation for a gzip header instead of its own
constexpr int kMemoryLevel = 8;

// Empty if memory is short.
std::optional<std::string> gzipped(const std::string& text) {
  z_stream stream{};
  if (::deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string bytes(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib only reads there
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  ::deflate(&stream, Z_FINISH);  // all of it fits
  bytes.resize(stream.total_out);
  ::deflateEnd(&stream);
  return bytes;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

bool takes_gzip(const gate::Request& request) {
  std::string_view rest = request.header("Accept-Encoding");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view each = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t mark = std::min(each.find(';'), each.size());
    if (trimmed(each.substr(0, mark)) != "gzip") continue;
    // Accepts every weight except zero, as in "gzip;q=0".
    return each.substr(mark).find_first_of("123456789") != std::string_view::npos || mark == each.size();
  }
  return false;
}

gate::Response compressed(gate::Response response) {
  if (response.body.size() < kWorthwhileBytes) return response;
  std::optional<std::string> body = gzipped(response.body);
  if (!body) return response;
  response.body = std::move(*body);
  response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

}  // namespace starling::web
