#include "client/transport/round_driver.h"

#include <algorithm>

namespace starling::transport {
namespace {

// Interval at which the engine hears that bytes of an unfinished frame arrive.
constexpr Duration kAliveEvery = std::chrono::milliseconds(200);

// All links should end together, so each link's remaining data decides its share of the line. But a link that has
// fallen far behind does not get it all, because something other than this line may hold it back.
constexpr double kPaceLeast = 0.7;
constexpr double kPaceMost = 1.5;

constexpr const char* kHasLeft = "the round is over there";

// A member sends to another one its contribution, if there is any, to the other's part, and the result of its own part.
// Results that nobody waits for are paced by the receiver's own line.
// In a grid the lines are never all in use at once: links are as fast as they can be.
std::int64_t planned_bytes(const wire::GroupInfo& group, averaging::Rank from, averaging::Rank to, bool contributes) {
  if (group.grid) return 0;
  const auto part = [&group](averaging::Rank rank) {
    return static_cast<std::size_t>(group.members[rank].part_floats);
  };
  const auto codec = wire::codec_from_name(group.codec).value();
  const wire::MemberRole role = group.members[to].role;
  const bool unhurried = role == wire::MemberRole::deferred || role == wire::MemberRole::late;
  std::size_t bytes = unhurried ? 0 : wire::encoded_bytes(codec, part(from));
  if (contributes) bytes += wire::encoded_bytes(wire::contribution_codec(group, from), part(to));
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

RoundDriver::RoundDriver(AverageRequest request, LinkTo link_to)
    : request_(std::move(request)),
      link_to_(std::move(link_to)),
      contacts_(wire::contacts(request_.group)),
      seats_(contacts_.size()) {
  for (averaging::Rank rank = 0; rank < seats_.size(); ++rank) {
    if (rank == request_.self) continue;
    ranks_.emplace(contacts_[rank].peer, rank);
    const wire::MemberRole role = request_.group.members[rank].role;
    const bool contributes = role != wire::MemberRole::auxiliary && role != wire::MemberRole::late;
    seats_[rank].planned = planned_bytes(request_.group, request_.self, rank, request_.weight > 0);
    seats_[rank].expected = planned_bytes(request_.group, rank, request_.self, contributes);
  }
}

const averaging::Rank* RoundDriver::rank_of(const PeerId& peer) const {
  const auto found = ranks_.find(peer);
  return found == ranks_.end() ? nullptr : &found->second;
}

Link* RoundDriver::link_of(averaging::Rank rank) const {
  return seats_[rank].sends != nullptr ? seats_[rank].sends : link_to_(contacts_[rank].peer);
}

void RoundDriver::follow(const RoundDriver& before) {
  for (const auto& [peer, rank] : before.ranks_) {
    const averaging::Rank* here = rank_of(peer);
    if (here != nullptr) seats_[*here].gone = before.seats_[rank].gone;
  }
  VERIFY(before.outcome() != nullptr);
  for (const averaging::LostMember& lost : before.outcome()->lost) {
    const averaging::Rank* here = rank_of(before.request_.group.members[lost.rank].endpoint.peer);
    if (here != nullptr) seats_[*here].lost_before = true;
  }
}

std::int64_t RoundDriver::bytes_planned() const {
  std::int64_t bytes = 0;
  for (const Seat& seat : seats_) bytes += seat.planned;
  return bytes;
}

std::int64_t RoundDriver::bytes_to_send() const {
  std::int64_t bytes = 0;
  for (const Seat& seat : seats_) bytes += std::max<std::int64_t>(0, seat.planned - seat.sent);
  return bytes;
}

std::int64_t RoundDriver::bytes_left() const {
  std::int64_t bytes = 0;
  for (const Seat& seat : seats_) bytes += std::max<std::int64_t>(0, seat.expected - seat.received);
  return std::max(bytes, bytes_to_send());
}

bool RoundDriver::have_begun() const {
  const auto silent = [](const Seat& seat) { return seat.planned > 0 && seat.sent == 0; };
  return std::none_of(seats_.begin(), seats_.end(), silent);
}

void RoundDriver::set_pace(const LinePace& pace) {
  const auto planned = static_cast<double>(bytes_planned());
  const auto left = static_cast<double>(bytes_to_send());
  for (const auto& [peer, rank] : ranks_) {
    Link* const link = link_of(rank);
    if (link == nullptr) continue;
    const Seat& seat = seats_[rank];
    const double fair = static_cast<double>(seat.planned) / planned;
    const double behind = static_cast<double>(seat.planned - seat.sent) / left;
    const double bytes_per_s = pace.bytes_per_s(link->queue());
    const bool paced = bytes_per_s > 0 && seat.planned > 0 && left > 0;
    link->set_pace(paced ? bytes_per_s * std::clamp(behind, kPaceLeast * fair, kPaceMost * fair) : 0);
  }
}

Result<bool> RoundDriver::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  if (!takes(header.group)) return false;
  if (rank_of(link.info().peer) == nullptr) {
    return Error{ErrorCode::permission_denied, "it sends to a group that it is no member of"};
  }
  return engine_ != nullptr;
}

Status RoundDriver::frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                                   std::span<const std::uint8_t> payload) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (engine_ == nullptr || rank == nullptr) return {};
  seats_[*rank].alive_at = now;
  seats_[*rank].received += header.payload_bytes;
  if (!header.group.is_zero()) seats_[*rank].hears = &link;
  return engine_->on_frame(now, *rank, header, payload);
}

