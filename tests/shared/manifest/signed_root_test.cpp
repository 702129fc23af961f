#include "shared/manifest/signed_root.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "shared/manifest/signed_feed.h"

using namespace starling;
using namespace starling::manifest;
using crypto::PrivateKey;

namespace {

struct Person {
  std::string name;
  PrivateKey key = PrivateKey::generate();
};

const Person kAnna{"anna"};
const Person kBen{"ben"};
const Person kClara{"clara"};
const Person kDora{"dora"};
const Person kThief{"thief"};
using People = std::initializer_list<const Person*>;

wire::ReleaseRoot root_of(std::int64_t version, People people) {
  wire::ReleaseRoot root;
  root.version = version;
  root.issued = {1'700'000'000'000};
  root.valid_until = {1'800'000'000'000};
  for (const Person* person : people) root.keys.push_back(root_key(person->name, person->key.public_key()));
  return root;
}

std::string sign(JointFile file, People signers) {
  for (const Person* signer : signers) file.signatures.push_back(sign_jointly(file, signer->key));
  return encode_joint_file(file);
}

std::string sign(const wire::ReleaseRoot& root, People signers) {
  return sign(JointFile{JointKind::root, wire::encode_root(root), {}, {}}, signers);
}

std::string signed_feed(People signers) {
  wire::ReleaseFeed feed;
  feed.version = "1.2.0";
  return sign(JointFile{JointKind::feed, wire::encode_feed(feed), {}, {}}, signers);
}

const wire::ReleaseRoot kFirst = root_of(1, {&kAnna, &kBen, &kClara});
const wire::ReleaseRoot kSecond = root_of(2, {&kBen, &kClara, &kDora});  // without anna

// The error's code, and its message for the reader of a failed test.
template <typename T>
ErrorCode code_of(const Result<T>& result) {
  REQUIRE(!result.ok());
  INFO(result.error().message);
  return result.error().code;
}

}  // namespace

TEST_CASE("two of three keys sign a feed, whichever two") {
  for (const People signers : {People{&kAnna, &kBen}, People{&kClara, &kAnna}, People{&kBen, &kClara, &kAnna}}) {
    const auto feed = verify_feed(signed_feed(signers), kFirst);
    REQUIRE(feed.ok());
    CHECK(feed->version == "1.2.0");
  }
}

TEST_CASE("one key alone signs nothing, and the refusal says whose signature is missing") {
  const auto feed = verify_feed(signed_feed({&kBen}), kFirst);
  CHECK(code_of(feed) == ErrorCode::permission_denied);
  CHECK(feed.error().message ==
        "release feed: by root version 1 it has 1 of 2 signatures (ben); missing: 1 more of anna, clara");
  CHECK(code_of(verify_feed(signed_feed({}), kFirst)) == ErrorCode::permission_denied);
  CHECK(code_of(verify_next_root(sign(kSecond, {&kBen}), kFirst)) == ErrorCode::permission_denied);
  wire::ReleaseFeed alone;
  alone.version = "1.0";
  CHECK(code_of(verify_feed(*sign_feed(alone, kBen.key), kFirst)) == ErrorCode::permission_denied);
}

TEST_CASE("a stolen key cannot stand for a second one") {
  CHECK(code_of(verify_feed(signed_feed({&kBen, &kBen}), kFirst)) == ErrorCode::corrupt);
  CHECK(code_of(verify_feed(signed_feed({&kBen, &kThief}), kFirst)) == ErrorCode::permission_denied);
  CHECK(code_of(verify_feed(signed_feed({&kAnna, &kBen, &kThief}), kFirst)) == ErrorCode::permission_denied);
  JointFile file = *decode_joint_file(signed_feed({&kBen}));
  file.signatures.push_back(file.signatures.front());
  file.signatures.back().key_id = decode_joint_file(signed_feed({&kAnna}))->signatures.front().key_id;
  CHECK(code_of(verify_feed(encode_joint_file(file), kFirst)) == ErrorCode::corrupt);
}

TEST_CASE("a lost key is replaced by the two others, and counts no more") {
  const auto second = verify_next_root(sign(kSecond, {&kBen, &kClara}), kFirst);
  REQUIRE(second.ok());
  CHECK(verify_feed(signed_feed({&kDora, &kBen}), *second).ok());
  CHECK(code_of(verify_feed(signed_feed({&kAnna, &kBen}), *second)) == ErrorCode::permission_denied);
}

TEST_CASE("the next root is signed by enough keys of both versions") {
  const wire::ReleaseRoot next = root_of(2, {&kClara, &kDora, &kThief});
  CHECK(code_of(verify_next_root(sign(next, {&kDora, &kThief}), kFirst)) == ErrorCode::permission_denied);
  CHECK(code_of(verify_next_root(sign(next, {&kAnna, &kBen}), kFirst)) == ErrorCode::permission_denied);
  CHECK(code_of(verify_next_root(sign(next, {&kClara, &kDora}), kFirst)) == ErrorCode::permission_denied);
  CHECK(verify_next_root(sign(next, {&kBen, &kClara, &kDora}), kFirst).ok());
  const Person stranger{"stranger"};
  CHECK(code_of(verify_next_root(sign(next, {&kBen, &kClara, &kDora, &stranger}), kFirst)) ==
        ErrorCode::permission_denied);
}

