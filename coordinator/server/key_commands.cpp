// Commands for the key that signs runs, and for its root.
#include <fmt/core.h>

#include "coordinator/server/commands.h"
#include "coordinator/server/key_bundle.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/key_certificate.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::server {
namespace {

constexpr WriteOptions kSecret{.mode = 0600};

std::string fingerprint(const crypto::PublicKey& key) { return "sha256:" + crypto::sha256(key.spki()).hex(); }

// Number of the key's certificate; 0: the key is its own root.
std::int64_t number_of(const Project& project) {
  if (project.key_certificate.empty()) return 0;
  const auto certificate = manifest::verify_key(project.key_certificate, project.root);
  return certificate ? certificate->number : 0;
}

// Signs every run, unchanged, with the project's key. Until all are signed, some have the last key's signature, which
// counts as well; a running server and clients pick each one up by themselves.
Status sign_runs_again(const Project& project, db::RunStore& store) {
  const manifest::SigningKey signer(project.manifest_key, project.key_certificate);
  STARLING_ASSIGN(const auto runs, store.list());
  for (const db::Run& run : runs) {
    STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
    STARLING_TRY(manifest::verify_manifest(envelope, project.root).status());  // no foreign manifest slips in between
    STARLING_TRY(store.set_envelope(run.run_id, manifest::encode_envelope(manifest::sign_again(envelope, signer))));
  }
  fmt::print("{} runs are signed with it\n", runs.size());
  return {};
}

Status rotate(Project& project, const crypto::PrivateKey& root) {
  STARLING_ASSIGN(const auto database, open_database(project));
  const std::int64_t number = number_of(project) + 1;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  STARLING_TRY(replace_manifest_key(project, key, manifest::certify_key({number, key.public_key()}, root)));
  fmt::print("key {} signs from now on: {}\n", number, fingerprint(key.public_key()));
  STARLING_TRY(sign_runs_again(project, database->stores().training.runs));
  const SystemClock clock;
  return operations::note(desk_of(*database, clock), "keys rotate", fmt::format("key {}", number));
}

}  // namespace

Status take_root_offline(const KeysOptions& options) {
  STARLING_ASSIGN(Project project, load_project(options.directory));
  if (!project.key_certificate.empty()) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("the root is not in '{}' any more; to replace the key that signs: keys rotate",
                             options.directory.string())};
  }
  std::error_code unknown;
  if (std::filesystem::exists(options.root, unknown)) {
    return Error{ErrorCode::already_exists, fmt::format("'{}' exists already", options.root.string())};
  }
  const crypto::PrivateKey root = project.manifest_key;
  STARLING_TRY(write_where_told(options.root, root.to_pem(), kSecret));
  STARLING_TRY(rotate(project, root));
  fmt::print("the root is in '{}' and nowhere else: take it off this machine, twice; keys rotate needs it\n",
             options.root.string());
  return {};
}

Status rotate_key(const KeysOptions& options) {
  STARLING_ASSIGN(Project project, load_project(options.directory));
  if (project.key_certificate.empty()) {
    return Error{ErrorCode::failed_precondition,
                 "the key that signs is its own root, which clients have pinned; first: keys offline"};
  }
  auto pem = read_file(options.root, crypto::kPemBytesMax);
  if (!pem) return pem.error().prefixed("--root");
  const auto root = crypto::PrivateKey::from_pem(*pem);
  if (!root) return root.error().prefixed(fmt::format("--root '{}'", options.root.string()));
  if (root->public_key().spki() != project.root.spki()) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is not this project's root: that is {}",
                                                          options.root.string(), fingerprint(project.root))};
  }
  return rotate(project, *root);
}

Status show_keys(const KeysOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  fmt::print("root  {}, {}\n", fingerprint(project.root),
             project.key_certificate.empty() ? "here: it signs runs itself" : "offline");
  if (!project.key_certificate.empty()) {
    fmt::print("key   {}, number {}\n", fingerprint(project.manifest_key.public_key()), number_of(project));
  }
  return {};
}

Status export_keys(const KeysOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  std::error_code unknown;
  if (std::filesystem::exists(options.to, unknown)) {
    return Error{ErrorCode::already_exists, fmt::format("'{}' exists already", options.to.string())};
  }
  STARLING_ASSIGN(const std::string passphrase, new_passphrase(options.passphrase_file));
  STARLING_ASSIGN(const std::string sealed, seal_keys(project.files, passphrase));
  STARLING_TRY(write_where_told(options.to, sealed, kSecret));
  STARLING_TRY(note_export(project));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*database, clock), "keys export", ""));
  fmt::print("the private keys are in '{}', and the passphrase opens them: keep both off this machine\n",
             options.to.string());
  return {};
}

}  // namespace starling::server
