#include "client/daemon/run_parts.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "client/daemon/refusals.h"
#include "client/daemon/state_trust.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/moments.h"

namespace starling::daemon {
namespace {

Result<UniqueFd> open_data(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return Error{ErrorCode::io, fmt::format("open training data '{}': {}", path.string(), std::strerror(errno))};
  }
  return fd;
}

// The coordinator as a source, where a run's shards have no mirrors.
class CoordinatorSource final : public ShardSource {
 public:
  explicit CoordinatorSource(std::unique_ptr<CoordinatorCalls> calls) : calls_(std::move(calls)) {}
  [[nodiscard]] std::string name() const override { return "the coordinator"; }
  Status fetch(const wire::Artefact& shard, const std::filesystem::path& destination,
               std::function<bool(std::int64_t)> progress) override {
    return calls_->fetch_artefact(shard, destination, std::move(progress));
  }
  void cancel() override { calls_->cancel(); }
  [[nodiscard]] std::int64_t wire_bytes() const override { return calls_->wire_bytes(); }

 private:
  std::unique_ptr<CoordinatorCalls> calls_;
};

// Returns null where the run has no shards.
Result<std::unique_ptr<ShardKeeper>> make_shard_keeper(const RunInputs& inputs, CorrectedClock& clock) {
  const PreparedRun& prepared = inputs.prepared;
  if (prepared.manifest.data.shards.empty() || !prepared.has_data()) return std::unique_ptr<ShardKeeper>();
  STARLING_ASSIGN(storage::ShardCache cache,
                  storage::ShardCache::open(prepared.shards, prepared.shard_bytes_needed, prepared.disk_bytes_left));
  ShardKeeperOptions options;
  options.manifest = prepared.manifest;
  options.seed = inputs.key.peer_id().bytes[0];
  options.connect = [data = prepared.manifest.data, addresses = prepared.addresses, project = inputs.project,
                     key = inputs.key, line = &inputs.line,
                     &clock](std::size_t mirror) -> Result<std::unique_ptr<ShardSource>> {
    if (!data.mirrors.empty()) return connect_mirror(data, mirror, addresses, line);
    STARLING_ASSIGN(auto calls, CoordinatorCalls::create(project, key, clock, line));
    return std::unique_ptr<ShardSource>(std::make_unique<CoordinatorSource>(std::move(calls)));
  };
  return std::make_unique<ShardKeeper>(std::move(options), std::move(cache));
}

Result<std::unique_ptr<trainer_link::TrainerProcess>> make_trainer(const RunOptions& options,
                                                                   const PreparedRun& prepared, ShardKeeper* shards) {
  trainer_link::TrainerProcessOptions process;
  process.program = options.trainer_program;
  process.manifest = prepared.manifest;
  if (!prepared.has_data()) return trainer_link::TrainerProcess::create(std::move(process));
  if (shards == nullptr) {
    STARLING_ASSIGN(process.train_data, open_data(prepared.train_file));
  } else {
    process.shard_for = [shards](const wire::SampleRange& samples) { return shards->open(samples); };
    process.held_shard_for = [shards](const wire::SampleRange& samples) { return shards->open_held(samples); };
  }
  STARLING_ASSIGN(process.validation_data, open_data(prepared.validation_file));
  if (!prepared.program_file.empty()) {
    STARLING_ASSIGN(process.model_program, open_data(prepared.program_file));
    process.initial_parameters = prepared.parameters_file;
  }
  return trainer_link::TrainerProcess::create(std::move(process));
}

// The program lies in the trainer's folder.
Result<std::optional<trainer_link::TokenizerProcess>> make_tokenizer(const RunOptions& options,
                                                                     const PreparedRun& prepared) {
  std::optional<trainer_link::TokenizerProcess> tokenizer;
  if (prepared.tokenizer_file.empty()) return tokenizer;
  trainer_link::TokenizerProcessOptions process;
  process.program = options.trainer_program.parent_path() / "starling-tokenizer";
  STARLING_ASSIGN(process.model, open_data(prepared.tokenizer_file));
  tokenizer.emplace(std::move(process));
  return tokenizer;
}

// Returns the number of the key that has signed the run's manifest, as the preparation has kept it.
std::int64_t key_number(storage::ProjectFiles& files, const crypto::PublicKey& root) {
  const auto kept = files.manifest_envelope();
  if (!kept.ok()) return 0;
  const auto envelope = manifest::decode_envelope(*kept);
  return envelope.ok() ? manifest::key_number(*envelope, root) : 0;
}

Result<std::unique_ptr<transport::PeerNetwork>> open_network(CorrectedClock& clock, const RunOptions& options,
                                                             const RunInputs& inputs,
                                                             const std::shared_ptr<StateShelf>& shelf) {
  const PreparedRun& prepared = inputs.prepared;
  transport::PeerNetworkOptions network;
  network.listen_host = options.listen_host;
  network.listen_port = options.listen_port;
  network.self = inputs.key.peer_id();
  network.run_id = prepared.manifest.run_id;
  network.line = &inputs.line;
  network.addresses = prepared.addresses;
  STARLING_ASSIGN(crypto::TlsContext tls,
                  crypto::TlsContext::peer(inputs.project.ca_pem, {inputs.project.certificate.pem(), inputs.key}));
  const auto held_state = [shelf](RoundIndex round, const Digest& digest) { return shelf->find(round, digest); };
  auto opened = transport::PeerNetwork::create(network, tls, clock, held_state);
  if (!opened.ok()) return opened.error().prefixed(kOpenPort);
  return opened;
}

}  // namespace

