// A project on disk: one directory that holds everything a coordinator is.
//
//   project.json       name and addresses; written last, so a directory that has it is complete
//   coordinator.db     accounts, runs, ledger (SQLite; -wal, -shm and .lock beside it), unless they are on a PostgreSQL
//                      server: then project.json says where
//   ca.pem, ca.key     the project's own certificate authority; its fingerprint is in every join link
//   server.pem, .key   the coordinator's certificate for volunteers; web.pem, .key the one browsers see
//   manifest.key       signs the descriptions of runs; clients pin it when they join. Once its root is offline (`keys
//                      offline`), it is the key that the root certified last, with the root's public half and its word
//   artefacts/         training data, each file named by its SHA-256
//   stats/             figures for statistics sites, once they were exported
//   backups/           copies of all of this, by date; last-backup says which is the newest
//
// Keys are readable by their owner only (0600).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "coordinator/operations/desk.h"
#include "db/stores/database.h"
#include "shared/base/files.h"
#include "shared/base/result.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/tls.h"
#include "shared/net/http_client.h"

namespace starling::server {

struct ProjectConfig {
  std::string name;
  net::Endpoint listen;      // an IP literal
  net::Endpoint public_at;   // what join links say
  bool open_to_all = false;  // joining needs no invite
  bool approval = false;     // new accounts wait for the operator
  bool anonymous = false;    // joining needs no name
  std::string database;      // address of the PostgreSQL database, perhaps with its password; empty: the file
};

// Where browsers find it: "https://example.org:7300".
std::string web_root(const ProjectConfig& config);

// Paths inside a project directory.
struct ProjectFiles {
  explicit ProjectFiles(std::filesystem::path directory) : directory(std::move(directory)) {}
  [[nodiscard]] std::filesystem::path at(const char* name) const { return directory / name; }
  [[nodiscard]] std::filesystem::path config() const { return at("project.json"); }
  [[nodiscard]] std::filesystem::path database() const { return at("coordinator.db"); }
  [[nodiscard]] std::filesystem::path artefacts() const { return at("artefacts"); }
  [[nodiscard]] std::filesystem::path backups() const { return at("backups"); }
  [[nodiscard]] std::filesystem::path stats() const { return at("stats"); }      // that the server gives out
  [[nodiscard]] std::filesystem::path sums() const { return at("SHA256SUMS"); }  // of a backup only

  std::filesystem::path directory;
};

struct Project {
  ProjectFiles files;
  ProjectConfig config;
  crypto::CertificateAuthority authority;
  crypto::PrivateKey manifest_key;
  crypto::PublicKey root;       // what clients pin: manifest_key's own, or that of the root which is offline
  std::string key_certificate;  // the root's word for manifest_key; empty: it is the root
};

// The project signs with that key from now on: manifest.key is replaced, and `project` follows.
Status replace_manifest_key(Project& project, const crypto::PrivateKey& key, const std::string& certificate);

// Makes the whole directory. already_exists when it holds anything already.
Result<Project> create_project(const std::filesystem::path& directory, const ProjectConfig& config, WallTime now);
// not_found, with advice, when the directory is no project's; failed_precondition for a backup, which stays as it was
// made.
Result<Project> load_project(const std::filesystem::path& directory);
// The same for a backup too, for those who only look.
Result<Project> read_project(const std::filesystem::path& directory);
// What project.json says, for those who need no keys.
Result<ProjectConfig> read_config(const ProjectFiles& files);
// Replaces project.json. Readable by its owner only when it holds a database's address, which may have a password.
Status write_config(const ProjectFiles& files, const ProjectConfig& config);
// Held while a project with a file is served, and by whoever needs that it is not. already_exists: it is.
Result<FileLock> lock_against_serving(const Project& project);
// Where the database is, for people.
std::string database_place(const Project& project);
// The database of a project, checked and migrated. Errors name it.
Result<std::unique_ptr<db::Database>> open_database(const Project& project, const db::DatabaseOptions& options = {});

// How a command acts on the project's database, which must outlive it as the clock must.
operations::Desk desk_of(const db::Database& database, const Clock& clock);

// The coordinator's own certificates: taken from disk, or issued anew when they end within a month.
struct ServerIdentity {
  crypto::TlsIdentity volunteers;
  crypto::WebIdentity browsers;
};
Result<ServerIdentity> server_identity(const Project& project, WallTime now);
// When the certificate on disk ends.
Result<WallTime> certificate_end(const Project& project);

}  // namespace starling::server
