#include "shared/net/response_head.h"

#include <algorithm>
#include <charconv>

namespace starling::net {
namespace {

constexpr std::string_view kTokenSymbols = "!#$%&'*+-.^_`|~";  // RFC 9110, section 5.6.2

Error bad(std::string_view why) { return {ErrorCode::corrupt, "read reply: " + std::string(why)}; }

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter_or_digit || kTokenSymbols.find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Accepts digits only: no sign, no white space, no overflow.
bool parse_size(std::string_view text, std::int64_t& out) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "HTTP/1.1 200 OK"
bool parse_status_line(std::string_view line, ResponseHead& head) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  constexpr std::size_t kStatusDigits = 3;
  if (!line.starts_with(kVersion)) return false;
  line.remove_prefix(kVersion.size());
  std::int64_t status = 0;
  if (!parse_size(line.substr(0, kStatusDigits), status) || status < 200 || status > 599) return false;
  head.status = static_cast<int>(status);
  return line.size() == kStatusDigits || line[kStatusDigits] == ' ';
}

// Parses "bytes 100-199/200": only the start matters, as the body's length is in Content-Length.
bool parse_content_range(std::string_view value, ResponseHead& head) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return false;
  value.remove_prefix(kUnit.size());
  if (value.starts_with('*')) return true;  // a 416's form
  std::int64_t start = 0;
  if (!parse_size(value.substr(0, value.find('-')), start)) return false;
  head.range_start = start;
  return true;
}

Status parse_field(std::string_view line, ResponseHead& head, bool& has_length) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad("a header field has no name");
  const std::string name = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  head.fields.emplace_back(name, value);
  if (name == "content-length") {
    if (has_length || !parse_size(value, head.content_length)) return bad("Content-Length is not one number");
    has_length = true;
  } else if (name == "transfer-encoding" || (name == "content-encoding" && lower(value) != "identity")) {
    return bad("the body is encoded, which was not asked for");
  } else if (name == "content-range") {
    if (!parse_content_range(value, head)) return bad("Content-Range is not a range");
  } else if (name == "content-type") {
    head.content_type = value;
  } else if (name == "connection" && lower(value) == "close") {
    head.keep_alive = false;
  }
  return {};
}

}  // namespace

Result<ResponseHead> parse_response_head(std::string_view text) {
  constexpr std::string_view kLineEnd = "\r\n";
  if (text.size() > kResponseHeadBytesMax) return bad("the head is too long");
  if (!text.ends_with("\r\n\r\n")) return bad("the head is not complete");
  text.remove_suffix(kLineEnd.size());  // leaves each line with its end
  ResponseHead head;
  bool has_status = false;
  bool has_length = false;
  while (!text.empty()) {
    const std::size_t end = text.find(kLineEnd);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + kLineEnd.size());
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return bad("a stray line end");
    if (has_status) {
      STARLING_TRY(parse_field(line, head, has_length));
    } else if (!parse_status_line(line, head)) {
      return bad("it does not begin as an HTTP/1.1 reply");
    }
    has_status = true;
  }
  constexpr int kNoContent = 204;
  if (!has_length && head.status != kNoContent) return bad("Content-Length is missing");
  return head;
}

}  // namespace starling::net
