#include <fmt/core.h>

#include <algorithm>

#include "client/averaging/all_reduce_impl.h"

namespace starling::averaging {
namespace {

using wire::FrameType;

Error nonsense(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

}  // namespace

// The sender may be lost here already, or not yet.
Status AllReduce::Impl::on_listen(TimePoint now, Rank from) {
  if (!options_.latecomers || outbox_.listens(from) || (outcome_ && outcome_->verdict != Verdict::averaged)) return {};
  if (!outcome_) lose(now, {{from, "it says that it is too late"}});
  outbox_.add_listener(from);
  if (outcome_ && outcome_->verdict == Verdict::averaged) serve_listener(from);
  return {};
}

// The results of this member's own part are on their way already. Only now is it certain what became of lost owners'
// parts.
void AllReduce::Impl::serve_listener(Rank rank) {
  for (const SegmentIndex segment : recovery_.mine()) outbox_.answer(rank, segment);
  outbox_.send_done(rank);
}

// A late member asks for a segment that another member should have sent: it asks those who said that they hold
// everything.
Status AllReduce::Impl::on_late_want(Rank from, SegmentIndex segment) {
  if (segment >= table_.size()) return nonsense(fmt::format("there is no segment {}", segment));
  if (!table_.held(segment) || outbox_.answers(from) >= 2 * table_.size()) return {};
  outbox_.answer(from, segment);
  return {};
}

void AllReduce::Impl::fall_behind(TimePoint now, std::string why) {
  lost_.push_back({self_, std::move(why)});
  if (!options_.latecomers || outcome_) return settle(now, Verdict::expelled);
  late_ = true;
  late_heard_ = late_fed_ = now;
  table_ = SegmentTable(group_);  // values that came so far may have been computed again since
  digest_.reset();
  for (Peer& peer : peers_) peer.done.reset();
  outbox_.listen();
}

bool AllReduce::Impl::most_go_on() const {
  return roster_.is_majority(roster_.surviving_votes() - roster_.votes(self_));
}

Status AllReduce::Impl::receive_late(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload) {
  if (outcome_ || peers_[from].severed || !roster_.linked(from)) return {};
  late_heard_ = now;
  const bool of_round = !wire::is_sign_of_life(header.type);
  if (of_round) late_fed_ = now;
  watch_.on_heard(now, from, of_round);
  switch (header.type) {
    case FrameType::begin:
      return take_begin_late(now, from, payload);
    case FrameType::inventory: {
      STARLING_ASSIGN(const wire::Inventory inventory, wire::decode_inventory(payload, roster_.size(), table_.size()));
      learn_late(now, inventory);
      return {};
    }
    case FrameType::result:
      if (header.segment >= table_.size()) return nonsense(fmt::format("there is no segment {}", header.segment));
      STARLING_TRY(check_codec(from, header));
      STARLING_TRY(take_result_late(header.segment, payload));
      break;
    case FrameType::done:
      STARLING_TRY(take_done_late(from, payload));
      break;
    default:
      return {};  // sent before the sender knew that this member is late
  }
  check_late(now);
  return {};
}

// The sender was not there yet when this member's begin went out, so it is asked now.
Status AllReduce::Impl::take_begin_late(TimePoint now, Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Begin begin, wire::decode_begin(payload));
  if (begin.rank != from || !roster_.begin(from, {begin.weight, begin.draw})) return {};
  watch_.on_begun(now, from);
  outbox_.send_begin(from);
  return {};
}

void AllReduce::Impl::learn_late(TimePoint now, const wire::Inventory& inventory) {
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (rank != self_ && inventory.lost.test(rank)) roster_.lose(rank);
  }
  check_late(now);
}

// A done with weights comes from a member that agrees with all others who go on. One without weights was sent before
// the sender knew that this member is late.
Status AllReduce::Impl::take_done_late(Rank from, Payload payload) {
  STARLING_ASSIGN(const wire::Done done, wire::decode_done(payload, roster_.size()));
  if (done.weights.empty()) return {};
  peers_[from].done = done.result_digest;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    roster_.set_stake(rank, {std::max(SampleCount{0}, done.weights[rank]), done.draws.empty() ? 0 : done.draws[rank]});
  }
  return {};
}

Status AllReduce::Impl::take_result_late(SegmentIndex segment, Payload payload) {
  STARLING_TRY(check_result(segment, payload));
  if (table_.held(segment)) return {};
  STARLING_ASSIGN(const Hash128 digest, take_values(segment, payload));
  table_.hold(segment, payload.first(set_bytes_), digest);
  return {};
}

// Whether missing results may still come from `rank`. A link alone proves nothing: it may be in use for the next round.
bool AllReduce::Impl::helps(TimePoint now, Rank rank) const {
  const bool here = roster_.live(rank) && roster_.begun(rank) && !peers_[rank].severed;
  return here && (peers_[rank].done || watch_.hears(now, rank));
}

std::string_view AllReduce::Impl::hopeless(TimePoint now) const {
  if (!most_go_on()) return "those who go on are not most of the group";
  bool any = false;
  for (Rank rank = 0; rank < roster_.size(); ++rank) any = any || (roster_.live(rank) && !peers_[rank].severed);
  if (!any) return "nobody has the result any more";
  const bool silent = now >= late_heard_ + 2 * options_.silence_floor || now >= late_fed_ + options_.stall_floor;
  return silent ? "nobody sends the result" : "";
}

// Asks a member that is done for the parts of members that are not heard here.
void AllReduce::Impl::ask_others(TimePoint now) {
  Rank holder = 0;
  while (holder < roster_.size() && !(helps(now, holder) && peers_[holder].done)) ++holder;
  if (holder == roster_.size()) return;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (peers_[rank].replaced || table_.missing(rank) == 0 || helps(now, rank)) continue;
    peers_[rank].replaced = true;
    for (SegmentIndex segment = table_.first(rank); segment < table_.first(rank + 1); ++segment) {
      if (!table_.held(segment)) outbox_.want(holder, segment);
    }
  }
}

// Decides between done, hopeless and still waiting.
void AllReduce::Impl::check_late(TimePoint now) {
  if (outcome_) return;
  if (table_.missing() == 0 && !digest_) digest_ = table_.result_digest();
  std::size_t helpers = 0;
  std::size_t agree = 0;
  for (Rank rank = 0; digest_ && rank < roster_.size(); ++rank) {
    helpers += helps(now, rank) ? 1 : 0;
    if (!peers_[rank].done) continue;
    if (peers_[rank].done != digest_) return give_up_late(now, "not all say that they hold what came");
    ++agree;
  }
  if (most_go_on() && 2 * agree > helpers && contributors_known()) return settle(now, Verdict::averaged);
  if (const std::string_view why = hopeless(now); !why.empty()) return give_up_late(now, why);
  ask_others(now);
}

void AllReduce::Impl::give_up_late(TimePoint now, std::string_view why) {
  lost_.back().reason.append(", and ").append(why);
  settle(now, Verdict::expelled);
}

}  // namespace starling::averaging
