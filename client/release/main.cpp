// starling-release: for publishers of Starling builds. Makes their keys and roots, the signed feed that volunteers'
// daemons read, and the file that tells an installation where its feed is.
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

#include "client/release/key_files.h"
#include "client/release/root_commands.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/plain_text.h"
#include "shared/base/standard_output.h"
#include "shared/base/version.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/signed_feed.h"
#include "shared/manifest/signed_root.h"
#include "shared/wire/json_writer.h"

namespace {

using namespace starling;
namespace fs = std::filesystem;

enum ExitCode { kOk = 0, kRefused = 1, kUsage = 2 };
constexpr unsigned kSecretMode = 0600;

struct Arguments {
  fs::path key;
  fs::path root;  // empty: one key counts, alone
  fs::path out;
  fs::path ca;
  std::string version = std::string(kVersion);
  std::string notes;
  std::string notes_url;
  std::string feed_address;
  int valid_days = 90;
  std::vector<fs::path> files;
  release::RootOptions roots;
};

Status make_key(const Arguments& arguments) {
  std::error_code problem;
  if (fs::exists(arguments.key, problem)) {
    return Error{ErrorCode::already_exists,
                 fmt::format("'{}' is there already: a lost key cannot be made again", arguments.key.string())};
  }
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  STARLING_TRY(write_where_told(arguments.key, key.to_pem(), {.mode = kSecretMode}));
  STARLING_TRY(write_where_told(arguments.key.string() + ".pub", key.public_key().to_pem()));
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

Result<wire::ReleaseFeed> describe_release(const Arguments& arguments) {
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
  STARLING_TRY(wire::check_feed(feed));
  return feed;
}

// The feed's file with the first signature, or none; `said` gets whose are missing.
Result<std::string> begin_joint_feed(const wire::ReleaseFeed& feed, const Arguments& arguments, std::string& said) {
  STARLING_ASSIGN(const wire::ReleaseRoot root, release::load_root(arguments.root));
  manifest::JointFile file{manifest::JointKind::feed, wire::encode_feed(feed), {}, {}};
  if (!arguments.key.empty()) {
    STARLING_ASSIGN(const crypto::PrivateKey key, release::load_private_key(arguments.key));
    file.signatures.push_back(manifest::sign_jointly(file, key));
  }
  STARLING_ASSIGN(const manifest::Tally tally, manifest::tally_signatures(file, root));
  if (!tally.others.empty()) {
    return Error{ErrorCode::permission_denied,
                 fmt::format("'{}' is none of the keys of root version {}", arguments.key.string(), root.version)};
  }
  said = fmt::format("keys of root version {}: {}\n", root.version, tally.words());
  return manifest::encode_joint_file(file);
}

Result<std::string> sign_alone(const wire::ReleaseFeed& feed, const fs::path& path) {
  if (path.empty()) {
    return Error{ErrorCode::invalid_argument, "name the newest root with --root, or the one private key with --key"};
  }
  STARLING_ASSIGN(const crypto::PrivateKey key, release::load_private_key(path));
  return manifest::sign_feed(feed, key);
}

Status make_feed(const Arguments& arguments) {
  STARLING_ASSIGN(const wire::ReleaseFeed feed, describe_release(arguments));
  std::string said;
  STARLING_ASSIGN(const std::string text,
                  arguments.root.empty() ? sign_alone(feed, arguments.key) : begin_joint_feed(feed, arguments, said));
  STARLING_TRY(write_where_told(arguments.out, text + "\n"));
  fmt::print("{}: version {}, {} file{}, valid for {} days\n{}", arguments.out.string(), feed.version,
             feed.files.size(), feed.files.size() == 1 ? "" : "s", arguments.valid_days, said);
  return {};
}

Result<wire::ReleaseFeed> verified_feed(const Arguments& arguments) {
  STARLING_ASSIGN(const std::string text, read_file(arguments.files.front(), manifest::kSignedFeedBytesMax));
  if (!arguments.root.empty()) {
    STARLING_ASSIGN(const wire::ReleaseRoot root, release::load_root(arguments.root));
    return manifest::verify_feed(text, root);
  }
  STARLING_ASSIGN(const crypto::PublicKey key, release::load_public_key(arguments.key));
  return manifest::verify_feed(text, key);
}

Status check_feed(const Arguments& arguments) {
  STARLING_ASSIGN(const wire::ReleaseFeed feed, verified_feed(arguments));
  fmt::print("{}\n", wire::encode_feed(feed));
  return {};
}

// Makes the file that load_update_source reads.
Status make_source(const Arguments& arguments) {
  wire::JsonWriter out;
  out.open("", '{');
  out.text("feed", arguments.feed_address);
  if (!arguments.key.empty()) {
    STARLING_ASSIGN(const crypto::PublicKey key, release::load_public_key(arguments.key));
    out.text("key", key.to_pem());
  }
  if (!arguments.root.empty()) {
    STARLING_TRY(release::load_root(arguments.root).status());
    STARLING_ASSIGN(const std::string root, read_file(arguments.root, manifest::kSignedRootBytesMax));
    out.text("root", root);
  }
  if (!arguments.ca.empty()) {
    STARLING_ASSIGN(const std::string ca, read_file(arguments.ca, crypto::kPemBytesMax));
    out.text("ca", ca);
  }
  out.close('}');
  return write_where_told(arguments.out, out.str() + "\n");
}

void add_root_commands(CLI::App& app, release::RootOptions& options) {
  const auto add_days = [&options](CLI::App* command, const char* what) {
    command->add_option("--valid-days", options.valid_days, what)->check(CLI::Range(1, 3650))->capture_default_str();
  };
  auto* root = app.add_subcommand("root", "Write the first root: which keys count, and how many must sign");
  root->add_option("--key", options.keys, "A public key, NAME.key.pub; give it three times or more")->required();
  root->add_option("--threshold", options.threshold, "Keys that must sign; fewer than there are")
      ->capture_default_str();
  add_days(root, "Rotate before they are over; clients refuse older roots");
  root->add_option("--out", options.out, "root.1.json, to be signed, then served beside the feed")->required();
  auto* rotate = app.add_subcommand("rotate", "Write the next root: without a lost or stolen key, or with a new date");
  rotate->add_option("--root", options.root, "The newest root")->required();
  rotate->add_option("--without", options.replaced, "Name of a key that no longer counts");
  rotate->add_option("--key", options.keys, "A public key that counts from now on");
  add_days(rotate, "Rotate again before they are over");
  rotate->add_option("--out", options.out, "root.N.json with the next N; roots of before stay beside it")->required();
  auto* sign = app.add_subcommand("sign", "Add one signature to a root or a feed, and say who is missing");
  sign->add_option("file", options.file, "The root or feed; send it on to the next person")->required();
  auto* key = sign->add_option("--key", options.key, "Your private key");
  auto* old_key = sign->add_option("--old-key", options.old_key,
                                   "The one key that installations older than roots know: theirs to go by, once");
  sign->callback([key, old_key] {
    if (key->empty() && old_key->empty()) throw CLI::RequiredError("--key");
  });
  auto* show = app.add_subcommand("show", "Tell what a root or feed says, and whose signatures are missing");
  show->add_option("file", options.file, "The root or feed")->required();
  for (CLI::App* command : {sign, show}) {
    command->add_option("--root", options.root, "For a feed: the newest root. For root N: root N-1");
  }
}

void add_commands(CLI::App& app, Arguments& arguments) {
  auto* keygen = app.add_subcommand("keygen", "Make the key that signs feeds; keep it off every server");
  keygen->add_option("key", arguments.key, "File to write; its public half goes to KEY.pub")->required();
  auto* feed = app.add_subcommand("feed", "Sign what the newest release is");
  feed->add_option("--key", arguments.key, "A private key; with --root the first of those that sign");
  feed->add_option("--root", arguments.root, "The newest root, whose keys sign; none: --key signs alone");
  feed->add_option("--version", arguments.version, "Of the release")->capture_default_str();
  feed->add_option("--notes", arguments.notes, "What is new, in a sentence or two");
  feed->add_option("--notes-url", arguments.notes_url, "More about it: https://…");
  feed->add_option("--valid-days", arguments.valid_days, "Sign again before they are over; clients refuse older feeds")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  feed->add_option("--out", arguments.out, "The feed, to be served beside the files")->required();
  feed->add_option("files", arguments.files, "Archives named starling-VERSION-PLATFORM.tar.gz; none: only tell");
  auto* check = app.add_subcommand("check", "Check a feed's signature and print what it says");
  auto* check_by = check->add_option_group("by", "Whose signatures count");
  check_by->add_option("--key", arguments.key, "The public key");
  check_by->add_option("--root", arguments.root, "The newest root");
  check_by->require_option(1);
  check->add_option("feed", arguments.files, "The feed")->required()->expected(1);
  auto* source = app.add_subcommand("source", "Write share/starling/updates.json: where an installation looks");
  source->add_option("--feed", arguments.feed_address, "https://host/folder/feed.json")->required();
  auto* pinned = source->add_option_group(
      "pinned", "What the installation trusts; with both, --key is for programs older than roots");
  pinned->add_option("--root", arguments.root, "A root, from which installations follow to the newest");
  pinned->add_option("--key", arguments.key, "One public key");
  pinned->require_option(1, 2);
  source->add_option("--ca", arguments.ca, "The one authority that certifies the host; none: any public one");
  source->add_option("--out", arguments.out, "File to write")->required();
}

Status run(const std::string& command, const Arguments& arguments) {
  if (command == "keygen") return make_key(arguments);
  if (command == "feed") return make_feed(arguments);
  if (command == "check") return check_feed(arguments);
  if (command == "root") return release::make_root(arguments.roots);
  if (command == "rotate") return release::rotate_root(arguments.roots);
  if (command == "sign") return release::sign_file(arguments.roots);
  if (command == "show") return release::show_file(arguments.roots);
  return make_source(arguments);
}

int run_program(int argc, char** argv) {
  CLI::App app{"starling-release: signs what volunteers' daemons may update themselves to"};
  Arguments arguments;
  app.require_subcommand(1);
  add_commands(app, arguments);
  add_root_commands(app, arguments.roots);
  app.footer(
      "Three people make a key each, on machines of their own, and two of them sign whatever counts:\n"
      "  starling-release keygen anna.key                     # also ben.key, clara.key; send the .pub files to one\n"
      "  starling-release root --key anna.key.pub --key ben.key.pub --key clara.key.pub --out root.1.json\n"
      "  starling-release sign root.1.json --key anna.key     # send root.1.json on\n"
      "  starling-release sign root.1.json --key ben.key\n"
      "  starling-release source --feed https://example.org/starling/feed.json --root root.1.json \\\n"
      "      --out updates.json\n"
      "Each release:\n"
      "  starling-release feed --root root.1.json --key anna.key --version 1.2.0 --notes 'Faster.' \\\n"
      "      --out feed.json starling-1.2.0-linux-x86_64.tar.gz\n"
      "  starling-release sign feed.json --root root.1.json --key clara.key\n"
      "Anna's key is lost or stolen; the feed is then signed again by keys of root.2.json:\n"
      "  starling-release rotate --root root.1.json --without anna --key dora.key.pub --out root.2.json\n"
      "  starling-release sign root.2.json --root root.1.json --key ben.key\n"
      "  starling-release sign root.2.json --root root.1.json --key clara.key\n"
      "Beside feed.json the host serves all roots: root.1.json, root.2.json and so on.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  const Status status = run(app.get_subcommands().front()->get_name(), arguments);
  if (status.ok()) return kOk;
  std::fprintf(stderr, "starling-release: %s\n", plain_lines(status.error().message).c_str());
  return kRefused;
}

}  // namespace

int main(int argc, char** argv) { return with_output_written("starling-release", run_program(argc, argv)); }