Result<RunParts> open_run(CorrectedClock& clock, const RunOptions& options, const RunInputs& inputs) {
  const PreparedRun& prepared = inputs.prepared;
  TrainerParts trainer;
  STARLING_ASSIGN(trainer.shards, make_shard_keeper(inputs, clock));
  STARLING_ASSIGN(trainer.process, make_trainer(options, prepared, trainer.shards.get()));
  STARLING_ASSIGN(trainer.tokenizer, make_tokenizer(options, prepared));
  const session::StateLayout layout = trainer.process->layout();
  StateParts state{
      std::make_unique<SnapshotKeeper>(trainer.process->state(), wire::state_form(prepared.manifest)),
      std::make_shared<std::atomic<bool>>(true),
      storage::CheckpointStore(inputs.files.dir() / "checkpoints", prepared.manifest.run_id, layout.parameter_count,
                               layout.optimizer_vectors),
      storage::PreviousState(inputs.files.dir()),
  };
  session::InitialState initial;
  if (prepared.has_data()) {
    STARLING_ASSIGN(initial, load_state(prepared.manifest, *trainer.process, state));
  }
  STARLING_ASSIGN(storage::RoundJournal journal,
                  storage::RoundJournal::open(inputs.files.dir(), prepared.manifest.run_id));
  initial.unacknowledged = journal.pending();
  const storage::KnownState known = known_state(inputs.files.dir(), prepared.manifest.run_id);
  STARLING_ASSIGN(crypto::PublicKey root, crypto::PublicKey::from_pem(inputs.project.manifest_public_key));
  auto shelf = std::make_shared<StateShelf>();
  shelf->put(*state.snapshots, state.serving);
  STARLING_ASSIGN(auto network, open_network(clock, options, inputs, shelf));
  return RunParts{{prepared.manifest, root, key_number(inputs.files, root), inputs.project, inputs.key, inputs.files,
                   inputs.calls, inputs.line, inputs.files.dir()},
                  std::move(trainer),
                  std::move(state),
                  std::move(journal),
                  std::move(network),
                  std::move(initial),
                  known,
                  std::move(shelf),
                  prepared.cell_bytes,
                  prepared.desk_bytes};
}

}  // namespace starling::daemon
