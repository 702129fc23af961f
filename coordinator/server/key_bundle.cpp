#include "coordinator/server/key_bundle.h"

#include <fmt/core.h>

#include <system_error>

#include "coordinator/server/terminal.h"
#include "shared/base/shell_words.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/sealed_text.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr const char* kExported = "keys-exported";  // file in the project: a digest of the keys that were exported last
constexpr WriteOptions kSecret{.mode = 0600};
constexpr std::size_t kBundleBytesMax = 1 << 20;
constexpr std::size_t kKeyBytesMax = 128 * 1024;
constexpr const char* kNeeded[] = {"ca.key", "manifest.key"};
constexpr const char* kMadeAgain[] = {"server.key", "server.pem", "web.key", "web.pem"};

// Names the two keys that nobody can make again, without telling anything about them.
std::string fingerprint(const Project& project) {
  crypto::Sha256 sum;
  sum.update(project.authority.certificate_pem());
  sum.update(project.manifest_key.public_key().spki());
  return sum.finish().hex() + "\n";
}

Result<std::string> first_line(const std::filesystem::path& file) {
  auto text = read_file(file, kKeyBytesMax);
  if (!text) return text.error().prefixed("--passphrase-file");
  return text->substr(0, text->find_first_of("\r\n"));
}

}  // namespace

std::vector<std::string> key_file_names() {
  std::vector<std::string> names(std::begin(kNeeded), std::end(kNeeded));
  names.insert(names.end(), std::begin(kMadeAgain), std::end(kMadeAgain));
  return names;
}

Result<std::string> seal_keys(const ProjectFiles& files, std::string_view passphrase) {
  wire::JsonWriter writer;
  writer.open("", '{');
  for (const std::string& name : key_file_names()) {
    auto text = read_file(files.at(name.c_str()), kKeyBytesMax);
    if (!text) return text.error().prefixed(fmt::format("read '{}'", files.at(name.c_str()).string()));
    writer.text(name, *text);
  }
  writer.close('}');
  return crypto::seal(passphrase, writer.str());
}

Result<KeyFiles> open_keys(std::string_view sealed, std::string_view passphrase) {
  STARLING_ASSIGN(const std::string text, crypto::unseal(passphrase, sealed));
  STARLING_ASSIGN(const auto document, wire::JsonDocument::parse(text, kBundleBytesMax));
  wire::JsonReader reader = document.root();
  KeyFiles keys;
  for (const std::string& name : key_file_names())
    reader.text(name.c_str(), keys[name], kKeyBytesMax, wire::TextForm::exact);
  STARLING_TRY(reader.status());
  return keys;
}

Result<std::string> read_sealed_keys(const std::filesystem::path& file) { return read_file(file, kBundleBytesMax); }

Status write_keys(const KeyFiles& keys, const ProjectFiles& to) {
  for (const auto& [name, text] : keys) STARLING_TRY(write_file_atomically(to.at(name.c_str()), text, kSecret));
  return {};
}

std::vector<std::string> missing_keys(const ProjectFiles& files) {
  std::vector<std::string> missing;
  std::error_code unknown;
  for (const char* name : kNeeded) {
    if (!std::filesystem::exists(files.at(name), unknown)) missing.emplace_back(name);
  }
  return missing;
}

bool keys_were_exported(const Project& project) {
  const auto noted = read_file(project.files.at(kExported), kKeyBytesMax);
  return noted && *noted == fingerprint(project);
}

Status note_export(const Project& project) {
  return write_file_atomically(project.files.at(kExported), fingerprint(project));
}

std::string export_warning(const Project& project) {
  if (keys_were_exported(project)) return "";
  return fmt::format(
      "the project's private keys are on this machine only, and backups leave them out: without them a backup can not "
      "be served. Once, and after each change of keys: starling-coordinator keys export {} FILE",
      shell_word(project.files.directory.string()));
}

Result<std::string> new_passphrase(const std::filesystem::path& file) {
  std::string passphrase;
  if (!file.empty()) {
    STARLING_ASSIGN(passphrase, first_line(file));
  } else {
    STARLING_ASSIGN(passphrase, known_passphrase(file));
  }
  if (passphrase.size() < kPassphraseBytesMin) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a passphrase for keys has at least {} letters", kPassphraseBytesMin)};
  }
  if (!file.empty()) return passphrase;
  STARLING_ASSIGN(const std::string again, read_secret("The same again"));
  if (again == passphrase) return passphrase;
  return Error{ErrorCode::invalid_argument, "the two passphrases are not the same"};
}

Result<std::string> known_passphrase(const std::filesystem::path& file) {
  if (!file.empty()) return first_line(file);
  auto typed = read_secret("Passphrase of the keys");
  return typed ? typed : typed.error().prefixed("the keys have a passphrase: give --passphrase-file");
}

}  // namespace starling::server
