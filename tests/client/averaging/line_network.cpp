#include "tests/client/averaging/line_network.h"

#include <algorithm>
#include <random>

#include "shared/swarm/plan.h"
#include "tests/support/plain_signer.h"

namespace starling::averaging {
namespace {

constexpr std::size_t kCellBytes = 2048;

}  // namespace

LineNetwork::LineNetwork(LineOptions options) : options_(std::move(options)) {
  const std::size_t n = options_.bytes_per_s.size();
  std::mt19937_64 random(options_.seed);
  group_.run_id = "test";
  group_.id.bytes[0] = 7;
  group_.vector_floats = options_.vector_floats;
  group_.segment_floats = options_.segment_floats;
  group_.begin_within_ms = 1000;
  const auto parts = swarm::split_vector(options_.vector_floats, options_.shares);
  for (Rank rank = 0; rank < n; ++rank) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(rank + 1);
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = 4000;
    member.part_floats = parts[rank];
    group_.members.push_back(member);
  }
  VERIFY(wire::check_group(group_).ok());
  nodes_.resize(n);
  streams_.resize(n * n);
  std::uniform_real_distribution<double> weight(1 - options_.unfairness, 1 + options_.unfairness);
  for (Stream& stream : streams_) stream.weight = weight(random);
  for (Rank rank = 0; rank < n; ++rank) {
    Node& node = nodes_[rank];
    node.input.assign(static_cast<std::size_t>(options_.vector_floats), static_cast<float>(rank + 1));
    node.output.assign(node.input.size(), -77.0F);
    AllReduceOptions engine;
    engine.signer = testing::plain_signer(group_.members[rank].endpoint.peer);
    node.engine = std::make_unique<AllReduce>(group_, rank, RoundVectors{1, node.input, node.output}, engine);
  }
}

LineNetwork::~LineNetwork() = default;

double LineNetwork::run() {
  for (Rank rank = 0; rank < nodes_.size(); ++rank) {
    nodes_[rank].engine->start(now_);
    pump(rank);
  }
  const auto settled = [](const Node& node) { return node.engine->outcome() != nullptr; };
  while (!queue_.empty() && !std::all_of(nodes_.begin(), nodes_.end(), settled)) {
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.at;
    event.action();
  }
  return to_seconds(now_ - TimePoint{});
}

bool LineNetwork::ok() const {
  const float mean = static_cast<float>(nodes_.size() + 1) / 2;
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    const AveragingOutcome* outcome = node.engine->outcome();
    return outcome != nullptr && outcome->verdict == AveragingOutcome::Verdict::averaged &&
           outcome->contributors.size() == 1 &&
           std::all_of(node.output.begin(), node.output.end(), [&](float x) { return x == mean; });
  });
}

void LineNetwork::pump(Rank rank) {
  Node& node = nodes_[rank];
  while (node.engine->has_ready()) {
    for (const Rank to : node.engine->take_ready()) fill(rank, to);
  }
  send_next(rank);
  const TimePoint due = node.engine->next_deadline();
  if (due == kNever || due >= node.timer_at) return;
  node.timer_at = due;
  schedule(due, [this, rank] {
    nodes_[rank].timer_at = kNever;
    nodes_[rank].engine->on_timer(now_);
    pump(rank);
  });
}

void LineNetwork::fill(Rank from, Rank to) {
  Stream& out = stream(from, to);
  OutgoingFrame frame;
  while (out.unsent < options_.unsent_max && nodes_[from].engine->next_frame(now_, to, frame)) {
    if (out.unsent == 0) out.turn = std::max(out.turn, nodes_[from].turn);
    std::vector<std::uint8_t> bytes = frame.head;
    bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
    out.unsent += bytes.size();
    out.frames.push_back(std::move(bytes));
  }
}

void LineNetwork::send_next(Rank from) {
  Node& node = nodes_[from];
  if (node.sending) return;
  Rank next = from;
  for (Rank to = 0; to < nodes_.size(); ++to) {
    const Stream& out = stream(from, to);
    const double window = options_.window_s * std::max(options_.bytes_per_s[from], options_.bytes_per_s[to]);
    if (out.unsent == 0 || static_cast<double>(out.on_way) > window) continue;
    if (next == from || out.turn < stream(from, next).turn) next = to;
  }
  if (next == from) return;
  Stream& out = stream(from, next);
  const std::size_t bytes = std::min(out.unsent, kCellBytes);
  node.turn = out.turn;
  out.turn += static_cast<double>(bytes) / out.weight;
  out.unsent -= bytes;
  out.on_way += bytes;
  node.sending = true;
  fill(from, next);
  schedule(now_ + from_seconds(static_cast<double>(bytes) / options_.bytes_per_s[from]), [this, from, next, bytes] {
    nodes_[from].sending = false;
    pump(from);
    schedule(now_ + options_.delay, [this, from, next, bytes] { arrive(from, next, bytes); });
  });
}

void LineNetwork::arrive(Rank from, Rank to, std::size_t bytes) {
  Node& node = nodes_[to];
  node.down_free = std::max(now_, node.down_free) + from_seconds(static_cast<double>(bytes) / options_.bytes_per_s[to]);
  schedule(node.down_free, [this, from, to, bytes] { deliver(from, to, bytes); });
}

void LineNetwork::deliver(Rank from, Rank to, std::size_t bytes) {
  schedule(now_ + options_.delay, [this, from, to, bytes] {  // acknowledged now
    stream(from, to).on_way -= bytes;
    send_next(from);
  });
  Stream& in = stream(from, to);
  in.delivered += bytes;
  while (!in.frames.empty() && in.delivered >= in.frames.front().size()) {
    const std::vector<std::uint8_t> frame = std::move(in.frames.front());
    in.frames.pop_front();
    in.delivered -= frame.size();
    const auto header = wire::decode_header(std::span(frame).first<wire::kFrameHeaderBytes>());
    VERIFY(header.ok());
    VERIFY(nodes_[to].engine->on_frame(now_, from, *header, std::span(frame).subspan(wire::kFrameHeaderBytes)).ok());
  }
  pump(to);
}

}  // namespace starling::averaging
