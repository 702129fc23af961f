#include "client/transport/averagings.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::transport {

Status check_request(const AverageRequest& request, const PeerId& self) {
  STARLING_TRY(wire::check_group(request.group));
  const auto& members = request.group.members;
  if (request.self >= members.size() || members[request.self].endpoint.peer != self) {
    return Error{ErrorCode::invalid_argument, "average: the plan does not have this peer at that rank"};
  }
  const auto floats = static_cast<std::size_t>(request.group.vector_floats);
  const bool input_fits = request.input.size() == floats || (request.weight == 0 && request.input.empty());
  const bool rest_fits = request.rest.empty() || request.rest.size() == floats;
  const bool center_fits = request.center.empty() || request.center.size() == floats;
  if (!input_fits || !rest_fits || !center_fits || request.output.size() != floats) {
    return Error{ErrorCode::invalid_argument, fmt::format("average: vectors of {} and {} floats in a plan of {}",
                                                          request.input.size(), request.output.size(), floats)};
  }
  return {};
}

// Two members that own nothing have nothing to tell each other, and need not take up a relay's line.
std::vector<wire::Endpoint> members_to_link(const AverageRequest& request) {
  const wire::GroupMember& self = request.group.members[request.self];
  std::vector<wire::Endpoint> endpoints = wire::contacts(request.group);
  for (std::size_t rank = 0; rank < request.group.members.size(); ++rank) {
    const wire::GroupMember& member = request.group.members[rank];
    const bool idle = self.part_floats == 0 && member.part_floats == 0;
    if (idle && &member != &self && !wire::direct(member.endpoint)) endpoints[rank].host.clear();
  }
  return endpoints;
}

const Averagings::Averaging* Averagings::present_round() const {
  const auto found =
      std::find_if(table_.begin(), table_.end(), [](const Averaging& each) { return !each.bucket && !each.followed; });
  return found == table_.end() ? nullptr : &*found;
}

RoundDriver* Averagings::round() const {
  const Averaging* const present = present_round();
  return present == nullptr ? nullptr : present->driver.get();
}

std::uint64_t Averagings::round_number() const {
  const Averaging* const present = present_round();
  return present == nullptr ? 0 : present->number;
}

bool Averagings::round_is_open() const {
  const Averaging* const present = present_round();
  return present != nullptr && !present->reported;
}

bool Averagings::may_be_followed() const {
  const Averaging* const present = present_round();
  return present != nullptr && present->reported;
}

void Averagings::end(const Averaging& averaging) {
  ended_[averaging.bucket ? 1 : 0].add(averaging.driver->request().group);
  averaging.driver->announce_end();
}

void Averagings::end_followed() {
  for (const Averaging& each : table_) {
    if (each.followed) end(each);
  }
  std::erase_if(table_, [](const Averaging& each) { return each.followed; });
}

void Averagings::add(Bucket bucket, AverageRequest request, bool follows) {
  auto driver = std::make_unique<RoundDriver>(std::move(request), link_to_);
  auto place = bucket ? table_.end() : table_.begin();
  if (follows) {
    VERIFY(!table_.empty() && !table_.front().bucket && !table_.front().followed);
    driver->follow(*place->driver);
    place->followed = true;
    ++place;
  }
  table_.insert(place, {++last_number_, bucket, std::move(driver)});
}

bool Averagings::leave(Bucket bucket) {
  bool any = false;
  for (const Averaging& each : table_) {
    if (each.bucket != bucket) continue;
    end(each);
    any = true;
  }
  return any;
}

void Averagings::drop(Bucket bucket) {
  std::erase_if(table_, [&](const Averaging& each) { return each.bucket == bucket; });
}

RoundDriver* Averagings::driver_of(const GroupId& group) const {
  const auto found =
      std::find_if(table_.begin(), table_.end(), [&](const Averaging& each) { return each.driver->takes(group); });
  return found == table_.end() ? nullptr : found->driver.get();
}

Result<bool> Averagings::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  const RoundDriver* const driver = driver_of(header.group);
  // The round may be over here, or never have been ours: a slower member may still be in it.
  if (driver == nullptr) return false;
  return header.type == wire::FrameType::over ? Result<bool>(true) : driver->wants_frame(link, header);
}

