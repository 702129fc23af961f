#include "shared/net/response_head.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling;
using net::parse_response_head;

TEST_CASE("a reply's head is read with its fields in any order and case") {
  const auto head = parse_response_head(
      "HTTP/1.1 206 Partial Content\r\nServer: x\r\ncontent-LENGTH: 10\r\nContent-Type:  application/json \r\n"
      "Content-Range: bytes 90-99/100\r\nConnection: close\r\n\r\n");
  REQUIRE(head.ok());
  CHECK(head->status == 206);
  CHECK(head->content_length == 10);
  CHECK(head->content_type == "application/json");
  REQUIRE(head->range_start.has_value());
  CHECK(*head->range_start == 90);
  CHECK(!head->keep_alive);
}

TEST_CASE("connections are kept unless the reply says otherwise, and 204 has no length") {
  CHECK(parse_response_head("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")->keep_alive);
  CHECK(parse_response_head("HTTP/1.1 204\r\n\r\n")->content_length == 0);
}

TEST_CASE("heads that could be read in two ways are refused") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& text : {
           std::string(),
           std::string("\r\n\r\n"),
           ok + "\r\n",
           std::string("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
           std::string("HTTP/1.1 99 x\r\nContent-Length: 0\r\n\r\n"),
           std::string("HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n"),
           std::string("HTTP/1.1 2000 x\r\nContent-Length: 0\r\n\r\n"),
           std::string("HTTP/1.1 -20 x\r\nContent-Length: 0\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\nContent-Length: 1\n\n"),
           ok + "Content-Length: 1\r\n",
           ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
           ok + "Content-Length: -1\r\n\r\n",
           ok + "Content-Length: +1\r\n\r\n",
           ok + "Content-Length: 0x10\r\n\r\n",
           ok + "Content-Length: 99999999999999999999\r\n\r\n",
           ok + "Content-Length: 1, 1\r\n\r\n",
           ok + "Content-Length:\r\n\r\n",
           ok + "Content-Length : 1\r\n\r\n",
           ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           ok + "Content-Length: 1\r\nContent-Encoding: gzip\r\n\r\n",
           ok + "Content-Length: 1\r\n folded: x\r\n\r\n",
           ok + "Content-Length: 1\r\n: x\r\n\r\n",
           ok + "Content-Length: 1\r\nno colon\r\n\r\n",
           ok + "Content-Length: 1\r\nA: b\nC: d\r\n\r\n",
           ok + "Content-Length: 1\r\nContent-Range: lines 1-2\r\n\r\n",
           ok + "Content-Length: 1\r\n\r\nX: y\r\n\r\n",
       }) {
    CAPTURE(text);
    const auto head = parse_response_head(text);
    REQUIRE(!head.ok());
    CHECK(head.error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("a head beyond the limit is refused") {
  const std::string padding(net::kResponseHeadBytesMax, 'x');
  CHECK(!parse_response_head("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nPad: " + padding + "\r\n\r\n").ok());
}

TEST_CASE("all fields are there, in order, by names in lower case") {
  const auto head = parse_response_head("HTTP/1.1 200 OK\r\nRetry-After: 1\r\nContent-Length: 0\r\nX-A:  b \r\n\r\n");
  REQUIRE(head.ok());
  CHECK(head->fields ==
        std::vector<std::pair<std::string, std::string>>{{"retry-after", "1"}, {"content-length", "0"}, {"x-a", "b"}});
}
