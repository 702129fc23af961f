#include "shared/manifest/signed_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "shared/crypto/digest.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::manifest {
namespace {

// The contexts are signed in front of the text, so that no signature is valid for two kinds. A feed's differs from the
// one that a single key signs: an older installation's key has no part in a joint signature.
constexpr std::string_view kRootContext = "starling release root v1\n";
constexpr std::string_view kJointFeedContext = "starling release feed v2\n";
constexpr std::size_t kSignaturesMax = 2 * wire::kRootKeysMax + 1;
constexpr std::size_t kSpkiBytes = 44;

std::string_view field_of(JointKind kind) { return kind == JointKind::root ? "root" : "feed"; }
std::string_view name_of(JointKind kind) { return kind == JointKind::root ? "release root" : "release feed"; }

std::string signed_bytes(const JointFile& file) {
  return std::string(file.kind == JointKind::root ? kRootContext : kJointFeedContext) + file.text;
}

Digest key_id_of(const crypto::PublicKey& key) { return crypto::sha256(key.spki()); }

void read_signature(wire::JsonReader& in, KeySignature& out) {
  std::string hex;
  wire::read_id(in, "key_id", out.key_id);
  in.text("signature", hex, 2 * std::tuple_size_v<crypto::Signature>);
  if (!in.status().ok()) return;
  if (const Status status = from_hex(hex, out.signature); !status.ok()) in.refuse("signature", status.error().message);
}

void write_signature(wire::JsonWriter& out, const KeySignature& signature) {
  out.text("key_id", signature.key_id.hex());
  out.text("signature", to_hex(signature.signature));
}

Result<crypto::PublicKey> key_of(const wire::RootKey& key) {
  std::array<std::uint8_t, kSpkiBytes> der{};
  STARLING_TRY(from_hex(key.spki, der));
  auto read = crypto::PublicKey::from_spki(der);
  if (!read.ok()) return read.error().prefixed(fmt::format("release root: the key '{}'", key.name));
  return read;
}

Error damaged(const JointFile& file, std::string_view why) {
  return {ErrorCode::corrupt, fmt::format("{}: {}", name_of(file.kind), why)};
}

Error denied(const JointFile& file, std::string_view why) {
  return {ErrorCode::permission_denied, fmt::format("{}: {}", name_of(file.kind), why)};
}

Result<JointFile> decode_kind(std::string_view json, JointKind kind) {
  STARLING_ASSIGN(JointFile file, decode_joint_file(json));
  if (file.kind == kind) return file;
  return Error{ErrorCode::corrupt, fmt::format("{}: the file is none", name_of(kind))};
}

Status require_enough(const JointFile& file, const Tally& tally, std::int64_t root_version) {
  if (tally.enough()) return {};
  return denied(file, fmt::format("by root version {} it has {}", root_version, tally.words()));
}

bool is_by(const KeySignature& signature, const Digest& key_id) { return signature.key_id == key_id; }

Error stranger(const JointFile& file, const KeySignature& signature) {
  return denied(file, fmt::format("it is signed with a key that does not count, {}", signature.key_id.brief()));
}

}  // namespace

Result<JointFile> decode_joint_file(std::string_view json) {
  constexpr std::size_t kAddedBytesMax = 8 * 1024;
  const auto read = [](wire::JsonReader& in, JointFile& file) {
    file.kind = in.present("root") ? JointKind::root : JointKind::feed;
    in.text(field_of(file.kind), file.text, file.kind == JointKind::root ? wire::kRootBytesMax : wire::kFeedBytesMax,
            wire::TextForm::exact);
    if (in.present("signatures")) {
      in.list("signatures", kSignaturesMax,
              [&](wire::JsonReader& item) { read_signature(item, file.signatures.emplace_back()); });
    }
    if (file.kind == JointKind::feed && in.present("key_id")) read_signature(in, file.single.emplace());
  };
  return wire::decode_json<JointFile>(json, "release file", 2 * wire::kFeedBytesMax + kAddedBytesMax, read);
}

std::string encode_joint_file(const JointFile& file) {
  wire::JsonWriter out;
  out.open("", '{');
  out.text(field_of(file.kind), file.text);
  if (file.single.has_value()) write_signature(out, *file.single);
  out.open("signatures", '[');
  for (const KeySignature& signature : file.signatures) {
    out.open("", '{');
    write_signature(out, signature);
    out.close('}');
  }
  out.close(']');
  out.close('}');
  return std::move(out.str());
}

KeySignature sign_jointly(const JointFile& file, const crypto::PrivateKey& key) {
  return {key_id_of(key.public_key()), key.sign(crypto::as_bytes(signed_bytes(file)))};
}

wire::RootKey root_key(std::string name, const crypto::PublicKey& key) { return {std::move(name), to_hex(key.spki())}; }

