#include "tests/client/averaging/in_memory_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "shared/swarm/plan.h"
#include "tests/support/plain_signer.h"

namespace starling::averaging {
namespace {

constexpr std::size_t kWindowFrames = 2;  // frames handed to a link that have not arrived

}  // namespace

InMemoryGroup::InMemoryGroup(GroupOptions options, std::vector<Fault> faults)
    : options_(std::move(options)), faults_(std::move(faults)), random_(options_.seed) {
  build();
  for (const Fault& fault : faults_) {
    if (fault.event == Fault::kNoEvent) schedule(TimePoint{} + fault.at, [this, fault] { strike(fault); });
  }
  for (Rank rank = 0; rank < size(); ++rank) {
    const Duration after = options_.start_after.empty() ? Duration::zero() : options_.start_after[rank];
    schedule(TimePoint{} + after, [this, rank] { with(rank, [this, rank] { start(rank); }); });
  }
}

void InMemoryGroup::build() {
  const std::size_t n = options_.members;
  group_.run_id = "test";
  group_.round = 3;
  group_.id.bytes[0] = 7;
  group_.vector_floats = options_.vector_floats;
  group_.segment_floats = options_.segment_floats;
  group_.codec = options_.codec;
  group_.begin_within_ms = options_.begin_within_ms;
  if (options_.audited) group_.audit_commitment.bytes[0] = 1;
  std::vector<double> shares = options_.shares.empty() ? std::vector<double>(n, 1.0) : options_.shares;
  for (Rank rank = 0; rank < n; ++rank) {
    const bool dialable = options_.undialable.empty() || !options_.undialable[rank];
    wire::GroupMember member;
    if (!options_.deferred.empty() && options_.deferred[rank]) member.role = wire::MemberRole::deferred;
    if (!options_.late.empty() && options_.late[rank]) member.role = wire::MemberRole::late;
    if (!dialable || member.role != wire::MemberRole::full) shares[rank] = 0;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(rank / 256);
    member.endpoint.peer.bytes[1] = static_cast<std::uint8_t>(rank % 256);
    member.endpoint.host = dialable ? "192.0.2.1" : "";
    member.endpoint.port = dialable ? 4000 : 0;
    if (!options_.codecs.empty()) member.codec = options_.codecs[rank];
    if (!options_.room.empty()) member.weight_max = options_.room[rank];
    if (!options_.voters.empty()) member.voter = options_.voters[rank];
    group_.members.push_back(member);
  }
  const auto parts = swarm::split_vector(options_.vector_floats, shares);
  for (Rank rank = 0; rank < n; ++rank) group_.members[rank].part_floats = parts[rank];
  VERIFY(wire::check_group(group_).ok());
  nodes_.resize(n);
  links_.resize(n * n);
  std::uniform_real_distribution<float> value(-1, 1);
  for (Rank rank = 0; rank < n; ++rank) {
    Node& node = nodes_[rank];
    node.weight = options_.weights.empty() ? static_cast<SampleCount>(rank) + 1 : options_.weights[rank];
    node.input.resize(static_cast<std::size_t>(options_.vector_floats));
    for (float& x : node.input) x = value(random_) * static_cast<float>(node.weight);
    node.output.assign(node.input.size(), -77.0F);
    RoundVectors vectors{node.weight, node.input, node.output, {}, draw_of(rank)};
    if (options_.rest_in_input) vectors.rest = node.input;
    vectors.center = options_.center;
    AllReduceOptions engine = options_.engine;
    if (options_.audited) engine.sketch_seed = sketch_seed_of(rank);
    engine.signer = testing::plain_signer(group_.members[rank].endpoint.peer);
    node.engine = std::make_unique<AllReduce>(group_, rank, vectors, engine);
  }
}

bool InMemoryGroup::linked(Rank a, Rank b) const {
  return a != b && (options_.undialable.empty() || !options_.undialable[a] || !options_.undialable[b]);
}

void InMemoryGroup::schedule(TimePoint at, std::function<void()> action) {
  queue_.push({std::max(at, now_), scheduled_++, std::move(action)});
}

bool InMemoryGroup::step() {
  if (queue_.empty()) return false;
  for (const Fault& fault : faults_) {
    if (fault.event == events_) strike(fault);
  }
  const Event event = queue_.top();
  queue_.pop();
  now_ = event.at;
  ++events_;
  event.action();
  return true;
}

void InMemoryGroup::run(Duration limit) {
  const auto running = [](const Node& node) { return !node.dead && node.engine->outcome() == nullptr; };
  while (elapsed() < limit && std::any_of(nodes_.begin(), nodes_.end(), running) && step()) {
  }
}

void InMemoryGroup::with(Rank rank, std::function<void()> action) {
  Node& node = nodes_[rank];
  if (node.dead) return;
  if (now_ < node.frozen_until) {
    node.held_up.push_back([this, rank, action = std::move(action)] { with(rank, action); });
    return;
  }
  action();
  pump(rank);
  arm_timer(rank);
}

void InMemoryGroup::start(Rank rank) {
  nodes_[rank].started = true;
  nodes_[rank].engine->start(now_);
}

void InMemoryGroup::arm_timer(Rank rank) {
  Node& node = nodes_[rank];
  const TimePoint at = node.engine->next_deadline();
  if (at == kNever || at >= node.timer_at) return;
  node.timer_at = at;
  schedule(at, [this, rank, at] {
    if (nodes_[rank].timer_at == at) nodes_[rank].timer_at = kNever;
    with(rank, [this, rank] {
      if (nodes_[rank].engine->next_deadline() <= now_) nodes_[rank].engine->on_timer(now_);
    });
  });
}

void InMemoryGroup::pump(Rank rank) {
  while (nodes_[rank].engine->has_ready()) {
    for (const Rank to : nodes_[rank].engine->take_ready()) pump_link(rank, to);
  }
}

void InMemoryGroup::pump_link(Rank from, Rank to) {
  OutgoingFrame frame;
  while (link(from, to).in_flight < kWindowFrames && !link(from, to).cut &&
         nodes_[from].engine->next_frame(now_, to, frame)) {
    std::vector<std::uint8_t> bytes = frame.head;
    bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
    send(from, to, std::move(bytes));
  }
}

void InMemoryGroup::inject(Rank from, Rank to, std::vector<std::uint8_t> frame) { send(from, to, std::move(frame)); }

void InMemoryGroup::send(Rank from, Rank to, std::vector<std::uint8_t> bytes) {
  if (tamper_ && !tamper_(from, to, bytes)) return;
  Link& line = link(from, to);
  double rate = options_.bytes_per_s;
  if (!options_.member_slowdown.empty()) rate /= std::max(options_.member_slowdown[from], options_.member_slowdown[to]);
  const auto jitter = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(options_.latency.count() + 1));
  const TimePoint sent = std::max(now_, line.free_at) + from_seconds(static_cast<double>(bytes.size()) / rate);
  line.free_at = sent;
  ++line.in_flight;
  const wire::FrameType type = wire::type_of(std::span(bytes).first<wire::kFrameHeaderBytes>());
  const bool placed = options_.seed % 2 == 0 || wire::keeps_order(type);
  // Jitter does not show behind frames that this one never overtakes.
  const TimePoint after = placed ? line.last_arrival : line.placed_arrival;
  const TimePoint arrival = std::max(sent + options_.latency + Duration(jitter), after + Duration(1));
  line.last_arrival = std::max(line.last_arrival, arrival);
  if (placed) line.placed_arrival = arrival;
  const Frame frame{std::move(bytes), line.generation};
  schedule(arrival, [=, this] { deliver(from, to, frame); });
}

