// The frames that peers send each other over mutual TLS 1.3, each a fixed header and a payload.
//
//   header, 32 bytes, little endian:
//     0  u8  type         1  u8 version (kPeerProtocolVersion)
//     2  u8  codec (codec.h) of encoded floats, zero elsewhere    3  u8 zero
//     4  u32 payload bytes
//     8  16 bytes group id, or the id of a call, which is as long (zero for link frames and weights)
//    24  u32 segment      28 u32 number
//
//   link frames      hello (CBOR Hello), join (CBOR Join), ping, pong, widen (empty)
//   round frames     begin (CBOR Begin), contribution (encoded floats of `segment`), result (contributor
//                    mask, then encoded floats of `segment`), inventory (CBOR Inventory), want (empty: "send me
//                    what you have of `segment`"), done (CBOR Done), listen (empty: "I am too late for this round:
//                    let me have its result"), over (empty: "this round is over here: I have nothing of it any more"),
//                    seal (CBOR Seal), lost_set (CBOR LostSet)
//   state frames     state_request (CBOR), state_info (CBOR), state_chunk (`segment` as in moments.h; zero group: none)
//   call frames      call (CBOR Call), call_data and answer_data (encoded floats of chunk `segment`), answer (CBOR
//                    Answer), call_off (empty: "I no longer want the answer"), refusal (CBOR Refusal), weights (CBOR
//                    Weights); calls.h has the messages, and says which floats belong to them
//
// Streams. A link begins as one connection, whose first frame each way is hello. Where one TCP stream is too slow for
// the line, the end that dialled it adds further ones, kLinkStreamsMax in all; the other end asks for that by widen.
// The first frame each way on a further stream is join: it names the token that the other end gave the link in its
// hello. The dialling end sends its join first, and the other end's join is the answer. The certificates at both ends
// must be the link's; a join that fits no link is cut off. All frames but hello and join count, on all streams of the
// link: each is sent once, whole, on one stream, in the order of the count there. A frame that keeps its place (all but
// contribution, result, state_chunk, call_data, answer_data, ping and pong) is numbered by the frames that keep their
// place that the sender had sent before it over the link, modulo 2^32, and receivers take it after just these. Any
// other frame carries the count of those sent before it, and may be taken as soon as they have all been taken: so a
// call has been taken before its call_data. When one stream ends, the link ends.
//
// A peer that sends anything else, or anything out of bounds, is cut off; decode_* return the reason.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/peer_signature.h"
#include "shared/base/result.h"
#include "shared/wire/codec.h"

namespace starling::wire {

constexpr int kPeerProtocolVersion = 5;
constexpr std::size_t kFrameHeaderBytes = 32;
// The largest segment in the widest codec, a full contributor mask, and room for codec scales.
constexpr std::size_t kFramePayloadMax = (1u << 20) + 4096;
constexpr std::size_t kControlPayloadMax = 256 * 1024;  // CBOR frames, except state_info, hello and join
constexpr std::size_t kFirstPayloadMax = 1024;          // hello and join
constexpr std::size_t kLinkStreamsMax = 8;
constexpr std::size_t kBeginNoteBytesMax = 2304;        // a number for each of kGridColumnsMax columns, and a digest
constexpr std::size_t kStateChunkFloats = 1 << 16;      // 256 KiB a chunk
constexpr std::size_t kStateInfoPayloadMax = 1u << 20;  // 32 bytes a chunk: states of up to 2^31 floats

// Types of frames, by their byte on the wire. Numbers from 1 are about links, from 16 about rounds, from 32 about
// states, from 48 about calls to experts that other volunteers hold.
enum class FrameType : std::uint8_t {
  hello = 1,
  ping = 2,
  pong = 3,
  join = 4,
  widen = 5,
  begin = 16,
  contribution = 17,
  result = 18,
  inventory = 19,
  done = 20,
  want = 21,
  listen = 22,
  over = 23,
  seal = 24,
  lost_set = 25,
  state_request = 32,
  state_info = 33,
  state_chunk = 34,
  call = 48,
  call_data = 49,
  answer = 50,
  answer_data = 51,
  call_off = 52,
  refusal = 53,
  weights = 54,
};

// True for frames that mean no more than that the sender lives; they belong to any group.
constexpr bool is_sign_of_life(FrameType type) { return type == FrameType::ping || type == FrameType::pong; }
// True if the frame keeps its place among frames before and after it: floats of a round, of a state or of a call are
// told apart by their segments.
constexpr bool keeps_order(FrameType type) {
  const bool by_segment = type == FrameType::contribution || type == FrameType::result ||
                          type == FrameType::state_chunk || type == FrameType::call_data ||
                          type == FrameType::answer_data;
  return !by_segment && !is_sign_of_life(type);
}

// The fixed beginning of a frame.
struct FrameHeader {
  FrameType type = FrameType::ping;
  std::uint32_t payload_bytes = 0;
  GroupId group;              // in call frames but weights: the call's id
  std::uint32_t segment = 0;  // in call_data and answer_data: the chunk's number
  Codec codec = Codec::fp32;  // a contribution's, a result's, or that of call_data or answer_data
  std::uint32_t number = 0;   // given by the link when it sends the frame
};
void encode_header(const FrameHeader& header, std::span<std::uint8_t, kFrameHeaderBytes> out);
// The type in an encoded header.
FrameType type_of(std::span<const std::uint8_t, kFrameHeaderBytes> header);
void set_number(std::uint32_t number, std::span<std::uint8_t, kFrameHeaderBytes> header);
// Checks type, version, codec, zero fields (segment too, where the type has none) and the payload limit of the type.
Result<FrameHeader> decode_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes);

