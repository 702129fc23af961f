#include "client/storage/project_files.h"

#include <fmt/core.h>

#include <system_error>
#include <utility>
#include <vector>

#include "client/storage/set_aside.h"
#include "shared/crypto/secrets.h"
#include "shared/protocol/names.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::storage {
namespace {

constexpr std::size_t kFileBytesMax = 256 * 1024;  // bound of any file here
constexpr std::size_t kHostBytesMax = 256;
constexpr std::size_t kSecretBytesMax = 64;
constexpr WriteOptions kPrivate{.mode = 0600};
constexpr const char* kAllowed = "allowed-programs";

std::string encode(const Project& project) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("host", project.host);
  writer.integer("port", project.port);
  writer.text("name", project.name);
  writer.text("display_name", project.display_name);
  writer.integer("account_id", project.account_id);
  writer.text("ca_pem", project.ca_pem);
  writer.text("certificate_pem", project.certificate.pem());
  writer.text("manifest_public_key", project.manifest_public_key);
  if (!project.device_token.empty()) writer.text("device_token", project.device_token);
  writer.close('}');
  return std::move(writer.str());
}

Result<Project> decode_project(std::string_view json) {
  return wire::decode_json<Project>(json, "project", kFileBytesMax, [](wire::JsonReader& reader, Project& project) {
    int port = 0;
    reader.text("host", project.host, kHostBytesMax);
    wire::read_int(reader, "port", port, 1, 65535);
    project.port = static_cast<std::uint16_t>(port);
    reader.text("name", project.name, wire::kDisplayNameBytesMax);
    reader.text("display_name", project.display_name, wire::kDisplayNameBytesMax);
    reader.integer("account_id", project.account_id, 0, INT64_MAX);
    reader.text("ca_pem", project.ca_pem, crypto::kPemBytesMax, wire::TextForm::exact);
    std::string certificate_pem;
    reader.text("certificate_pem", certificate_pem, crypto::kPemBytesMax, wire::TextForm::exact);
    project.certificate.renew(std::move(certificate_pem));
    reader.text("manifest_public_key", project.manifest_public_key, crypto::kPemBytesMax, wire::TextForm::exact);
    if (reader.present("device_token"))
      reader.text("device_token", project.device_token, kSecretBytesMax, wire::TextForm::exact);
  });
}

Status remove_file(const std::filesystem::path& path) {
  std::error_code problem;
  std::filesystem::remove_all(path, problem);
  if (!problem) return {};
  return Error{ErrorCode::io, fmt::format("remove '{}': {}", path.string(), problem.message())};
}

}  // namespace

std::string device_token(const std::string& secret, const std::string& ca_pem) {
  return crypto::keyed_digest(secret, "device token\n" + ca_pem).hex();
}

Result<ProjectFiles> ProjectFiles::open(const std::filesystem::path& data_dir) {
  if (Status made = ensure_directory(data_dir, 0700); !made.ok()) {
    return made.error().prefixed(
        fmt::format("use the data directory '{}' (choose another with --data-dir)", data_dir.string()));
  }
  auto lock = FileLock::acquire(data_dir / "lock");
  if (!lock.ok() && lock.error().code == ErrorCode::already_exists) {
    return Error{ErrorCode::already_exists,
                 fmt::format("another starlingd is using the data directory '{}': stop it, or give this one its own "
                             "with --data-dir",
                             data_dir.string())};
  }
  if (!lock.ok()) {
    return lock.error().prefixed(
        fmt::format("use the data directory '{}' (check its permissions, or choose another "
                    "with --data-dir)",
                    data_dir.string()));
  }
  remove_leftovers(data_dir);
  return ProjectFiles(data_dir, std::move(*lock));
}

Result<ProjectFiles> ProjectFiles::within(const std::filesystem::path& folder) {
  STARLING_TRY(ensure_directory(folder, 0700));
  remove_leftovers(folder);
  return ProjectFiles(folder, std::nullopt);
}

ProjectFiles::ProjectFiles(std::filesystem::path dir, std::optional<FileLock> lock)
    : dir_(std::move(dir)), lock_(std::move(lock)) {}

