#include "client/transport/transfers.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <unordered_set>
#include <utility>

namespace starling::transport {
namespace {

constexpr Duration kProgressEvery = std::chrono::milliseconds(250);
constexpr Duration kUnnamedEvery = std::chrono::seconds(5);

}  // namespace

Transfers::Transfers(const LinkContext& context, Switchboard& switchboard, StateSource source,
                     std::size_t donations_max)
    : context_(context), switchboard_(switchboard), donor_(std::move(source), donations_max) {}

Result<FetchNumber> Transfers::fetch(StateFetch fetch) {
  const bool is_fetched = std::any_of(fetches_.begin(), fetches_.end(), [&fetch](const auto& entry) {
    return !entry.second.is_over && entry.second.driver->request().state_digest == fetch.state_digest;
  });
  if (is_fetched) return Error{ErrorCode::failed_precondition, "download a state: its download is running already"};
  if (fetch.out.empty() || fetch.out.size() > kStateFloatsMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("download a state of {} floats", fetch.out.size())};
  }
  std::unordered_set<PeerId> seen = {context_.self};
  std::erase_if(fetch.donors, [&](const wire::Endpoint& donor) { return !seen.insert(donor.peer).second; });
  if (fetch.donors.empty()) return Error{ErrorCode::unavailable, "download a state: no peer is known to hold it"};
  const TimePoint now = context_.clock.now();
  const std::vector<wire::Endpoint> donors = fetch.donors;
  Fetch& begun = fetches_[++last_number_];
  begun.progress_told = now - kProgressEvery;  // so the first chunk is reported at once, however fast the rest comes
  begun.driver = std::make_unique<FetchDriver>(
      now, std::move(fetch), [this](const PeerId& peer) { return switchboard_.link_to(peer); }, drops_);
  for (const wire::Endpoint& donor : donors) {
    const Status allowed = switchboard_.may_dial(donor);
    if (!allowed.ok() && switchboard_.link_to(donor.peer) == nullptr) {
      begun.driver->give_up_on(now, donor.peer, allowed.error().message);
    }
  }
  const FetchNumber number = last_number_;
  want_donors();
  return number;
}

bool Transfers::cancel(FetchNumber number) {
  if (fetches_.erase(number) == 0) return false;
  want_donors();
  return true;
}

void Transfers::want_donors() {
  std::unordered_set<PeerId> seen;
  std::vector<wire::Endpoint> donors;
  for (const auto& [number, fetch] : fetches_) {
    if (fetch.is_over) continue;
    for (const wire::Endpoint& donor : fetch.driver->request().donors) {
      if (seen.insert(donor.peer).second) donors.push_back(donor);
    }
  }
  switchboard_.want(Switchboard::Purpose::fetch, donors, nullptr);
}

Result<bool> Transfers::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  return std::any_of(fetches_.begin(), fetches_.end(),
                     [&](const auto& entry) { return entry.second.driver->wants_frame(link, header); });
}

Status Transfers::frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                                 std::span<const std::uint8_t> payload) {
  bytes_.received += frame_bytes(payload.size());
  if (header.type == wire::FrameType::state_request) return answer_request(link, payload);
  for (const auto& [number, fetch] : fetches_) {
    if (fetch.driver->wants_frame(link, header)) return fetch.driver->frame_received(now, link, header, payload);
  }
  return {};
}

Status Transfers::answer_request(Link& link, std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::StateRequest request, wire::decode_state_request(payload));
  const TimePoint now = context_.clock.now();
  STARLING_ASSIGN(const std::optional<wire::StateInfo> info, donor_.on_request(now, &link, link.info().peer, request));
  if (info) answer(link, *info);
  pump_donations();
  if (!donor_.take_unnamed() || !unnamed_asks_ || now - unnamed_told_ < kUnnamedEvery) return {};
  unnamed_told_ = now;
  const auto asks = unnamed_asks_;  // a copy: the call may replace it
  asks();
  return {};
}

void Transfers::answer(Link& link, const wire::StateInfo& info) {
  const auto payload = wire::encode(info);
  bytes_.sent += frame_bytes(payload.size());
  link.send_control(wire::FrameType::state_info, payload, transfer_id(info.state_digest));
}

void Transfers::name_newcomers(const std::optional<std::vector<PeerId>>& newcomers,
                               std::function<void()> unnamed_asks) {
  unnamed_asks_ = std::move(unnamed_asks);
  donor_.require_names(newcomers.has_value());
  if (newcomers) name(*newcomers);
}