// Names a link to the peer at its other end; random.
struct LinkTag;
using LinkToken = FixedId<LinkTag, 16>;

// First frame on every link, both ways. A peer is up only then: a TLS 1.3 client hears of a refused certificate no
// earlier than its first read.
struct Hello {
  int protocol = kPeerProtocolVersion;
  RunId run_id;
  LinkToken token;  // the sender's
};

// First frame on a further stream of a link, both ways.
struct Join {
  LinkToken token;  // the receiver's
};

// One bit per rank.
class RankSet {
 public:
  RankSet() = default;
  explicit RankSet(std::size_t size) : size_(size), bytes_((size + 7) / 8) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool test(std::size_t rank) const { return (bytes_[rank / 8] >> (rank % 8) & 1) != 0; }
  void set(std::size_t rank) { bytes_[rank / 8] = static_cast<std::uint8_t>(bytes_[rank / 8] | 1 << rank % 8); }
  void reset(std::size_t rank) { bytes_[rank / 8] = static_cast<std::uint8_t>(bytes_[rank / 8] & ~(1 << rank % 8)); }
  [[nodiscard]] std::size_t count() const;
  // Adds `other` to this set; true when this changed it.
  bool merge(const RankSet& other);
  [[nodiscard]] bool contains(const RankSet& other) const;
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  // corrupt when the length is wrong or a bit beyond `size` is set.
  static Result<RankSet> from_bytes(std::span<const std::uint8_t> bytes, std::size_t size);
  friend bool operator==(const RankSet&, const RankSet&) = default;

 private:
  std::size_t size_ = 0;
  std::vector<std::uint8_t> bytes_;
};

// "`rank` is in this group, with this much." Nothing else of a round flows to a peer before its own begin came. Members
// without a link to each other (neither can be dialled) hear of each other's begin from one that has both.
struct Begin {
  std::uint32_t rank = 0;
  std::int64_t vector_floats = 0;
  SampleCount weight = 0;            // samples summed into the sender's vector; 0: listens only
  Hash128 plan_digest;               // both must be working on the same plan
  std::vector<std::uint8_t> note{};  // the sender's words beside its vector; the engine does not read them
  SampleCount draw = 0;  // number of the first of those samples (SampleLease in messages.h); 0: they are not leased
  // Euclidean norms of the parts of the sender's vector, by the rank of their owners. None without samples or a bound.
  std::vector<float> norms{};
  // Digests of the parts of the sender's vector, by the rank of their owners: the hash128 of the hash128s of the
  // contributions to the part's segments, as they are sent (the sender's own part: as floats). None without samples.
  std::vector<Hash128> part_digests{};
  PeerSignature signature{};  // under signed_text(), by the member that the rank names
};
// The bytes that are signed: "starling begin", a zero byte, and the fields before the signature as they travel.
std::vector<std::uint8_t> signed_text(const Begin& begin);

constexpr SampleCount kWeightUnknown = -1;

