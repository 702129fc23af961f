#include "client/updates/root_rules.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "shared/manifest/signed_feed.h"
#include "shared/manifest/signed_root.h"

using namespace starling;
using namespace starling::updates;
using crypto::PrivateKey;
using manifest::JointFile;
using manifest::JointKind;

namespace {

constexpr WallTime kNow{1'760'000'000'000};
const PrivateKey kKeys[] = {PrivateKey::generate(), PrivateKey::generate(), PrivateKey::generate()};
const PrivateKey kSingle = PrivateKey::generate();

wire::ReleaseRoot root_of(std::int64_t version) {
  wire::ReleaseRoot root;
  root.version = version;
  root.valid_until = kNow;
  for (const PrivateKey& key : kKeys) {
    root.keys.push_back(
        manifest::root_key(std::string(1, static_cast<char>('a' + root.keys.size())), key.public_key()));
  }
  return root;
}

std::string sign(JointKind kind, const std::string& text, std::initializer_list<PrivateKey> keys) {
  JointFile file{kind, text, {}, {}};
  for (const PrivateKey& key : keys) file.signatures.push_back(manifest::sign_jointly(file, key));
  return manifest::encode_joint_file(file);
}

std::string signed_root(std::int64_t version, std::initializer_list<PrivateKey> keys) {
  return sign(JointKind::root, wire::encode_root(root_of(version)), keys);
}

wire::ReleaseFeed newest() {
  wire::ReleaseFeed feed;
  feed.version = "2.0";
  return feed;
}

const Trust kOneKey{std::nullopt, kSingle.public_key()};

}  // namespace

TEST_CASE("an installation that pins one key follows to a root that this key signed, and then the key counts no more") {
  const std::string alone = *manifest::sign_feed(newest(), kSingle);
  Trust trust = kOneKey;
  CHECK(believed_feed(trust, alone, kNow).ok());
  CHECK(next_root_version(trust) == 1);
  CHECK(!next_root(trust, signed_root(1, {kKeys[0], kKeys[1]})).ok());
  const auto first = next_root(trust, signed_root(1, {kKeys[0], kKeys[1], kSingle}));
  REQUIRE(first.ok());
  trust.root = *first;
  CHECK(believed_feed(trust, alone, kNow).error().code == ErrorCode::permission_denied);
  CHECK(believed_feed(trust, sign(JointKind::feed, wire::encode_feed(newest()), {kKeys[0], kKeys[2]}), kNow).ok());
}

TEST_CASE("the walk goes on from the root that is trusted, version by version") {
  Trust trust{root_of(1), std::nullopt};
  for (std::int64_t version = 2; version < 5; ++version) {
    CHECK(next_root_version(trust) == version);
    CHECK(!next_root(trust, signed_root(version + 1, {kKeys[0], kKeys[1]})).ok());
    const auto next = next_root(trust, signed_root(version, {kKeys[0], kKeys[1]}));
    REQUIRE(next.ok());
    trust.root = *next;
  }
}

TEST_CASE("a root that has run out stops updates with a reason, and its successor may still come") {
  const Trust trust{root_of(1), std::nullopt};
  const std::string feed = sign(JointKind::feed, wire::encode_feed(newest()), {kKeys[0], kKeys[1]});
  CHECK(believed_feed(trust, feed, kNow).ok());
  const auto late = believed_feed(trust, feed, {kNow.unix_ms + 1});
  REQUIRE(!late.ok());
  CHECK(late.error().code == ErrorCode::failed_precondition);
  CHECK(late.error().message.find("ran out on 2025-10-09") != std::string::npos);
  CHECK(next_root(trust, signed_root(2, {kKeys[0], kKeys[1]})).ok());
}

TEST_CASE("neither a program nor a file of before leads back to an older root") {
  CHECK(newer_root(root_of(1), root_of(3))->version == 3);
  CHECK(newer_root(root_of(4), root_of(3))->version == 4);
  CHECK(newer_root(std::nullopt, root_of(3))->version == 3);
  CHECK(newer_root(root_of(2), std::nullopt)->version == 2);
  CHECK(!newer_root(std::nullopt, std::nullopt).has_value());
}
