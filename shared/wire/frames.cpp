#include "shared/wire/frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "shared/wire/cbor.h"
#include "shared/wire/limits.h"

namespace starling::wire {
namespace {

constexpr std::size_t kNumberAt = 28;  // in a header
constexpr std::size_t kRunIdBytesMax = 40;
constexpr std::uint64_t kRoundMax = std::uint64_t{1} << 53;
constexpr std::uint64_t kStateFloatsMax = kStateInfoPayloadMax / Digest::kSize * kStateChunkFloats;

template <typename Integer>
void put(std::span<std::uint8_t> out, std::size_t at, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

template <typename Integer>
Integer get(std::span<const std::uint8_t> bytes, std::size_t at) {
  Integer value = 0;
  for (std::size_t i = sizeof value; i-- > 0;) value = static_cast<Integer>(value << 8 | bytes[at + i]);
  return value;
}

struct TypeRules {
  std::size_t payload_max = 0;
  bool segment = false;  // the header names a segment or chunk
  bool group = false;    // the header names a group
  bool codec = false;    // the header names a codec
  bool number = true;    // the frame has a number
};

// nullptr for a byte that is no frame type.
const TypeRules* rules_of(std::uint8_t type) {
  static constexpr TypeRules kFirst{kFirstPayloadMax, false, false, false, false};
  static constexpr TypeRules kEmpty{0, false, false};
  static constexpr TypeRules kWeights{kControlPayloadMax, false, false};
  static constexpr TypeRules kControl{kControlPayloadMax, false, true};
  static constexpr TypeRules kWant{0, true, true};
  static constexpr TypeRules kBare{0, false, true};
  static constexpr TypeRules kFloats{kFramePayloadMax, true, true, true};
  static constexpr TypeRules kStateInfo{kStateInfoPayloadMax + 256, false, true};
  static constexpr TypeRules kStateFloats{kStateChunkFloats * sizeof(float), true, true};
  switch (static_cast<FrameType>(type)) {
    case FrameType::hello:
    case FrameType::join:
      return &kFirst;
    case FrameType::ping:
    case FrameType::pong:
    case FrameType::widen:
      return &kEmpty;
    case FrameType::begin:
    case FrameType::inventory:
    case FrameType::done:
    case FrameType::seal:
    case FrameType::lost_set:
    case FrameType::state_request:
    case FrameType::call:
    case FrameType::answer:
    case FrameType::refusal:
      return &kControl;
    case FrameType::weights:
      return &kWeights;
    case FrameType::want:
      return &kWant;
    case FrameType::listen:
    case FrameType::over:
    case FrameType::call_off:
      return &kBare;
    case FrameType::contribution:
    case FrameType::result:
    case FrameType::call_data:
    case FrameType::answer_data:
      return &kFloats;
    case FrameType::state_info:
      return &kStateInfo;
    case FrameType::state_chunk:
      return &kStateFloats;
  }
  return nullptr;
}

Error corrupt(std::string message) { return {ErrorCode::corrupt, "read frame: " + std::move(message)}; }

std::vector<std::uint8_t> bytes_of_counts(const std::vector<SampleCount>& counts) {
  std::vector<std::uint8_t> bytes(counts.size() * sizeof(SampleCount));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    put<std::uint64_t>(bytes, i * sizeof(SampleCount), static_cast<std::uint64_t>(counts[i]));
  }
  return bytes;
}

Result<std::vector<SampleCount>> counts_from(std::span<const std::uint8_t> bytes, std::size_t members,
                                             SampleCount least, SampleCount most) {
  if (bytes.size() != members * sizeof(SampleCount)) {
    return corrupt(fmt::format("{} bytes of weights or draws for {} members", bytes.size(), members));
  }
  std::vector<SampleCount> counts(members);
  for (std::size_t i = 0; i < members; ++i) {
    counts[i] = static_cast<SampleCount>(get<std::uint64_t>(bytes, i * sizeof(SampleCount)));
    if (counts[i] < least || counts[i] > most) return corrupt("a weight or a draw is out of range");
  }
  return counts;
}

Result<std::vector<SampleCount>> weights_from(std::span<const std::uint8_t> bytes, std::size_t members) {
  return counts_from(bytes, members, kWeightUnknown, kWeightMax);
}

Result<std::vector<SampleCount>> draws_from(std::span<const std::uint8_t> bytes, std::size_t members) {
  if (bytes.empty()) return std::vector<SampleCount>();
  return counts_from(bytes, members, 0, kDrawMax);
}

using namespace std::string_view_literals;
constexpr std::string_view kBeginWords = "starling begin\0"sv;
constexpr std::string_view kSealWords = "starling seal\0"sv;
constexpr std::string_view kLostSetWords = "starling lost set\0"sv;

std::vector<std::uint8_t> text_of(std::string_view words, CborWriter& fields) {
  std::vector<std::uint8_t> text(words.begin(), words.end());
  const std::vector<std::uint8_t> bytes = fields.take();
  text.insert(text.end(), bytes.begin(), bytes.end());
  return text;
}

template <typename Id>
std::vector<std::uint8_t> bytes_of(const std::vector<Id>& digests) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(digests.size() * Id::kSize);
  for (const Id& digest : digests) bytes.insert(bytes.end(), digest.bytes.begin(), digest.bytes.end());
  return bytes;
}

// bytes: a multiple of the digests' size.
template <typename Id>
std::vector<Id> digests_from(std::span<const std::uint8_t> bytes) {
  std::vector<Id> digests(bytes.size() / Id::kSize);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    std::ranges::copy(bytes.subspan(i * Id::kSize, Id::kSize), digests[i].bytes.begin());
  }
  return digests;
}

