// starling-release: for publishers of Starling builds. Makes their key, the signed feed that volunteers' daemons read,
// and the file that tells an installation where its feed is.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/version.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/signed_feed.h"
#include "shared/wire/json_writer.h"

namespace {

using namespace starling;
namespace fs = std::filesystem;

enum ExitCode { kOk = 0, kRefused = 1, kUsage = 2 };
constexpr unsigned kSecretMode = 0600;

struct Arguments {
  fs::path key;
  fs::path out;
  fs::path ca;
  std::string version = std::string(kVersion);
  std::string notes;
  std::string notes_url;
  std::string feed_address;
  int valid_days = 90;
  std::vector<fs::path> files;
};

Result<crypto::PrivateKey> load_key(const fs::path& path) {
  STARLING_ASSIGN(const std::string pem, read_file(path, crypto::kPemBytesMax));
  return crypto::PrivateKey::from_pem(pem);
}

Status make_key(const Arguments& arguments) {
  std::error_code problem;
  if (fs::exists(arguments.key, problem)) {
    return Error{ErrorCode::already_exists,
                 fmt::format("'{}' is there already: a lost key cannot be made again", arguments.key.string())};
  }
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  STARLING_TRY(write_file_atomically(arguments.key, key.to_pem(), {.mode = kSecretMode}));
  STARLING_TRY(write_file_atomically(arguments.key.string() + ".pub", key.public_key().to_pem()));
  fmt::print("{}\n{}.pub\n", arguments.key.string(), arguments.key.string());
  return {};
}

// The content's size that a gzip file gives in its last four bytes; right below 4 GiB.
Result<std::int64_t> unpacked_size(const fs::path& path) {
  std::array<unsigned char, 4> tail{};
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  if (!file.read(reinterpret_cast<char*>(tail.data()), tail.size())) {
    return Error{ErrorCode::io, fmt::format("read '{}': it is no archive", path.string())};
  }
  std::int64_t size = 0;
  for (std::size_t i = tail.size(); i-- > 0;) size = size << 8 | tail[i];
  return size;
}

// Takes the platform out of a file's name: starling-1.2.0-linux-x86_64.tar.gz -> linux-x86_64.
Result<std::string> platform_of(const fs::path& path, const std::string& version) {
  const std::string name = path.filename().string();
  const std::string start = "starling-" + version + "-";
  constexpr std::string_view kEnd = ".tar.gz";
  if (name.starts_with(start) && name.ends_with(kEnd) && name.size() > start.size() + kEnd.size()) {
    return name.substr(start.size(), name.size() - start.size() - kEnd.size());
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' must be named starling-{}-PLATFORM.tar.gz", name, version)};
}

Result<wire::ReleaseFile> describe(const fs::path& path, const std::string& version) {
  wire::ReleaseFile file;
  STARLING_ASSIGN(file.platform, platform_of(path, version));
  file.name = path.filename().string();
  STARLING_ASSIGN(file.sha256, crypto::sha256_file(path));
  std::error_code problem;
  file.bytes = static_cast<std::int64_t>(fs::file_size(path, problem));
  STARLING_ASSIGN(file.unpacked_bytes, unpacked_size(path));
  return file;
}

Status make_feed(const Arguments& arguments) {
  STARLING_ASSIGN(const crypto::PrivateKey key, load_key(arguments.key));
  wire::ReleaseFeed feed;
  feed.issued = SystemClock().wall_now();
  feed.valid_until.unix_ms = feed.issued.unix_ms + to_ms(std::chrono::hours(24) * arguments.valid_days);
  feed.serial = feed.issued.unix_ms;  // grows with each feed
  feed.version = arguments.version;
  feed.notes = arguments.notes;
  feed.notes_url = arguments.notes_url;
  for (const fs::path& path : arguments.files) {
    STARLING_ASSIGN(wire::ReleaseFile file, describe(path, feed.version));
    feed.files.push_back(std::move(file));
  }
  STARLING_ASSIGN(const std::string text, manifest::sign_feed(feed, key));
  STARLING_TRY(write_file_atomically(arguments.out, text + "\n"));
  fmt::print("{}: version {}, {} file{}, valid for {} days\n", arguments.out.string(), feed.version, feed.files.size(),
             feed.files.size() == 1 ? "" : "s", arguments.valid_days);
  return {};
}

Status check_feed(const Arguments& arguments) {
  STARLING_ASSIGN(const std::string pem, read_file(arguments.key, crypto::kPemBytesMax));
  STARLING_ASSIGN(const crypto::PublicKey key, crypto::PublicKey::from_pem(pem));
  STARLING_ASSIGN(const std::string text, read_file(arguments.files.front(), manifest::kSignedFeedBytesMax));
  STARLING_ASSIGN(const wire::ReleaseFeed feed, manifest::verify_feed(text, key));
  fmt::print("{}\n", wire::encode_feed(feed));
  return {};
}

// Makes the file that load_update_source reads.
Status make_source(const Arguments& arguments) {
  STARLING_ASSIGN(const std::string pem, read_file(arguments.key, crypto::kPemBytesMax));
  STARLING_ASSIGN(const crypto::PublicKey key, crypto::PublicKey::from_pem(pem));
  wire::JsonWriter out;
  out.open("", '{');
  out.text("feed", arguments.feed_address);
  out.text("key", key.to_pem());
  if (!arguments.ca.empty()) {
    STARLING_ASSIGN(const std::string ca, read_file(arguments.ca, crypto::kPemBytesMax));
    out.text("ca", ca);
  }
  out.close('}');
  return write_file_atomically(arguments.out, out.str() + "\n");
}

void add_commands(CLI::App& app, Arguments& arguments) {
  auto* keygen = app.add_subcommand("keygen", "Make the key that signs feeds; keep it off every server");
  keygen->add_option("key", arguments.key, "File to write; its public half goes to KEY.pub")->required();
  auto* feed = app.add_subcommand("feed", "Sign what the newest release is");
  feed->add_option("--key", arguments.key, "The private key")->required();
  feed->add_option("--version", arguments.version, "Of the release")->capture_default_str();
  feed->add_option("--notes", arguments.notes, "What is new, in a sentence or two");
  feed->add_option("--notes-url", arguments.notes_url, "More about it: https://…");
  feed->add_option("--valid-days", arguments.valid_days, "Sign again before they are over; clients refuse older feeds")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  feed->add_option("--out", arguments.out, "The feed, to be served beside the files")->required();
  feed->add_option("files", arguments.files, "Archives named starling-VERSION-PLATFORM.tar.gz; none: only tell");
  auto* check = app.add_subcommand("check", "Check a feed's signature and print what it says");
  check->add_option("--key", arguments.key, "The public key")->required();
  check->add_option("feed", arguments.files, "The feed")->required()->expected(1);
  auto* source = app.add_subcommand("source", "Write share/starling/updates.json: where an installation looks");
  source->add_option("--feed", arguments.feed_address, "https://host/folder/feed.json")->required();
  source->add_option("--key", arguments.key, "The public key")->required();
  source->add_option("--ca", arguments.ca, "The one authority that certifies the host; none: any public one");
  source->add_option("--out", arguments.out, "File to write")->required();
}

Status run(const std::string& command, const Arguments& arguments) {
  if (command == "keygen") return make_key(arguments);
  if (command == "feed") return make_feed(arguments);
  if (command == "check") return check_feed(arguments);
  return make_source(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"starling-release: signs what volunteers' daemons may update themselves to"};
  Arguments arguments;
  app.require_subcommand(1);
  add_commands(app, arguments);
  app.footer(
      "Example:\n"
      "  starling-release keygen release.key\n"
      "  starling-release source --feed https://example.org/starling/feed.json --key release.key.pub \\\n"
      "      --out packaging/updates.json\n"
      "  starling-release feed --key release.key --version 1.2.0 --notes 'Faster.' --out feed.json \\\n"
      "      starling-1.2.0-linux-x86_64.tar.gz");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  const Status status = run(app.get_subcommands().front()->get_name(), arguments);
  if (status.ok()) return kOk;
  std::fprintf(stderr, "starling-release: %s\n", status.error().message.c_str());
  return kRefused;
}
