// The parts of one member's state in a round, connected as the engine connects them: for tests of single parts.
#pragma once

#include <vector>

#include "client/averaging/late_member.h"
#include "client/averaging/lost_sets.h"
#include "client/averaging/patience.h"
#include "shared/swarm/plan.h"
#include "tests/support/plain_signer.h"

namespace starling::averaging {

// `members` that can be dialled, each with a part of `part_floats` in segments of eight.
inline wire::GroupInfo plain_group(std::size_t members, std::int64_t part_floats) {
  wire::GroupInfo group;
  group.run_id = "test";
  group.id.bytes[0] = 7;
  group.codec = "fp32";
  group.segment_floats = 8;
  group.begin_within_ms = 1000;
  for (std::size_t rank = 0; rank < members; ++rank) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(rank + 1);
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = 4000;
    member.part_floats = part_floats;
    group.vector_floats += part_floats;
    group.members.push_back(member);
  }
  return group;
}

struct RoundParts {
  explicit RoundParts(wire::GroupInfo plan, Rank self, const AllReduceOptions& options = {})
      : group(std::move(plan)),
        input(static_cast<std::size_t>(group.vector_floats), 1.0F),
        output(input.size()),
        table(group),
        roster(group, self, {1, 0}),
        recovery(table, roster),
        progress(table, roster, recovery),
        outbox(table, roster, true),
        values(group, table, {.weight = 1, .input = input, .output = output}),
        patience(options, roster, progress),
        sets(group, roster, signed_by(self)),
        late(options, {group, table, roster, outbox, progress, values, patience.watch(), sets}) {}

  [[nodiscard]] AllReduceOptions signed_by(Rank rank) const {
    AllReduceOptions options;
    options.signer = testing::plain_signer(group.members[rank].endpoint.peer);
    return options;
  }
  // A member's signed word that it has lost others, some of them for what these say.
  [[nodiscard]] wire::LostSet lost_set(Rank accuser, const std::vector<Rank>& accused,
                                       const std::vector<Rank>& judged = {}) const {
    wire::LostSet said{static_cast<std::uint32_t>(accuser), swarm::plan_digest(group), wire::RankSet(roster.size())};
    for (const Rank rank : accused) said.lost.set(rank);
    if (!judged.empty()) said.judged = wire::RankSet(roster.size());
    for (const Rank rank : judged) said.judged.set(rank);
    said.signature = signed_by(accuser).signer->sign(wire::signed_text(said));
    return said;
  }

  // All the others have begun.
  void begin(TimePoint now) {
    patience.start(now, from_ms(group.begin_within_ms));
    for (Rank rank = 0; rank < roster.size(); ++rank) {
      if (rank == roster.self()) continue;
      roster.begin(rank, {1, 0});
      patience.watch().on_begun(now, rank);
    }
  }

  wire::GroupInfo group;
  std::vector<float> input;
  std::vector<float> output;
  SegmentTable table;
  Roster roster;
  Recovery recovery;
  PeerProgress progress;
  Outbox outbox;
  RoundValues values;
  Patience patience;
  LostSets sets;
  LateMember late;
};

}  // namespace starling::averaging
