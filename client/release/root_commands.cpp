#include "client/release/root_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "client/release/key_files.h"
#include "shared/base/calendar.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/shell_words.h"
#include "shared/manifest/signed_feed.h"
#include "shared/manifest/signed_root.h"

namespace starling::release {
namespace {

namespace fs = std::filesystem;
using manifest::JointFile;
using manifest::JointKind;
using manifest::Tally;

// A file whose signatures are collected, and the roots whose keys have to sign it.
struct Collection {
  JointFile file;
  std::optional<wire::ReleaseRoot> own;  // the file itself, if it is a root
  std::optional<wire::ReleaseRoot> by;   // the root before, or the one that a feed goes by
};

Error refused(ErrorCode code, std::string why) { return {code, std::move(why)}; }

// Name for people: "anna" from "keys/anna.key.pub".
std::string name_of_key(const fs::path& path) {
  fs::path name = path.filename();
  for (const char* end : {".pub", ".key"}) {
    if (name.extension() == end) name = name.stem();
  }
  return name.string();
}

Result<std::vector<wire::RootKey>> load_root_keys(const std::vector<fs::path>& paths) {
  std::vector<wire::RootKey> keys;
  for (const fs::path& path : paths) {
    STARLING_ASSIGN(const crypto::PublicKey key, load_public_key(path));
    keys.push_back(manifest::root_key(name_of_key(path), key));
  }
  return keys;
}

void date(wire::ReleaseRoot& root, int valid_days) {
  root.issued = SystemClock().wall_now();
  root.valid_until.unix_ms = root.issued.unix_ms + to_ms(std::chrono::hours(24) * valid_days);
}

std::string names_of(const wire::ReleaseRoot& root) {
  std::vector<std::string> names;
  for (const wire::RootKey& key : root.keys) names.push_back(key.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status write_root(const wire::ReleaseRoot& root, const fs::path& out) {
  STARLING_TRY(wire::check_root(root));
  std::error_code problem;
  if (fs::exists(out, problem)) {
    return refused(ErrorCode::already_exists,
                   fmt::format("'{}' is there already: the signatures in it would be lost", out.string()));
  }
  JointFile file;
  file.text = wire::encode_root(root);
  STARLING_TRY(write_where_told(out, manifest::encode_joint_file(file) + "\n"));
  fmt::print("{}: root version {}, {} of {} sign, until {}\n", out.string(), root.version, root.threshold,
             names_of(root), utc(root.valid_until));
  return {};
}

Result<Collection> load_collection(const RootOptions& options) {
  Collection all;
  STARLING_ASSIGN(const std::string json, read_file(options.file, manifest::kSignedFeedBytesMax));
  auto file = manifest::decode_joint_file(json);
  if (!file.ok()) return file.error().prefixed("'" + options.file.string() + "'");
  all.file = std::move(*file);
  if (!options.root.empty()) {
    STARLING_ASSIGN(all.by, load_root(options.root));
  }
  if (all.file.kind == JointKind::feed) {
    STARLING_TRY(wire::decode_feed(all.file.text).status());
    if (all.by.has_value()) return all;
    return refused(ErrorCode::invalid_argument, "name the newest root with --root: its keys sign feeds");
  }
  STARLING_ASSIGN(all.own, wire::decode_root(all.file.text));
  const std::int64_t before = all.own->version - 1;
  if (before == 0) all.by.reset();
  if (before == 0 || (all.by.has_value() && all.by->version == before)) return all;
  return refused(ErrorCode::invalid_argument,
                 fmt::format("this is root version {}: name version {} with --root, whose keys sign it, too",
                             all.own->version, before));
}

void print_content(const Collection& all) {
  if (all.own.has_value()) {
    fmt::print("root version {}: {} of {} sign, until {}\n", all.own->version, all.own->threshold, names_of(*all.own),
               utc(all.own->valid_until));
    return;
  }
  const auto feed = wire::decode_feed(all.file.text);  // load_collection has read it before
  fmt::print("feed of version {}, until {}\n", feed->version, utc(feed->valid_until));
  for (const wire::ReleaseFile& file : feed->files) fmt::print("  {}  {}\n", file.sha256.hex(), file.name);
}

// Signatures that a file has, root by root.
struct Counts {
  std::string text;  // a line for each root
  bool enough = true;
};

Result<Counts> count_signatures(const Collection& all) {
  Counts counts;
  for (const auto* root : {&all.by, &all.own}) {
    if (!root->has_value()) continue;
    STARLING_ASSIGN(const Tally tally, manifest::tally_signatures(all.file, **root));
    counts.text += fmt::format("keys of root version {}: {}\n", (*root)->version, tally.words());
    counts.enough = counts.enough && tally.enough();
    const bool first = all.own.has_value() && all.own->version == 1;
    if (first && !tally.others.empty()) counts.text += "signed with the key of before, too\n";
  }
  if (all.file.single.has_value()) counts.text += "signed for installations that know one key, too\n";
  return counts;
}

bool is_listed(const std::optional<wire::ReleaseRoot>& root, const std::string& spki) {
  return root.has_value() &&
         std::any_of(root->keys.begin(), root->keys.end(), [&](const wire::RootKey& key) { return key.spki == spki; });
}

Status add_signature(Collection& all, const manifest::KeySignature& signature) {
  for (const manifest::KeySignature& there : all.file.signatures) {
    if (there.key_id == signature.key_id) {
      return refused(ErrorCode::already_exists, "this key has signed it already: the next signature is another key's");
    }
  }
  all.file.signatures.push_back(signature);
  return {};
}

Status sign_with_key(Collection& all, const fs::path& path) {
  STARLING_ASSIGN(const crypto::PrivateKey key, load_private_key(path));
  const std::string spki = manifest::root_key("", key.public_key()).spki;
  if (is_listed(all.own, spki) || is_listed(all.by, spki)) {
    return add_signature(all, manifest::sign_jointly(all.file, key));
  }
  const wire::ReleaseRoot& root = all.own.has_value() ? *all.own : *all.by;
  return refused(ErrorCode::permission_denied,
                 fmt::format("'{}' is none of the keys that count: {}", path.string(), names_of(root)));
}

// An installation of before knows one key: a feed carries that key's own form of signature, and the first root one
// among the others.
Status sign_with_old_key(Collection& all, const fs::path& path) {
  STARLING_ASSIGN(const crypto::PrivateKey key, load_private_key(path));
  if (all.file.kind == JointKind::feed) {
    STARLING_ASSIGN(const wire::ReleaseFeed feed, wire::decode_feed(all.file.text));
    STARLING_ASSIGN(const std::string single, manifest::sign_feed(feed, key));
    STARLING_ASSIGN(const JointFile file, manifest::decode_joint_file(single));
    all.file.single = file.single;
    return {};
  }
  if (all.own->version == 1) return add_signature(all, manifest::sign_jointly(all.file, key));
  return refused(ErrorCode::invalid_argument, "only the first root is signed with the key of before");
}

}  // namespace

Status make_root(const RootOptions& options) {
  wire::ReleaseRoot root;
  root.threshold = options.threshold;
  date(root, options.valid_days);
  STARLING_ASSIGN(root.keys, load_root_keys(options.keys));
  return write_root(root, options.out);
}

Status rotate_root(const RootOptions& options) {
  STARLING_ASSIGN(wire::ReleaseRoot root, load_root(options.root));
  for (const std::string& name : options.replaced) {
    if (std::erase_if(root.keys, [&](const wire::RootKey& key) { return key.name == name; }) == 0) {
      return refused(ErrorCode::not_found,
                     fmt::format("root version {} has no key '{}', only {}", root.version, name, names_of(root)));
    }
  }
  const int before = root.threshold;
  STARLING_ASSIGN(const std::vector<wire::RootKey> added, load_root_keys(options.keys));
  root.keys.insert(root.keys.end(), added.begin(), added.end());
  ++root.version;
  date(root, options.valid_days);
  STARLING_TRY(write_root(root, options.out));
  fmt::print("{} keys of version {} and {} of its own must sign it: starling-release sign {} --root {} --key …\n",
             before, root.version - 1, root.threshold, shell_word(options.out.string()),
             shell_word(options.root.string()));
  return {};
}

Status sign_file(const RootOptions& options) {
  STARLING_ASSIGN(Collection all, load_collection(options));
  if (!options.key.empty()) STARLING_TRY(sign_with_key(all, options.key));
  if (!options.old_key.empty()) STARLING_TRY(sign_with_old_key(all, options.old_key));
  STARLING_ASSIGN(const Counts counts, count_signatures(all));
  STARLING_TRY(write_where_told(options.file, manifest::encode_joint_file(all.file) + "\n"));
  print_content(all);
  fmt::print("{}", counts.text);
  return {};
}

Status show_file(const RootOptions& options) {
  STARLING_ASSIGN(const Collection all, load_collection(options));
  print_content(all);
  STARLING_ASSIGN(const Counts counts, count_signatures(all));
  fmt::print("{}", counts.text);
  if (!counts.enough) return refused(ErrorCode::permission_denied, "signatures are missing");
  const wire::ReleaseRoot& root = all.own.has_value() ? *all.own : *all.by;
  if (SystemClock().wall_now() <= root.valid_until) return {};
  return refused(ErrorCode::failed_precondition,
                 fmt::format("root version {} ran out on {}: rotate it", root.version, utc(root.valid_until)));
}

}  // namespace starling::release