void RoundDriver::input_came(TimePoint now, const Link& link) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (engine_ == nullptr || rank == nullptr || now - seats_[*rank].alive_at < kAliveEvery) return;
  seats_[*rank].alive_at = now;
  wire::FrameHeader pong;
  pong.type = wire::FrameType::pong;
  (void)engine_->on_frame(now, *rank, pong, {});
}

bool RoundDriver::next_frame(TimePoint now, Link& link, FrameToSend& frame) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (engine_ == nullptr || rank == nullptr) return false;
  Seat& seat = seats_[*rank];
  if (link_of(*rank) != &link || !engine_->next_frame(now, *rank, frame.frame)) return false;
  if (request_.outgoing) request_.outgoing(request_, *rank, frame.frame);
  seat.sends = &link;
  seat.sent += static_cast<std::int64_t>(frame.frame.payload.size());
  thinned_ = thinned_ || (seat.planned > 0 && seat.sent >= seat.planned);
  frame.owner = std::move(frame.frame.owner);
  return true;
}

bool RoundDriver::owes_begin(const Link& link) const {
  const averaging::Rank* rank = rank_of(link.info().peer);
  return engine_ != nullptr && rank != nullptr && seats_[*rank].sends == nullptr && link_of(*rank) == &link;
}

void RoundDriver::link_closed(TimePoint now, const Link& link, const Error& why) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (rank == nullptr) return;
  Seat& seat = seats_[*rank];
  thinned_ = true;
  const bool used = seat.sends == &link || seat.hears == &link;
  if (seat.sends == &link) seat.sends = nullptr;
  if (seat.hears == &link) seat.hears = nullptr;
  seat.gone = seat.gone || used;
  // Data on its way is lost. A link that carried nothing of this round is no loss.
  const wire::Fault fault = why.code == ErrorCode::corrupt ? wire::Fault::nonsense : wire::Fault::gone;
  if (used && engine_ != nullptr) engine_->on_link_lost(now, *rank, why.message, fault);
}

void RoundDriver::peer_gone(TimePoint now, const Link& link, const Error& why) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (rank == nullptr) return;
  seats_[*rank].gone = true;
  if (engine_ != nullptr) engine_->on_link_lost(now, *rank, why.message);
}

void RoundDriver::peer_left(TimePoint now, const Link& link) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (rank == nullptr) return;
  seats_[*rank].left = true;
  if (engine_ != nullptr) engine_->on_link_lost(now, *rank, kHasLeft, std::nullopt);
}

void RoundDriver::announce_end() const {
  for (const auto& [peer, rank] : ranks_) {
    if (engine_ != nullptr && engine_->finished_with(rank)) continue;
    if (Link* const link = link_of(rank)) link->send_control(wire::FrameType::over, {}, request_.group.id);
  }
}

void RoundDriver::begin(TimePoint now, EarlyBegins& early) {
  const averaging::RoundVectors vectors{request_.weight, request_.input, request_.output, {},
                                        request_.draw,   request_.rest,  request_.center};
  engine_ = std::make_unique<averaging::StagedReduce>(request_.group, request_.self, vectors, request_.engine);
  engine_->start(now);
  for (const auto& [peer, rank] : ranks_) {
    if (Link* link = link_to_(peer)) link->pump();
  }
  for (auto& [link, begins] : early) {
    const averaging::Rank* rank = rank_of(link->info().peer);
    if (rank == nullptr) continue;
    std::erase_if(begins, [&, from = link](const EarlyBegin& begin) {
      if (!takes(begin.header.group)) return false;
      seats_[*rank].hears = from;
      // A begin that does not fit loses its sender, as at any other time; the engine has noted the error.
      (void)engine_->on_frame(now, *rank, begin.header, begin.payload);
      return true;
    });
  }
  for (const auto& [peer, rank] : ranks_) {
    if (seats_[rank].left) {
      engine_->on_link_lost(now, rank, kHasLeft, std::nullopt);
    } else if (seats_[rank].lost_before || (seats_[rank].gone && link_to_(peer) == nullptr)) {
      engine_->on_link_lost(now, rank, "it is gone");
    }
  }
}

void RoundDriver::service(TimePoint now, EarlyBegins& early) {
  if (engine_ == nullptr) {
    if (now < request_.start) return;
    begin(now, early);
  }
  if (engine_->next_deadline() <= now) engine_->on_timer(now);
  while (engine_->has_ready()) {
    for (const averaging::Rank rank : engine_->take_ready()) {
      if (Link* const sends = link_of(rank)) sends->pump();
    }
  }
}

TimePoint RoundDriver::next_deadline() const { return engine_ == nullptr ? request_.start : engine_->next_deadline(); }

}  // namespace starling::transport
