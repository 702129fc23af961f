// The keys of a release feed, and texts that several of them sign together, each on its own machine. A root's file is
// {"root","signatures":[{"key_id","signature"},…]}, a feed's {"feed","signatures":[…]}; a feed for installations that
// know one key only carries that key's "key_id" and "signature" as well (signed_feed.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/release_feed.h"

namespace starling::manifest {

constexpr std::size_t kSignedRootBytesMax = 16 * 1024;

// One key's signature of a root or feed.
struct KeySignature {
  Digest key_id;  // SHA-256 of the key's SubjectPublicKeyInfo
  crypto::Signature signature{};
};

// The text of a file that is signed jointly.
enum class JointKind { root, feed };

// A root or feed with the signatures that were collected so far. Nothing of it is verified.
struct JointFile {
  JointKind kind = JointKind::root;
  std::string text;  // the exact bytes that are signed
  std::vector<KeySignature> signatures;
  std::optional<KeySignature> single;  // a feed's, of the one key that older installations know
};

// The kind is what the file's fields say. corrupt for neither kind.
Result<JointFile> decode_joint_file(std::string_view json);
std::string encode_joint_file(const JointFile& file);
KeySignature sign_jointly(const JointFile& file, const crypto::PrivateKey& key);
wire::RootKey root_key(std::string name, const crypto::PublicKey& key);

// Signatures of a file by a root's keys.
struct Tally {
  int threshold = 0;
  std::vector<std::string> signed_by;  // names of keys
  std::vector<std::string> missing;    // names of the root's other keys
  std::vector<KeySignature> others;    // signatures by keys that are not the root's, not verified

  [[nodiscard]] bool enough() const { return static_cast<int>(signed_by.size()) >= threshold; }
  // "1 of 2 signatures (anna); missing: one more of ben, clara".
  [[nodiscard]] std::string words() const;
};
// corrupt when a signature is not genuine, or a key signed twice.
Result<Tally> tally_signatures(const JointFile& file, const wire::ReleaseRoot& root);

// The functions below return what a file says if enough keys signed it. permission_denied when too few did, or a key
// did that does not count; corrupt when it is damaged; failed_precondition for a root of another version.

// A root that came with the program: enough of its own keys must have signed it, and others may have.
Result<wire::ReleaseRoot> verify_pinned_root(std::string_view file);
// Version 1, for an installation that knows one key: signed by that key, too.
Result<wire::ReleaseRoot> verify_first_root(std::string_view file, const crypto::PublicKey& single_key);
// The version after `root`, signed by enough of its keys and enough of its own.
Result<wire::ReleaseRoot> verify_next_root(std::string_view file, const wire::ReleaseRoot& root);
Result<wire::ReleaseFeed> verify_feed(std::string_view file, const wire::ReleaseRoot& root);

}  // namespace starling::manifest
