#include <algorithm>
#include <cmath>
#include <cstring>

#include "client/averaging/all_reduce.h"
#include "client/averaging/codec.h"
#include "client/averaging/part_digests.h"
#include "client/averaging/segment_table.h"
#include "shared/swarm/plan.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;

namespace {

constexpr std::size_t kMembers = 5;
constexpr Rank kSelf = 1;
constexpr std::int64_t kFloats = 60;
constexpr std::int64_t kSegmentFloats = 8;
constexpr std::size_t kPullsMax = 200;
constexpr Rank kResult = SIZE_MAX;  // in place of the sender: results have one codec

// `choice` selects the codec of results, and those of two members' contributions.
wire::GroupInfo plan(unsigned choice) {
  constexpr const char* kCodecs[] = {"fp32", "fp16", "int8", "bf16", "int4", "sparse"};
  wire::GroupInfo group;
  group.id.bytes[0] = 9;
  group.run_id = "fuzz";
  group.vector_floats = kFloats;
  group.segment_floats = kSegmentFloats;
  group.codec = kCodecs[choice % std::size(kCodecs)];
  for (std::size_t rank = 0; rank < kMembers; ++rank) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(rank);
    member.endpoint.host = rank == 3 ? "" : "192.0.2.1";
    member.endpoint.port = rank == 3 ? 0 : 4000;
    member.part_floats = rank == 3 ? 0 : kFloats / 4;
    if (rank % 3 == 0) member.codec = kCodecs[choice / 16 % std::size(kCodecs)];
    group.members.push_back(member);
  }
  return group;
}

