// The parts of which a run's rounds are composed: local steps, delayed updates, fragments, codecs with error feedback,
// low-rank products, gossip. The manifest names them and client/rounds carries them out. Each part says here what its
// settings may be, what it cannot be combined with and why, and which memory it takes; operators' tools, coordinator
// and volunteers go by this one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/run/run_manifest.h"
#include "shared/wire/checker.h"

namespace starling::wire {

// Memory for vectors of the parameters' length, in such vectors.
struct PartVectors {
  double state = 0;      // parameters and moments that a volunteer keeps beside the agreed ones
  double gradients = 0;  // vectors that rounds go through
};

// A part that rounds may have or not: low rank, say, or gossip. It knows its own settings, limits and needs.
struct RoundPart {
  std::string_view name;
  // Checks the part's settings, and the others that it cannot be combined with; also whether settings of a part that
  // the manifest does not have are at rest. Null: it has none.
  void (*check)(Checker& check, const RunManifest& manifest);
  // Returns zeros for a manifest without the part.
  PartVectors (*vectors)(const RunManifest& manifest);
};

std::span<const RoundPart> round_parts();
// Checks the settings of all parts. Those of the model, the optimizers and the formation have been checked before.
void check_round_parts(Checker& check, const RunManifest& manifest);

// Why others cannot check the work in this run's rounds (shared/protocol/audit.h), in a sentence for people; empty:
// they can.
std::string why_not_audited(const RunManifest& manifest);
// The things that audits do not check of a run whose work they check otherwise, in sentences for people.
std::vector<std::string> left_out_of_audits(const RunManifest& manifest);

// The bytes that a round moves between its members, as far as the manifest decides: plans may make them fewer.
struct RoundTraffic {
  std::int64_t floats = 0;                 // averaged_floats: of a member's averaging, all its legs together
  int legs = 1;                            // averagings one after the other
  Codec codec = Codec::fp32;               // codec of results
  Codec contribution_codec = Codec::fp32;  // codec of contributions
  // Whether plans may give members with slow lines a codec that leaves much out, because later rounds make up for it.
  bool narrows_contributions = false;
  // A member's whole contribution, and the whole result.
  [[nodiscard]] std::int64_t contribution_bytes() const;
  [[nodiscard]] std::int64_t result_bytes() const;
};
RoundTraffic round_traffic(const RunManifest& manifest);

}  // namespace starling::wire