void write_terms(const Begin& begin, CborWriter& writer) {
  const auto* const norms = reinterpret_cast<const std::uint8_t*>(begin.norms.data());
  const std::vector<std::uint8_t> parts = bytes_of(begin.part_digests);
  writer.field("rank", std::uint64_t{begin.rank})
      .field("floats", static_cast<std::uint64_t>(begin.vector_floats))
      .field("weight", static_cast<std::uint64_t>(begin.weight))
      .field("plan", std::span<const std::uint8_t>(begin.plan_digest.bytes))
      .field("note", std::span<const std::uint8_t>(begin.note))
      .field("draw", static_cast<std::uint64_t>(begin.draw))
      .field("norms", std::span(norms, begin.norms.size() * sizeof(float)))
      .field("parts", std::span<const std::uint8_t>(parts));
}

void write_terms(const Seal& seal, CborWriter& writer) {
  writer.field("group", std::span<const std::uint8_t>(seal.group.bytes))
      .field("plan", std::span<const std::uint8_t>(seal.plan_digest.bytes))
      .field("rank", std::uint64_t{seal.rank})
      .field("part", std::span<const std::uint8_t>(seal.part_digest.bytes));
}

void write_terms(const LostSet& set, CborWriter& writer) {
  writer.field("rank", std::uint64_t{set.rank})
      .field("plan", std::span<const std::uint8_t>(set.plan_digest.bytes))
      .field("lost", set.lost.bytes())
      .field("judged", set.judged.bytes());
}

}  // namespace

void encode_header(const FrameHeader& header, std::span<std::uint8_t, kFrameHeaderBytes> out) {
  std::fill(out.begin(), out.end(), std::uint8_t{0});
  out[0] = static_cast<std::uint8_t>(header.type);
  out[1] = kPeerProtocolVersion;
  out[2] = static_cast<std::uint8_t>(header.codec);
  put<std::uint32_t>(out, 4, header.payload_bytes);
  std::copy(header.group.bytes.begin(), header.group.bytes.end(), out.begin() + 8);
  put<std::uint32_t>(out, 24, header.segment);
  put<std::uint32_t>(out, kNumberAt, header.number);
}

FrameType type_of(std::span<const std::uint8_t, kFrameHeaderBytes> header) { return static_cast<FrameType>(header[0]); }

void set_number(std::uint32_t number, std::span<std::uint8_t, kFrameHeaderBytes> header) {
  put<std::uint32_t>(header, kNumberAt, number);
}

Result<FrameHeader> decode_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes) {
  const TypeRules* rules = rules_of(bytes[0]);
  if (rules == nullptr) return corrupt(fmt::format("there is no type {}", bytes[0]));
  if (bytes[1] != kPeerProtocolVersion) {
    return Error{ErrorCode::unsupported, fmt::format("peer speaks version {} of the protocol, this program {}",
                                                     bytes[1], kPeerProtocolVersion)};
  }
  FrameHeader header;
  header.type = static_cast<FrameType>(bytes[0]);
  header.payload_bytes = get<std::uint32_t>(bytes, 4);
  std::copy_n(bytes.begin() + 8, GroupId::kSize, header.group.bytes.begin());
  header.segment = get<std::uint32_t>(bytes, 24);
  header.number = get<std::uint32_t>(bytes, kNumberAt);
  if (header.payload_bytes > rules->payload_max) {
    return corrupt(
        fmt::format("payload of {} bytes in type {} (at most {})", header.payload_bytes, bytes[0], rules->payload_max));
  }
  const std::optional<Codec> codec = codec_from_number(bytes[2]);
  if (rules->codec && !codec) return corrupt(fmt::format("there is no codec {}", bytes[2]));
  if (rules->codec) header.codec = *codec;
  const bool stray = (!rules->codec && bytes[2] != 0) || bytes[3] != 0 || (!rules->number && header.number != 0) ||
                     (!rules->segment && header.segment != 0) || (!rules->group && !header.group.is_zero());
  if (stray) return corrupt(fmt::format("a field that must be zero is not, in type {}", bytes[0]));
  return header;
}