Result<crypto::PrivateKey> ProjectFiles::host_key() {
  const auto path = dir_ / "host.key";
  auto pem = read_file(path, crypto::kPemBytesMax);
  if (pem.ok()) {
    auto key = crypto::PrivateKey::from_pem(*pem);
    if (key.ok()) return key;
    return Error{ErrorCode::corrupt,
                 fmt::format("read this computer's key '{}': {}; restore it from a backup, or move it away to join as "
                             "a new computer",
                             path.string(), key.error().message)};
  }
  if (pem.error().code != ErrorCode::not_found) return pem.error();
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  STARLING_TRY(write_file_atomically(path, key.to_pem(), kPrivate));
  return key;
}

Result<std::string> ProjectFiles::host_secret() {
  const auto path = dir_ / "host.secret";
  auto secret = read_file(path, kSecretBytesMax);
  if (secret.ok() && secret->size() == kSecretBytesMax) return secret;
  if (secret.ok()) {
    return Error{ErrorCode::corrupt,
                 fmt::format("read this computer's secret '{}': it has {} bytes, not {}; restore it from a backup, or "
                             "move it and host.key away to join as a new computer",
                             path.string(), secret->size(), kSecretBytesMax)};
  }
  if (secret.error().code != ErrorCode::not_found) return secret.error();
  secret = crypto::make_token();
  STARLING_TRY(write_file_atomically(path, *secret, kPrivate));
  return secret;
}

Result<HostIdentity> ProjectFiles::host_identity() {
  STARLING_ASSIGN(crypto::PrivateKey key, host_key());
  STARLING_ASSIGN(std::string secret, host_secret());
  return HostIdentity{std::move(key), std::move(secret)};
}

Result<std::optional<Project>> ProjectFiles::project() {
  const auto path = dir_ / "project.json";
  auto json = read_file(path, kFileBytesMax);
  if (!json.ok() && json.error().code == ErrorCode::not_found) return std::optional<Project>();
  if (!json.ok()) return json.error();
  auto project = decode_project(*json);
  if (project.ok()) return std::optional<Project>(std::move(*project));
  return Error{ErrorCode::corrupt, fmt::format("read '{}': {}; move it away and join the project again", path.string(),
                                               project.error().message)};
}

Status ProjectFiles::save_project(const Project& project) {
  return write_file_atomically(dir_ / "project.json", encode(project), kPrivate);
}

// project.json is removed first: after a crash in between, the remaining files have no meaning without it.
Status ProjectFiles::remove_project() {
  for (const char* name : {"project.json", "manifest.json", kAllowed, "checkpoints", "artefacts", "shards"}) {
    STARLING_TRY(remove_file(dir_ / name));
  }
  std::vector<std::filesystem::path> of_runs;  // files of every run
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(dir_, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("reports-") || name.starts_with("known-state-")) of_runs.push_back(entry.path());
  }
  for (const std::filesystem::path& file : of_runs) STARLING_TRY(remove_file(file));
  return {};
}

bool ProjectFiles::is_allowed(const Digest& program) const {
  const auto lines = read_file(dir_ / kAllowed, kFileBytesMax);
  return !program.is_zero() && lines.ok() && lines->find(program.hex() + "\n") != std::string::npos;
}

Status ProjectFiles::allow(const Digest& program) {
  if (is_allowed(program)) return {};
  auto lines = read_file(dir_ / kAllowed, kFileBytesMax);
  if (!lines.ok() && lines.error().code != ErrorCode::not_found) return lines.error();
  return write_file_atomically(dir_ / kAllowed, (lines.ok() ? *lines : "") + program.hex() + "\n", kPrivate);
}

Result<std::string> ProjectFiles::manifest_envelope() { return read_file(dir_ / "manifest.json", kFileBytesMax); }

Status ProjectFiles::save_manifest_envelope(const std::string& envelope) {
  return write_file_atomically(dir_ / "manifest.json", envelope);
}

}  // namespace starling::storage
