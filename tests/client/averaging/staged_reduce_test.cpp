// Grids of columns and heads, over a network that delivers at once or not at all.
#include "client/averaging/staged_reduce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "shared/swarm/grid_plan.h"
#include "shared/swarm/sketch.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;

namespace {

SampleCount draw_of(const PeerId& peer) { return 1000 + peer.bytes[0]; }

constexpr std::int64_t kFloats = 96;
constexpr auto kStep = std::chrono::milliseconds(10);
constexpr int kStepsMax = 40'000;

struct Volunteer {
  wire::GroupInfo group;
  Rank self = 0;
  SampleCount weight = 0;
  std::vector<float> input;
  std::vector<float> output = std::vector<float>(kFloats, -77.0F);
  std::unique_ptr<StagedReduce> engine;
  std::vector<PeerId> contacts;
  bool dead = false;
};

class Grid {
 public:
  Grid(std::size_t peers, std::size_t columns, wire::Codec codec = wire::Codec::fp32) {
    std::vector<wire::MemberInfo> infos(peers);
    for (std::size_t i = 0; i < peers; ++i) {
      infos[i].endpoint.peer.bytes[0] = static_cast<std::uint8_t>(i + 1);
      infos[i].endpoint.host = "192.0.2.1";
      infos[i].endpoint.port = 4000;
    }
    swarm::PlanOptions options;
    options.run_id = "grid";
    options.vector_floats = kFloats;
    options.codec = codec;
    columns_ = swarm::plan_grid(infos, options, columns).columns;
    for (wire::GroupInfo& column : columns_) {
      column.audit_commitment.bytes[0] = 1;
      for (Rank rank = 0; rank < column.members.size(); ++rank) add(column, rank);
    }
  }

  // Runs until everybody alive has an outcome; `before` is called before every frame and may strike.
  void run(const std::function<void(std::size_t)>& before = {}) {
    for (auto& [peer, who] : volunteers_) who.engine->start(now_);
    for (int step = 0; step < kStepsMax && !all_done(); ++step) {
      while (exchange(before)) {
      }
      now_ += kStep;
      for (auto& [peer, who] : volunteers_) {
        if (!who.dead && who.engine->next_deadline() <= now_) who.engine->on_timer(now_);
      }
    }
  }

  void kill(const PeerId& victim, bool told = true) {
    volunteers_.at(victim).dead = true;
    for (auto& [peer, who] : volunteers_) {
      const auto contact = std::find(who.contacts.begin(), who.contacts.end(), victim);
      if (!told || who.dead || contact == who.contacts.end()) continue;
      who.engine->on_link_lost(now_, static_cast<Rank>(contact - who.contacts.begin()), "connection reset");
    }
  }

  [[nodiscard]] std::map<PeerId, Volunteer>& volunteers() { return volunteers_; }
  [[nodiscard]] const std::vector<wire::GroupInfo>& columns() const { return columns_; }
  [[nodiscard]] std::size_t frames() const { return frames_; }
  // The group that the frame about to be delivered belongs to.
  [[nodiscard]] const GroupId& sending() const { return sending_; }
  // The n-th head of a column.
  [[nodiscard]] PeerId head(std::size_t column, std::size_t n) const {
    for (const wire::GridPlan::Head& head : columns_[column].grid->heads) {
      if (head.column == column && n-- == 0) return head.member.endpoint.peer;
    }
    FAIL("no such head");
    return {};
  }
  [[nodiscard]] const AveragingOutcome& outcome(const PeerId& peer) { return *volunteers_.at(peer).engine->outcome(); }

  // Describes errors in members that ended with a result: they must be identical, to the bit, and count nobody twice.
  std::string disagreement() {
    const Volunteer* first = nullptr;
    std::map<std::uint32_t, std::vector<SampleCount>> by_column;
    for (auto& [peer, who] : volunteers_) {
      const AveragingOutcome* outcome = who.engine->outcome();
      if (!who.dead && outcome == nullptr) return "somebody has no outcome";
      if (outcome == nullptr || outcome->verdict != Verdict::averaged) continue;
      if (first == nullptr) first = &who;
      if (who.output != first->output) return "two results";
      if (outcome->result_digest != first->engine->outcome()->result_digest) return "two digests";
      if (outcome->grid->accepted != first->engine->outcome()->grid->accepted) return "two counts";
      const auto column = who.group.grid->column;
      SampleCount sum = 0;
      for (const SampleCount samples : outcome->samples) sum += samples;
      if (sum > outcome->grid->accepted[column]) return "more samples than were accepted";
      for (Rank rank = 0; rank < outcome->samples.size(); ++rank) {
        const PeerId& peer = who.group.members[rank].endpoint.peer;
        if (outcome->samples[rank] > 0 && outcome->draws[rank] != draw_of(peer)) return "a draw was lost";
      }
      const auto told = by_column.emplace(column, outcome->samples);
      if (sum > 0 && told.first->second != outcome->samples) return "a column disagrees about its samples";
    }
    return "";
  }