std::size_t RankSet::count() const {
  std::size_t count = 0;
  for (const std::uint8_t byte : bytes_) count += static_cast<std::size_t>(std::popcount(byte));
  return count;
}

bool RankSet::merge(const RankSet& other) {
  VERIFY(other.size_ == size_);
  bool changed = false;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto both = static_cast<std::uint8_t>(bytes_[i] | other.bytes_[i]);
    changed = changed || both != bytes_[i];
    bytes_[i] = both;
  }
  return changed;
}

bool RankSet::contains(const RankSet& other) const {
  VERIFY(other.size_ == size_);
  bool all = true;
  for (std::size_t i = 0; i < bytes_.size(); ++i) all = all && (other.bytes_[i] & ~bytes_[i]) == 0;
  return all;
}

Result<RankSet> RankSet::from_bytes(std::span<const std::uint8_t> bytes, std::size_t size) {
  RankSet set(size);
  if (bytes.size() != set.bytes_.size()) {
    return corrupt(fmt::format("a set of {} members takes {} bytes, not {}", size, set.bytes_.size(), bytes.size()));
  }
  if (size % 8 != 0 && bytes.back() >> (size % 8) != 0) return corrupt("a set names a member that does not exist");
  std::copy(bytes.begin(), bytes.end(), set.bytes_.begin());
  return set;
}

std::vector<std::uint8_t> encode(const Hello& message) {
  return CborWriter(3)
      .field("protocol", static_cast<std::uint64_t>(message.protocol))
      .field("run", std::string_view(message.run_id))
      .field("token", std::span<const std::uint8_t>(message.token.bytes))
      .take();
}

Result<Hello> decode_hello(std::span<const std::uint8_t> cbor) {
  CborReader reader("hello", cbor, 3);
  Hello message;
  message.protocol = static_cast<int>(reader.number("protocol", 1000));
  message.run_id = std::string(reader.text("run", kRunIdBytesMax));
  reader.fill("token", message.token.bytes);
  STARLING_TRY(reader.finish());
  return message;
}

std::vector<std::uint8_t> encode(const Join& message) {
  return CborWriter(1).field("token", std::span<const std::uint8_t>(message.token.bytes)).take();
}

Result<Join> decode_join(std::span<const std::uint8_t> cbor) {
  CborReader reader("join", cbor, 1);
  Join message;
  reader.fill("token", message.token.bytes);
  STARLING_TRY(reader.finish());
  return message;
}

std::vector<std::uint8_t> signed_text(const Begin& begin) {
  CborWriter writer(8);
  write_terms(begin, writer);
  return text_of(kBeginWords, writer);
}

std::vector<std::uint8_t> encode(const Begin& message) {
  CborWriter writer(10);
  write_terms(message, writer);
  return writer.field("key", std::span<const std::uint8_t>(message.signature.key.bytes))
      .field("signature", std::span<const std::uint8_t>(message.signature.signature.bytes))
      .take();
}

Result<Begin> decode_begin(std::span<const std::uint8_t> cbor) {
  CborReader reader("begin", cbor, 10);
  Begin message;
  message.rank = static_cast<std::uint32_t>(reader.number("rank", kGroupMembersMax - 1));
  message.vector_floats = static_cast<std::int64_t>(reader.number("floats", kVectorFloatsMax));
  message.weight = static_cast<SampleCount>(reader.number("weight", kWeightMax));
  reader.fill("plan", message.plan_digest.bytes);
  const auto note = reader.bytes("note", kBeginNoteBytesMax);
  message.draw = static_cast<SampleCount>(reader.number("draw", kDrawMax));
  const auto norms = reader.bytes("norms", kGroupMembersMax * sizeof(float));
  const auto parts = reader.bytes("parts", kGroupMembersMax * Hash128::kSize);
  reader.fill("key", message.signature.key.bytes);
  reader.fill("signature", message.signature.signature.bytes);
  STARLING_TRY(reader.finish());
  message.note.assign(note.begin(), note.end());
  if (parts.size() % Hash128::kSize != 0) return corrupt("begin: digests of parts have 16 bytes");
  message.part_digests = digests_from<Hash128>(parts);
  if (norms.size() % sizeof(float) != 0) return corrupt("begin: norms are floats of 4 bytes");
  message.norms.resize(norms.size() / sizeof(float));
  if (!norms.empty()) std::memcpy(message.norms.data(), norms.data(), norms.size());
  for (const float norm : message.norms) {
    if (!(norm >= 0) || !std::isfinite(norm)) return corrupt("begin: a norm is negative, or not finite");
  }
  return message;
}

