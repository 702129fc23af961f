// The newest release as its builders announce it, and the keys that count for it: small files that any static host
// serves, beside the files that the feed names. shared/manifest/signed_feed.h and signed_root.h sign them; here are
// their fields, their JSON form and their limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::wire {

constexpr std::size_t kFeedBytesMax = 64 * 1024;
constexpr std::size_t kReleaseFilesMax = 16;
constexpr std::int64_t kReleaseBytesMax = std::int64_t{1} << 34;  // limit for one file, packed or unpacked

// One archive of the release, for one kind of machine.
struct ReleaseFile {
  std::string platform;  // "linux-x86_64"
  std::string name;      // beside the feed on its host: letters, digits, '.', '_', '+' and '-'
  std::int64_t bytes = 0;
  std::int64_t unpacked_bytes = 0;  // room it takes once installed
  Digest sha256;
};

struct ReleaseFeed {
  int format = 1;
  std::int64_t serial = 0;  // grows with every feed that is signed; a lower one than was seen is an old one, replayed
  WallTime issued;
  WallTime valid_until;   // a feed older than this may mean that somebody holds back a newer one
  std::string version;    // dotted numbers
  std::string notes;      // the news for people, in a few sentences
  std::string notes_url;  // more about it: https://…; empty: nothing
  std::vector<ReleaseFile> files;
};

constexpr std::size_t kRootBytesMax = 4096;
constexpr int kRootKeysMin = 3;
constexpr int kRootKeysMax = 8;
constexpr std::int64_t kRootVersionMax = 1'000'000;

// A key of the builders.
struct RootKey {
  std::string name;  // for people: letters, digits, '.', '_', '+' and '-'
  std::string spki;  // Ed25519 SubjectPublicKeyInfo, in lower-case hex
};

// The keys of which `threshold` sign each feed together, and the next root. Each root is signed by the keys of the one
// before and by its own.
struct ReleaseRoot {
  int format = 1;
  std::int64_t version = 1;  // from 1, without gaps
  int threshold = 2;         // at least two, and fewer than there are keys: one may be lost
  WallTime issued;
  WallTime valid_until;  // a root older than this may mean that somebody holds back a newer one
  std::vector<RootKey> keys;
};

// Name of a root's file, beside the feed: "root.3.json".
std::string root_file_name(std::int64_t version);

// The machines this build runs on, in the words of ReleaseFile::platform.
std::string_view this_platform();

std::string encode_feed(const ReleaseFeed& feed);
// corrupt or invalid_argument for anything out of bounds.
Result<ReleaseFeed> decode_feed(std::string_view json);
// invalid_argument, naming the field, for values that no feed may have.
Status check_feed(const ReleaseFeed& feed);

std::string encode_root(const ReleaseRoot& root);
// corrupt or invalid_argument for anything out of bounds.
Result<ReleaseRoot> decode_root(std::string_view json);
// invalid_argument, naming the field, for values that no root may have.
Status check_root(const ReleaseRoot& root);

}  // namespace starling::wire