TEST_CASE("roots come one by one") {
  for (const std::int64_t version : {1, 3}) {
    const std::string file = sign(root_of(version, {&kAnna, &kBen, &kClara}), {&kAnna, &kBen});
    CHECK(code_of(verify_next_root(file, kFirst)) == ErrorCode::failed_precondition);
  }
}

TEST_CASE("the first root is signed with the one key of before, too") {
  const Person single{"single"};
  const auto code = [&](const wire::ReleaseRoot& root, People signers) {
    return code_of(verify_first_root(sign(root, signers), single.key.public_key()));
  };
  CHECK(verify_first_root(sign(kFirst, {&kAnna, &kClara, &single}), single.key.public_key()).ok());
  CHECK(code(kFirst, {&kAnna, &kClara}) == ErrorCode::permission_denied);
  CHECK(code(kFirst, {&kAnna, &single}) == ErrorCode::permission_denied);
  CHECK(code(kFirst, {&single}) == ErrorCode::permission_denied);
  CHECK(code(kFirst, {&kAnna, &kClara, &single, &kThief}) == ErrorCode::permission_denied);
  CHECK(code(kSecond, {&kBen, &kClara, &single}) == ErrorCode::failed_precondition);
  // The key of before may be one of the three.
  CHECK(verify_first_root(sign(kFirst, {&kAnna, &kBen}), kAnna.key.public_key()).ok());
  // A program that came with this root does not know that key.
  CHECK(verify_pinned_root(sign(kFirst, {&kAnna, &kClara, &single})).ok());
  CHECK(!verify_pinned_root(sign(kFirst, {&kAnna, &single})).ok());
}

TEST_CASE("a feed serves installations of one key and of three at once") {
  wire::ReleaseFeed feed;
  feed.version = "1.2.0";
  JointFile file{JointKind::feed, wire::encode_feed(feed), {}, {}};
  file.signatures = {sign_jointly(file, kAnna.key), sign_jointly(file, kBen.key)};
  file.single = decode_joint_file(*sign_feed(feed, kThief.key))->single;
  const std::string text = encode_joint_file(file);
  CHECK(verify_feed(text, kFirst).ok());
  CHECK(verify_feed(text, kThief.key.public_key()).ok());
  CHECK(!verify_feed(text, kAnna.key.public_key()).ok());  // a joint signature is none of one key
}

TEST_CASE("every changed byte of a root is noticed") {
  const std::string text = sign(kSecond, {&kBen, &kClara});
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CHECK_MESSAGE(!verify_next_root(changed, kFirst).ok(), "byte ", at);
  }
}

TEST_CASE("signatures of a root are none of a feed") {
  JointFile file = *decode_joint_file(signed_feed({}));
  const JointFile as_root{JointKind::root, file.text, {}, {}};
  file.signatures = {sign_jointly(as_root, kAnna.key), sign_jointly(as_root, kBen.key)};
  CHECK(code_of(verify_feed(encode_joint_file(file), kFirst)) == ErrorCode::corrupt);
  CHECK(code_of(verify_feed(sign(kFirst, {&kAnna, &kBen}), kFirst)) == ErrorCode::corrupt);
}

TEST_CASE("roots with which a lost key would end all updates are refused") {
  const auto refused = [](auto change) {
    wire::ReleaseRoot root = kFirst;
    change(root);
    return !wire::check_root(root).ok() && !wire::decode_root(wire::encode_root(root)).ok();
  };
  CHECK(!refused([](auto&) {}));
  CHECK(refused([](auto& root) { root.threshold = 1; }));
  CHECK(refused([](auto& root) { root.threshold = 3; }));
  CHECK(refused([](auto& root) { root.keys.pop_back(); }));
  CHECK(refused([](auto& root) { root.keys.resize(wire::kRootKeysMax + 1, root.keys[0]); }));
  CHECK(refused([](auto& root) { root.keys[1].spki = root.keys[0].spki; }));
  CHECK(refused([](auto& root) { root.keys[1].name = root.keys[0].name; }));
  CHECK(refused([](auto& root) { root.keys[1].name = "anna\n"; }));
  CHECK(refused([](auto& root) { root.keys[1].spki.pop_back(); }));
  CHECK(refused([](auto& root) { root.version = 0; }));
  CHECK(refused([](auto& root) { root.format = 2; }));
  CHECK(refused([](auto& root) { root.valid_until.unix_ms = root.issued.unix_ms - 1; }));
}

TEST_CASE("a file that is too long is not read") {
  JointFile file{JointKind::root, std::string(wire::kRootBytesMax + 1, ' '), {}, {}};
  CHECK(!decode_joint_file(encode_joint_file(file)).ok());
  file.text = wire::encode_root(kFirst);
  file.signatures.resize(100);
  CHECK(!decode_joint_file(encode_joint_file(file)).ok());
  CHECK(!decode_joint_file("{}").ok());
}