Status Averagings::frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                                  std::span<const std::uint8_t> payload) {
  bytes_.received += frame_bytes(header.payload_bytes);
  RoundDriver* const driver = driver_of(header.group);
  if (header.type == wire::FrameType::over) {
    if (driver != nullptr) driver->peer_left(now, link);
    return {};
  }
  if (driver != nullptr && driver->running()) return driver->frame_received(now, link, header, payload);
  if (header.type != wire::FrameType::begin) return {};
  if (ended_[0].has(header.group) || ended_[1].has(header.group)) {
    link.send_control(wire::FrameType::over, {}, header.group);
    return {};
  }
  std::deque<EarlyBegin>& begins = early_begins_[&link];
  std::erase_if(begins, [&](const EarlyBegin& begin) { return begin.header.group == header.group; });
  if (begins.size() == kEarlyBeginsMax) begins.pop_front();
  begins.push_back({.header = header, .payload = {payload.begin(), payload.end()}});
  return {};
}

std::optional<Status> Averagings::sign_of_life(TimePoint now, Link& link, const wire::FrameHeader& header) {
  std::optional<Status> status;
  for (const Averaging& each : table_) {
    if ((status && !status->ok()) || !each.driver->is_member(link)) continue;
    status = each.driver->frame_received(now, link, header, {});
  }
  return status;
}

void Averagings::input_came(TimePoint now, const Link& link) {
  for (const Averaging& each : table_) each.driver->input_came(now, link);
}

Averagings::Sent Averagings::next_frame(TimePoint now, Link& link, FrameToSend& frame) {
  for (const bool owing : {true, false}) {
    for (const Averaging& each : table_) {
      if (each.driver->owes_begin(link) != owing || !each.driver->next_frame(now, link, frame)) continue;
      bytes_.sent += frame_bytes(frame.frame.payload.size());
      // No group waits for frames that a settled round still sends to slower members, nor for gossip.
      return !each.bucket && !each.reported ? Sent::awaited : Sent::other;
    }
  }
  return Sent::nothing;
}

bool Averagings::wants_service(TimePoint timer, bool ticks) const {
  return std::any_of(table_.begin(), table_.end(), [&](const Averaging& each) {
    const bool due = !ticks && each.driver->next_deadline() < timer;
    return !each.followed && (due || each.driver->has_ready());
  });
}

bool Averagings::is_member(const Link& link) const {
  return std::any_of(table_.begin(), table_.end(), [&](const Averaging& each) { return each.driver->is_member(link); });
}

void Averagings::link_closed(TimePoint now, const Link& link, const Error& why, bool gone) {
  early_begins_.erase(&link);
  for (const Averaging& each : table_) {
    each.driver->link_closed(now, link, why);
    if (gone) each.driver->peer_gone(now, link, why);
  }
}

void Averagings::service(TimePoint now, bool gossip) {
  for (const Averaging& each : table_) {
    if (each.bucket.has_value() == gossip) each.driver->service(now, early_begins_);
  }
}

std::vector<Averagings::Settled> Averagings::take_settled(bool gossip) {
  std::vector<Settled> settled;
  for (Averaging& each : table_) {
    if (each.bucket.has_value() != gossip || each.reported || each.driver->outcome() == nullptr) continue;
    each.reported = true;
    settled.push_back({each.number, *each.driver->outcome()});
  }
  return settled;
}

std::function<void(const averaging::AveragingOutcome&)> Averagings::callback_of(std::uint64_t number) const {
  const auto found =
      std::find_if(table_.begin(), table_.end(), [number](const Averaging& each) { return each.number == number; });
  return found == table_.end() || found->followed ? nullptr : found->driver->request().done;
}

std::optional<Averagings::Partners> Averagings::take_partners() {
  Partners wanted;
  std::vector<PeerId> partners;
  for (const Averaging& each : table_) {
    if (!each.bucket || each.reported) continue;
    for (const wire::Endpoint& endpoint : members_to_link(each.driver->request())) {
      if (endpoint.peer == self_) wanted.self = endpoint;
      if (std::find(partners.begin(), partners.end(), endpoint.peer) != partners.end()) continue;
      partners.push_back(endpoint.peer);
      wanted.peers.push_back(endpoint);
    }
  }
  if (partners == partners_) return std::nullopt;  // peers that are wanted again are dialled again
  partners_ = std::move(partners);
  return wanted;
}

TimePoint Averagings::next_deadline() const {
  TimePoint next = kNever;
  for (const Averaging& each : table_) next = std::min(next, each.driver->next_deadline());
  return next;
}

}  // namespace starling::transport