void Transfers::pump_donations() {
  if (donations_posted_) return;
  donations_posted_ = true;
  asio::post(context_.io, [this] {
    donations_posted_ = false;
    for (const Link* ready : donor_.take_ready()) {
      const auto found = switchboard_.links().find(ready);
      if (found != switchboard_.links().end()) found->second->pump();
    }
  });
}

void Transfers::input_came(TimePoint now, const Link& link) {
  for (const auto& [number, fetch] : fetches_) {
    if (!fetch.is_over) fetch.driver->input_came(now, link);
  }
}

bool Transfers::next_frame(TimePoint now, Link& link, FrameToSend& frame) {
  const bool donated = donor_.next_frame(now, &link, frame);
  if (!donated && !probe_.next_frame(&link, frame)) return false;
  bytes_.sent += frame_bytes(frame.frame.payload.size());
  if (donated) pump_donations();
  return true;
}

void Transfers::link_closed(TimePoint now, const Link& link, const Error& why) {
  donor_.forget(&link);
  probe_.forget(&link);
  pump_donations();
  for (const auto& [number, fetch] : fetches_) {
    if (!fetch.is_over) fetch.driver->link_closed(now, link, why);
  }
}

void Transfers::service(TimePoint now, bool upload_known) {
  bool any_ended = false;
  for (auto& [number, fetch] : fetches_) {
    if (fetch.is_over) continue;
    fetch.driver->service(now);
    if (!upload_known) probe_upload(now, fetch.driver->request());
    report(now, number, fetch);
    any_ended |= fetch.is_over;
  }
  if (any_ended) want_donors();
  tend_donations(now);
}

void Transfers::tend_donations(TimePoint now) {
  donor_.on_timer(now);
  if (donor_.has_ready()) pump_donations();
  for (const StateDonor::Answer& each : donor_.take_answers(now)) {
    const auto found = switchboard_.links().find(each.link);
    if (found != switchboard_.links().end()) answer(*found->second, each.info);
  }
  for (const Link* waiting : donor_.take_waiting(now)) {
    const auto found = switchboard_.links().find(waiting);
    if (found != switchboard_.links().end()) found->second->show_life();
  }
}

// A peer that only downloads learns nothing about its upload, and the first plan needs that.
void Transfers::probe_upload(TimePoint now, const StateFetch& fetch) {
  if (probe_.begun()) return;
  const auto state_bytes = static_cast<std::int64_t>(fetch.out.size_bytes());
  for (const wire::Endpoint& donor : fetch.donors) {
    Link* const link = switchboard_.link_to(donor.peer);
    if (link == nullptr || link->info().relayed) continue;
    probe_.begin(now, link, state_bytes, context_.moved.bytes_acknowledged);
    return link->pump();
  }
}

void Transfers::report(TimePoint now, FetchNumber number, Fetch& fetch) {
  if (fetch.driver->outcome()) {
    fetch.is_over = true;
    asio::post(context_.io, [this, number] { tell_end(number); });
    return;
  }
  if (now - fetch.progress_told < kProgressEvery || !fetch.driver->request().progress) return;
  const StateProgress progress = fetch.driver->progress();
  if (progress.chunks_held == 0) return;
  fetch.progress_told = now;
  asio::post(context_.io, [this, number, progress] {
    const auto found = fetches_.find(number);
    if (found == fetches_.end() || found->second.is_over) return;
    const auto tell = found->second.driver->request().progress;  // a copy: the callback may cancel the download
    tell(progress);
  });
}

void Transfers::tell_end(FetchNumber number) {
  const auto found = fetches_.find(number);
  if (found == fetches_.end()) return;
  if (const auto tell = found->second.driver->request().progress) tell(found->second.driver->progress());
  const auto over = fetches_.extract(number);  // empty if that callback has cancelled the download
  if (over && over.mapped().driver->request().done)
    over.mapped().driver->request().done(*over.mapped().driver->outcome());
}

TimePoint Transfers::next_deadline() const {
  TimePoint next = donor_.next_deadline();
  for (const auto& [number, fetch] : fetches_) {
    if (!fetch.is_over) next = std::min(next, fetch.driver->next_deadline());
  }
  return next;
}

}  // namespace starling::transport