 private:
  void add(const wire::GroupInfo& column, Rank rank) {
    const PeerId peer = column.members[rank].endpoint.peer;
    Volunteer& who = volunteers_[peer];
    who.group = swarm::place_in(column, peer);
    who.self = rank;
    who.weight = static_cast<SampleCount>(peer.bytes[0] % 5) + 1;
    for (std::int64_t i = 0; i < kFloats; ++i) {
      who.input.push_back(static_cast<float>(who.weight * ((peer.bytes[0] * 7 + i) % 11)));
    }
    for (const wire::Endpoint& endpoint : wire::contacts(who.group)) who.contacts.push_back(endpoint.peer);
    AllReduceOptions engine;
    engine.signer = testing::plain_signer(peer);
    engine.sketch_seed.bytes[0] = peer.bytes[0];
    who.engine = std::make_unique<StagedReduce>(
        who.group, rank, RoundVectors{who.weight, who.input, who.output, {}, draw_of(peer)}, engine);
  }

  bool all_done() {
    return std::all_of(volunteers_.begin(), volunteers_.end(),
                       [](auto& entry) { return entry.second.dead || entry.second.engine->outcome() != nullptr; });
  }

  bool exchange(const std::function<void(std::size_t)>& before) {
    bool any = false;
    for (auto& [peer, who] : volunteers_) {
      if (who.dead) continue;
      for (const Rank contact : who.engine->take_ready()) {
        OutgoingFrame frame;
        while (!who.dead && who.engine->next_frame(now_, contact, frame)) {
          any = true;
          std::copy_n(frame.head.begin() + 8, GroupId::kSize, sending_.bytes.begin());
          if (before) before(frames_);
          ++frames_;
          if (!who.dead) deliver(who, volunteers_.at(who.contacts[contact]), frame);
        }
      }
    }
    return any;
  }

  void deliver(const Volunteer& from, Volunteer& to, const OutgoingFrame& frame) {
    if (to.dead) return;
    const auto header = wire::decode_header(std::span(frame.head).first<wire::kFrameHeaderBytes>());
    REQUIRE(header.ok());
    std::vector<std::uint8_t> payload(frame.head.begin() + wire::kFrameHeaderBytes, frame.head.end());
    payload.insert(payload.end(), frame.payload.begin(), frame.payload.end());
    const PeerId& sender = from.contacts[from.self];
    const auto contact = std::find(to.contacts.begin(), to.contacts.end(), sender) - to.contacts.begin();
    const Status taken = to.engine->on_frame(now_, static_cast<Rank>(contact), *header, payload);
    CHECK_MESSAGE(taken.ok(), (taken.ok() ? "" : taken.error().message));
  }

  std::vector<wire::GroupInfo> columns_;
  std::map<PeerId, Volunteer> volunteers_;
  TimePoint now_{std::chrono::seconds(1)};
  std::size_t frames_ = 0;
  GroupId sending_;
};

std::size_t averaged(Grid& grid) {
  std::size_t count = 0;
  for (auto& [peer, who] : grid.volunteers()) {
    count += !who.dead && who.engine->outcome() != nullptr && who.engine->outcome()->verdict == Verdict::averaged;
  }
  return count;
}

}  // namespace

