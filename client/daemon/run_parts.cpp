#include "client/daemon/run_parts.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "shared/run/fragments.h"
#include "shared/run/moments.h"
#include "shared/state/initial_state.h"

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
  if (prepared.manifest.data.shards.empty()) return std::unique_ptr<ShardKeeper>();
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
  if (shards == nullptr) {
    STARLING_ASSIGN(process.train_data, open_data(prepared.train_file));
  } else {
    process.shard_for = [shards](const wire::SampleRange& samples) { return shards->open(samples); };
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

// Loads the newest checkpoint whose digest fits its name, or round 0, which begins with the state that the project has
// signed.
Result<session::InitialState> load_state(const wire::RunManifest& manifest, trainer_link::TrainerProcess& trainer,
                                         SnapshotKeeper& snapshots, storage::CheckpointStore& checkpoints) {
  session::InitialState initial;
  while (true) {
    std::optional<storage::CheckpointInfo> loaded;
    auto digest = snapshots.change(0, [&]() -> Status {
      auto newest = checkpoints.load_newest(trainer.state());
      if (newest.ok()) {
        loaded = *newest;
        return {};
      }
      if (newest.error().code != ErrorCode::not_found) return newest.error();
      return trainer.initialize();
    });
    if (!digest.ok()) return digest.error().prefixed("prepare the model");
    initial.digest = *digest;
    const Status first = state::check_initial_state(manifest, *digest);
    if (!loaded.has_value()) {
      STARLING_TRY(first);
      return initial;
    }
    const bool whole = loaded->state_digest == *digest;
    if (whole && (loaded->round > 0 || first.ok())) {
      initial.round = loaded->round;
      return initial;
    }
    STARLING_TRY(checkpoints.set_newest_aside(whole ? "it is of round 0, and not the state that the project has signed"
                                                    : "its content does not have the digest it claims"));
  }
}

std::unique_ptr<GossipParts> make_gossip(const wire::RunManifest& manifest, const PeerId& self) {
  auto parts = std::make_unique<GossipParts>();
  parts->buckets = wire::buckets(manifest.model);
  for (const wire::Bucket& bucket : parts->buckets) {
    parts->gossips.emplace_back(*manifest.local, self, bucket);
    parts->steps.emplace_back(*manifest.local, bucket.count);
  }
  parts->sent.resize(wire::parameter_count(manifest.model));
  parts->mixed.resize(parts->sent.size());
  return parts;
}

std::unique_ptr<LowRankParts> make_low_rank(const wire::RunManifest& manifest) {
  wire::LowRankLayout layout = wire::low_rank_layout(wire::model_layout(manifest.model), manifest.low_rank);
  const std::size_t floats[] = {layout.left_floats, layout.right_floats};
  auto parts = std::make_unique<LowRankParts>(LowRankParts{
      averaging::PowerSgd(std::move(layout), static_cast<float>(manifest.error_feedback), manifest.seed), {}, {}, {}});
  for (std::size_t i = 0; i < 2; ++i) {
    parts->sent[i].resize(floats[i]);
    parts->arrived[i].resize(floats[i]);
  }
  return parts;
}

}  // namespace

Result<RunParts> open_run(CorrectedClock& clock, const RunOptions& options, const RunInputs& inputs) {
  const PreparedRun& prepared = inputs.prepared;
  STARLING_ASSIGN(auto shards, make_shard_keeper(inputs, clock));
  STARLING_ASSIGN(auto trainer, make_trainer(options, prepared, shards.get()));
  STARLING_ASSIGN(auto tokenizer, make_tokenizer(options, prepared));
  auto snapshots = std::make_unique<SnapshotKeeper>(trainer->state(), wire::state_form(prepared.manifest));
  const session::StateLayout layout = trainer->layout();
  storage::CheckpointStore checkpoints(inputs.files.dir() / "checkpoints", prepared.manifest.run_id,
                                       layout.parameter_count, layout.optimizer_vectors);
  STARLING_ASSIGN(session::InitialState initial, load_state(prepared.manifest, *trainer, *snapshots, checkpoints));
  STARLING_ASSIGN(storage::RoundJournal journal,
                  storage::RoundJournal::open(inputs.files.dir(), prepared.manifest.run_id));
  initial.unacknowledged = journal.pending();
  std::vector<std::string> damaged = checkpoints.problems();

  transport::PeerNetworkOptions network_options;
  network_options.listen_host = options.listen_host;
  network_options.listen_port = options.listen_port;
  network_options.self = inputs.key.peer_id();
  network_options.run_id = prepared.manifest.run_id;
  network_options.line = &inputs.line;
  network_options.addresses = prepared.addresses;
  STARLING_ASSIGN(crypto::TlsContext tls,
                  crypto::TlsContext::peer(inputs.project.ca_pem, {prepared.certificate_pem, inputs.key}));
  SnapshotKeeper* source = snapshots.get();
  auto serving = std::make_shared<std::atomic<bool>>(true);
  auto network = transport::PeerNetwork::create(network_options, tls, clock,
                                                [source, serving](RoundIndex round, const Digest& digest) {
                                                  return *serving ? source->find(round, digest) : nullptr;
                                                });
  if (!network.ok()) return network.error().prefixed("open the port for other volunteers");

  RunParts parts{prepared.manifest,
                 inputs.project,
                 inputs.key,
                 inputs.files,
                 inputs.calls,
                 inputs.line,
                 std::move(shards),
                 std::move(trainer),
                 std::move(tokenizer),
                 std::move(snapshots),
                 std::move(serving),
                 std::move(checkpoints),
                 storage::PreviousState(inputs.files.dir()),
                 std::move(journal),
                 std::move(*network),
                 nullptr,
                 nullptr,
                 std::move(initial),
                 std::move(damaged),
                 {},
                 {}};
  parts.averaged.resize(wire::fragment_floats(parts.manifest));
  if (wire::fragments(parts.manifest) > 1) {
    parts.fragments.emplace(parts.manifest);
  } else {
    for (auto& gradient : parts.gradients) gradient.resize(layout.parameter_count);
  }
  const auto kept = static_cast<float>(parts.manifest.error_feedback);
  if (parts.manifest.low_rank > 0) {
    parts.low_rank = make_low_rank(parts.manifest);
  } else if (kept > 0) {
    parts.feedback.assign(static_cast<std::size_t>(wire::fragments(parts.manifest)), {parts.averaged.size(), kept});
  }
  if (parts.manifest.local && !parts.manifest.local->partners.empty()) {
    parts.gossip = make_gossip(parts.manifest, network_options.self);
  }
  return parts;
}

}  // namespace starling::daemon