std::string Tally::words() const {
  std::string text = fmt::format("{} of {} signature{}", signed_by.size(), threshold, threshold == 1 ? "" : "s");
  if (!signed_by.empty()) text += fmt::format(" ({})", fmt::join(signed_by, ", "));
  if (enough()) return text;
  const auto open = static_cast<std::size_t>(threshold) - signed_by.size();
  return text + fmt::format("; missing: {} more of {}", open, fmt::join(missing, ", "));
}

Result<Tally> tally_signatures(const JointFile& file, const wire::ReleaseRoot& root) {
  Tally tally;
  tally.threshold = root.threshold;
  tally.others = file.signatures;
  const std::string bytes = signed_bytes(file);
  for (const wire::RootKey& known : root.keys) {
    STARLING_ASSIGN(const crypto::PublicKey key, key_of(known));
    const Digest id = key_id_of(key);
    const auto by_key = [&](const KeySignature& signature) { return is_by(signature, id); };
    const auto count = std::count_if(file.signatures.begin(), file.signatures.end(), by_key);
    if (count == 0) {
      tally.missing.push_back(known.name);
      continue;
    }
    if (count > 1) return damaged(file, fmt::format("the key '{}' signed it twice", known.name));
    const auto found = std::find_if(file.signatures.begin(), file.signatures.end(), by_key);
    if (!key.verify(crypto::as_bytes(bytes), found->signature).ok()) {
      return damaged(file, fmt::format("the signature of '{}' is not genuine", known.name));
    }
    tally.signed_by.push_back(known.name);
    std::erase_if(tally.others, by_key);
  }
  return tally;
}

Result<wire::ReleaseRoot> verify_pinned_root(std::string_view json) {
  STARLING_ASSIGN(const JointFile file, decode_kind(json, JointKind::root));
  STARLING_ASSIGN(wire::ReleaseRoot root, wire::decode_root(file.text));
  STARLING_ASSIGN(const Tally own, tally_signatures(file, root));
  STARLING_TRY(require_enough(file, own, root.version));
  return root;
}

Result<wire::ReleaseRoot> verify_first_root(std::string_view json, const crypto::PublicKey& single_key) {
  STARLING_ASSIGN(const JointFile file, decode_kind(json, JointKind::root));
  STARLING_ASSIGN(wire::ReleaseRoot root, wire::decode_root(file.text));
  if (root.version != 1) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("release root: it is version {}, where the first one must be", root.version)};
  }
  STARLING_ASSIGN(const Tally own, tally_signatures(file, root));
  STARLING_TRY(require_enough(file, own, root.version));
  const Digest id = key_id_of(single_key);
  const auto by_single = [&](const KeySignature& signature) { return is_by(signature, id); };
  const auto found = std::find_if(file.signatures.begin(), file.signatures.end(), by_single);
  if (found == file.signatures.end()) {
    return denied(file, "the first one must be signed with the key of before, too");
  }
  if (!single_key.verify(crypto::as_bytes(signed_bytes(file)), found->signature).ok()) {
    return damaged(file, "the signature of the key of before is not genuine");
  }
  for (const KeySignature& other : own.others) {
    if (!by_single(other)) return stranger(file, other);
  }
  return root;
}

Result<wire::ReleaseRoot> verify_next_root(std::string_view json, const wire::ReleaseRoot& root) {
  STARLING_ASSIGN(const JointFile file, decode_kind(json, JointKind::root));
  STARLING_ASSIGN(wire::ReleaseRoot next, wire::decode_root(file.text));
  if (next.version != root.version + 1) {
    return Error{ErrorCode::failed_precondition, fmt::format("release root: it is version {}, where version {} must be",
                                                             next.version, root.version + 1)};
  }
  STARLING_ASSIGN(const Tally before, tally_signatures(file, root));
  STARLING_TRY(require_enough(file, before, root.version));
  STARLING_ASSIGN(const Tally own, tally_signatures(file, next));
  STARLING_TRY(require_enough(file, own, next.version));
  for (const KeySignature& other : own.others) {
    const auto same = [&](const KeySignature& unknown) { return is_by(unknown, other.key_id); };
    if (std::any_of(before.others.begin(), before.others.end(), same)) return stranger(file, other);
  }
  return next;
}

Result<wire::ReleaseFeed> verify_feed(std::string_view json, const wire::ReleaseRoot& root) {
  STARLING_ASSIGN(const JointFile file, decode_kind(json, JointKind::feed));
  STARLING_ASSIGN(const Tally tally, tally_signatures(file, root));
  if (!tally.others.empty()) return stranger(file, tally.others.front());
  STARLING_TRY(require_enough(file, tally, root.version));
  return wire::decode_feed(file.text);
}

}  // namespace starling::manifest
