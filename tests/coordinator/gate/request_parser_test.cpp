#include "coordinator/gate/request_parser.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace starling::gate;
using State = RequestParser::State;

namespace {

const GateLimits kLimits;

// The status of the refusal; 0 if the request is complete, -1 if more is needed.
int outcome(const std::string& bytes, const GateLimits& limits = kLimits) {
  RequestParser parser(limits);
  parser.feed(bytes);
  if (parser.state() == State::refused) return parser.refusal().status;
  return parser.state() == State::complete ? 0 : -1;
}

std::string with_header(const std::string& line) { return "POST / HTTP/1.1\r\nHost: x\r\n" + line + "\r\n\r\n"; }

}  // namespace

TEST_CASE("a request is taken apart") {
  RequestParser parser(kLimits);
  const std::string bytes = "POST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\nContent-Length: 5\r\n\r\nhello";
  CHECK(parser.feed(bytes + "GET") == bytes.size());
  REQUIRE(parser.state() == State::complete);
  const RawRequest request = parser.take();
  CHECK(request.method == "POST");
  CHECK(request.target == "/a%20b?c=d");
  REQUIRE(request.headers.size() == 3);
  CHECK(request.headers[1] == std::pair<std::string, std::string>("X-Y", "z"));
  CHECK(request.body == "hello");
  CHECK(request.keep_alive);
  CHECK_FALSE(parser.begun());
}

TEST_CASE("how the bytes are cut makes no difference") {
  const std::string good = "\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
  const std::string bad = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5x\r\n\r\nhello";
  for (const std::string& bytes : {good, bad}) {
    const int whole = outcome(bytes);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      RequestParser parser(kLimits);
      std::size_t used = parser.feed(bytes.substr(0, cut));
      if (parser.state() == State::head || parser.state() == State::body) used += parser.feed(bytes.substr(cut));
      CAPTURE(cut);
      CHECK((parser.state() == State::refused ? parser.refusal().status : 0) == whole);
      if (whole == 0) CHECK(used == bytes.size());
    }
  }
}

TEST_CASE("requests follow one another on one parser") {
  RequestParser parser(kLimits);
  std::string bytes;
  for (int i = 0; i < 3; ++i) bytes += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int i = 0; i < 3; ++i) {
    bytes.erase(0, parser.feed(bytes));
    REQUIRE(parser.state() == State::complete);
    CHECK(parser.take().target == "/" + std::to_string(i));
  }
  CHECK(bytes.empty());
}

TEST_CASE("what two readers could understand differently is refused") {
  CHECK(outcome(with_header("Content-Length: 0\r\nContent-Length: 0")) == 400);
  CHECK(outcome(with_header("Content-Length: 1\r\ncontent-length: 2")) == 400);
  for (const char* length : {"", "zzz", "-1", "+1", "1 ", "0x1", "1,1", "1;1", "１"}) {
    CAPTURE(length);
    const bool trimmed_is_fine = std::string_view(length) == "1 ";
    CHECK(outcome(with_header(std::string("Content-Length: ") + length)) == (trimmed_is_fine ? -1 : 400));
  }
  CHECK(outcome(with_header("Transfer-Encoding: chunked")) == 400);
  CHECK(outcome(with_header("Content-Length: 3\r\nTransfer-Encoding: chunked")) == 400);
  CHECK(outcome(with_header("Transfer-Encoding : identity")) == 400);
  CHECK(outcome(with_header("X: a\r\n b")) == 400);
  CHECK(outcome(with_header("X: a\nContent-Length: 3")) == 400);
  CHECK(outcome(with_header("X: a\rb")) == 400);
  CHECK(outcome(with_header("X Y: a")) == 400);
  CHECK(outcome(with_header(": a")) == 400);
  CHECK(outcome(with_header("no colon")) == 400);
  CHECK(outcome(with_header(std::string("X: a\0b", 6))) == 400);
  CHECK(outcome(with_header("Host: y")) == 400);
}

TEST_CASE("first lines that are none are refused") {
  const std::string rest = "\r\nHost: x\r\n\r\n";
  for (const char* line : {"GET", "GET /", "GET  HTTP/1.1", "GET x HTTP/1.1", "GET http://x/ HTTP/1.1",
                           "GET * HTTP/1.1", "GET /a b HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\xff HTTP/1.1",
                           "G(T / HTTP/1.1", "GET /#x HTTP/1.1", "ABCDEFGHIJKLMNOPQ / HTTP/1.1", ""}) {
    CAPTURE(line);
    CHECK(outcome(line + rest) == 400);
  }
  CHECK(outcome("GET / HTTP/2.0" + rest) == 505);
  CHECK(outcome("GET / http/1.1" + rest) == 505);
  CHECK(outcome("GET / HTTP/1.1\r\n\r\n") == 400);  // no Host
  CHECK(outcome("GET / HTTP/1.0\r\n\r\n") == 0);
}

TEST_CASE("each limit holds to the byte, also when the end never comes") {
  GateLimits limits;
  limits.request_line_bytes_max = 30;
  limits.header_bytes_max = 40;
  limits.headers_max = 3;
  limits.body_bytes_max = 10;
  const auto line_of = [](std::size_t bytes) {
    return "GET /" + std::string(bytes - std::string("GET / HTTP/1.1").size(), 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  CHECK(outcome(line_of(30), limits) == 0);
  CHECK(outcome(line_of(31), limits) == 414);
  CHECK(outcome("GET /" + std::string(100, 'a'), limits) == 414);
  // "Host: x\r\n" is 9 bytes, "X: \r\n" 5.
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(26, 'a') + "\r\n\r\n", limits) == 0);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(27, 'a') + "\r\n\r\n", limits) == 431);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(100, 'a'), limits) == 431);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\n\r\n", limits) == 0);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits) == 431);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789", limits) == 0);
  CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", limits) == 413);
  CHECK(outcome(with_header("Content-Length: 99999999999999999999999999")) == 413);
}

TEST_CASE("who wants to close says so, and who waits to be told to go on is told once") {
  RequestParser parser(kLimits);
  parser.feed("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n");
  CHECK_FALSE(parser.take().keep_alive);
  parser.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(parser.take().keep_alive);
  parser.feed("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  CHECK(parser.take_continue());
  CHECK_FALSE(parser.take_continue());
}

TEST_CASE("random damage never passes a limit") {
  const std::string good = "POST /v1/x?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello";
  std::mt19937 random(20240607);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int changes = 0; changes < 3; ++changes) bytes[random() % bytes.size()] = static_cast<char>(random());
    RequestParser parser(kLimits);
    CHECK(parser.feed(bytes) <= bytes.size());
    if (parser.state() == State::complete) CHECK(parser.take().body.size() <= kLimits.body_bytes_max);
    refused += parser.state() == State::refused ? 1 : 0;
  }
  CHECK(refused > 5'000);
}
