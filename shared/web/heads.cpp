#include "shared/web/heads.h"

#include <algorithm>
#include <charconv>

namespace starling::web {
namespace {

Error bad(std::string_view why) { return {ErrorCode::corrupt, "read reply: " + std::string(why)}; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Accepts digits only: no sign, no white space, no overflow.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t out = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// "HTTP/1.1 200 OK"
std::optional<int> status_of(std::string_view line) {
  constexpr std::size_t kDigits = 3;
  const std::size_t blank = line.find(' ');
  if (!line.starts_with("HTTP/") || blank == std::string_view::npos) return std::nullopt;
  const auto status = number(line.substr(blank + 1, kDigits));
  if (!status || *status < 100 || *status > 999) return std::nullopt;
  return static_cast<int>(*status);
}

}  // namespace

bool Head::is_redirect() const {
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return location.has_value();
    default:
      return false;
  }
}

Result<bool> Heads::take(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > kHeadBytesMax) return Error{ErrorCode::resource_exhausted, "read reply: its head is too long"};
  if (complete_) return false;  // a trailer
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    complete_ = head_.status >= 200;
    if (head_.chunked) head_.length.reset();
    return complete_;
  }
  if (const auto status = status_of(text)) {
    head_ = Head();
    head_.status = *status;
    return false;
  }
  const std::size_t colon = text.find(':');
  const bool folded = line.front() == ' ' || line.front() == '\t';  // it goes on with the field before
  if (colon == std::string_view::npos || folded) return false;
  STARLING_TRY(take_field(lower(trimmed(text.substr(0, colon))), trimmed(text.substr(colon + 1))));
  return false;
}

Status Heads::take_field(std::string_view name, std::string_view value) {
  if (name == "content-length") {
    const auto length = number(value);
    if (!length || (head_.length && head_.length != length)) return bad("Content-Length is not one number");
    head_.length = length;
  } else if (name == "content-range") {
    constexpr std::string_view kUnit = "bytes ";
    if (value.starts_with(kUnit))
      head_.range_start = number(value.substr(kUnit.size(), value.find('-') - kUnit.size()));
  } else if (name == "content-encoding") {
    head_.encoded = head_.encoded || (!value.empty() && lower(value) != "identity");
  } else if (name == "transfer-encoding") {
    head_.chunked = lower(value).ends_with("chunked");
  } else if (name == "location") {
    if (!head_.location) head_.location = value;
  }
  return {};
}

}  // namespace starling::web