std::vector<std::uint8_t> signed_text(const LostSet& set) {
  CborWriter writer(4);
  write_terms(set, writer);
  return text_of(kLostSetWords, writer);
}

std::vector<std::uint8_t> encode(const LostSet& message) {
  CborWriter writer(6);
  write_terms(message, writer);
  return writer.field("key", std::span<const std::uint8_t>(message.signature.key.bytes))
      .field("signature", std::span<const std::uint8_t>(message.signature.signature.bytes))
      .take();
}

namespace {

Result<RankSet> judged_from(std::span<const std::uint8_t> bytes, const RankSet& lost) {
  if (bytes.empty()) return RankSet();
  STARLING_ASSIGN(RankSet judged, RankSet::from_bytes(bytes, lost.size()));
  if (!lost.contains(judged)) return Error{ErrorCode::corrupt, "judged members are not lost"};
  return judged;
}

}  // namespace

Result<LostSet> decode_lost_set(std::span<const std::uint8_t> cbor, std::size_t members) {
  CborReader reader("lost set", cbor, 6);
  LostSet message;
  message.rank = static_cast<std::uint32_t>(reader.number("rank", kGroupMembersMax - 1));
  reader.fill("plan", message.plan_digest.bytes);
  const auto lost = reader.bytes("lost", kControlPayloadMax);
  const auto judged = reader.bytes("judged", kControlPayloadMax);
  reader.fill("key", message.signature.key.bytes);
  reader.fill("signature", message.signature.signature.bytes);
  STARLING_TRY(reader.finish());
  STARLING_ASSIGN(message.lost, RankSet::from_bytes(lost, members));
  STARLING_ASSIGN(message.judged, judged_from(judged, message.lost));
  return message;
}

std::vector<std::uint8_t> encode(const Inventory& message) {
  const std::vector<std::uint8_t> weights = bytes_of_counts(message.weights);
  const std::vector<std::uint8_t> draws = bytes_of_counts(message.draws);
  return CborWriter(7)
      .field("lost", message.lost.bytes())
      .field("judged", message.judged.bytes())
      .field("held", std::span(message.held))
      .field("weights", std::span<const std::uint8_t>(weights))
      .field("draws", std::span<const std::uint8_t>(draws))
      .field("key", std::span<const std::uint8_t>(message.signature.key.bytes))
      .field("signature", std::span<const std::uint8_t>(message.signature.signature.bytes))
      .take();
}

Result<Inventory> decode_inventory(std::span<const std::uint8_t> cbor, std::size_t members, std::size_t segments) {
  CborReader reader("inventory", cbor, 7);
  const auto lost = reader.bytes("lost", kControlPayloadMax);
  const auto judged = reader.bytes("judged", kControlPayloadMax);
  const auto held = reader.bytes("held", kControlPayloadMax);
  const auto weights = reader.bytes("weights", kControlPayloadMax);
  const auto draws = reader.bytes("draws", kControlPayloadMax);
  Inventory message;
  reader.fill("key", message.signature.key.bytes);
  reader.fill("signature", message.signature.signature.bytes);
  STARLING_TRY(reader.finish());
  STARLING_ASSIGN(message.lost, RankSet::from_bytes(lost, members));
  STARLING_ASSIGN(message.judged, judged_from(judged, message.lost));
  // Held segments have the same form as a set of ranks: the right length, and no bit beyond the last.
  STARLING_TRY(RankSet::from_bytes(held, segments).status());
  message.held.assign(held.begin(), held.end());
  STARLING_ASSIGN(message.weights, weights_from(weights, message.lost.count()));
  STARLING_ASSIGN(message.draws, draws_from(draws, message.lost.count()));
  return message;
}

std::vector<std::uint8_t> encode(const Done& message) {
  const std::vector<std::uint8_t> weights = bytes_of_counts(message.weights);
  const std::vector<std::uint8_t> draws = bytes_of_counts(message.draws);
  return CborWriter(3)
      .field("result", std::span<const std::uint8_t>(message.result_digest.bytes))
      .field("weights", std::span<const std::uint8_t>(weights))
      .field("draws", std::span<const std::uint8_t>(draws))
      .take();
}

