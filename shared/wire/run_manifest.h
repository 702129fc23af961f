// What a run trains, said once by its operator: model, data, optimizer, batch. Volunteers run no code
// from a project; they run this description. shared/manifest signs it, checks its values and reads it
// from TOML; here are its fields, their JSON form and their limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/data_options.h"
#include "shared/wire/model_options.h"
#include "shared/wire/optimizer_options.h"

namespace starling::wire {

constexpr std::size_t kManifestBytesMax = 64 * 1024;

// Who averages with whom in a round.
struct AveragingOptions {
  std::string formation =
      "auto";          // "one-group", "grid", or "auto": whichever is predicted to average more samples an hour
  int group_size = 0;  // members of a group, at most; 0: whatever is best
  friend bool operator==(const AveragingOptions&, const AveragingOptions&) = default;
};

// Volunteers step by themselves between rounds: then what is averaged is how far each has come from the agreed
// parameters, and `optimizer` steps on that mean. A step takes micro_batch_size samples; moments stay where they are.
struct LocalOptions {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;  // by round, as the other
  // Between rounds, too, parameters are mixed with a few others', while steps go on: with whose, is one of the words in
  // shared/swarm/mixing_groups.h; empty: with nobody's.
  std::string partners{};
  int mix_every = 1;  // own steps from one mixing to the next, at least
  // Mixings become rarer as long as they find replicas nearer to each other than this share of the parameters' length
  // (shared/swarm/mixing_interval.h); 0: they do not.
  double consensus_bound = 0;
  // What a mixing does (client/optim/mixing_step.h): eta, mu and gamma of NoLoCo (arXiv 2506.10911). By default it is
  // the mean of parameters, and nothing is remembered of it.
  double mixing_rate = 1;
  double mixing_momentum = 0;
  double mixing_pull = 1;
  // Where updates are delayed: the share of how far own parameters were from the agreed ones that stays when those have
  // stepped (alpha of Streaming DiLoCo, arXiv 2501.18512).
  double merge_alpha = 0;
  // Where updates are delayed: rounds average so many pieces of the vector in turn, each its own one; 1: all of it.
  int fragments = 1;
  // Where updates are delayed: steps go on from where the common step would lead with one's own displacement alone,
  // until the average is there (eager updates, arXiv 2502.12996).
  bool eager = false;
};

// Whether mixings are means of parameters, and nothing else.
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
  RoundIndex rounds_max = 0;           // the run is complete after so many rounds; 0: never
  int peers_max = 256;                 // sample lanes; see sample_position in training_data.h
  double flops_per_sample = 0;         // forward and backward; sets credit
  std::string codec = "fp32";          // of averaged gradients between peers, and of what each contributes
  std::string contribution_codec;      // of what each contributes, where it is another one; empty: as codec
  double error_feedback = 0;           // the share of what codecs left out that is made up for in the next round
  int low_rank = 0;  // factors that stand for each of the gradient's matrices (low_rank.h); 0: matrices go whole
  AveragingOptions averaging;
  // Gradients are averaged while those of the next round are computed already, on parameters that are one step old; of
  // local steps, displacements, while steps go on.
  bool delay_parameter_updates = false;
  // The coordinator keeps a copy of the state about every so many rounds, for when all who hold it are gone; 0: never.
  RoundIndex checkpoint_rounds = 100;
  std::string precision = "fp32";  // of matrix products; bf16: where a volunteer's machine is made for it
  // What members round the optimizer's moments to after every step (moments.h), so that fewer bytes bring them to those
  // who join; fp32: they stay as they are.
  std::string moments = "fp32";
  std::string client_min;  // oldest client version that may take part
  // Of the state of round 0, which everybody makes for himself (shared/state/initial_state.h); no other begins the run.
  // Zero: a manifest from before it was signed.
  Digest initial_state_digest;
};

// What a sample is, to the model.
enum class SampleForm {
  next_word,     // `context` words that follow each other, each with the next one as its target
  masked_words,  // two stretches of text with words left out, and perhaps the wrong way round
  labelled,      // values and a class
};
SampleForm sample_form(const RunManifest& manifest);
// Different samples of a shard, or of the training file where there are none. Windows of words overlap.
std::int64_t sample_space(const RunManifest& manifest, std::size_t shard);

// Canonical JSON: fields in a fixed order and without white space, so that equal manifests have equal bytes to sign.
std::string encode_manifest(const RunManifest& manifest);
// corrupt for bytes that are no JSON; invalid_argument (which field, what it holds, what it may hold) for
// anything missing, out of range, or written otherwise than encode_manifest writes it (unknown fields).
Result<RunManifest> decode_manifest(std::string_view json);
// The range checks of decode_manifest, for a manifest that was not decoded.
Status check_manifest(const RunManifest& manifest);
// The same for a manifest whose data has not been looked at yet; flops_per_sample may still be 0.
Status check_manifest_settings(const RunManifest& manifest);

}  // namespace starling::wire