void InMemoryGroup::deliver(Rank from, Rank to, const Frame& frame) {
  Link& line = link(from, to);
  if (line.generation != frame.generation) return;
  if (now_ < nodes_[to].frozen_until) {  // the frame stays in the socket
    nodes_[to].held_up.push_back([=, this] { deliver(from, to, frame); });
    return;
  }
  --line.in_flight;
  if (!line.silent && !nodes_[to].dead && nodes_[to].started) {
    with(to, [&] {
      const auto header = wire::decode_header(std::span(frame.bytes).first<wire::kFrameHeaderBytes>());
      VERIFY(header.ok());
      const auto payload = std::span(frame.bytes).subspan(wire::kFrameHeaderBytes);
      const Status status = nodes_[to].engine->on_frame(now_, from, *header, payload);
      if (status.ok()) return;
      refusals_.push_back(fmt::format("{} from {}: {}", to, from, status.error().message));
      schedule(now_ + 4 * options_.latency, [this, from, to] { cut(from, to, from, "the other end hung up"); });
    });
  }
  // A full link takes the next frame now.
  if (!nodes_[from].dead) with(from, [this, from, to] { pump_link(from, to); });
}

void InMemoryGroup::cut(Rank a, Rank b, Rank told, const std::string& reason) {
  for (Link* line : {&link(a, b), &link(b, a)}) {
    line->cut = true;
    ++line->generation;
  }
  schedule(now_ + options_.latency, [this, a, b, told, reason] {
    with(told, [this, a, b, told, reason] { nodes_[told].engine->on_link_lost(now_, told == a ? b : a, reason); });
  });
}

void InMemoryGroup::kill(Rank rank, bool dirty) {
  if (nodes_[rank].dead) return;
  nodes_[rank].dead = true;
  for (Rank peer = 0; peer < size(); ++peer) {
    if (!linked(rank, peer)) continue;
    Link& line = link(rank, peer);
    line.cut = true;
    link(peer, rank).cut = true;
    if (dirty) ++line.generation;
    const auto jitter = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(options_.latency.count() + 1));
    const TimePoint clean = std::max(now_, line.last_arrival) + Duration(1);
    schedule((dirty ? now_ + options_.latency : clean) + Duration(jitter), [this, rank, peer] {
      with(peer, [this, rank, peer] {
        if (nodes_[peer].started) nodes_[peer].engine->on_link_lost(now_, rank, "connection reset");
      });
    });
  }
}

void InMemoryGroup::freeze(Rank rank, Duration lasting) {
  Node& node = nodes_[rank];
  node.frozen_until = std::max(node.frozen_until, now_ + lasting);
  schedule(node.frozen_until, [this, rank] {
    if (now_ < nodes_[rank].frozen_until) return;
    const std::vector<std::function<void()>> held_up = std::exchange(nodes_[rank].held_up, {});
    for (const std::function<void()>& action : held_up) action();
  });
}

void InMemoryGroup::strike(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kill:
    case Fault::Kind::kill_dirty:
      return kill(fault.rank, fault.kind == Fault::Kind::kill_dirty);
    case Fault::Kind::freeze:
      return freeze(fault.rank, fault.lasting);
    case Fault::Kind::black_hole:
      link(fault.other, fault.rank).silent = true;
      link(fault.rank, fault.other).silent = true;
      return;
    case Fault::Kind::mute:
      link(fault.rank, fault.other).silent = true;
      return;
    case Fault::Kind::break_link:
      cut(fault.rank, fault.other, fault.rank, "connection reset");
      cut(fault.rank, fault.other, fault.other, "connection reset");
      return;
    case Fault::Kind::denounce:
      with(fault.rank, [this, fault] { nodes_[fault.rank].engine->on_link_lost(now_, fault.other, "a lie"); });
      return;
  }
}

}  // namespace starling::averaging
