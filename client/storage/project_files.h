// Everything a data directory keeps about a project: the host's key and secret, certificates and what the join brought.
// Secrets are 0600, the directory 0700; every file is replaced atomically. What the volunteer prefers:
// preference_files.h. Further projects: memberships.h.
//
//   DIR/lock  host.key  host.secret  project.json  manifest.json (signed envelope)  preferences.json  pause.json
//   traffic.json DIR/remote.json (remote_access.h)  allowed-programs (digests, one a line) DIR/artefacts/<sha256>
//   DIR/shards/<sha256>  DIR/checkpoints/  DIR/rounds.jsonl  DIR/reports-RUN.jsonl DIR/control.sock  DIR/starlingd.log
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "shared/base/files.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::storage {

// What makes this computer the one that has joined. Both stay when a project is left.
struct HostIdentity {
  crypto::PrivateKey key;
  std::string secret;  // 64 hex digits; projects get tokens that are made of it (device_token), never itself
};
// The secret that a coordinator with this CA wants to see beside the key: one project's token is of no use at another.
std::string device_token(const std::string& secret, const std::string& ca_pem);

// What joining a project left here.
struct Project {
  std::string host;  // of the coordinator
  std::uint16_t port = 0;
  std::string name;          // the project's
  std::string display_name;  // the volunteer's
  AccountId account_id = 0;
  std::string ca_pem;
  std::string certificate_pem;      // of this host; replaced when renewed
  std::string manifest_public_key;  // PEM; pinned at the join
  std::string device_token = {};    // that it was joined with; empty where it was joined by an older program
};

class ProjectFiles {
 public:
  // Creates the directory if needed and locks it: already_exists, naming it and what to do, when another daemon
  // uses it; permission_denied when it cannot be written.
  static Result<ProjectFiles> open(const std::filesystem::path& data_dir);

  // A folder for one more project, within a directory that open() holds locked.
  static Result<ProjectFiles> within(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }
  // Made on first use. corrupt, naming the file, when one of the two cannot be read: it is never overwritten.
  Result<HostIdentity> host_identity();
  Result<std::optional<Project>> project();
  Status save_project(const Project& project);
  // Forgets the project, with its checkpoints, data and reports; the host identity and rounds.jsonl stay. Only while no
  // run of it is open.
  Status remove_project();
  // The signed manifest's envelope as it came, for starting without the coordinator. not_found before the first.
  Result<std::string> manifest_envelope();
  Status save_manifest_envelope(const std::string& envelope);
  // Programs of the project's own that the volunteer has agreed to run, by their digests.
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
