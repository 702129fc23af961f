// The updater against a host on loopback that sends it on to another one, as download pages do.
#include "client/updates/updater.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "shared/manifest/signed_feed.h"
#include "tests/shared/net/test_server.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::updates;
using testing::Project;
using testing::Reply;

namespace {

struct Host {
  explicit Host(testing::TestServer::Answer answer)
      : server(project, identity(), [this, answer = std::move(answer)](const std::string& request) {
          requests.push_back(request.substr(0, request.find('\r')));
          return answer(request);
        }) {}

  crypto::TlsIdentity identity() {
    const auto key = crypto::PrivateKey::generate();
    return {
        *project.authority().issue_server(key.public_key(), {.now = SystemClock().wall_now(), .hosts = {"127.0.0.1"}}),
        key};
  }
  [[nodiscard]] UpdateSource source(const crypto::PrivateKey& key) const {
    return {{"127.0.0.1", server.endpoint().port},
            "/page/feed.json",
            "/page/",
            {std::nullopt, key.public_key()},
            project.authority().certificate_pem()};
  }

  Project project;
  std::vector<std::string> requests;
  testing::TestServer server;
};

std::string signed_feed(const crypto::PrivateKey& key, const std::string& version) {
  const WallTime now = SystemClock().wall_now();
  wire::ReleaseFeed feed;
  feed.serial = 7;
  feed.issued = now;
  feed.valid_until = {now.unix_ms + 86'400'000};
  feed.version = version;
  return *manifest::sign_feed(feed, key);
}

std::string in_chunks(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (size + bytes) + "\r\n0\r\n\r\n";
}

}  // namespace

TEST_CASE("a feed is found where its host sends the updater on to, and a root that is missing there is none") {
  const auto key = crypto::PrivateKey::generate();
  const std::string feed = signed_feed(key, "99.0.0");
  Host host([&](const std::string& request) -> Reply {
    if (request.starts_with("GET /assets/feed.json ")) return {.bytes = in_chunks(feed)};
    if (request.starts_with("GET /page/")) {
      const std::string name = request.substr(10, request.find(' ', 10) - 10);
      return {.bytes = "HTTP/1.1 302 Found\r\nLocation: /assets/" + name + "\r\nContent-Length: 0\r\n\r\n"};
    }
    return {.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot here\n"};
  });
  const testing::TempDir folder;
  Updater updater(host.source(key), std::nullopt, folder.path());
  const auto found = updater.check(SystemClock().wall_now());
  if (!found.ok()) FAIL(found.error().message);
  CHECK(found->feed.version == "99.0.0");
  CHECK(host.requests == std::vector<std::string>{"GET /page/root.1.json HTTP/1.1", "GET /assets/root.1.json HTTP/1.1",
                                                  "GET /page/feed.json HTTP/1.1", "GET /assets/feed.json HTTP/1.1"});
  CHECK(updater.wire_bytes() > static_cast<std::int64_t>(feed.size()));
  updater.cancel();
  CHECK(updater.check(SystemClock().wall_now()).error().message.find("cancelled") != std::string::npos);
}

TEST_CASE("a feed is not fetched without TLS, nor a longer one than any") {
  const auto key = crypto::PrivateKey::generate();
  const testing::TempDir folder;
  std::string to;
  Host host([&](const std::string& request) -> Reply {
    if (request.find("/root.") != std::string::npos) return {.bytes = "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n"};
    if (to.empty()) return {.bytes = in_chunks(std::string(manifest::kSignedFeedBytesMax + 1, ' '))};
    return {.bytes = "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n"};
  });
  Updater updater(host.source(key), std::nullopt, folder.path());
  CHECK(updater.check(SystemClock().wall_now()).error().code == ErrorCode::resource_exhausted);
  to = "http://127.0.0.1/feed.json";
  const auto refused = updater.check(SystemClock().wall_now());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("it sends on to 'http://127.0.0.1/feed.json', which is not followed") !=
        std::string::npos);
}