// "I have lost these members." It travels within the sender's inventories, and by itself when others pass it on. A
// member that names itself says that it is out of the round.
struct LostSet {
  std::uint32_t rank = 0;  // the member that says so
  Hash128 plan_digest;
  RankSet lost;
  PeerSignature signature{};  // under signed_text(), by that member
  // Members in `lost` that the sender has lost for what they say of others, and not for what it has seen itself. Its
  // size is 0 where there is none.
  RankSet judged{};
};
// The bytes that are signed: "starling lost set", a zero byte, and the fields before the signature as they travel.
std::vector<std::uint8_t> signed_text(const LostSet& set);

// "I believe these members lost; I held these segments final when that set last grew." Sent again whenever `lost`
// grows.
struct Inventory {
  RankSet lost;
  std::vector<std::uint8_t> held;  // one bit per segment
  // the lost members', by rank, from their begins, or kWeightUnknown: not every begin reached everybody
  std::vector<SampleCount> weights;
  std::vector<SampleCount> draws{};  // the lost members', from the same begins; 0 where unknown. Empty: all are 0
  PeerSignature signature{};         // the sender's, under its LostSet
  RankSet judged{};                  // see LostSet::judged
};

// "I hold every segment; here are my digest and counts."
struct Done {
  Hash128 result_digest;
  // By rank, as counted in the result; for members that are late, which do not hear everybody's begin. Empty to others.
  std::vector<SampleCount> weights{};
  std::vector<SampleCount> draws{};  // by rank, beside the weights. Empty: all are 0
};

// "My part is finished, and this is what it is." An owner signs one for its part, and sends it to everybody; members
// that hold different results pass all seals on to each other.
struct Seal {
  GroupId group;
  Hash128 plan_digest;
  std::uint32_t rank = 0;     // the owner
  Hash128 part_digest;        // digest of the part's values and contributor sets
  PeerSignature signature{};  // under signed_text(), by the owner
};
// The bytes that are signed: "starling seal", a zero byte, and the fields before the signature as they travel.
std::vector<std::uint8_t> signed_text(const Seal& seal);

// Two different seals of one owner in one plan: it has lied to somebody.
struct OwnerProof {
  Seal one;
  Seal other;
};
// invalid_argument unless both are of one rank in one group and plan, and differ. The signatures are not checked.
Status check_proof(const OwnerProof& proof);

// A newcomer's request for consecutive chunks of a donor's state.
struct StateRequest {
  RoundIndex round = 0;  // the wanted state's
  Digest state_digest;
  std::uint32_t first_chunk = 0;
  std::uint32_t chunk_count = 0;  // 0: only the info
};

// A donor's answer before any chunk: the digests by which each chunk is checked as it comes.
struct StateInfo {
  RoundIndex round = 0;
  Digest state_digest;
  std::int64_t state_floats = 0;      // 0: the donor does not hold that state (any more)
  std::vector<Digest> chunk_digests;  // SHA-256 of each chunk; state_digest is the SHA-256 of their concatenation
};

std::vector<std::uint8_t> encode(const Hello& message);
std::vector<std::uint8_t> encode(const Join& message);
std::vector<std::uint8_t> encode(const Begin& message);
std::vector<std::uint8_t> encode(const LostSet& message);
std::vector<std::uint8_t> encode(const Inventory& message);
std::vector<std::uint8_t> encode(const Done& message);
std::vector<std::uint8_t> encode(const Seal& message);
std::vector<std::uint8_t> encode(const StateRequest& message);
std::vector<std::uint8_t> encode(const StateInfo& message);

Result<Hello> decode_hello(std::span<const std::uint8_t> cbor);
Result<Join> decode_join(std::span<const std::uint8_t> cbor);
Result<Begin> decode_begin(std::span<const std::uint8_t> cbor);
Result<LostSet> decode_lost_set(std::span<const std::uint8_t> cbor, std::size_t members);
Result<Inventory> decode_inventory(std::span<const std::uint8_t> cbor, std::size_t members, std::size_t segments);
Result<Done> decode_done(std::span<const std::uint8_t> cbor, std::size_t members);
Result<Seal> decode_seal(std::span<const std::uint8_t> cbor);
Result<StateRequest> decode_state_request(std::span<const std::uint8_t> cbor);
Result<StateInfo> decode_state_info(std::span<const std::uint8_t> cbor);

}  // namespace starling::wire
