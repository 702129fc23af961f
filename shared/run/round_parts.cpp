#include "shared/run/round_parts.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "shared/base/words.h"
#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"
#include "shared/wire/codec.h"

namespace starling::wire {
namespace {

// above this, averages lead past their partners' mean by more than the whole distance
constexpr double kGossipGainMax = 2;

// True if results leave values out: those of the codec that may.
bool has_sparse_results(const RunManifest& manifest) { return !carries_results(manifest.round.codec); }

std::string quoted(Codec codec) { return fmt::format("'{}'", to_string(codec)); }

// Sums: the vector that the trainer shares with the daemon and the one that grows; and the one before, which is
// averaged or still asked for, and the average: these two are of a fragment, if rounds average fragments.
PartVectors vectors_of_sums(const RunManifest& manifest) { return {0, 2 + 2.0 / fragments(manifest)}; }

// Local steps have parameters of their own, those of the beginning, and moments.
PartVectors vectors_of_local_steps(const RunManifest& manifest) {
  if (!manifest.local) return {};
  return {2.0 + moment_vectors(manifest.local->optimizer), 0};
}

void check_delayed_updates(Checker& check, const RunManifest& manifest) {
  if (!manifest.local) return;
  const LocalOptions& local = *manifest.local;
  const bool delays = manifest.round.delay_parameter_updates;
  check.that(local.merge_alpha >= 0 && local.merge_alpha < 1, "local.merge_alpha", fmt::format("{}", local.merge_alpha),
             "0 or more, and below 1");
  check.that(delays || local.merge_alpha == 0, "local.merge_alpha", fmt::format("{}", local.merge_alpha),
             "0 unless delay_parameter_updates is true");
  check.that(delays || !local.eager, "local.eager", "true", "false unless delay_parameter_updates is true");
}

// Batches are computed at parameters that steps do not touch meanwhile; local steps are counted from some. The
// parameters that one's own sum leads to are written there or, with eager local steps, kept beside.
PartVectors vectors_of_delayed_updates(const RunManifest& manifest) {
  if (!manifest.round.delay_parameter_updates) return {};
  return {manifest.local && manifest.local->eager ? 2.0 : 1.0, 0};
}

void check_fragments(Checker& check, const RunManifest& manifest) {
  if (!manifest.local) return;
  const int fragments = manifest.local->fragments;
  const std::string found = fmt::format("{}", fragments);
  check.within("local.fragments", fragments, 1, kFragmentsMax);
  if (!check.status().ok() || fragments == 1) return;
  check.that(manifest.round.delay_parameter_updates, "local.fragments", found,
             "1 unless delay_parameter_updates is true: the others go on while one is averaged");
  check.that(!manifest.local->eager, "local.eager", "true",
             "false where local.fragments is above 1: a fragment's displacement tells nothing of the others");
  const OptimizerKind kind = manifest.optimizer.kind;
  check.word("optimizer.kind", word_of(kind), kind == OptimizerKind::sgd || kind == OptimizerKind::adamw,
             "'sgd' or 'adamw' where local.fragments is above 1: parameters step one by one");
  check.word("moments", word_of(manifest.moments), manifest.moments == MomentForm::fp32,
             "'fp32' where local.fragments is above 1: moments are rounded in blocks, and fragments begin within them");
  const auto parameters = check.status().ok() ? parameter_count(manifest.model) : 0;
  check.that(parameters == 0 || parameters >= static_cast<std::size_t>(fragments) * static_cast<std::size_t>(fragments),
             "local.fragments", found, "less for so small a model");
}

void check_codecs(Checker& check, const RunManifest& manifest) {
  const Codec contributions = manifest.round.contribution_codec.value_or(manifest.round.codec);
  const bool sparse_results = has_sparse_results(manifest);
  check.that((!sparse_results && carries_results(contributions)) || manifest.round.error_feedback > 0, "error_feedback",
             "0",
             fmt::format("above 0 (0.95, say) where anything travels as {}",
                         to_string(sparse_results ? manifest.round.codec : contributions)));
  check.that(
      !sparse_results || manifest.optimizer.kind == OptimizerKind::sgd, "codec", quoted(manifest.round.codec),
      "another one where optimizer.kind is not 'sgd': what is said in a later round, but all at once, has to count "
      "as much as if it had been said in time");
  check.that(
      !sparse_results || manifest.round.averaging.formation != Formation::grid, "averaging.formation", "'grid'",
      fmt::format("'auto' or 'one-group' where codec is {}: what columns and their heads average again has to be whole",
                  quoted(manifest.round.codec)));
}

// The contribution's error, and the result's.
PartVectors vectors_of_codecs(const RunManifest& manifest) {
  return {0, manifest.round.error_feedback > 0 ? 2.0 : 0.0};
}

void check_low_rank(Checker& check, const RunManifest& manifest) {
  if (manifest.round.low_rank == 0) return;
  if (const std::optional<Codec> contributions = manifest.round.contribution_codec) {
    check.word("contribution_codec", to_string(*contributions), false, "empty where low_rank is not 0");
  }
  const auto layout = check.status().ok() ? model_layout(manifest.model) : std::vector<ParameterInfo>();
  if (!layout.empty()) {  // nothing is known of a script's file before it was looked at
    check.that(!low_rank_layout(layout, manifest.round.low_rank).matrices.empty(), "low_rank",
               fmt::format("{}", manifest.round.low_rank),
               "0, or fewer: no matrix of this model gains from so many factors");
  }
  check.that(!has_sparse_results(manifest), "codec", quoted(manifest.round.codec),
             "another one where low_rank is not 0: factors make up for matrices, not for what a codec leaves out");
  check.that(manifest.round.averaging.formation != Formation::grid, "averaging.formation", "'grid'",
             "'auto' or 'one-group' where low_rank is not 0: columns and their heads average vectors only once");
  check.that(!manifest.round.delay_parameter_updates, "delay_parameter_updates", "true",
             "false where low_rank is not 0: factors are computed between averagings, in gradients' place");
}

void check_centered_clip(Checker& check, const RunManifest& manifest) {
  const RoundOptions& round = manifest.round;
  if (round.averaging.aggregation != Aggregation::centered_clip) return;
  const auto without = [&](const char* field, bool rests, std::string found, const char* allowed) {
    check.that(rests, field, std::move(found),
               fmt::format("{} where averaging.aggregation is 'centered-clip'", allowed));
  };
  without("local", !manifest.local, "a table", "none: displacements have no momentum to compare them with,");
  without("optimizer.momentum", moment_vectors(manifest.optimizer) > 0, "0",
          "above 0, or an optimizer that has moments,");
  without("averaging.formation", round.averaging.formation == Formation::one_group,
          fmt::format("'{}'", word_of(round.averaging.formation)),
          "'one-group': columns' averages are closer to the momentum than members' gradients,");
  without("low_rank", round.low_rank == 0, fmt::format("{}", round.low_rank), "0: factors are no gradients,");
  without("error_feedback", round.error_feedback == 0, fmt::format("{}", round.error_feedback),
          "0: what codecs left out before belongs to other momenta,");
  without("delay_parameter_updates", !round.delay_parameter_updates, "true",
          "false: the momentum may be stepping while it is read,");
}

// The momentum as it was when the round began.
PartVectors vectors_of_centered_clip(const RunManifest& manifest) {
  return {0, manifest.round.averaging.aggregation == Aggregation::centered_clip ? 1.0 : 0.0};
}

void check_gossip_settings(Checker& check, const LocalOptions& local) {
  const auto at_rest = [&](const char* field, auto found, auto without) {
    check.that(local.partners || found == without, field, fmt::format("{}", found),
               fmt::format("{} where local.partners is empty: nobody mixes between rounds", without));
  };
  const LocalOptions none;
  at_rest("local.mix_every", local.mix_every, none.mix_every);
  at_rest("local.consensus_bound", local.consensus_bound, none.consensus_bound);
  at_rest("local.mixing_rate", local.mixing_rate, none.mixing_rate);
  at_rest("local.mixing_momentum", local.mixing_momentum, none.mixing_momentum);
  at_rest("local.mixing_pull", local.mixing_pull, none.mixing_pull);
  const auto above_0 = [&](const char* field, double found) {
    check.that(found > 0 && found <= kGossipGainMax, field, fmt::format("{}", found),
               fmt::format("above 0, and at most {}", kGossipGainMax));
  };
  above_0("local.mixing_rate", local.mixing_rate);
  above_0("local.mixing_pull", local.mixing_pull);
  check.that(local.mixing_momentum >= 0 && local.mixing_momentum < 1, "local.mixing_momentum",
             fmt::format("{}", local.mixing_momentum), "0 or more, and below 1");
  check.that(local.consensus_bound == 0 || local.mixing_pull == local.mixing_rate, "local.consensus_bound",
             fmt::format("{}", local.consensus_bound),
             "0 where local.mixing_pull is not local.mixing_rate: how far what partners send is apart tells nothing of "
             "how far their parameters are, then");
}

void check_gossip(Checker& check, const RunManifest& manifest) {
  if (!manifest.local) return;
  if (gossips(manifest.local)) {
    check.word(
        "local.partners", word_of(*manifest.local->partners), !manifest.round.delay_parameter_updates,
        "empty where delay_parameter_updates is true: parameters that have not heard of the last round do not mix");
  }
  check_gossip_settings(check, *manifest.local);
  check.that(!gossips(manifest.local) || !has_sparse_results(manifest), "codec", quoted(manifest.round.codec),
             "another one where local.partners is not empty: mixings have no error feedback");
}

// The vector that is sent and the average that comes back; other than plain means need also the place and the speed
// that earlier averages have led to.
PartVectors vectors_of_gossip(const RunManifest& manifest) {
  if (!gossips(manifest.local)) return {};
  return {0, mixes_plainly(*manifest.local) ? 2.0 : 4.0};
}

PartVectors no_vectors(const RunManifest&) { return {}; }

constexpr std::array kParts{
    RoundPart{"sums", nullptr, vectors_of_sums},
    RoundPart{"local steps", nullptr, vectors_of_local_steps},
    RoundPart{"delayed updates", check_delayed_updates, vectors_of_delayed_updates},
    RoundPart{"gossip", check_gossip, vectors_of_gossip},
    RoundPart{"fragments", check_fragments, no_vectors},
    RoundPart{"codecs", check_codecs, vectors_of_codecs},
    RoundPart{"low-rank products", check_low_rank, no_vectors},  // short vectors do not count
    RoundPart{"centered clip", check_centered_clip, vectors_of_centered_clip},
};

}  // namespace

std::span<const RoundPart> round_parts() { return kParts; }

void check_round_parts(Checker& check, const RunManifest& manifest) {
  for (const RoundPart& part : round_parts()) {
    if (part.check != nullptr) part.check(check, manifest);
  }
  if (manifest.round.audit_rate <= 0) return;
  const std::string why = why_not_audited(manifest);
  check.that(why.empty(), "audit_rate", fmt::format("{:g}", manifest.round.audit_rate), "0 in this run: " + why);
}

std::string why_not_audited(const RunManifest& manifest) {
  if (manifest.local) {
    return "local steps are not checked: they depend on moments that only the member has, so nobody can take them "
           "again";
  }
  if (manifest.round.delay_parameter_updates) {
    return "rounds with delay_parameter_updates are not checked: a member's first gradients of a round are taken at "
           "parameters of its own, ahead of the agreed ones";
  }
  if (manifest.round.low_rank > 0) {
    return "rounds with low_rank are not checked: members contribute factors, which depend on all members' gradients "
           "and on what was left out of earlier ones";
  }
  if (manifest.round.error_feedback > 0) {
    return "rounds with error_feedback are not checked: a contribution also brings what codecs left out of earlier "
           "ones, which only the member knows";
  }
  if (manifest.model.experts.rows > 0 && manifest.model.architecture == Architecture::decoder) {
    return "a model with experts is not checked: where two scores of a gate are all but equal, the last bits decide "
           "which expert a token goes through, and other machines have others";
  }
  return "";
}

std::vector<std::string> left_out_of_audits(const RunManifest& manifest) {
  if (!why_not_audited(manifest).empty()) return {};
  std::vector<std::string> left_out;
  const RoundOptions& round = manifest.round;
  const bool centered = round.averaging.aggregation == Aggregation::centered_clip;
  if (centered) {
    left_out.emplace_back(
        "with aggregation centered-clip, gradients are checked, but not what the owners of parts make of them: how far "
        "these draw a contribution to the momentum does not show in sketches");
  }
  if (round.averaging.formation != Formation::one_group) {
    left_out.emplace_back(
        "where a grid averages, gradients are checked, but not what owners and heads make of them: a column's average "
        "is averaged again, and nobody keeps it");
  }
  const auto rough = [&](Codec codec, const char* what, const char* length) {
    left_out.push_back(
        fmt::format("an error of up to {} of the length of {} that travel as {} is taken for the codec's", length, what,
                    to_string(codec)));
  };
  const Codec sent = round.contribution_codec.value_or(round.codec);
  if (sent == Codec::int8 || sent == Codec::int4) rough(sent, "contributions", sent == Codec::int8 ? "5 %" : "58 %");
  const bool rough_results = round.codec == Codec::int8 || round.codec == Codec::int4;
  if (rough_results && !centered) rough(round.codec, "results", round.codec == Codec::int8 ? "7 %" : "86 %");
  if (!manifest.data.shards.empty()) {
    left_out.emplace_back(
        "where data is sharded, a computer is asked about shards that it has, or it cannot tell: the fewer have one, "
        "the "
        "fewer rounds are checked");
  }
  if (manifest.precision == Precision::bf16) {
    left_out.emplace_back(
        "with precision bf16, honest gradients differ by a few per cent, so an error of a tenth of their length is "
        "taken for rounding");
  }
  if (manifest.precision == Precision::tf32) {
    left_out.emplace_back(
        "with precision tf32, honest gradients differ by a thousandth, so an error of a hundredth of their length is "
        "taken for rounding");
  }
  return left_out;
}

RoundTraffic round_traffic(const RunManifest& manifest) {
  RoundTraffic traffic;
  traffic.floats = averaged_floats(manifest);
  traffic.legs = manifest.round.low_rank > 0 ? 2 : 1;
  traffic.codec = manifest.round.codec;
  traffic.contribution_codec = manifest.round.contribution_codec.value_or(manifest.round.codec);
  traffic.narrows_contributions = manifest.round.error_feedback > 0 && manifest.round.low_rank == 0;
  return traffic;
}

std::int64_t RoundTraffic::contribution_bytes() const {
  return static_cast<std::int64_t>(encoded_bytes(contribution_codec, static_cast<std::size_t>(floats)));
}

std::int64_t RoundTraffic::result_bytes() const {
  return static_cast<std::int64_t>(encoded_bytes(codec, static_cast<std::size_t>(floats)));
}

}  // namespace starling::wire
