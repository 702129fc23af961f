// The peer's averagings, of rounds and between them: engines, and the frames that they send each other.
#include <algorithm>
#include <utility>

#include "tests/sim/peer.h"
#include "tests/support/plain_signer.h"

namespace starling::sim {
namespace {

constexpr std::size_t kEarlyBeginsMax = 8;

}  // namespace

std::unique_ptr<Peer::Averaging> Peer::averaging_in(const rounds::Leg& leg) const {
  auto averaging = std::make_unique<Averaging>();
  averaging->group = leg.group;
  averaging->self = leg.self;
  averaging->weight = leg.vectors.weight;
  averaging->began = world_.scheduler().now();
  note_members(*averaging);
  return averaging;
}

void Peer::begin(Averaging& averaging, const rounds::Leg& leg) {
  averaging::AllReduceOptions options = leg.engine;
  options.signer = testing::plain_signer(id_);
  for (std::uint8_t& byte : options.sketch_seed.bytes) byte = static_cast<std::uint8_t>(rng_());
  averaging.engine = std::make_unique<averaging::StagedReduce>(averaging.group, averaging.self, leg.vectors, options);
  averaging.engine->start(world_.scheduler().now());
  // The session must not hear of an end before start_averaging has returned.
  schedule(world_.scheduler().now(), [this, id = averaging.group.id] {
    if (Averaging* const begun = averaging_of(id)) greet(*begun);
  });
}

void Peer::announce_end(std::unique_ptr<Averaging>& averaging, averaging::EndedRounds& ended) {
  if (!averaging) return;
  ended.add(averaging->group);
  for (averaging::Rank rank = 0; rank < averaging->peer_of.size(); ++rank) {
    if (rank == averaging->self || averaging->engine->finished_with(rank)) continue;
    partings_.emplace_back(averaging->peer_of[rank], averaging->group.id);
  }
  averaging.reset();
}

void Peer::note_members(Averaging& averaging) const {
  for (const wire::Endpoint& contact : wire::contacts(averaging.group)) {
    const Peer* peer = world_.find(contact.peer);
    VERIFY(peer != nullptr);
    const auto index = static_cast<std::size_t>(peer->index());
    if (averaging.rank_of.size() <= index) averaging.rank_of.resize(index + 1, -1);
    averaging.rank_of[index] = static_cast<std::int32_t>(averaging.peer_of.size());
    averaging.peer_of.push_back(peer->index());
  }
  averaging.life_of.resize(averaging.peer_of.size());
}

// A peer that is down refuses the connection; a peer that was faster has sent its greeting.
void Peer::greet(Averaging& averaging) {
  const TimePoint now = world_.scheduler().now();
  for (averaging::Rank rank = 0; rank < averaging.peer_of.size(); ++rank) {
    if (rank == averaging.self) continue;
    const int peer = averaging.peer_of[rank];
    if (!world_.peer(peer).up()) averaging.engine->on_link_lost(now, rank, "connection refused");
    if (&averaging == current_.get() && is_lost_before(rank)) averaging.engine->on_link_lost(now, rank, "it is gone");
    std::erase_if(early_[peer], [&](const Frame& frame) {  // a begin
      if (!wire::has_stage(averaging.group, frame.header.group)) return false;
      averaging.life_of[rank] = frame.from_life;
      (void)averaging.engine->on_frame(now, rank, frame.header, frame.payload);
      return true;
    });
  }
  const std::optional<averaging::Rank> expelled = world_.expelled_by(*this, averaging.group);
  if (expelled) averaging.engine->on_link_lost(now, *expelled, "a lie");
  after_engine_event(averaging);
}

bool Peer::is_lost_before(averaging::Rank rank) const {
  if (!before_) return false;
  const std::uint64_t life = before_->life_of[rank];
  if (life != 0 && life != world_.peer(before_->peer_of[rank]).incarnation()) return true;
  const std::vector<averaging::LostMember>& lost = before_->engine->outcome()->lost;
  return std::any_of(lost.begin(), lost.end(), [rank](const auto& member) { return member.rank == rank; });
}

std::vector<Peer::Averaging*> Peer::averagings() const {
  std::vector<Averaging*> all{before_.get(), current_.get(), meeting_.get()};
  std::erase(all, nullptr);
  return all;
}

Peer::Averaging* Peer::averaging_of(const GroupId& group) const {
  for (Averaging* const averaging : averagings()) {
    if (wire::has_stage(averaging->group, group)) return averaging;
  }
  return nullptr;
}

void Peer::on_frame(const Frame& frame) {
  if (frame.to_life != incarnation_ || !up()) return;
  if (!frozen()) return take_frame(frame);
  waiting_.push_back([this, frame] { take_frame(frame); });
}

void Peer::on_uplink_free() {
  if (!up()) return;
  if (!frozen()) return pump();
  waiting_.push_back([this] { pump(); });
}

void Peer::take_frame(const Frame& frame) {
  const wire::FrameHeader& header = frame.header;
  if (wire::is_sign_of_life(header.type)) {
    for (Averaging* const averaging : averagings()) take_engine_frame(*averaging, frame);
    return;
  }
  if (Averaging* const averaging = averaging_of(header.group)) return take_engine_frame(*averaging, frame);
  if (header.type != wire::FrameType::begin) return;
  if (ended_.has(header.group) || ended_meetings_.has(header.group)) {
    partings_.emplace_back(frame.from, header.group);
    return pump();
  }
  std::deque<Frame>& begins = early_[frame.from];
  std::erase_if(begins, [&](const Frame& begin) { return begin.header.group == header.group; });
  if (begins.size() == kEarlyBeginsMax) begins.pop_front();
  begins.push_back(frame);
}

void Peer::take_engine_frame(Averaging& averaging, const Frame& frame) {
  const auto from = static_cast<std::size_t>(frame.from);
  if (from >= averaging.rank_of.size() || averaging.rank_of[from] < 0) return;
  const auto rank = static_cast<averaging::Rank>(averaging.rank_of[from]);
  const TimePoint now = world_.scheduler().now();
  link_holds(averaging, rank, frame.from_life);
  if (frame.header.type == wire::FrameType::over) {
    averaging.engine->on_link_lost(now, rank, "the round is over there", std::nullopt);
  } else {
    world_.on_frame_taken(*this, world_.peer(frame.from),
                          averaging.engine->on_frame(now, rank, frame.header, frame.payload));
  }
  after_engine_event(averaging);
}

bool Peer::link_holds(Averaging& averaging, averaging::Rank rank, std::uint64_t life) {
  const std::uint64_t known = std::exchange(averaging.life_of[rank], life);
  if (known == 0 || known == life) return true;
  averaging.engine->on_link_lost(world_.scheduler().now(), rank, "connection reset");
  return false;
}

void Peer::on_link_lost(int from) {
  schedule(world_.scheduler().now(), [this, from = static_cast<std::size_t>(from)] {
    for (Averaging* const averaging : averagings()) {
      if (from < averaging->rank_of.size() && averaging->rank_of[from] >= 0) {
        const auto rank = static_cast<averaging::Rank>(averaging->rank_of[from]);
        averaging->engine->on_link_lost(world_.scheduler().now(), rank, "connection reset");
      }
      after_engine_event(*averaging);
    }
  });
}

void Peer::after_engine_event(Averaging& averaging) {
  pump();
  const TimePoint now = world_.scheduler().now();
  const GroupId id = averaging.group.id;
  const TimePoint deadline = averaging.engine->next_deadline();
  if (deadline != kNever && (averaging.timer == kNever || averaging.timer <= now || deadline < averaging.timer)) {
    averaging.timer = std::max(deadline, now);
    schedule(averaging.timer, [this, id, when = averaging.timer] {
      Averaging* const under_way = averaging_of(id);
      if (under_way == nullptr || under_way->timer != when) return;
      under_way->timer = kNever;
      under_way->engine->on_timer(world_.scheduler().now());
      after_engine_event(*under_way);
    });
  }
  if (averaging.engine->outcome() == nullptr || averaging.told) return;
  averaging.told = true;
  // The next event may put another averaging in this one's place.
  schedule(now, [this, id, took = now - averaging.began, outcome = *averaging.engine->outcome()] {
    on_averaged(id, took, outcome);
  });
}

void Peer::pump() {
  if (world_.scheduler().now() < frozen_until_ || !world_.network().uplink_free(index_)) return;
  if (!partings_.empty()) return send_parting();
  for (Averaging* const averaging : averagings()) {
    if (send_next(*averaging)) return;
  }
}

bool Peer::send_next(Averaging& averaging) {
  while (true) {
    for (const averaging::Rank rank : averaging.engine->take_ready()) averaging.ready.push_back(rank);
    if (averaging.ready.empty()) return false;
    const averaging::Rank rank = averaging.ready.front();
    averaging.ready.pop_front();
    averaging::OutgoingFrame outgoing;
    if (!averaging.engine->next_frame(world_.scheduler().now(), rank, outgoing)) continue;
    averaging.ready.push_back(rank);  // there may be more for this peer; the others go first
    const Peer& to = world_.peer(averaging.peer_of[rank]);
    if (!to.up() || !link_holds(averaging, rank, to.incarnation())) continue;
    std::unique_ptr<Frame> frame = frame_to(to);
    frame->header = *wire::decode_header(
        std::span<const std::uint8_t, wire::kFrameHeaderBytes>(outgoing.head.data(), wire::kFrameHeaderBytes));
    frame->payload.assign(outgoing.head.begin() + wire::kFrameHeaderBytes, outgoing.head.end());
    frame->payload.insert(frame->payload.end(), outgoing.payload.begin(), outgoing.payload.end());
    if (sends_garbage() && frame->header.type == wire::FrameType::contribution) {
      std::fill(frame->payload.begin(), frame->payload.end(), std::uint8_t{0xff});
    }
    world_.on_frame_sent(*this, averaging.group, rank, *frame);
    world_.network().send(std::move(frame));
    return true;
  }
}

std::unique_ptr<Frame> Peer::frame_to(const Peer& to) {
  std::unique_ptr<Frame> frame = world_.network().blank_frame();
  frame->from = index_;
  frame->to = to.index();
  frame->channel = world_.channel();
  frame->from_life = incarnation_;
  frame->to_life = to.incarnation();
  return frame;
}

void Peer::send_parting() {
  const auto [index, group] = partings_.front();
  partings_.pop_front();
  const Peer& to = world_.peer(index);
  if (!to.up()) return pump();
  std::unique_ptr<Frame> frame = frame_to(to);
  frame->header = {.type = wire::FrameType::over, .payload_bytes = 0, .group = group};
  frame->payload.clear();
  world_.network().send(std::move(frame));
}

}  // namespace starling::sim
