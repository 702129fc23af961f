#include "client/transport/state_donor.h"

#include <algorithm>

#include "shared/state/state_digest.h"

namespace starling::transport {
namespace {

constexpr double kLineUnknown = 1e6;                          // bytes/s
constexpr Duration kTellEvery = std::chrono::seconds(3);      // StateFetcher is patient for longer
constexpr Duration kRoundPauseMax = std::chrono::seconds(4);  // longest pause of a round that goes on
constexpr double kFramesUnderWay = 4;                         // frames of a round on several links

wire::StateInfo info_of(const wire::StateRequest& request, const StateSnapshot* state) {
  wire::StateInfo info;
  info.round = request.round;
  info.state_digest = request.state_digest;
  if (state == nullptr) return info;
  info.state_floats = static_cast<std::int64_t>(state->floats.size());
  info.chunk_digests = state->chunk_digests;
  return info;
}

// Bytes of these chunks in the form in which they travel.
std::size_t bytes_of(const StateSnapshot& state, std::size_t first, std::size_t end) {
  const std::size_t begin = first * wire::kStateChunkFloats;
  const std::size_t floats = std::min(end * wire::kStateChunkFloats, state.floats.size()) - begin;
  return wire::state_bytes(state.form, begin, floats);
}

void load_chunk(const std::shared_ptr<const StateSnapshot>& state, std::size_t chunk, FrameToSend& frame) {
  const std::span<const float> floats = state::chunk_of(state->floats, chunk);
  if (state->form.moments == wire::MomentForm::fp32) {
    frame.frame.payload = {reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()};
    frame.owner = state;
    return;
  }
  const auto bytes = std::make_shared<const std::vector<std::uint8_t>>(
      wire::encode_state(state->form, chunk * wire::kStateChunkFloats, floats));
  frame.frame.payload = *bytes;
  frame.owner = bytes;
}

}  // namespace

GroupId transfer_id(const Digest& state_digest) {
  GroupId id;
  std::copy_n(state_digest.bytes.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

std::shared_ptr<const StateSnapshot> StateDonor::find(const wire::StateRequest& request) const {
  if (source_ == nullptr || request.state_digest.is_zero()) return nullptr;
  auto state = source_(request.round, request.state_digest);
  return state != nullptr && state->floats.size() <= kStateFloatsMax ? state : nullptr;
}

wire::StateInfo StateDonor::refuse(TimePoint now, const wire::StateRequest& request, const Error& why) {
  refusals_logged_.warning(now, why.message);
  return info_of(request, nullptr);
}

Result<std::optional<wire::StateInfo>> StateDonor::on_request(TimePoint now, const Link* link, const PeerId& peer,
                                                              const wire::StateRequest& request) {
  std::shared_ptr<const StateSnapshot> state = find(request);
  if (state == nullptr) return std::optional(info_of(request, nullptr));
  const std::size_t chunks = state::chunk_count(state->floats.size());
  const std::size_t end = std::size_t{request.first_chunk} + request.chunk_count;
  if (request.chunk_count > kChunksPerRequestMax || (request.chunk_count > 0 && end > chunks)) {
    return Error{ErrorCode::invalid_argument, "it asks for chunks that no state has"};
  }
  const bool asks_info = request.chunk_count == 0;
  if (!asks_info && clients_.size() >= kLinksWaitingMax && !clients_.contains(link)) {
    return std::optional(info_of(request, nullptr));
  }
  const std::size_t bytes = asks_info ? chunks * Digest::kSize : bytes_of(*state, request.first_chunk, end);
  const Status allowed = budget_.spend(now, peer, bytes_of(*state, 0, chunks), bytes);
  if (!allowed.ok()) {
    const bool waits = std::any_of(unnamed_.begin(), unnamed_.end(), [&](const Question& question) {
      return question.link == link && question.request.state_digest == request.state_digest;
    });
    const bool may_wait = allowed.error().code == ErrorCode::permission_denied && asks_info && !waits;
    if (!may_wait || unnamed_.size() >= kLinksWaitingMax) return std::optional(refuse(now, request, allowed.error()));
    if (unnamed_.empty()) told_unnamed_ = now;
    unnamed_.push_back({link, peer, request, now + kNameWithin});
    unnamed_asked_ = true;
    return std::optional<wire::StateInfo>();
  }
  if (asks_info) return std::optional(info_of(request, state.get()));

  Client& client = clients_[link];
  const auto of_state = std::count_if(client.requests.begin(), client.requests.end(), [&state](const Request& queued) {
    return queued.state->digest == state->digest;
  });
  if (static_cast<std::size_t>(of_state) >= kRequestsQueuedMax) {
    return Error{ErrorCode::resource_exhausted, "it asks for more chunks than it takes"};
  }
  client.peer = peer;
  if (client.requests.empty()) waiting_.push_back(link);
  client.requests.push_back({.state = std::move(state), .next = request.first_chunk, .end = end});
  give_slots();
  return std::optional<wire::StateInfo>();
}

std::vector<StateDonor::Answer> StateDonor::take_answers(TimePoint now) {
  std::vector<Answer> answers;
  std::erase_if(unnamed_, [&](const Question& question) {
    const auto state = find(question.request);
    if (state == nullptr) {
      answers.push_back({question.link, info_of(question.request, nullptr)});
      return true;
    }
    const std::size_t chunks = state::chunk_count(state->floats.size());
    const Status allowed = budget_.spend(now, question.peer, bytes_of(*state, 0, chunks), chunks * Digest::kSize);
    if (!allowed.ok() && allowed.error().code == ErrorCode::permission_denied && now < question.until) return false;
    answers.push_back({question.link, allowed.ok() ? info_of(question.request, state.get())
                                                   : refuse(now, question.request, allowed.error())});
    return true;
  });
  return answers;
}

bool StateDonor::next_frame(TimePoint now, const Link* link, FrameToSend& frame) {
  const auto found = clients_.find(link);
  if (found == clients_.end() || !found->second.has_slot) return false;
  if (waits(now, link)) return false;
  Client& client = found->second;
  Request& request = client.requests.front();
  load_chunk(request.state, request.next, frame);
  const wire::FrameHeader header{.type = wire::FrameType::state_chunk,
                                 .payload_bytes = static_cast<std::uint32_t>(frame.frame.payload.size()),
                                 .group = transfer_id(request.state->digest),
                                 .segment = static_cast<std::uint32_t>(request.next)};
  frame.frame.head.resize(wire::kFrameHeaderBytes);
  wire::encode_header(header, std::span(frame.frame.head).first<wire::kFrameHeaderBytes>());
  frame.yields = true;
  if (++request.next < request.end) return true;

  client.requests.pop_front();
  client.has_slot = false;
  ++slots_;
  client.requests.empty() ? void(clients_.erase(found)) : waiting_.push_back(link);
  give_slots();
  return true;
}

bool StateDonor::waits(TimePoint now, const Link* link) {
  if (now >= busy_until_) return false;
  if (held_back_.empty()) told_to_wait_ = now;
  held_back_.insert(link);
  return true;
}

void StateDonor::forget(const Link* link) {
  held_back_.erase(link);
  std::erase(ready_, link);
  std::erase_if(unnamed_, [&](const Question& question) { return question.link == link; });
  const auto found = clients_.find(link);
  if (found == clients_.end()) return;
  if (found->second.has_slot) ++slots_;
  for (const Request& request : found->second.requests) {
    budget_.give_back(found->second.peer, bytes_of(*request.state, request.next, request.end));
  }
  clients_.erase(found);
  std::erase(waiting_, link);
  give_slots();
}

void StateDonor::round_sends(TimePoint now, std::size_t bytes, double line_bytes_per_s) {
  const double carried_s = static_cast<double>(bytes) / (line_bytes_per_s > 0 ? line_bytes_per_s : kLineUnknown);
  busy_until_ = std::max(busy_until_, now + kRoundPauseMax + from_seconds(kFramesUnderWay * carried_s));
}

void StateDonor::round_ended() {
  busy_until_ = {};
  go_on();
}

void StateDonor::on_timer(TimePoint now) {
  if (now >= busy_until_) go_on();
}

TimePoint StateDonor::next_deadline() const {
  const TimePoint round = held_back_.empty() ? kNever : std::min(busy_until_, told_to_wait_ + kTellEvery);
  return unnamed_.empty() ? round : std::min({round, unnamed_.front().until, told_unnamed_ + kTellEvery});
}

std::vector<const Link*> StateDonor::take_waiting(TimePoint now) {
  std::vector<const Link*> waiting;
  if (!unnamed_.empty() && now >= told_unnamed_ + kTellEvery) {
    told_unnamed_ = now;
    for (const Question& question : unnamed_) waiting.push_back(question.link);
  }
  if (held_back_.empty() || now < told_to_wait_ + kTellEvery) return waiting;
  told_to_wait_ = now;
  for (const auto& [link, client] : clients_) waiting.push_back(link);
  for (const Link* link : held_back_) {
    if (!clients_.contains(link)) waiting.push_back(link);
  }
  return waiting;
}

void StateDonor::go_on() {
  ready_.insert(ready_.end(), held_back_.begin(), held_back_.end());
  held_back_.clear();
}

void StateDonor::give_slots() {
  while (slots_ > 0 && !waiting_.empty()) {
    const Link* link = waiting_.front();
    waiting_.pop_front();
    clients_.at(link).has_slot = true;
    --slots_;
    ready_.push_back(link);
  }
}

}  // namespace starling::transport
