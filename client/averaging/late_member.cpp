#include "client/averaging/late_member.h"

#include <fmt/core.h>

#include <algorithm>

#include "client/averaging/contributors.h"

namespace starling::averaging {

using wire::FrameType;

void LateMember::begin(TimePoint now) {
  late_ = true;
  heard_ = fed_ = now;
  parts_.table = SegmentTable(parts_.group);
  parts_.progress.forget_results();
  parts_.outbox.listen();
}

void LateMember::on_overslept(Duration slept) {
  heard_ += slept;
  fed_ += slept;
}

Status LateMember::receive(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload) {
  if (parts_.progress.severed(from) || !parts_.roster.linked(from)) return {};
  heard_ = now;
  const bool of_round = !wire::is_sign_of_life(header.type);
  if (of_round) fed_ = now;
  parts_.watch.on_heard(now, from, of_round);
  switch (header.type) {
    case FrameType::begin:
      return on_begin(now, from, payload);
    case FrameType::inventory:
      STARLING_TRY(on_inventory(now, from, payload));
      break;
    case FrameType::result:
      if (distrusted_[from]) return {};
      if (header.segment >= parts_.table.size()) return nonsense(fmt::format("there is no segment {}", header.segment));
      STARLING_TRY(parts_.values.check_codec(from, header));
      STARLING_TRY(on_result(header.segment, payload));
      break;
    case FrameType::done:
      STARLING_TRY(on_done(from, payload));
      break;
    default:
      return {};  // sent before the sender knew that this member is late
  }
  check(now);
  return {};
}

// The sender was not there yet when this member's begin went out, so it is asked now.
Status LateMember::on_begin(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Begin begin, wire::decode_begin(payload));
  if (begin.rank != from || !parts_.roster.begin(from, {begin.weight, begin.draw})) return {};
  parts_.watch.on_begun(now, from);
  parts_.outbox.send_begin(from);
  return {};
}

// Who else is lost: one member's word about that is not enough here either.
Status LateMember::on_inventory(TimePoint now, Rank from, Payload payload) {
  Roster& roster = parts_.roster;
  STARLING_ASSIGN(const wire::Inventory inventory, wire::decode_inventory(payload, roster.size(), parts_.table.size()));
  STARLING_TRY(parts_.sets.take(now, parts_.sets.in(from, inventory)).status());
  for (Rank rank = 0; rank < roster.size(); ++rank) {
    if (rank == roster.self() || roster.lost(rank) || !parts_.sets.accused(rank)) continue;  // by others
    const bool silent = roster.live(rank) && !parts_.progress.done(rank) && !parts_.watch.hears(now, rank);
    if (silent || parts_.sets.believed(rank)) roster.lose(rank);
  }
  return {};
}

// A done with weights comes from a member that agrees with all others who go on. One without weights was sent before
// the sender knew that this member is late.
Status LateMember::on_done(Rank from, Payload payload) {
  Roster& roster = parts_.roster;
  STARLING_ASSIGN(const wire::Done done, wire::decode_done(payload, roster.size()));
  if (done.weights.empty()) return {};
  parts_.progress.set_done(from, done.result_digest);
  dones_[from] = done;
  return {};
}

void LateMember::learn_terms() {
  for (const std::optional<wire::Done>& done : dones_) {
    if (!done || done->result_digest != parts_.progress.result()) continue;
    for (Rank rank = 0; rank < dones_.size(); ++rank) {
      const SampleCount draw = done->draws.empty() ? 0 : done->draws[rank];
      parts_.roster.set_terms(rank, {std::max(SampleCount{0}, done->weights[rank]), draw});
    }
    return;
  }
}

Status LateMember::on_result(SegmentIndex segment, Payload payload) {
  STARLING_TRY(parts_.values.check_result(segment, payload));
  if (parts_.table.held(segment)) return {};
  STARLING_ASSIGN(const Hash128 digest, parts_.values.take_result(segment, payload));
  parts_.table.hold(segment, parts_.values.contributors(payload), digest);
  return {};
}

bool LateMember::most_go_on() const {
  const Roster& roster = parts_.roster;
  return roster.is_majority(roster.surviving_votes() - roster.votes(roster.self()));
}

// Whether missing results may still come from `rank`. A link alone proves nothing: it may be in use for the next round.
bool LateMember::helps(TimePoint now, Rank rank) const {
  if (distrusted_[rank]) return false;
  const bool here = parts_.roster.live(rank) && parts_.roster.begun(rank) && !parts_.progress.severed(rank);
  return here && (parts_.progress.done(rank) || parts_.watch.hears(now, rank));
}

std::string_view LateMember::hopeless(TimePoint now) const {
  if (!most_go_on()) return "those who go on are not most of the group";
  bool any = false;
  for (Rank rank = 0; rank < parts_.roster.size(); ++rank) {
    any = any || (parts_.roster.live(rank) && !parts_.progress.severed(rank));
  }
  if (!any) return "nobody has the result any more";
  const bool silent = now >= heard_ + 2 * options_.silence_floor || now >= fed_ + options_.stall_floor;
  return silent ? "nobody sends the result" : "";
}

// Asks a member that is done for the parts of members that are not heard here.
void LateMember::ask_others(TimePoint now) {
  const SegmentTable& table = parts_.table;
  const std::size_t members = parts_.roster.size();
  Rank holder = 0;
  while (holder < members && !(helps(now, holder) && parts_.progress.done(holder))) ++holder;
  if (holder == members) return;
  for (Rank rank = 0; rank < members; ++rank) {
    if (replaced_[rank] || table.missing(rank) == 0 || helps(now, rank)) continue;
    replaced_[rank] = true;
    for (SegmentIndex segment = table.first(rank); segment < table.first(rank + 1); ++segment) {
      if (!table.held(segment)) parts_.outbox.want(holder, segment);
    }
  }
}

// Decides between done, hopeless and still waiting.
void LateMember::check(TimePoint now) {
  if (ending_) return;
  PeerProgress& progress = parts_.progress;
  if (parts_.table.missing() == 0 && !progress.result()) progress.set_result(parts_.table.result_digest());
  std::size_t helpers = 0;
  std::size_t agree = 0;
  std::size_t differ = 0;
  for (Rank rank = 0; progress.result() && rank < parts_.roster.size(); ++rank) {
    helpers += helps(now, rank) ? 1 : 0;
    if (!progress.done(rank)) continue;
    (progress.done(rank) == progress.result() ? agree : differ) += 1;
  }
  if (differ > 0 && 2 * differ >= helpers) {
    ending_ = {false, "too few say that they hold what came"};
    return;
  }
  if (agree > 0) learn_terms();
  if (most_go_on() && 2 * agree > helpers && contributors_known(parts_.table, parts_.roster, false)) {
    ending_ = {true, {}};
    return;
  }
  if (const std::string_view why = hopeless(now); !why.empty()) {
    ending_ = {false, why};
    return;
  }
  ask_others(now);
}

}  // namespace starling::averaging
