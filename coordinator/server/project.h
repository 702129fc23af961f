// A project on disk: one directory that holds everything a coordinator is.
//
//   project.json       name and addresses; written last, so a directory that has it is complete
//   coordinator.db     accounts, runs, ledger (SQLite; -wal, -shm and .lock beside it), unless they are on a PostgreSQL
//                      server: then project.json says where
//   ca.pem, ca.key     the project's own certificate authority; its fingerprint is in every join link
//   server.pem, .key   the coordinator's certificate for volunteers; web.pem, .key for browsers
//   manifest.key       signs the descriptions of runs; clients pin it when they join. Once its root is offline (`keys
//                      offline`), it is the key that the root certified last, with the root's public half and
//                      certificate
//   artefacts/         training data, each file named by its SHA-256
//   stats/             figures for statistics sites, once they were exported
//   backups/           copies of all of this but the private keys, by date; last-backup names the newest
//   keys-exported      names the keys that were exported last (key_bundle.h)
//
// Keys are readable by their owner only (0600).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "coordinator/accounts/policy.h"
#include "coordinator/operations/desk.h"
#include "db/stores/database.h"
#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/tls.h"
#include "shared/net/http_client.h"

namespace starling::server {

constexpr std::int64_t kCopiesBytes = 10'000'000'000;

// The content of project.json: the operator's choices, read whenever a command or the server starts.
struct ProjectConfig {
  std::string name;
  net::Endpoint listen;      // an IP literal
  net::Endpoint public_at;   // address in join links
  bool open_to_all = false;  // joining needs no invite
  bool approval = false;     // new accounts wait for the operator
  bool anonymous = false;    // joining needs no name
  // The most computers of one account, where `users computers` says nothing else.
  std::int64_t hosts_per_account = accounts::kHostsPerAccount;
  // Copies of runs' states take no more than this, apart from the newest two of each run.
  std::int64_t copies_bytes = kCopiesBytes;
  std::string database;  // address of the PostgreSQL database, perhaps with its password; empty: the file
};

// The address for browsers: "https://example.org:7300".
std::string web_root(const ProjectConfig& config);

// Paths inside a project directory.
struct ProjectFiles {
  explicit ProjectFiles(std::filesystem::path directory) : directory(std::move(directory)) {}
  [[nodiscard]] std::filesystem::path at(const char* name) const { return directory / name; }
  [[nodiscard]] std::filesystem::path config() const { return at("project.json"); }
  [[nodiscard]] std::filesystem::path database() const { return at("coordinator.db"); }
  [[nodiscard]] std::filesystem::path artefacts() const { return at("artefacts"); }
  [[nodiscard]] std::filesystem::path backups() const { return at("backups"); }
  [[nodiscard]] std::filesystem::path stats() const { return at("stats"); }      // files that the server gives out
  [[nodiscard]] std::filesystem::path sums() const { return at("SHA256SUMS"); }  // present in a backup only

  std::filesystem::path directory;
};

struct Project {
  ProjectFiles files;
  ProjectConfig config;
  crypto::CertificateAuthority authority;
  crypto::PrivateKey manifest_key;
  crypto::PublicKey root;       // the key that clients pin: manifest_key's own, or that of the offline root
  std::string key_certificate;  // the root's certificate for manifest_key; empty: manifest_key is the root
};

// The project signs with that key from now on: replaces manifest.key and updates `project`.
Status replace_manifest_key(Project& project, const crypto::PrivateKey& key, const std::string& certificate);

// Makes the whole directory, or nothing, so that init can be tried again after a failure. already_exists when it holds
// anything already.
Result<Project> create_project(const std::filesystem::path& directory, const ProjectConfig& config, WallTime now);
// not_found, with advice, when the directory is not a project's; failed_precondition for a backup, which must stay
// unchanged.
Result<Project> load_project(const std::filesystem::path& directory);
// Like load_project(), but accepts a backup too, for commands that only read.
Result<Project> read_project(const std::filesystem::path& directory);
// The content of project.json, for commands that need no keys.
Result<ProjectConfig> read_config(const ProjectFiles& files);
// Replaces project.json. It is readable by its owner only when it holds a database's address, which may have a
// password.
Status write_config(const ProjectFiles& files, const ProjectConfig& config);
// The lock that is held while a project with a file is served, and by commands that need that it is not.
// already_exists: it is being served.
Result<FileLock> lock_against_serving(const Project& project);
// The place of the database, for people.
std::string database_place(const Project& project);
// The database of a project, checked and migrated. Errors name it.
Result<std::unique_ptr<db::Database>> open_database(const Project& project, const db::DatabaseOptions& options = {});

// The desk on which a command acts on the project's database; database and clock must outlive it.
operations::Desk desk_of(const db::Database& database, const Clock& clock);

// The coordinator's own certificates: read from disk, or issued again when they end within a month.
struct ServerIdentity {
  crypto::TlsIdentity volunteers;
  crypto::WebIdentity browsers;
};
Result<ServerIdentity> server_identity(const Project& project, WallTime now);
// The time when the certificate on disk ends.
Result<WallTime> certificate_end(const Project& project);

}  // namespace starling::server
