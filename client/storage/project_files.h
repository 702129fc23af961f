// All files of a data directory about a project: the host's key and secret, certificates and the results of joining.
// Secrets are 0600, the directory 0700; every file is replaced atomically. The volunteer's preferences are in
// preference_files.h, further projects in memberships.h.
//
//   DIR/lock  host.key  host.secret  project.json  manifest.json (signed envelope)  preferences.json  pause.json
//   traffic.json DIR/remote.json (remote_access.h)  allowed-programs (digests, one a line) DIR/artefacts/<sha256>
//   DIR/shards/<sha256>  DIR/checkpoints/  DIR/rounds.jsonl  DIR/reports-RUN.jsonl DIR/control.sock  DIR/starlingd.log
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "client/storage/host_certificate.h"
#include "shared/base/files.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::storage {

// The identity under which this computer joined. Both parts stay when a project is left.
struct HostIdentity {
  crypto::PrivateKey key;
  std::string secret;  // 64 hex digits; projects get tokens derived from it (device_token), never the secret
};
// Secret that a coordinator with this CA requires beside the key: one project's token is of no use at another.
std::string device_token(const std::string& secret, const std::string& ca_pem);

// Results of joining a project.
struct Project {
  std::string host;  // the coordinator's
  std::uint16_t port = 0;
  std::string name;          // the project's
  std::string display_name;  // the volunteer's
  AccountId account_id = 0;
  std::string ca_pem;
  HostCertificate certificate;
  std::string manifest_public_key;  // PEM; pinned at the join
  std::string device_token = {};    // token that it was joined with; empty if an older program joined it
};

class ProjectFiles {
 public:
  // Creates the directory if needed and locks it: already_exists, naming it and the remedy, when another daemon uses
  // it; permission_denied when it cannot be written.
  static Result<ProjectFiles> open(const std::filesystem::path& data_dir);

  // Opens the folder of a further project, within a directory that open() holds locked.
  static Result<ProjectFiles> within(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }
  // Makes the identity on first use. corrupt, naming the file, when key or secret cannot be read: neither is ever
  // overwritten.
  Result<HostIdentity> host_identity();
  Result<std::optional<Project>> project();
  Status save_project(const Project& project);
  // Forgets the project, with its checkpoints, data and reports; the host identity and rounds.jsonl stay. No run of the
  // project may be open.
  Status remove_project();
  // The signed manifest's envelope as received, for starting without the coordinator. not_found before the first.
  Result<std::string> manifest_envelope();
  Status save_manifest_envelope(const std::string& envelope);
  // Scripts of the project that the volunteer has agreed to run, by their digests.
  [[nodiscard]] bool is_allowed(const Digest& program) const;
  Status allow(const Digest& program);

 private:
  ProjectFiles(std::filesystem::path dir, std::optional<FileLock> lock);
  Result<crypto::PrivateKey> host_key();
  Result<std::string> host_secret();
  std::filesystem::path dir_;
  std::optional<FileLock> lock_;
};

}  // namespace starling::storage
