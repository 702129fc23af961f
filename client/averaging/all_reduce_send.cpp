#include <algorithm>

#include "client/averaging/all_reduce_impl.h"

namespace starling::averaging {
namespace {

using Kind = OutboxItem::Kind;

// From this speed (bytes/s) on, processors and memory slow a round down, not lines: results then go out at once, before
// they have left the cache. Slower lines stay busy for longer when contributions, which other members wait for, go
// first.
constexpr double kSwift = 64e6;

wire::FrameType frame_type(Kind kind) {
  switch (kind) {
    case Kind::begin:
      return wire::FrameType::begin;
    case Kind::lost_set:
      return wire::FrameType::lost_set;
    case Kind::inventory:
      return wire::FrameType::inventory;
    case Kind::seal:
      return wire::FrameType::seal;
    case Kind::want:
      return wire::FrameType::want;
    case Kind::result:
      return wire::FrameType::result;
    case Kind::contribution:
      return wire::FrameType::contribution;
    case Kind::done:
      return wire::FrameType::done;
    case Kind::listen:
      return wire::FrameType::listen;
    case Kind::ping:
    case Kind::none:
      break;
  }
  return wire::FrameType::ping;
}

wire::Done done_message(const Hash128& result, const Roster& roster, bool to_listener) {
  wire::Done done{result};
  for (Rank rank = 0; to_listener && rank < roster.size(); ++rank) {
    done.weights.push_back(roster.weight(rank));
    done.draws.push_back(roster.terms(rank).draw);
  }
  return done;
}

}  // namespace

bool AllReduce::Impl::next_frame(TimePoint now, Rank to, OutgoingFrame& frame) {
  if (!started_at_ || to >= roster_.size() || (outcome_ && outcome_->verdict == Verdict::expelled)) return false;
  if (progress_.severed(to)) return false;
  outbox_.put_results_first(static_cast<double>(bytes_.received) > kSwift * to_seconds(now - *started_at_));
  const OutboxItem item = outbox_.next(now, to);
  if (!outcome_) patience_.wake_by(outbox_.wake_at());
  if (item.kind == Kind::none) return false;
  compose(item, to, frame);
  patience_.watch().on_sent(now, to, item.kind == Kind::result || item.kind == Kind::contribution);
  bytes_.sent += static_cast<std::int64_t>(frame.head.size() + frame.payload.size());
  return true;
}

void AllReduce::Impl::compose(const OutboxItem& item, Rank to, OutgoingFrame& frame) {
  frame.head.resize(wire::kFrameHeaderBytes);
  frame.payload = {};
  frame.owner = nullptr;
  const auto append = [&frame](Payload bytes) { frame.head.insert(frame.head.end(), bytes.begin(), bytes.end()); };
  if (item.kind == Kind::begin) append(begins_.encoded(item.rank));
  if (item.kind == Kind::lost_set) append(wire::encode(accusations_.sets().of(item.rank)));
  if (item.kind == Kind::inventory) append(recovery_.inventory());
  if (item.kind == Kind::seal) append(wire::encode(*seals_.of(item.rank)));
  if (item.kind == Kind::done) append(wire::encode(done_message(*progress_.result(), roster_, outbox_.listens(to))));
  wire::FrameHeader header;
  if (item.kind == Kind::result) {
    append(table_.contributors(item.segment).bytes());
    values_.put_result(item.segment, frame);
    header.codec = values_.result_codec();
  }
  if (item.kind == Kind::contribution) {
    values_.put_contribution(item.segment, self_, to, frame);
    header.codec = values_.contribution_codec(self_);
  }
  header.type = frame_type(item.kind);
  header.payload_bytes = static_cast<std::uint32_t>(frame.head.size() - wire::kFrameHeaderBytes + frame.payload.size());
  if (item.kind != Kind::ping) header.group = group_.id;
  header.segment = item.segment;
  wire::encode_header(header, std::span(frame.head).first<wire::kFrameHeaderBytes>());
}

}  // namespace starling::averaging
