#include "client/transport/round_driver.h"

namespace starling::transport {
namespace {

// How often the engine is told that bytes of an unfinished frame arrive.
constexpr Duration kAliveEvery = std::chrono::milliseconds(200);

}  // namespace

RoundDriver::RoundDriver(AverageRequest request, LinkTo link_to)
    : request_(std::move(request)), link_to_(std::move(link_to)), seats_(request_.group.members.size()) {
  for (averaging::Rank rank = 0; rank < seats_.size(); ++rank) {
    if (rank != request_.self) ranks_.emplace(request_.group.members[rank].endpoint.peer, rank);
  }
}

const averaging::Rank* RoundDriver::rank_of(const PeerId& peer) const {
  const auto found = ranks_.find(peer);
  return found == ranks_.end() ? nullptr : &found->second;
}

Result<bool> RoundDriver::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  if (header.group != request_.group.id) return false;
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
  Link* const sends = seat.sends != nullptr ? seat.sends : link_to_(link.info().peer);
  if (sends != &link || !engine_->next_frame(now, *rank, frame.frame)) return false;
  seat.sends = &link;
  frame.owner = nullptr;
  return true;
}

void RoundDriver::link_closed(TimePoint now, const Link& link, const Error& why) {
  const averaging::Rank* rank = rank_of(link.info().peer);
  if (rank == nullptr) return;
  Seat& seat = seats_[*rank];
  const bool used = seat.sends == &link || seat.hears == &link;
  if (seat.sends == &link) seat.sends = nullptr;
  if (seat.hears == &link) seat.hears = nullptr;
  // What was on its way is gone; a link that carried nothing of this round is no loss.
  if (used && engine_ != nullptr) engine_->on_link_lost(now, *rank, why.message);
}

void RoundDriver::begin(TimePoint now, EarlyBegins& early) {
  const averaging::RoundVectors vectors{request_.weight, request_.input, request_.output};
  engine_ = std::make_unique<averaging::AllReduce>(request_.group, request_.self, vectors, request_.engine);
  engine_->start(now);
  for (const auto& [peer, rank] : ranks_) {
    if (Link* link = link_to_(peer)) link->pump();
  }
  std::erase_if(early, [&](auto& entry) {
    auto& [link, begin] = entry;
    const averaging::Rank* rank = rank_of(link->info().peer);
    if (rank == nullptr || begin.header.group != request_.group.id) return false;
    seats_[*rank].hears = link;
    // A begin that does not fit loses its sender, as at any other time; the engine has noted it.
    (void)engine_->on_frame(now, *rank, begin.header, begin.payload);
    return true;
  });
}

void RoundDriver::service(TimePoint now, EarlyBegins& early) {
  if (engine_ == nullptr) {
    if (now < request_.start) return;
    begin(now, early);
  }
  if (engine_->next_deadline() <= now) engine_->on_timer(now);
  while (engine_->has_ready()) {
    for (const averaging::Rank rank : engine_->take_ready()) {
      Link* const sends =
          seats_[rank].sends != nullptr ? seats_[rank].sends : link_to_(request_.group.members[rank].endpoint.peer);
      if (sends != nullptr) sends->pump();
    }
  }
}

TimePoint RoundDriver::next_deadline() const { return engine_ == nullptr ? request_.start : engine_->next_deadline(); }

}  // namespace starling::transport
