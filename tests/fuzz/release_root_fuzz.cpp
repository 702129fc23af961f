#include "shared/manifest/signed_root.h"
#include "shared/protocol/release_feed.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const crypto::PublicKey key = crypto::PrivateKey::generate().public_key();
  const auto text = testing::text_of(data, size);
  VERIFY(!manifest::verify_first_root(text, key).ok());  // this key has signed nothing
  if (const auto root = wire::decode_root(text); root.ok()) {
    const std::string written = wire::encode_root(*root);
    const auto again = wire::decode_root(written);
    VERIFY(again.ok() && wire::encode_root(*again) == written);
    VERIFY(root->threshold >= 2 && root->threshold < static_cast<int>(root->keys.size()));
  }
  const auto file = manifest::decode_joint_file(text);
  if (!file.ok()) return 0;
  const std::string written = manifest::encode_joint_file(*file);
  const auto again = manifest::decode_joint_file(written);
  VERIFY(again.ok() && manifest::encode_joint_file(*again) == written);
  const auto root = wire::decode_root(file->text);
  if (!root.ok()) return 0;
  VERIFY(!manifest::verify_next_root(text, *root).ok());  // it is no successor of itself
  const auto tally = manifest::tally_signatures(*file, *root);
  if (tally.ok()) VERIFY(tally->signed_by.size() + tally->missing.size() == root->keys.size());
  return 0;
}
