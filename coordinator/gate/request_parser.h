// Strict parsing of bytes into one bounded HTTP/1.1 request: bytes that two readers could take for different requests
// are refused. No I/O; a fuzzer runs this code too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/gate/gate.h"

namespace starling::gate {

// A complete request as received: nothing is decoded, every limit is kept.
struct RawRequest {
  std::string method;
  std::string target;  // begins with '/'
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keep_alive = true;
};

class RequestParser {
 public:
  enum class State : std::uint8_t { head, body, complete, refused };
  struct Refusal {
    int status = 400;
    std::string reason;
  };

  // `limits` must outlive the parser.
  explicit RequestParser(const GateLimits& limits) : limits_(limits) {}

  // Consumes bytes up to the end of the request, or up to the first that is refused; returns their number.
  std::size_t feed(std::string_view bytes);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool begun() const { return state_ != State::head || !head_.empty(); }
  // True once if the client holds its body back until it gets a "100 Continue" (header "Expect: 100-continue").
  bool take_continue() { return state_ == State::body && std::exchange(expects_continue_, false); }
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

  // The request; the parser then starts over. Only in State::complete.
  RawRequest take();

 private:
  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  void refuse(int status, std::string reason);
  void parse_head();
  bool parse_request_line(std::string_view line);
  bool parse_headers(std::string_view block);
  bool parse_header(std::string_view line);
  bool use_header(const std::string& name, const std::string& value);
  bool use_content_length(std::string_view value);

  const GateLimits& limits_;
  State state_ = State::head;
  Refusal refusal_;
  std::string head_;         // not yet parsed; bounded by the limits and one feed()
  std::size_t scanned_ = 0;  // bytes of head_ that hold no end
  RawRequest request_;
  bool skipped_empty_line_ = false;
  bool http_1_0_ = false;
  bool has_host_ = false;
  bool has_length_ = false;
  bool expects_continue_ = false;
  std::size_t body_bytes_ = 0;
};

}  // namespace starling::gate