// Reads the input as a script: the messages and actions of each other member to one engine, well-formed or not.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size)
      : rest_(data, size),
        group_(plan(byte())),
        input_(kFloats, 0.5F),
        output_(kFloats),
        engine_(group_, kSelf, {byte() % 3u, input_, output_, {}, 0, input_}, signed_by(kSelf)) {}

  void run() {
    engine_.start(now_);
    while (!rest_.empty()) act(byte() % 13, byte() % kMembers);
    check();
  }

 private:
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }

  void act(unsigned action, Rank rank) {
    if (action == 0) {
      now_ += from_ms(20 * byte());
      return engine_.on_timer(now_);
    }
    if (rank == kSelf) return;
    switch (action) {
      case 1:
        return engine_.on_link_lost(now_, rank, "gone");
      case 2:
        return pull(rank);
      case 3:
        return frame(rank, wire::FrameType::ping, 0, {});
      default:
        return say(action, rank);
    }
  }

  [[nodiscard]] AllReduceOptions signed_by(Rank rank) const {
    AllReduceOptions options;
    options.signer = testing::plain_signer(group_.members[rank].endpoint.peer);
    return options;
  }

  std::vector<std::uint8_t> begin(Rank rank, std::uint8_t choice) {
    wire::Begin begin{choice < 128 ? static_cast<std::uint32_t>(rank) : choice % 8u, kFloats, choice % 4,
                      swarm::plan_digest(group_)};
    const std::uint8_t norm = byte();
    if (begin.weight > 0) begin.norms.assign(norm < 250 ? kMembers : norm - 250u, static_cast<float>(norm) / 8);
    if (begin.weight > 0) begin.part_digests.assign(kMembers - (norm == 249 ? 1 : 0), said_of_own_part(begin.rank));
    if (choice % 16 > 0) begin.signature = signed_by(begin.rank % kMembers).signer->sign(wire::signed_text(begin));
    return wire::encode(begin);
  }

  void say(unsigned action, Rank rank) {
    using wire::FrameType;
    const std::uint8_t first = byte();
    switch (action) {
      case 4:
        return frame(rank, FrameType::begin, 0, begin(rank, first));
      case 5:
        return frame(rank, FrameType::contribution, first, contribution(rank, first), codec_of(rank));
      case 6:
        return frame(rank, FrameType::result, first, floats(kResult, first, {byte()}), codec_of(kResult));
      case 7:
        return frame(rank, FrameType::inventory, 0, inventory(rank, first));
      case 8:
        return frame(rank, FrameType::want, first, {});
      case 9: {
        wire::Done done{digest_};
        if (first > 200) done.result_digest.bytes[0] = first;
        if (first % 2 == 0) done.weights.assign(kMembers, 2);
        return frame(rank, FrameType::done, 0, wire::encode(done));
      }
      case 10:
        return frame(rank, FrameType::listen, 0, {});
      case 11: {
        if (first >= 248) {
          const std::uint8_t lost = byte();
          return frame(rank, FrameType::lost_set, 0, wire::encode(lost_set(first % 8u, lost, byte())));
        }
        wire::Seal seal{group_.id, swarm::plan_digest(group_), first % 8u, {}, {}};
        seal.part_digest.bytes[0] = byte() % 4;
        if (first < 240) seal.signature = signed_by(seal.rank % kMembers).signer->sign(wire::signed_text(seal));
        return frame(rank, FrameType::seal, 0, wire::encode(seal));
      }
      default: {
        std::vector<std::uint8_t> bytes(byte());
        for (std::uint8_t& value : bytes) value = byte();
        return frame(rank, static_cast<FrameType>(first % 40), byte(), bytes);
      }
    }
  }

  // Bits beyond the members': signed by another one, or by nobody.
  [[nodiscard]] wire::LostSet lost_set(Rank rank, std::uint8_t bits, std::uint8_t judged) const {
    wire::LostSet set{static_cast<std::uint32_t>(rank), swarm::plan_digest(group_), wire::RankSet(kMembers)};
    if (judged != 0) set.judged = set.lost;
    for (Rank lost = 0; lost < kMembers; ++lost) {
      if ((bits >> lost & 1) != 0) set.lost.set(lost);
      if (((bits & judged) >> lost & 1) != 0) set.judged.set(lost);
    }
    const unsigned signer = bits >> kMembers == 7 ? 0 : static_cast<unsigned>(rank % kMembers);
    if (bits >> kMembers != 6) set.signature = signed_by(signer).signer->sign(wire::signed_text(set));
    return set;
  }

  std::vector<std::uint8_t> inventory(Rank rank, std::uint8_t bits) {
    const std::uint8_t held = byte();
    const std::uint8_t more = byte();
    const wire::LostSet said = lost_set(rank, bits, more < 128 ? 0 : more);
    wire::Inventory message{said.lost, {held}, {}, {}, said.signature, said.judged};
    message.weights.assign(message.lost.count(), more % 2 == 0 ? 2 : wire::kWeightUnknown);
    return wire::encode(message);
  }

  [[nodiscard]] Codec codec_of(Rank from) const {
    return from == kResult ? codec_from_name(group_.codec).value() : wire::contribution_codec(group_, from);
  }

  [[nodiscard]] static std::vector<std::uint8_t> encoded(Codec codec, std::uint8_t segment, float value) {
    const std::vector<float> values(segment % 2 == 0 ? kSegmentFloats : 7, value);
    std::vector<std::uint8_t> bytes(encoded_bytes(codec, values.size()));
    encode(codec, values, bytes);
    return bytes;
  }

  // The digest of ones in the engine's own part, as `rank` sends them.
  [[nodiscard]] Hash128 said_of_own_part(Rank rank) const {
    const SegmentTable table(group_);
    std::vector<Hash128> segments;
    for (SegmentIndex segment = table.first(kSelf); segment < table.first(kSelf + 1); ++segment) {
      segments.push_back(hash128(encoded(codec_of(rank % kMembers), static_cast<std::uint8_t>(segment), 1)));
    }
    return part_digest(segments);
  }

  // Ones, as was said, or anything else.
  std::vector<std::uint8_t> contribution(Rank rank, std::uint8_t segment) {
    return byte() < 200 ? encoded(codec_of(rank), segment, 1) : floats(rank, segment, {});
  }

  std::vector<std::uint8_t> floats(Rank from, std::uint8_t segment, std::vector<std::uint8_t> before) {
    std::vector<std::uint8_t> bytes = encoded(codec_of(from), segment, static_cast<float>(byte()) - 100);
    if (byte() > 250) bytes.back() = 0xff;  // may be a NaN
    before.insert(before.end(), bytes.begin(), bytes.end());
    return before;
  }

  void frame(Rank from, wire::FrameType type, std::uint32_t segment, const std::vector<std::uint8_t>& payload,
             Codec codec = Codec::fp32) {
    const wire::FrameHeader header{type, static_cast<std::uint32_t>(payload.size()), group_.id, segment, codec};
    now_ += from_ms(1);
    (void)engine_.on_frame(now_, from, header, payload);
  }

  void pull(Rank to) {
    (void)engine_.take_ready();
    OutgoingFrame out;
    for (std::size_t i = 0; i < kPullsMax && engine_.next_frame(now_, to, out); ++i) {
      const auto header = wire::decode_header(std::span(out.head).first<wire::kFrameHeaderBytes>());
      VERIFY(header.ok());
      VERIFY(wire::kFrameHeaderBytes + header->payload_bytes == out.head.size() + out.payload.size());
      if (header->type != wire::FrameType::done) continue;
      const auto done = wire::decode_done(std::span(out.head).subspan(wire::kFrameHeaderBytes), kMembers);
      VERIFY(done.ok());
      digest_ = done->result_digest;
    }
  }

  // After any input, a result consists of finite values and has a contributor set for every coordinate.
  void check() const {
    const AveragingOutcome* outcome = engine_.outcome();
    if (outcome == nullptr || outcome->verdict == AveragingOutcome::Verdict::expelled) return;
    VERIFY(std::all_of(output_.begin(), output_.end(), [](float x) { return std::isfinite(x); }));
    std::int64_t covered = 0;
    for (const ContributorRun& run : outcome->contributors) covered += run.floats;
    VERIFY(covered == kFloats);
    VERIFY(outcome->samples.size() == kMembers);
  }

  std::span<const std::uint8_t> rest_;
  wire::GroupInfo group_;
  std::vector<float> input_;
  std::vector<float> output_;
  AllReduce engine_;
  TimePoint now_{};
  Hash128 digest_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script(data, size).run();
  return 0;
}
