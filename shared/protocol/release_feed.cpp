#include "shared/protocol/release_feed.h"

#include <fmt/core.h>

#include <set>

#include "shared/protocol/message_fields.h"

namespace starling::wire {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kNameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

bool only_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

// "1.20.3": dotted numbers of at most nine digits, so that they compare as people expect.
bool is_version(std::string_view text) {
  constexpr std::size_t kNumberDigitsMax = 9;
  if (text.size() > kFeedWordBytesMax) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view number = text.substr(0, dot);
    if (number.empty() || number.size() > kNumberDigitsMax || !only_of(number, kDigits)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= kFeedFileNameBytesMax && text.front() != '.' && only_of(text, kNameCharacters);
}

bool is_web_address(std::string_view text) {
  if (!text.starts_with("https://") || text.size() > kFeedUrlBytesMax) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>') return false;
  }
  return true;
}

Error bad(std::string_view field, std::string_view wanted) {
  return {ErrorCode::invalid_argument, fmt::format("release feed: {} must be {}", field, wanted)};
}

Error bad_root(std::string_view field, std::string_view wanted) {
  return {ErrorCode::invalid_argument, fmt::format("release root: {} must be {}", field, wanted)};
}

Status check_file(const ReleaseFile& file) {
  if (file.platform.empty() || file.platform.size() > kFeedWordBytesMax || !only_of(file.platform, kNameCharacters)) {
    return bad("a file's platform", "a word such as linux-x86_64");
  }
  if (!is_file_name(file.name)) return bad("a file's name", "a plain name, without folders");
  if (file.bytes < 1 || file.bytes > kReleaseBytesMax || file.unpacked_bytes < 1 ||
      file.unpacked_bytes > kReleaseBytesMax) {
    return bad("a file's size", fmt::format("1 to {} bytes", kReleaseBytesMax));
  }
  return {};
}

}  // namespace

std::string_view this_platform() {
#if defined(__linux__) && defined(__x86_64__)
  return "linux-x86_64";
#elif defined(__linux__) && defined(__aarch64__)
  return "linux-aarch64";
#else
  return "unknown";
#endif
}

std::string encode_feed(const ReleaseFeed& feed) { return encode_fields(feed); }

Result<ReleaseFeed> decode_feed(std::string_view json) {
  STARLING_ASSIGN(ReleaseFeed feed, decode_fields<ReleaseFeed>(json, "release feed", kFeedBytesMax));
  STARLING_TRY(check_feed(feed));
  return feed;
}

Status check_feed(const ReleaseFeed& feed) {
  if (feed.format != kFeedFormat) return bad("format", fmt::format("{}", kFeedFormat));
  if (feed.serial < 0 || feed.serial > kFeedSerialMax) return bad("serial", fmt::format("0 to {}", kFeedSerialMax));
  if (feed.valid_until < feed.issued) return bad("valid_until", "later than issued");
  if (!is_version(feed.version)) return bad("version", "dotted numbers, such as 1.2.0");
  if (feed.notes.size() > kFeedNotesBytesMax) return bad("notes", fmt::format("at most {} bytes", kFeedNotesBytesMax));
  if (!feed.notes_url.empty() && !is_web_address(feed.notes_url)) return bad("notes_url", "an https:// address");
  if (feed.files.size() > kReleaseFilesMax) return bad("files", fmt::format("at most {}", kReleaseFilesMax));
  for (const ReleaseFile& file : feed.files) STARLING_TRY(check_file(file));
  return {};
}

std::string root_file_name(std::int64_t version) { return fmt::format("root.{}.json", version); }

std::string encode_root(const ReleaseRoot& root) { return encode_fields(root); }

Result<ReleaseRoot> decode_root(std::string_view json) {
  STARLING_ASSIGN(ReleaseRoot root, decode_fields<ReleaseRoot>(json, "release root", kRootBytesMax));
  STARLING_TRY(check_root(root));
  return root;
}

Status check_root(const ReleaseRoot& root) {
  if (root.format != kRootFormat) return bad_root("format", fmt::format("{}", kRootFormat));
  if (root.version < 1 || root.version > kRootVersionMax) {
    return bad_root("version", fmt::format("1 to {}", kRootVersionMax));
  }
  if (root.valid_until < root.issued) return bad_root("valid_until", "later than issued");
  const auto count = static_cast<int>(root.keys.size());
  if (count < kRootKeysMin || count > kRootKeysMax) {
    return bad_root("keys", fmt::format("{} to {}", kRootKeysMin, kRootKeysMax));
  }
  if (root.threshold < 2 || root.threshold >= count) {
    return bad_root("threshold", fmt::format("2 to {}, so that one of {} keys may be lost", count - 1, count));
  }
  std::set<std::string_view> names;
  std::set<std::string_view> keys;
  for (const RootKey& key : root.keys) {
    if (key.name.empty() || key.name.size() > kRootKeyNameBytesMax || !only_of(key.name, kNameCharacters)) {
      return bad_root("a key's name", "a word such as anna");
    }
    if (key.spki.size() != kRootKeyHexBytes || !only_of(key.spki, kHexDigits)) {
      return bad_root("a key", fmt::format("{} hex digits", kRootKeyHexBytes));
    }
    names.insert(key.name);
    keys.insert(key.spki);
  }
  if (names.size() != root.keys.size()) return bad_root("the keys' names", "different ones");
  if (keys.size() != root.keys.size()) return bad_root("the keys", "different ones");
  return {};
}

}  // namespace starling::wire
