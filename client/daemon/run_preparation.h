// Leads from a joined project to everything a run needs on this computer: a valid certificate, the verified manifest
// and the data it names. Blocks and uses the network: coordinator thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/daemon/coordinator_calls.h"
#include "client/daemon/refusals.h"
#include "client/storage/project_files.h"
#include "shared/base/result.h"
#include "shared/net/address_policy.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// The result of a preparation: a manifest whose signature was checked, and files that are complete and have the right
// digests. Shards come later (shard_keeper.h).
struct PreparedRun {
  // Where the model is cut into cells, the trunk's or, where that does not fit, no piece's (wire::piece_of): then there
  // are no files, and cells alone are held.
  wire::RunManifest manifest;
  std::filesystem::path train_file;  // where there are no shards
  std::filesystem::path validation_file;
  std::filesystem::path shards;           // the folder of shards
  std::int64_t shard_bytes_needed = 0;    // bytes of shards in use at a time
  std::int64_t disk_bytes_left = 0;       // bytes that the limits leave beside the files present
  std::filesystem::path tokenizer_file;   // for a gpt of tokens whose run publishes one
  std::filesystem::path program_file;     // a script's
  std::filesystem::path parameters_file;  // a script's
  std::int64_t cell_bytes = 0;            // memory for cells of the model, where it has some
  std::int64_t desk_bytes = 0;            // memory for values of others' calls there
  net::AddressPolicy addresses;           // the addresses that the run's plans and mirrors may make this computer dial
  // Samples are computed here: there are files of data.
  [[nodiscard]] bool has_data() const { return manifest.model.experts.piece != wire::kNoPiece; }
};

// Limits of this computer, and the functions by which a preparation reports and asks. All are called on the thread that
// prepares.
struct PreparationOptions {
  // Reports progress for people: "downloading the training data: 1.2 of 2.6 MB". A few hundred times a download.
  std::function<void(const std::string& doing)> tell;
  // The run wants at least this version of Starling, and this one is older; the preparation then ends as unsupported.
  std::function<void(const std::string& version)> too_old;
  // Takes the obstacle to the run here, once its manifest is known; the preparation then ends as failed_precondition,
  // with that reason.
  std::function<void(const std::optional<Refusal>& refusal)> judge;
  // Asked with every piece that arrives; false stops the preparation.
  std::function<bool()> may_go_on;
  std::int64_t disk_bytes_left = INT64_MAX;  // limit for this run's data and models
  MemoryHere memory;
};

// The bytes that the owner's memory leaves to cells (wire::CellOffer) beside the trunk or no piece, with this manifest,
// and the values of others' calls; 0 where the memory is not known.
std::int64_t bytes_for_cells(const wire::RunManifest& piece, const MemoryHere& memory);

// Returns permission_denied where the manifest that is kept names the run's initial state, and the fetched one, of the
// same run, does not: it is from before that was signed.
Status check_beginning(const wire::RunManifest& kept, const wire::RunManifest& fetched);

// The error of a member whose certificate was refused, and cannot be renewed. Where both have one cause, it is said
// once.
Error without_certificate(const Error& refused, const Error& renewal);

// Refuses a run that needs a later version than this one as unsupported, and calls `too_old` with it. The manifest may
// hold words that this version does not know.
Status check_version(std::string_view manifest_json, const std::function<void(const std::string& version)>& too_old);

constexpr std::int64_t kDownloadStepsMax = 200;

// Picks the pieces of a download that are worth reporting: a display of the progress must not drown in them.
class DownloadSteps {
 public:
  explicit DownloadSteps(std::int64_t bytes) : bytes_each_(bytes / kDownloadStepsMax + 1) {}
  // True if a step has begun since this was asked last.
  bool is_news(std::int64_t bytes_done);

 private:
  std::int64_t bytes_each_;
  std::int64_t told_ = -1;
};

// Checks that data that is not here yet, and checkpoints if `data_dir` has none, fit. A run whose data is here goes on
// when the disk is full.
Status check_room(const PreparedRun& run, const std::filesystem::path& data_dir, std::int64_t bytes_left);

// Succeeds without the coordinator, too, when everything is here from an earlier time. Errors that no retry can mend:
// unsupported (a newer client is needed), corrupt (a signature or digest is wrong). resource_exhausted, before anything
// is downloaded, when it would not fit.
Result<PreparedRun> prepare_run(const storage::Project& project, storage::ProjectFiles& files, CoordinatorCalls& calls,
                                const Clock& clock, const PreparationOptions& options);

// Returns the run that the coordinator serves now, its signature checked. Nothing is kept.
Result<RunId> served_run(const storage::Project& project, CoordinatorCalls& calls);

}  // namespace starling::daemon