TEST_CASE("a grid of any size ends with everybody's average, and counts everybody once") {
  for (const auto& shape : {std::pair<std::size_t, std::size_t>{9, 3}, {7, 2}, {6, 2}, {31, 5}}) {
    const std::size_t peers = shape.first;
    CAPTURE(peers);
    Grid grid(peers, shape.second);
    grid.run();
    CHECK(grid.disagreement() == "");
    CHECK(averaged(grid) == peers);
    SampleCount total = 0;
    SampleCount credited = 0;
    std::vector<double> sum(kFloats);
    std::set<std::uint32_t> told;
    for (auto& [peer, who] : grid.volunteers()) {
      total += who.weight;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += who.input[i];
      if (!told.insert(who.group.grid->column).second) continue;
      for (const SampleCount samples : grid.outcome(peer).samples) credited += samples;
    }
    CHECK(credited == total);
    for (auto& [peer, who] : grid.volunteers()) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        CHECK(who.output[i] == doctest::Approx(sum[i] / static_cast<double>(total)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("in a grid, owners tell what their column has contributed, and nothing of what is averaged again") {
  Grid grid(11, 3);
  grid.run();
  for (const auto& [peer, who] : grid.volunteers()) {
    const std::optional<wire::MeasuredParts>& measured = grid.outcome(peer).measured;
    REQUIRE(measured.has_value());
    CHECK(measured->members.size() == who.group.members.size() - 1);
    std::int64_t begin = 0;
    for (Rank rank = 0; rank < who.self; ++rank) begin += who.group.members[rank].part_floats;
    for (std::size_t i = 0; i < measured->members.size(); ++i) {
      const PeerId& sender = who.group.members[static_cast<Rank>(measured->members[i])].endpoint.peer;
      swarm::Sketch expected{};
      swarm::add_to_sketch(measured->seed, begin,
                           std::span(grid.volunteers().at(sender).input)
                               .subspan(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(who.group.members[who.self].part_floats)),
                           expected);
      swarm::Sketch told{};
      for (std::size_t k = 0; k < told.size(); ++k) told[k] = measured->sketches[i * told.size() + k];
      CHECK(swarm::relative_distance(told, expected) < 1e-6);
    }
  }
}

TEST_CASE("codecs that lose precision leave all columns with the same bits") {
  for (const wire::Codec codec : {wire::Codec::fp16, wire::Codec::bf16, wire::Codec::int8, wire::Codec::int4}) {
    CAPTURE(static_cast<int>(codec));
    Grid grid(14, 4, codec);
    grid.run();
    CHECK(grid.disagreement() == "");
    CHECK(averaged(grid) == 14);
  }
}

TEST_CASE("whoever dies, and whenever: those that end with a result have the same one, and nobody counts twice") {
  Grid undisturbed(9, 3);
  undisturbed.run();
  const std::size_t frames = undisturbed.frames();
  for (std::size_t at = 0; at < frames; at += 7) {
    CAPTURE(at);
    Grid grid(9, 3);
    auto victim = grid.volunteers().begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(at % 9));
    grid.run([&](std::size_t frame) {
      if (frame == at) grid.kill(victim->first, at % 2 == 0);
    });
    CHECK(grid.disagreement() == "");
    for (auto& [peer, who] : grid.volunteers()) {
      if (who.dead) continue;
      const std::string name = peer.brief();
      CAPTURE(name);
      std::string why;
      for (const LostMember& lost : grid.outcome(peer).lost)
        why += std::to_string(lost.rank) + ": " + lost.reason + "; ";
      CAPTURE(why);
      CHECK(grid.outcome(peer).verdict == Verdict::averaged);
    }
  }
}

TEST_CASE("a head that dies among the heads costs its column half of its weight, and nobody the round") {
  Grid grid(9, 3);
  const PeerId victim = grid.head(1, 0);
  std::size_t among_heads = 0;
  grid.run([&](std::size_t) {
    if (grid.sending() == grid.columns()[0].grid->heads_id && ++among_heads == 8) grid.kill(victim);
  });
  REQUIRE(among_heads > 8);
  CHECK(grid.disagreement() == "");
  CHECK(averaged(grid) == 8);
  SampleCount total = 0;
  for (const auto& [peer, who] : grid.volunteers()) total += who.group.grid->column == 1 ? who.weight : 0;
  const SampleCount accepted = grid.outcome(grid.head(1, 1)).grid->accepted[1];
  CHECK(accepted >= total / 2);
  CHECK(accepted < total);
}

TEST_CASE("a column whose heads both die gets no result, and is told so; the others go on") {
  Grid grid(12, 3);
  const PeerId first = grid.head(2, 0);
  const PeerId second = grid.head(2, 1);
  grid.run([&](std::size_t frame) {
    if (frame == 0) grid.kill(first);
    if (frame == 1) grid.kill(second);
  });
  CHECK(grid.disagreement() == "");
  for (auto& [peer, who] : grid.volunteers()) {
    if (who.dead) continue;
    CHECK(grid.outcome(peer).verdict == (who.group.grid->column == 2 ? Verdict::minority : Verdict::averaged));
  }
}

TEST_CASE("a column that has lost its majority brings nothing, but takes the result") {
  Grid grid(9, 3);
  const wire::GroupInfo& column = grid.columns()[0];
  std::vector<PeerId> dead;
  for (std::size_t rank = 0; rank < column.members.size() && dead.size() < 2; ++rank) {
    if (column.members[rank].endpoint.peer != grid.head(0, 0)) dead.push_back(column.members[rank].endpoint.peer);
  }
  grid.run([&](std::size_t frame) {
    if (frame < dead.size()) grid.kill(dead[frame]);
  });
  CHECK(grid.disagreement() == "");
  const AveragingOutcome& survivor = grid.outcome(grid.head(0, 0));
  CHECK(survivor.verdict == Verdict::averaged);
  CHECK(survivor.grid->accepted[0] == 0);
  CHECK(survivor.samples == std::vector<SampleCount>(3, 0));
}

TEST_CASE("two deaths at any two moments never leave two results") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Grid grid(10, 3);
    std::vector<PeerId> peers;
    for (const auto& [peer, who] : grid.volunteers()) peers.push_back(peer);
    const std::size_t first = seed * 37 % 700;
    const std::size_t second = seed * 101 % 900;
    grid.run([&](std::size_t frame) {
      if (frame == first) grid.kill(peers[seed % 10], seed % 3 != 0);
      if (frame == second) grid.kill(peers[seed * 7 % 9], seed % 5 != 0);
    });
    CHECK(grid.disagreement() == "");
  }
}
