#include "shared/protocol/release_feed.h"

#include <fmt/core.h>

#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kWordBytesMax = 64;  // versions, platforms
constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kNotesBytesMax = 4096;
constexpr std::size_t kUrlBytesMax = 1024;
constexpr std::int64_t kSerialMax = std::int64_t{1} << 53;  // exact in every JSON reader
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

bool only_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

// "1.20.3": dotted numbers of at most nine digits, so that they compare as people expect.
bool is_version(std::string_view text) {
  constexpr std::size_t kNumberDigitsMax = 9;
  if (text.size() > kWordBytesMax) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view number = text.substr(0, dot);
    if (number.empty() || number.size() > kNumberDigitsMax || !only_of(number, kDigits)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && text.front() != '.' && only_of(text, kNameCharacters);
}

bool is_web_address(std::string_view text) {
  if (!text.starts_with("https://") || text.size() > kUrlBytesMax) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>') return false;
  }
  return true;
}

Error bad(std::string_view field, std::string_view wanted) {
  return {ErrorCode::invalid_argument, fmt::format("release feed: {} must be {}", field, wanted)};
}

Status check_file(const ReleaseFile& file) {
  if (file.platform.empty() || file.platform.size() > kWordBytesMax || !only_of(file.platform, kNameCharacters)) {
    return bad("a file's platform", "a word such as linux-x86_64");
  }
  if (!is_file_name(file.name)) return bad("a file's name", "a plain name, without folders");
  if (file.bytes < 1 || file.bytes > kReleaseBytesMax || file.unpacked_bytes < 1 ||
      file.unpacked_bytes > kReleaseBytesMax) {
    return bad("a file's size", fmt::format("1 to {} bytes", kReleaseBytesMax));
  }
  return {};
}

void read_file(JsonReader& in, ReleaseFile& file) {
  in.text("platform", file.platform, kWordBytesMax);
  in.text("name", file.name, kNameBytesMax);
  in.integer("bytes", file.bytes, 1, kReleaseBytesMax);
  in.integer("unpacked_bytes", file.unpacked_bytes, 1, kReleaseBytesMax);
  read_id(in, "sha256", file.sha256);
}

void read_feed(JsonReader& in, ReleaseFeed& feed) {
  read_int(in, "format", feed.format, kFormat, kFormat);
  in.integer("serial", feed.serial, 0, kSerialMax);
  in.integer("issued_ms", feed.issued.unix_ms, 0, kSerialMax);
  in.integer("valid_until_ms", feed.valid_until.unix_ms, 0, kSerialMax);
  in.text("version", feed.version, kWordBytesMax);
  in.text("notes", feed.notes, kNotesBytesMax);
  in.text("notes_url", feed.notes_url, kUrlBytesMax);
  in.list("files", kReleaseFilesMax, [&](JsonReader& file) { read_file(file, feed.files.emplace_back()); });
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

std::string encode_feed(const ReleaseFeed& feed) {
  JsonWriter out;
  out.open("", '{');
  out.integer("format", feed.format);
  out.integer("serial", feed.serial);
  out.integer("issued_ms", feed.issued.unix_ms);
  out.integer("valid_until_ms", feed.valid_until.unix_ms);
  out.text("version", feed.version);
  out.text("notes", feed.notes);
  out.text("notes_url", feed.notes_url);
  out.open("files", '[');
  for (const ReleaseFile& file : feed.files) {
    out.open("", '{');
    out.text("platform", file.platform);
    out.text("name", file.name);
    out.integer("bytes", file.bytes);
    out.integer("unpacked_bytes", file.unpacked_bytes);
    out.text("sha256", file.sha256.hex());
    out.close('}');
  }
  out.close(']');
  out.close('}');
  return std::move(out.str());
}

Result<ReleaseFeed> decode_feed(std::string_view json) {
  STARLING_ASSIGN(ReleaseFeed feed, decode_json<ReleaseFeed>(json, "release feed", kFeedBytesMax, read_feed));
  STARLING_TRY(check_feed(feed));
  return feed;
}

Status check_feed(const ReleaseFeed& feed) {
  if (feed.format != kFormat) return bad("format", fmt::format("{}", kFormat));
  if (feed.serial < 0 || feed.serial > kSerialMax) return bad("serial", fmt::format("0 to {}", kSerialMax));
  if (feed.valid_until < feed.issued) return bad("valid_until", "later than issued");
  if (!is_version(feed.version)) return bad("version", "dotted numbers, such as 1.2.0");
  if (feed.notes.size() > kNotesBytesMax) return bad("notes", fmt::format("at most {} bytes", kNotesBytesMax));
  if (!feed.notes_url.empty() && !is_web_address(feed.notes_url)) return bad("notes_url", "an https:// address");
  if (feed.files.size() > kReleaseFilesMax) return bad("files", fmt::format("at most {}", kReleaseFilesMax));
  for (const ReleaseFile& file : feed.files) STARLING_TRY(check_file(file));
  return {};
}

}  // namespace starling::wire
