// The begins of a round's members, each under its member's own signature. So a begin can be passed on to members that
// have no link to its sender, and nobody on the way can change it. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/averaging/own_parts.h"
#include "client/averaging/part_digests.h"
#include "client/averaging/round_types.h"
#include "shared/protocol/group_info.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class Begins {
 public:
  // `group` and `table` outlive this object.
  Begins(const wire::GroupInfo& group, const SegmentTable& table, Rank self, const AllReduceOptions& options);

  // Signs this member's own begin, with the norms and the digests of its vector's parts.
  void start(const RoundVectors& own, const OwnParts& parts);
  // Judges a begin that came from anybody, as far as it can be judged by itself: it fits the plan, is plausible, and
  // the member that it speaks of has signed it. The error names what is wrong.
  [[nodiscard]] Status check(const wire::Begin& begin) const;
  // Keeps a begin that has been checked, if it is the member's first. A process that starts again signs another one, so
  // two begins of a member prove nothing.
  void keep(wire::Begin begin);
  // Holds a member to its begin, as it contributes to this member's own part: the error says that the part, complete
  // now, is another one. Each contribution has the right size.
  [[nodiscard]] Status check_contribution(Rank from, SegmentIndex segment, std::span<const std::uint8_t> payload);
  // Whether the member's begin is here.
  [[nodiscard]] bool has(Rank rank) const { return begins_[rank].has_value(); }
  // The most samples that anybody believes the member to bring.
  [[nodiscard]] SampleCount weight_max(Rank rank) const;
  // The samples that the member said it brings; nothing while its begin is not here.
  [[nodiscard]] std::optional<ContributionTerms> terms(Rank rank) const;
  // Empty when there is none.
  [[nodiscard]] std::span<const std::uint8_t> note(Rank rank) const;
  // The member's begin, with its signature. It is here.
  [[nodiscard]] std::vector<std::uint8_t> encoded(Rank rank) const { return wire::encode(*begins_[rank]); }

 private:
  const wire::GroupInfo& group_;
  Rank self_;
  Hash128 plan_digest_;
  SampleCount weight_max_;
  std::shared_ptr<const crypto::PeerSigner> signer_;
  std::vector<std::optional<wire::Begin>> begins_;  // by rank
  ReceivedDigests received_;
};

}  // namespace starling::averaging
