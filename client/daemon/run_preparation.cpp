#include "client/daemon/run_preparation.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "client/storage/checkpoint_store.h"
#include "client/storage/memberships.h"
#include "client/storage/shard_cache.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/crypto/keys.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"

namespace starling::daemon {
namespace {

Status renew_certificate(const storage::Project& project, storage::ProjectFiles& files, CoordinatorCalls& calls) {
  if (const auto fresh = calls.renew_certificate(); !fresh.ok()) {
    return fresh.error().prefixed("renew this computer's certificate");
  }
  return files.save_project(project);
}

// One that lasts some hours yet is no reason to wait for a coordinator that is away.
Status ensure_valid_certificate(const storage::Project& project, storage::ProjectFiles& files, CoordinatorCalls& calls,
                                const Clock& clock) {
  const WallTime now = clock.wall_now();
  if (!project.certificate.is_due(now)) return {};
  const Status renewed = renew_certificate(project, files, calls);
  return project.certificate.has_run_out(now) ? renewed : Status();
}

// An envelope that is there already needs no room: a run goes on when the disk is full.
Status keep_envelope(storage::ProjectFiles& files, const std::string& envelope) {
  const auto kept = files.manifest_envelope();
  return kept.ok() && *kept == envelope ? Status() : files.save_manifest_envelope(envelope);
}

// Anybody may hold a key that the project has replaced.
Status refuse_older_key(storage::ProjectFiles& files, const manifest::SignedManifest& fetched,
                        const crypto::PublicKey& root) {
  const auto kept = files.manifest_envelope();
  const auto before = kept.ok() ? manifest::decode_envelope(*kept) : Result<manifest::SignedManifest>(kept.error());
  if (!before.ok() || manifest::key_number(fetched, root) >= manifest::key_number(*before, root)) return {};
  return Error{ErrorCode::permission_denied,
               "check the run's manifest: it is signed with a key that the project has replaced; ask its operator"};
}

Status refuse_open_beginning(storage::ProjectFiles& files, const wire::RunManifest& fetched) {
  const auto kept = files.manifest_envelope();
  const auto envelope = kept.ok() ? manifest::decode_envelope(*kept) : Result<manifest::SignedManifest>(kept.error());
  if (!envelope.ok()) return {};
  const auto before = wire::decode_manifest(envelope->json);
  return before.ok() ? check_beginning(*before, fetched) : Status();
}

// Returns the newest manifest from the coordinator; when it cannot be reached, the one that was verified before.
Result<wire::RunManifest> verified_manifest(const storage::Project& project, storage::ProjectFiles& files,
                                            CoordinatorCalls& calls, const PreparationOptions& options) {
  STARLING_ASSIGN(const crypto::PublicKey key, crypto::PublicKey::from_pem(project.manifest_public_key));
  auto fetched = calls.run_manifest();
  const bool unreachable = !fetched.ok() && (fetched.error().code == ErrorCode::unavailable ||
                                             fetched.error().code == ErrorCode::deadline_exceeded);
  if (!fetched.ok() && !unreachable) return fetched.error().prefixed("get the run from the coordinator");
  if (unreachable) {
    auto kept = files.manifest_envelope();
    if (!kept.ok()) return fetched.error().prefixed("get the run from the coordinator");
    log_info("the coordinator cannot be reached; starting with the manifest kept here");
    fetched = manifest::decode_envelope(*kept);
    if (!fetched.ok()) return fetched.error().prefixed("read the kept manifest");
  }
  if (const Status authentic = manifest::verify_signature(*fetched, key); !authentic.ok()) {
    return authentic.error().prefixed("check the run's manifest");
  }
  STARLING_TRY(check_version(fetched->json, options.too_old));
  auto manifest = wire::decode_manifest(fetched->json);
  if (!manifest.ok()) return manifest.error().prefixed("check the run's manifest");
  if (!unreachable) STARLING_TRY(refuse_older_key(files, *fetched, key));
  if (!unreachable) STARLING_TRY(refuse_open_beginning(files, *manifest));
  if (!unreachable) STARLING_TRY(keep_envelope(files, manifest::encode_envelope(*fetched)));
  return manifest;
}

// Like verified_manifest. A certificate that is refused is replaced: by the coordinator's clock it may have run out,
// and by ours not yet.
Result<wire::RunManifest> manifest_for_member(const storage::Project& project, storage::ProjectFiles& files,
                                              CoordinatorCalls& calls, const PreparationOptions& options) {
  auto manifest = verified_manifest(project, files, calls, options);
  if (manifest.ok() || manifest.error().code != ErrorCode::unauthenticated) return manifest;
  if (const Status renewed = renew_certificate(project, files, calls); !renewed.ok()) {
    return without_certificate(manifest.error(), renewed.error());
  }
  return verified_manifest(project, files, calls, options);
}

Status fetch_data(const char* what, const wire::Artefact& artefact, const std::filesystem::path& destination,
                  CoordinatorCalls& calls, const PreparationOptions& options) {
  DownloadSteps steps(artefact.bytes);
  const Status status = calls.fetch_artefact(artefact, destination, [&](std::int64_t bytes) {
    if (steps.is_news(bytes)) {
      options.tell(fmt::format("downloading the {} data: {:.1f} of {:.1f} MB", what, static_cast<double>(bytes) / 1e6,
                               static_cast<double>(artefact.bytes) / 1e6));
    }
    return options.may_go_on();
  });
  if (!status.ok()) return status.error().prefixed(fmt::format("download the {} data", what));
  return {};
}

std::int64_t bytes_missing(const wire::Artefact& artefact, const std::filesystem::path& path) {
  std::error_code absent;
  const auto present = std::filesystem::file_size(path, absent);
  return absent ? artefact.bytes : std::max<std::int64_t>(0, artefact.bytes - static_cast<std::int64_t>(present));
}

// The bytes of the two shards that are read now and next.
std::int64_t shard_bytes_held(const wire::DataOptions& data) {
  return wire::data_bytes_held(data) - data.validation.bytes;
}

// The volunteer trains the trunk, and cells beside it as far as there is memory; where the trunk does not fit, cells
// alone.
Status take_pieces(PreparedRun& run, const MemoryHere& memory) {
  if (run.manifest.model.experts.cells.digests.empty()) {
    return Error{ErrorCode::corrupt, "check the run's manifest: it leaves open which state each cell begins with"};
  }
  run.manifest = wire::piece_of(std::move(run.manifest), wire::kTrunk);
  const bool may_hold = memory.cells.value_or(INT64_MAX) >= wire::held_bytes(run.manifest, 0);
  if (may_hold && refuse_for_memory(run.manifest, memory)) {
    run.manifest = wire::piece_of(std::move(run.manifest), wire::kNoPiece);
  }
  run.cell_bytes = bytes_for_cells(run.manifest, memory);
  run.desk_bytes = desk_bytes(memory);
  return {};
}

}  // namespace

std::int64_t bytes_for_cells(const wire::RunManifest& piece, const MemoryHere& memory) {
  const std::int64_t here = memory.allowed > 0 ? memory.allowed : memory.installed;
  const auto needed = static_cast<std::int64_t>(bytes_needed(piece, memory));
  return std::max<std::int64_t>(0, std::min(here - needed, memory.cells.value_or(INT64_MAX)));
}

Error without_certificate(const Error& refused, const Error& renewal) {
  const std::size_t prefix = refused.message.find(": ");
  const std::string cause = prefix == std::string::npos ? refused.message : refused.message.substr(prefix + 2);
  if (renewal.message.find(cause) != std::string::npos) return {refused.code, renewal.message};
  return {refused.code, fmt::format("{}; {}", refused.message, renewal.message)};
}

Status check_beginning(const wire::RunManifest& kept, const wire::RunManifest& fetched) {
  if (kept.run_id != fetched.run_id || kept.initial_state_digest.is_zero()) return {};
  if (!fetched.initial_state_digest.is_zero()) return {};
  return Error{ErrorCode::permission_denied,
               "check the run's manifest: it leaves open which model the run begins with, and the one kept here does "
               "not; ask the project's operator"};
}

Status check_version(std::string_view manifest_json, const std::function<void(const std::string& version)>& too_old) {
  const std::string wanted = wire::client_min_of(manifest_json);
  if (compare_versions(kVersion, wanted) >= 0) return {};
  too_old(wanted);
  return Error{ErrorCode::unsupported,
               fmt::format("this run needs Starling {} or newer, and this is {}", wanted, kVersion)};
}

bool DownloadSteps::is_news(std::int64_t bytes_done) {
  const std::int64_t step = bytes_done / bytes_each_;
  return std::exchange(told_, step) != step;
}

Status check_room(const PreparedRun& run, const std::filesystem::path& data_dir, std::int64_t bytes_left) {
  const wire::DataOptions& data = run.manifest.data;
  const std::int64_t train = data.shards.empty()
                                 ? bytes_missing(data.train, run.train_file)
                                 : std::max<std::int64_t>(0, shard_bytes_held(data) - storage::bytes_in(run.shards));
  std::int64_t needed = train + bytes_missing(data.validation, run.validation_file);
  if (!run.tokenizer_file.empty()) needed += bytes_missing(data.tokenizer, run.tokenizer_file);
  if (needed == 0) return {};
  std::error_code absent;
  if (std::filesystem::is_empty(data_dir / "checkpoints", absent) || absent) {
    const std::size_t floats = wire::state_size(run.manifest);
    needed += static_cast<std::int64_t>(storage::kCheckpointsKept * floats * sizeof(float));
  }
  if (needed <= bytes_left) return {};
  constexpr double kGigabyte = 1e9;
  return Error{
      ErrorCode::resource_exhausted,
      fmt::format("this run needs {:.2f} GB more of the disk, and your limits leave {:.2f}: free some space, or "
                  "allow more with `starling prefs set disk_max_gb` and `disk_free_min_gb`",
                  static_cast<double>(needed) / kGigabyte,
                  static_cast<double>(std::max<std::int64_t>(0, bytes_left)) / kGigabyte)};
}

Result<PreparedRun> prepare_run(const storage::Project& project, storage::ProjectFiles& files, CoordinatorCalls& calls,
                                const Clock& clock, const PreparationOptions& options) {
  PreparedRun run;
  options.tell("asking the coordinator for the run");
  STARLING_TRY(ensure_valid_certificate(project, files, calls, clock));
  STARLING_ASSIGN(run.manifest, manifest_for_member(project, files, calls, options));
  // The address at which the coordinator was found; its name may be one of the local network's.
  const std::string coordinator = calls.coordinator_address();
  run.addresses = net::policy_for_coordinator(coordinator.empty() ? project.host : coordinator);
  if (wire::has_cells(run.manifest.model)) STARLING_TRY(take_pieces(run, options.memory));
  std::optional<Refusal> refusal = refuse_for_memory(run.manifest, options.memory);
  if (!refusal) {
    refusal = refuse_program(run.manifest, storage::address_of(project),
                             files.is_allowed(run.manifest.model.script.program.sha256));
  }
  options.judge(refusal);
  if (refusal) return Error{ErrorCode::failed_precondition, refusal->reason};
  if (!run.has_data()) return run;
  const std::filesystem::path folder = files.dir() / "artefacts";
  STARLING_TRY(ensure_directory(folder));
  const wire::DataOptions& data = run.manifest.data;
  run.train_file = folder / data.train.sha256.hex();
  run.shards = files.dir() / "shards";
  run.validation_file = folder / data.validation.sha256.hex();
  // No other model continues a text.
  if (wire::writes_text(run.manifest.model) && data.tokenizer != wire::Artefact()) {
    run.tokenizer_file = folder / data.tokenizer.sha256.hex();
  }
  STARLING_TRY(check_room(run, files.dir(), options.disk_bytes_left));
  if (data.shards.empty()) {
    STARLING_TRY(fetch_data("training", data.train, run.train_file, calls, options));
  } else {
    run.shard_bytes_needed = shard_bytes_held(data);
    run.disk_bytes_left = options.disk_bytes_left;
  }
  STARLING_TRY(fetch_data("validation", data.validation, run.validation_file, calls, options));
  if (!run.tokenizer_file.empty()) {
    STARLING_TRY(fetch_data("tokenizer's", data.tokenizer, run.tokenizer_file, calls, options));
  }
  if (const wire::ScriptModel& script = run.manifest.model.script; wire::has_program(run.manifest.model)) {
    run.program_file = folder / script.program.sha256.hex();
    run.parameters_file = folder / script.parameters.sha256.hex();
    STARLING_TRY(fetch_data("program's", script.program, run.program_file, calls, options));
    STARLING_TRY(fetch_data("initial", script.parameters, run.parameters_file, calls, options));
  }
  return run;
}

Result<RunId> served_run(const storage::Project& project, CoordinatorCalls& calls) {
  STARLING_ASSIGN(const crypto::PublicKey key, crypto::PublicKey::from_pem(project.manifest_public_key));
  STARLING_ASSIGN(const manifest::SignedManifest fetched, calls.run_manifest());
  STARLING_ASSIGN(const wire::RunManifest manifest, manifest::verify_manifest(fetched, key));
  return manifest.run_id;
}

}  // namespace starling::daemon