Result<Done> decode_done(std::span<const std::uint8_t> cbor, std::size_t members) {
  CborReader reader("done", cbor, 3);
  Done message;
  reader.fill("result", message.result_digest.bytes);
  const auto weights = reader.bytes("weights", kControlPayloadMax);
  const auto draws = reader.bytes("draws", kControlPayloadMax);
  STARLING_TRY(reader.finish());
  STARLING_ASSIGN(message.weights, weights_from(weights, weights.empty() ? 0 : members));
  STARLING_ASSIGN(message.draws, draws_from(draws, members));
  return message;
}

std::vector<std::uint8_t> signed_text(const Seal& seal) {
  CborWriter writer(4);
  write_terms(seal, writer);
  return text_of(kSealWords, writer);
}

std::vector<std::uint8_t> encode(const Seal& message) {
  CborWriter writer(6);
  write_terms(message, writer);
  return writer.field("key", std::span<const std::uint8_t>(message.signature.key.bytes))
      .field("signature", std::span<const std::uint8_t>(message.signature.signature.bytes))
      .take();
}

Result<Seal> decode_seal(std::span<const std::uint8_t> cbor) {
  CborReader reader("seal", cbor, 6);
  Seal message;
  reader.fill("group", message.group.bytes);
  reader.fill("plan", message.plan_digest.bytes);
  message.rank = static_cast<std::uint32_t>(reader.number("rank", kGroupMembersMax - 1));
  reader.fill("part", message.part_digest.bytes);
  reader.fill("key", message.signature.key.bytes);
  reader.fill("signature", message.signature.signature.bytes);
  STARLING_TRY(reader.finish());
  return message;
}

Status check_proof(const OwnerProof& proof) {
  const bool one_plan = proof.one.group == proof.other.group && proof.one.plan_digest == proof.other.plan_digest &&
                        proof.one.rank == proof.other.rank;
  if (one_plan && proof.one.part_digest != proof.other.part_digest) return {};
  return Error{ErrorCode::invalid_argument, "two seals prove nothing: they are equal, or of different parts"};
}

std::vector<std::uint8_t> encode(const StateRequest& message) {
  return CborWriter(4)
      .field("round", static_cast<std::uint64_t>(message.round))
      .field("state", std::span<const std::uint8_t>(message.state_digest.bytes))
      .field("first", std::uint64_t{message.first_chunk})
      .field("count", std::uint64_t{message.chunk_count})
      .take();
}

Result<StateRequest> decode_state_request(std::span<const std::uint8_t> cbor) {
  CborReader reader("state request", cbor, 4);
  StateRequest message;
  message.round = static_cast<RoundIndex>(reader.number("round", kRoundMax));
  reader.fill("state", message.state_digest.bytes);
  message.first_chunk = static_cast<std::uint32_t>(reader.number("first", UINT32_MAX));
  message.chunk_count = static_cast<std::uint32_t>(reader.number("count", UINT32_MAX));
  STARLING_TRY(reader.finish());
  return message;
}

std::vector<std::uint8_t> encode(const StateInfo& message) {
  const std::vector<std::uint8_t> digests = bytes_of(message.chunk_digests);
  return CborWriter(4)
      .field("round", static_cast<std::uint64_t>(message.round))
      .field("state", std::span<const std::uint8_t>(message.state_digest.bytes))
      .field("floats", static_cast<std::uint64_t>(message.state_floats))
      .field("chunks", std::span<const std::uint8_t>(digests))
      .take();
}

Result<StateInfo> decode_state_info(std::span<const std::uint8_t> cbor) {
  CborReader reader("state info", cbor, 4);
  StateInfo message;
  message.round = static_cast<RoundIndex>(reader.number("round", kRoundMax));
  reader.fill("state", message.state_digest.bytes);
  message.state_floats = static_cast<std::int64_t>(reader.number("floats", kStateFloatsMax));
  const auto digests = reader.bytes("chunks", kStateInfoPayloadMax);
  STARLING_TRY(reader.finish());
  const auto floats = static_cast<std::size_t>(message.state_floats);
  const std::size_t chunks = (floats + kStateChunkFloats - 1) / kStateChunkFloats;
  if (digests.size() != chunks * Digest::kSize) {
    return corrupt(fmt::format("read state info: {} bytes of digests for {} chunks", digests.size(), chunks));
  }
  message.chunk_digests = digests_from<Digest>(digests);
  return message;
}

}  // namespace starling::wire
