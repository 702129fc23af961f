// A run's rounds: how members average, and in which encoding averages and contributions travel.
// shared/run/round_parts.h says which of these settings go together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "shared/wire/codec.h"

namespace starling::wire {

// The formation of groups in a round.
enum class Formation : std::uint8_t {
  automatic,  // "auto": whichever is predicted to average more samples an hour
  one_group,  // "one-group"
  grid
};
inline constexpr std::array<std::string_view, 3> kFormationWords{"auto", "one-group", "grid"};
inline std::span<const std::string_view> words_of(Formation /*formation*/) { return kFormationWords; }

// The limit of one contribution's effect on an average (client/averaging/norm_bound.h).
enum class Aggregation : std::uint8_t {
  clipped,        // one that is unusually long is scaled down
  centered_clip,  // "centered-clip": one that is unusually far from the momentum is drawn toward it
  mean            // no limit: a single member can ruin the run
};
inline constexpr std::array<std::string_view, 3> kAggregationWords{"clipped", "centered-clip", "mean"};
inline std::span<const std::string_view> words_of(Aggregation /*aggregation*/) { return kAggregationWords; }

// The groups in which a round's members average, and how.
struct AveragingOptions {
  Formation formation = Formation::automatic;
  int group_size = 0;  // the most members of a group; 0: the best size is chosen
  Aggregation aggregation = Aggregation::clipped;
  friend bool operator==(const AveragingOptions&, const AveragingOptions&) = default;
};

// The choice of partners in gossip between rounds; shared/swarm/gossip_groups.h says who meets whom.
enum class GossipPartners : std::uint8_t { complete, ring, exponential, alternating_exponential_ring, random, grid };
inline constexpr std::array<std::string_view, 6> kPartnersWords{
    "complete", "ring", "exponential", "alternating-exponential-ring", "random", "grid"};
inline std::span<const std::string_view> words_of(GossipPartners /*partners*/) { return kPartnersWords; }

struct RoundOptions {
  Codec codec = Codec::fp32;                  // codec of averaged gradients, and of each member's contribution
  std::optional<Codec> contribution_codec{};  // codec of each member's contribution, where it is another one
  double error_feedback = 0;  // the fraction of the error left by codecs that is made up for in the next round
  int low_rank = 0;  // factors that stand for each of the gradient's matrices (low_rank.h); 0: matrices go whole
  AveragingOptions averaging{};
  // The fraction of an honest member's rounds, in the long run, whose gradients others recompute (audit.h of
  // shared/protocol); 0: nobody's.
  double audit_rate = 0;
  bool audit_never_bans = false;  // a third false round bans no account: its computer is out for many rounds
  // Gradients are averaged while those of the next round are computed already, on parameters that are one step old.
  // With local steps, displacements are averaged while steps go on.
  bool delay_parameter_updates = false;
};

}  // namespace starling::wire
