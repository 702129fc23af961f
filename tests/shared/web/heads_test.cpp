#include "shared/web/heads.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace starling;
using web::Head;
using web::Heads;

namespace {

// The final head of a reply with these lines; it must be complete with the last one, and not before.
Head head_of(const std::vector<std::string>& lines) {
  Heads heads;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto complete = heads.take(lines[i] + "\r\n");
    REQUIRE(complete.ok());
    CHECK(*complete == (i + 1 == lines.size()));
  }
  return heads.head();
}

}  // namespace

TEST_CASE("a head says where its body begins and how it ends") {
  const Head plain = head_of({"HTTP/1.1 200 OK", "content-LENGTH:  12 ", "X: y", ""});
  CHECK(plain.status == 200);
  CHECK(plain.length == 12);
  CHECK(plain.is_framed());
  CHECK_FALSE(plain.encoded);
  CHECK_FALSE(plain.is_redirect());
  const Head old = head_of({"HTTP/1.0 200", ""});
  CHECK_FALSE(old.is_framed());
  const Head chunked = head_of({"HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 9", ""});
  CHECK(chunked.is_framed());
  CHECK_FALSE(chunked.length.has_value());  // it is not what counts
  const Head part = head_of({"HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", ""});
  CHECK(part.range_start == 100);
  CHECK_FALSE(head_of({"HTTP/1.1 416 No", "Content-Range: bytes */200", ""}).range_start.has_value());
  CHECK_FALSE(head_of({"HTTP/1.1 206 Odd", "Content-Range: bytes -5/200", ""}).range_start.has_value());
  CHECK(head_of({"HTTP/1.1 200 OK", "Content-Encoding: gzip", ""}).encoded);
  CHECK_FALSE(head_of({"HTTP/1.1 200 OK", "Content-Encoding: Identity", ""}).encoded);
}

TEST_CASE("only a redirect that says where to is one") {
  for (const char* status : {"301", "302", "303", "307", "308"}) {
    CAPTURE(status);
    const Head head = head_of({std::string("HTTP/1.1 ") + status + " X", "Location: /a", "Location: /b", ""});
    CHECK(head.is_redirect());
    CHECK(head.location == "/a");
    CHECK_FALSE(head_of({std::string("HTTP/1.1 ") + status + " X", ""}).is_redirect());
  }
  CHECK_FALSE(head_of({"HTTP/1.1 201 Created", "Location: /a", ""}).is_redirect());
}

TEST_CASE("provisional heads, folded lines and trailers count for nothing") {
  Heads heads;
  for (const char* line : {"HTTP/1.1 103 Early Hints\r\n", "Content-Length: 5\r\n", "\r\n", "HTTP/1.1 200 OK\r\n",
                           "X: y\r\n", " Content-Length: 7\r\n"}) {
    CHECK_FALSE(*heads.take(line));
  }
  CHECK(*heads.take("\r\n"));
  CHECK_FALSE(heads.head().length.has_value());
  CHECK_FALSE(*heads.take("Content-Length: 7\r\n"));
  CHECK_FALSE(*heads.take("\r\n"));
  CHECK_FALSE(heads.head().length.has_value());
}

TEST_CASE("a length that is no number, two of them, and heads without an end are refused") {
  for (const char* length : {"-1", "+5", "0x10", "5 5", "99999999999999999999", ""}) {
    CAPTURE(length);
    Heads heads;
    CHECK(heads.take("HTTP/1.1 200 OK\r\n").ok());
    CHECK(heads.take(std::string("Content-Length: ") + length + "\r\n").error().code == ErrorCode::corrupt);
  }
  Heads two;
  CHECK(two.take("Content-Length: 5\r\n").ok());
  CHECK(two.take("Content-Length: 5\r\n").ok());
  CHECK_FALSE(two.take("Content-Length: 6\r\n").ok());
  Heads endless;
  const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = endless.take(line).status();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::resource_exhausted);
}
