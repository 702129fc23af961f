#include "shared/manifest/signed_feed.h"

#include <doctest/doctest.h>

#include "shared/manifest/signed_text.h"

using namespace starling;
using namespace starling::manifest;
using crypto::PrivateKey;

namespace {

wire::ReleaseFeed good_feed() {
  wire::ReleaseFeed feed;
  feed.serial = 7;
  feed.issued = {1'700'000'000'000};
  feed.valid_until = {1'800'000'000'000};
  feed.version = "1.2.0";
  feed.notes = "Faster \"and\" smaller; für alle.";
  feed.notes_url = "https://example.org/news";
  wire::ReleaseFile file{"linux-x86_64", "starling-1.2.0-linux-x86_64.tar.gz", 1000, 3000, {}};
  file.sha256.bytes.fill(3);
  feed.files = {file};
  return feed;
}

ErrorCode code_of_signing(const wire::ReleaseFeed& feed) {
  const auto text = sign_feed(feed, PrivateKey::generate());
  REQUIRE(!text.ok());
  return text.error().code;
}

}  // namespace

TEST_CASE("a signed feed is believed and says what was signed") {
  const PrivateKey key = PrivateKey::generate();
  const auto text = sign_feed(good_feed(), key);
  REQUIRE(text.ok());
  const auto feed = verify_feed(*text, key.public_key());
  REQUIRE(feed.ok());
  CHECK(wire::encode_feed(*feed) == wire::encode_feed(good_feed()));
}

TEST_CASE("every changed byte of a feed is noticed") {
  const PrivateKey key = PrivateKey::generate();
  const std::string text = *sign_feed(good_feed(), key);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_MESSAGE(!verify_feed(changed, key.public_key()).ok(), "byte ", at);
    CHECK(!verify_feed(text.substr(0, at), key.public_key()).ok());
  }
}

TEST_CASE("a feed of another key is refused as such") {
  const std::string text = *sign_feed(good_feed(), PrivateKey::generate());
  const auto feed = verify_feed(text, PrivateKey::generate().public_key());
  REQUIRE(!feed.ok());
  CHECK(feed.error().code == ErrorCode::permission_denied);
}

TEST_CASE("a signature for another kind of text makes no feed") {
  const PrivateKey key = PrivateKey::generate();
  const TextKind other{"run manifest", "starling run manifest v1\n", "feed", wire::kFeedBytesMax};
  const std::string text = encode_text(other, sign_text(other, wire::encode_feed(good_feed()), key));
  CHECK(verify_feed(text, key.public_key()).error().code == ErrorCode::corrupt);
}

TEST_CASE("feeds with values that no release has are not signed") {
  const auto with = [](auto change) {
    wire::ReleaseFeed feed = good_feed();
    change(feed);
    return code_of_signing(feed);
  };
  const auto bad = ErrorCode::invalid_argument;
  for (const char* version : {"", "1..2", "1.2.", "v1", "1.2-rc", "99999999999"}) {
    CHECK(with([&](auto& feed) { feed.version = version; }) == bad);
  }
  for (const char* name : {"", ".hidden", "a/b", "../up", "a b", "a%2fb"}) {
    CHECK(with([&](auto& feed) { feed.files[0].name = name; }) == bad);
  }
  CHECK(with([](auto& feed) { feed.files[0].bytes = 0; }) == bad);
  CHECK(with([](auto& feed) { feed.files[0].unpacked_bytes = wire::kReleaseBytesMax + 1; }) == bad);
  CHECK(with([](auto& feed) { feed.files[0].platform = ""; }) == bad);
  CHECK(with([](auto& feed) { feed.notes_url = "http://example.org"; }) == bad);
  CHECK(with([](auto& feed) { feed.notes_url = "https://example.org/\"><script>"; }) == bad);
  CHECK(with([](auto& feed) { feed.valid_until.unix_ms = feed.issued.unix_ms - 1; }) == bad);
  CHECK(with([](auto& feed) { feed.files.assign(wire::kReleaseFilesMax + 1, feed.files[0]); }) == bad);
  CHECK(with([](auto& feed) { feed.format = 2; }) == bad);
}
