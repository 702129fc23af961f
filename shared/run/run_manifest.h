// The description of a run's training, written once by its operator: model, data, optimizer, batch. Volunteers run no
// code from a project; they run this description. shared/manifest signs it, checks its values and reads it from TOML;
// here are its fields, their JSON form and their limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/data_options.h"
#include "shared/run/model_options.h"
#include "shared/run/number_forms.h"
#include "shared/run/optimizer_options.h"
#include "shared/run/round_options.h"

namespace starling::wire {

constexpr std::size_t kManifestBytesMax = 64 * 1024;

// Volunteers step by themselves between rounds; rounds average how far each has come from the agreed parameters, and
// `optimizer` steps on that mean. A step takes micro_batch_size samples; moments stay local.
struct LocalOptions {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;  // by round, like the run's own
  // Gossip between rounds: parameters are averaged with a few others', while steps go on. None: no gossip.
  std::optional<GossipPartners> partners{};
  int mix_every = 1;  // least number of own steps from one gossip average to the next
  // Gossip becomes rarer as long as it finds the consensus distance below this, as a fraction of the parameters' length
  // (shared/swarm/gossip_interval.h); 0: it does not.
  double consensus_bound = 0;
  // The effect of a gossip average (client/optim/gossip_step.h): eta, mu and gamma of NoLoCo (arXiv 2506.10911). By
  // default it is the mean of parameters, without memory.
  double mixing_rate = 1;
  double mixing_momentum = 0;
  double mixing_pull = 1;
  // Where updates are delayed: the fraction of own parameters' displacement from the agreed ones that stays when those
  // have stepped (alpha of Streaming DiLoCo, arXiv 2501.18512).
  double merge_alpha = 0;
  // Where updates are delayed: the number of pieces of the vector that rounds average in turn, each its own one; 1: all
  // of it.
  int fragments = 1;
  // Where updates are delayed: steps go on from where the common step would lead with one's own displacement alone,
  // until the average is there (eager updates, arXiv 2502.12996).
  bool eager = false;
};

// True if members gossip between rounds.
inline bool gossips(const std::optional<LocalOptions>& local) { return local && local->partners; }
// True if gossip averages are means of parameters, and nothing else.
bool mixes_plainly(const LocalOptions& local);

struct RunManifest {
  int version = 1;
  RunId run_id;
  std::string title;
  std::uint64_t seed = 1;  // initial parameters and the order of samples; below 2^63
  ModelOptions model;
  DataOptions data;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  std::optional<LocalOptions> local;   // none: gradients are averaged
  SampleCount target_batch_size = 96;  // samples of the whole swarm in one round
  SampleCount micro_batch_size = 8;    // samples a trainer takes at once
  RoundIndex rounds_max = 0;           // the run is complete after this many rounds; 0: never
  int peers_max = 256;                 // sample lanes; see sample_position in training_data.h
  double flops_per_sample = 0;         // forward and backward; sets credit
  RoundOptions round;
  // Rounds between two copies of the state that the coordinator keeps, about, for when all who hold it are gone; 0: no
  // copies.
  RoundIndex checkpoint_rounds = 100;
  Precision precision = Precision::fp32;  // bf16, tf32: where a volunteer's machine is made for it
  // The form to which members round the optimizer's moments after every step (moments.h), so that fewer bytes bring
  // them to members that join; fp32: they stay whole.
  MomentForm moments = MomentForm::fp32;
  std::string client_min;  // oldest client version that may take part
  // The digest of the state of round 0, which every member makes for itself (shared/state/initial_state.h); no other
  // begins the run. Zero: the manifest does not sign it.
  Digest initial_state_digest;
};

// The form of a sample for the model.
enum class SampleForm {
  next_token,     // `context` tokens that follow each other, each with the next one as its target
  masked_tokens,  // two stretches of text with tokens left out, and perhaps in the wrong order
  labelled,       // values and a class
};
SampleForm sample_form(const RunManifest& manifest);
// The number of different samples of a shard, or of the training file where there are none. Windows of tokens overlap.
std::int64_t sample_space(const RunManifest& manifest, std::size_t shard);

// Canonical JSON: fields in a fixed order and without white space, so that equal manifests have equal bytes to sign.
std::string encode_manifest(const RunManifest& manifest);
// corrupt for bytes that are no JSON; invalid_argument (which field, its value, the allowed values) for anything
// missing, out of range, or written otherwise than encode_manifest writes it (unknown fields).
Result<RunManifest> decode_manifest(std::string_view json);
// The client_min that a manifest of any version names: whoever cannot decode it learns which version can. Empty where
// there is none.
std::string client_min_of(std::string_view json);
// The range checks of decode_manifest, for a manifest that was not decoded.
Status check_manifest(const RunManifest& manifest);
// Like check_manifest, for a manifest whose data has not been looked at yet; flops_per_sample may still be 0.
Status check_manifest_settings(const RunManifest& manifest);

}  // namespace starling::wire
