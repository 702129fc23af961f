#include "coordinator/gate/request_parser.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/gate/text.h"
#include "shared/base/verify.h"

namespace starling::gate {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kMethodBytesMax = 16;
constexpr std::size_t kLengthDigitsMax = 15;

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto allowed = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

bool is_target(std::string_view text) {
  const auto allowed = [](char c) { return c > ' ' && c < 0x7f && c != '#'; };
  return !text.empty() && text.front() == '/' && std::all_of(text.begin(), text.end(), allowed);
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Whether a comma-separated list contains `wanted`.
bool list_has(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equal_without_case(trim(list.substr(0, comma)), wanted)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

std::size_t RequestParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  if (state_ == State::head) used = feed_head(bytes);
  if (state_ == State::body) used += feed_body(bytes.substr(used));
  return used;
}

RawRequest RequestParser::take() {
  VERIFY(state_ == State::complete);
  RawRequest request = std::move(request_);
  request_ = {};
  head_.clear();
  scanned_ = 0;
  skipped_empty_line_ = false;
  http_1_0_ = has_host_ = has_length_ = expects_continue_ = false;
  body_bytes_ = 0;
  state_ = State::head;
  return request;
}

void RequestParser::refuse(int status, std::string reason) {
  state_ = State::refused;
  refusal_ = {status, std::move(reason)};
}

std::size_t RequestParser::feed_head(std::string_view bytes) {
  head_.append(bytes);
  // One empty line before a request is tolerated (RFC 9112, section 2.2).
  if (!skipped_empty_line_ && head_.starts_with(kLineEnd)) {
    head_.erase(0, kLineEnd.size());
    skipped_empty_line_ = true;
  }
  std::size_t line_end = head_.find(kLineEnd);
  if (line_end == std::string::npos) line_end = head_.size() - (head_.ends_with('\r') ? 1 : 0);
  const std::size_t end = head_.find(kHeadEnd, scanned_);
  const std::size_t head_bytes = end == std::string::npos ? head_.size() : end + kHeadEnd.size();
  if (line_end > limits_.request_line_bytes_max) {
    refuse(414, "the request's first line is too long");
  } else if (head_bytes - line_end > limits_.header_bytes_max + kHeadEnd.size()) {
    refuse(431, "the request's headers are too long");
  }
  if (state_ == State::refused) return bytes.size();
  if (end == std::string::npos) {
    scanned_ = head_.size() - std::min(head_.size(), kHeadEnd.size() - 1);
    return bytes.size();
  }
  const std::size_t beyond = head_.size() - head_bytes;
  head_.resize(head_bytes);
  parse_head();
  return bytes.size() - beyond;
}

void RequestParser::parse_head() {
  const std::string_view head = head_;
  const std::size_t line_end = head.find(kLineEnd);
  const std::string_view headers = head.substr(line_end + kLineEnd.size());
  if (!parse_request_line(head.substr(0, line_end))) return;
  if (!parse_headers(headers.substr(0, headers.size() - kLineEnd.size()))) return;
  if (!has_host_ && !http_1_0_) return refuse(400, "the request has no Host header");
  state_ = body_bytes_ == 0 ? State::complete : State::body;
  head_.clear();
  request_.body.reserve(body_bytes_);
}

bool RequestParser::parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    refuse(400, "the request's first line is not 'METHOD /path HTTP/1.1'");
    return false;
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > kMethodBytesMax || !is_target(target)) {
    refuse(400, "the request's method or path is malformed");
    return false;
  }
  http_1_0_ = version == "HTTP/1.0";
  if (!http_1_0_ && version != "HTTP/1.1") {
    refuse(505, "this server speaks HTTP/1.1");
    return false;
  }
  request_.method = method;
  request_.target = target;
  request_.keep_alive = !http_1_0_;
  return true;
}

// `block` consists of lines that each end in CRLF.
bool RequestParser::parse_headers(std::string_view block) {
  while (!block.empty()) {
    const std::size_t end = block.find(kLineEnd);
    VERIFY(end != std::string_view::npos);
    if (request_.headers.size() >= static_cast<std::size_t>(limits_.headers_max)) {
      refuse(431, "the request has too many headers");
      return false;
    }
    if (!parse_header(block.substr(0, end))) return false;
    block.remove_prefix(end + kLineEnd.size());
  }
  return true;
}

bool RequestParser::parse_header(std::string_view line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view value = trim(line.substr(std::min(colon + 1, line.size())));
  // Other readers differ about a name with a blank in it, and about a line that continues the previous one.
  if (colon == line.size() || !is_token(line.substr(0, colon)) || has_control_characters(value)) {
    refuse(400, "a header of the request is malformed");
    return false;
  }
  request_.headers.emplace_back(line.substr(0, colon), value);
  const auto& [name, text] = request_.headers.back();
  return use_header(name, text);
}

bool RequestParser::use_header(const std::string& name, const std::string& value) {
  if (equal_without_case(name, "Content-Length")) return use_content_length(value);
  if (equal_without_case(name, "Transfer-Encoding")) {
    refuse(400, "chunked requests are not taken; send a Content-Length");
    return false;
  }
  if (equal_without_case(name, "Host")) {
    if (has_host_) refuse(400, "the request has two Host headers");
    has_host_ = true;
    return state_ != State::refused;
  }
  if (equal_without_case(name, "Connection")) {
    if (list_has(value, "close")) request_.keep_alive = false;
    if (http_1_0_ && list_has(value, "keep-alive")) request_.keep_alive = true;
  }
  if (equal_without_case(name, "Expect")) expects_continue_ = equal_without_case(value, "100-continue");
  return true;
}

bool RequestParser::use_content_length(std::string_view value) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (has_length_ || value.empty() || !std::all_of(value.begin(), value.end(), digit)) {
    refuse(400, "the request's Content-Length is malformed or given twice");
    return false;
  }
  has_length_ = true;
  std::size_t length = 0;
  if (value.size() <= kLengthDigitsMax) {
    for (const char c : value) length = length * 10 + static_cast<std::size_t>(c - '0');
  }
  if (value.size() > kLengthDigitsMax || length > limits_.body_bytes_max) {
    refuse(413, fmt::format("the request's body may have {} bytes at most", limits_.body_bytes_max));
    return false;
  }
  body_bytes_ = length;
  return true;
}

std::size_t RequestParser::feed_body(std::string_view bytes) {
  const std::string_view part = bytes.substr(0, body_bytes_ - request_.body.size());
  request_.body.append(part);
  if (request_.body.size() == body_bytes_) state_ = State::complete;
  return part.size();
}

}  // namespace starling::gate
