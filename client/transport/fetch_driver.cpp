#include "client/transport/fetch_driver.h"

#include <fmt/core.h>

#include "client/transport/state_donor.h"

namespace starling::transport {
namespace {

constexpr int kDialsPerDonor = 3;

}  // namespace

FetchDriver::FetchDriver(TimePoint now, StateFetch fetch, LinkTo link_to, LimitedLog& drops)
    : fetch_(std::move(fetch)),
      link_to_(std::move(link_to)),
      drops_(drops),
      fetcher_(now, {.round = fetch_.round, .digest = fetch_.state_digest, .out = fetch_.out, .form = fetch_.form},
               fetch_.donors.size()) {
  for (const wire::Endpoint& donor : fetch_.donors) {
    by_peer_.emplace(donor.peer, donors_.size());
    donors_.push_back({.peer = donor.peer});
  }
}

std::optional<StateFetcher::Donor> FetchDriver::donor_at(const PeerId& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? std::nullopt : std::optional(found->second);
}

void FetchDriver::give_up_on(TimePoint now, const PeerId& donor, const std::string& why) {
  if (const auto index = donor_at(donor)) fetcher_.donor_lost(now, *index, why);
}

bool FetchDriver::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  const auto donor = donor_at(link.info().peer);
  return donor && !outcome() && !fetcher_.dropped(*donor) && header.group == transfer_id(fetch_.state_digest);
}

Status FetchDriver::frame_received(TimePoint now, const Link& link, const wire::FrameHeader& header,
                                   std::span<const std::uint8_t> payload) {
  const auto donor = donor_at(link.info().peer);
  if (!donor || outcome()) return {};
  bytes_received_ += static_cast<std::int64_t>(payload.size());
  if (header.type == wire::FrameType::state_chunk) return fetcher_.on_chunk(now, *donor, header.segment, payload);
  const Result<wire::StateInfo> info = wire::decode_state_info(payload);
  if (!info.ok()) {
    fetcher_.donor_lost(now, *donor, info.error().message);
    return info.error();
  }
  return fetcher_.on_info(now, *donor, *info);
}

void FetchDriver::input_came(TimePoint now, const Link& link) {
  const auto donor = donor_at(link.info().peer);
  if (donor && donors_[*donor].link == &link) fetcher_.bytes_came(now, *donor);
}

void FetchDriver::link_closed(TimePoint now, const Link& link, const Error& why) {
  const auto index = donor_at(link.info().peer);
  if (!index) return;
  Donor& donor = donors_[*index];
  const bool failed_dial = donor.link != &link && link.info().dialled && !link.info().was_up;
  if (failed_dial) ++donor.failed_dials;
  if (donor.link == &link || (failed_dial && donor.failed_dials >= kDialsPerDonor)) {
    fetcher_.donor_lost(now, *index, why.message);
  }
}

void FetchDriver::service(TimePoint now) {
  fetcher_.on_timer(now);
  for (StateFetcher::Donor index = 0; index < donors_.size(); ++index) {
    Donor& donor = donors_[index];
    if (fetcher_.dropped(index) && !donor.drop_logged) {
      donor.drop_logged = true;
      drops_.info(now, fmt::format("state of round {}: going on without donor {}: {}", fetch_.round, donor.peer.brief(),
                                   fetcher_.drop_reason(index)));
    }
    Link* const link = link_to_(donor.peer);
    if (link == nullptr || fetcher_.dropped(index)) continue;
    fetcher_.donor_up(now, index);
    while (const std::optional<wire::StateRequest> request = fetcher_.next_request(now, index)) {
      donor.link = link;
      const auto payload = wire::encode(*request);
      link->send_control(wire::FrameType::state_request, payload, transfer_id(request->state_digest));
    }
  }
}

StateProgress FetchDriver::progress() const {
  StateProgress progress{.chunks_held = fetcher_.chunks_held(),
                         .chunks_total = fetcher_.chunks_total(),
                         .bytes_received = bytes_received_};
  for (StateFetcher::Donor donor = 0; donor < donors_.size(); ++donor) {
    if (fetcher_.serving(donor)) ++progress.donors_in_use;
  }
  return progress;
}

}  // namespace starling::transport
