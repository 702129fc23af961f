// Looking after a project: is everything in order, and a copy of it.
#include <fmt/core.h>
#include <sys/stat.h>

#include <system_error>

#include "coordinator/server/commands.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::server {
namespace {

// Prints one finding a line and counts those that are bad.
class Findings {
 public:
  void add(std::string_view what, const Status& status) {
    if (status.ok()) {
      fmt::print("  ok       {}\n", what);
    } else {
      ++problems_;
      fmt::print("  PROBLEM  {}: {}\n", what, status.error().message);
    }
  }
  [[nodiscard]] int problems() const { return problems_; }

 private:
  int problems_ = 0;
};

Status check_secret(const std::filesystem::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return Error{ErrorCode::not_found, "the file is missing"};
  if ((info.st_mode & 077) != 0) {
    return Error{ErrorCode::permission_denied, fmt::format("others may read it; run: chmod 600 '{}'", file.string())};
  }
  return {};
}

Status check_artefact(const Project& project, const db::ArtefactRecord& artefact) {
  STARLING_ASSIGN(const Digest digest, crypto::sha256_file(project.files.artefacts() / artefact.digest.hex()));
  if (digest == artefact.digest) return {};
  return Error{ErrorCode::corrupt, "its bytes are not those that were imported; volunteers would refuse them"};
}

Status check_run(const Project& project, const db::Run& run) {
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  return manifest::verify_manifest(envelope, project.manifest_key.public_key()).status();
}

Status copy_to(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code problem;
  std::filesystem::copy_file(from, to, problem);
  if (!problem) return {};
  return Error{ErrorCode::io, fmt::format("copy '{}' to '{}': {}", from.string(), to.string(), problem.message())};
}

}  // namespace

Status examine(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  Findings findings;
  fmt::print("project '{}' in '{}'\n", project.config.name, directory.string());
  for (const char* secret : {"ca.key", "manifest.key", "server.key", "web.key"}) {
    findings.add(secret, check_secret(project.files.at(secret)));
  }
  findings.add("certificates", server_identity(project, SystemClock().wall_now()).status());
  const auto database = open_database(project);
  findings.add("database opens", database.status());
  if (database) {
    findings.add("database and ledger agree", (*database)->check());
    const db::Stores& stores = (*database)->stores();
    if (const auto runs = stores.runs.list()) {
      for (const db::Run& run : *runs) findings.add(fmt::format("run {}", run.run_id), check_run(project, run));
    }
    if (const auto artefacts = stores.artefacts.list()) {
      for (const db::ArtefactRecord& artefact : *artefacts) {
        findings.add(fmt::format("artefact {} ({})", artefact.digest.brief(), artefact.name),
                     check_artefact(project, artefact));
      }
    }
  }
  if (findings.problems() == 0) return {};
  return Error{ErrorCode::failed_precondition, fmt::format("{} problem(s) found", findings.problems())};
}

Status back_up(const std::filesystem::path& directory, const std::filesystem::path& to) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  if (std::error_code problem; std::filesystem::exists(to, problem)) {
    return Error{ErrorCode::already_exists, fmt::format("'{}' exists already", to.string())};
  }
  const ProjectFiles copy(to);
  STARLING_TRY(ensure_directory(to, 0700));
  STARLING_TRY(ensure_directory(copy.artefacts(), 0700));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_TRY(database->backup(copy.database()));
  for (const char* name : {"ca.key", "ca.pem", "manifest.key", "server.key", "server.pem", "web.key", "web.pem"}) {
    STARLING_TRY(copy_to(project.files.at(name), copy.at(name)));
  }
  STARLING_ASSIGN(const auto artefacts, database->stores().artefacts.list());
  for (const db::ArtefactRecord& artefact : artefacts) {
    const std::string name = artefact.digest.hex();
    STARLING_TRY(copy_to(project.files.artefacts() / name, copy.artefacts() / name));
  }
  STARLING_TRY(copy_to(project.files.config(), copy.config()));
  fmt::print("everything is in '{}'; serve that directory to restore it\n", to.string());
  return {};
}

}  // namespace starling::server
