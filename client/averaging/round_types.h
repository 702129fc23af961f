// The types in which an averaging's engines, their parts and their callers talk: what a member brings to a round, how
// long it waits for others, and what comes out. The words are those of all_reduce.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/result.h"
#include "shared/crypto/peer_signer.h"
#include "shared/protocol/audit.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/round_report.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

using Rank = std::size_t;  // index in GroupInfo::members

// How the norm of honest members' mean gradients depends on their numbers of samples (norm_bound.h).
enum class NormLaw : std::uint8_t {
  gradient,      // samples are independent: with more of them, noise averages out
  displacement,  // samples are local steps: with more of them, the way gets longer
  feedback,      // with the gradient comes what codecs left out of earlier ones, of any number of samples
};

// ||v / samples||^2 as it is usual among members with this number of samples.
struct UsualNorm {
  double samples = 0;
  double square = 0;
};

// Patience with other members: the times after which one counts as silent, or is left out as a straggler.
struct AllReduceOptions {
  // A member is silent when nothing came from it for max(silence_floor, silence_factor x the largest gap between its
  // frames in this round). A ping goes out when a link has been quiet for ping_interval.
  Duration ping_interval = std::chrono::milliseconds(250);
  Duration silence_floor = std::chrono::milliseconds(2000);
  double silence_factor = 4.0;
  Duration silence_max = std::chrono::seconds(30);
  Duration yield_delay = std::chrono::milliseconds(250);
  // An owner closes its segments without a sender that takes longer than max(straggler_floor, straggler_factor x the
  // time in which half of the others were through), or that sent nothing useful for stall_floor.
  Duration straggler_floor = std::chrono::seconds(5);
  double straggler_factor = 4.0;
  // A live member is lost when it owes an inventory or the answer to a want for stall_floor, or results for three times
  // as long. One that owes only its done is lost after six times stall_floor (others may have to be lost first) or
  // after as long as everything before took, whichever is longer.
  Duration stall_floor = std::chrono::seconds(10);
  // A member that claims a larger weight is lost: it lies, or its machine errs (shared/swarm/plausible.h).
  SampleCount weight_max = wire::kWeightMax;
  // How many times longer than usual a contribution may be, as a norm; 0: as long as it likes. By which law, and what
  // was usual in recent rounds, oldest first.
  double norm_ratio_max = 2;
  NormLaw norm_law = NormLaw::gradient;
  std::vector<UsualNorm> usual{};
  // Whether this member gives its result to members that the round went on without, and asks for the result when it is
  // one of those.
  bool latecomers = true;
  // With which this member sketches contributions to its part, where the plan has audits (part_sketches.h): another
  // one for each averaging, so that nobody can guess it. Zero: it measures nothing.
  Hash128 sketch_seed{};
  // Signs what this member says, and checks what the others have signed. Never null in an averaging.
  std::shared_ptr<const crypto::PeerSigner> signer{};
};

// The samples that a member says its gradient is made of. Everybody in the group hears both numbers.
struct ContributionTerms {
  SampleCount weight = 0;  // samples
  SampleCount draw = 0;    // draw of the first sample, where samples are leased (wire::SampleLease); else 0
  friend bool operator==(const ContributionTerms&, const ContributionTerms&) = default;
};

// Vectors that a member brings to a round and takes from it. Input and output are vector_floats long, do not overlap,
// and outlive the machine. Input must not change meanwhile, nor output once there is an outcome.
struct RoundVectors {
  SampleCount weight = 0;            // samples summed into `input`; 0: listens only, and input may be empty
  std::span<const float> input;      // summable (codec.h)
  std::span<float> output;           // receives sum of inputs / sum of weights; own sums are formed inside it
  std::vector<std::uint8_t> note{};  // travels with this member's begin: at most wire::kBeginNoteBytesMax
  SampleCount draw = 0;              // ContributionTerms::draw
  // Empty, or vector_floats long: in segments that this member reduces, it receives what the result's codec left out,
  // which is sum of inputs - result x sum of weights. It may be the input's own memory, because nobody needs the input
  // of a segment that is reduced here any more.
  std::span<float> rest{};
  // Empty, or vector_floats long and equal to the bit on all members: a mean gradient. Contributions are bounded by
  // their distance from it, not from zero (norm_bound.h).
  std::span<const float> center{};
};

// A lost member and the reason, for logs.
struct LostMember {
  Rank rank = 0;
  std::string reason;
  bool judged = false;  // lost for what it says of others
};

// A fault that this member itself saw another commit, for that one's reputation. Reports by others are not included.
struct SeenFault {
  Rank rank = 0;
  wire::Fault fault = wire::Fault::gone;
};

// A member, lost on another's word although it was well here. The first to say so counts.
struct Accusation {
  Rank accuser = 0;
  Rank accused = 0;
};

// A member whose contributions were scaled down where they were added up here (NormBound::scaled).
struct ScaledMember {
  Rank rank = 0;
  float factor = 1;
};

// Consecutive coordinates averaged over the same members.
struct ContributorRun {
  std::int64_t begin = 0;
  std::int64_t floats = 0;
  wire::RankSet members;
};

// Outcome of a round of several groups (staged_reduce.h).
struct GridOutcome {
  std::vector<SampleCount> accepted;  // by column: samples in the result
};

// The result of an averaging, fixed once it has settled. The verdict says whether the output vector may be used.
struct AveragingOutcome {
  enum class Verdict {
    averaged,  // all segments held, digests agree with every survivor
    minority,  // the digests agree too, but the survivors have at most half of the votes
    // The others went on without this member, and it could not get their result. If they decide the round: reload the
    // state.
    expelled,
    diverged,  // a survivor holds different bits: a bug or a lie; do not use the result
    // Survivors hold different bits, and an owner is proven to have lied (see proofs): nobody uses a result, and the
    // same vector may be averaged again.
    called_off,
  };
  Verdict verdict = Verdict::averaged;
  bool unsound = false;  // this member left: its values are not finite, or too large, and of use to no group
  // By rank: samples averaged in = floor(weight x coordinates that carry it / vector_floats). Equal on all survivors.
  std::vector<SampleCount> samples;
  std::vector<SampleCount> draws{};  // by rank: ContributionTerms::draw of members that have samples averaged in
  std::vector<ContributorRun> contributors;  // runs of the coordinates held, in order; one run when nothing went wrong
  std::vector<bool> reduced{};               // by segment: this member made the result
  std::vector<LostMember> lost;
  std::vector<SeenFault> faults;  // by rank, at most one each: of lost members, and of senders that were left behind
  std::vector<Accusation> accusations{};
  std::vector<wire::OwnerProof> proofs{};  // owners that lied; ranks are those of the proof's group
  std::vector<ScaledMember> scaled{};      // by rank
  // Others' contributions to the part owned here, where the plan has audits: of those whose contribution came whole,
  // to a part that was reduced here, all of it. Only of a round that was averaged.
  std::optional<wire::MeasuredParts> measured{};
  std::optional<UsualNorm> usual{};  // AllReduceOptions::usual of a later round; none where nobody could tell
  Hash128 result_digest;             // digest of the output and of every segment's contributor set
  SampleCount weight_total = 0;      // samples of members with a contribution to at least one coordinate
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  Duration elapsed{};  // start() to settled
  std::optional<GridOutcome> grid{};
};

// A frame to put on the wire: `head`, then `payload`. The payload points into the input or the output (no copy for
// fp32), or into memory that `owner` holds and that stays valid for as long as somebody keeps `owner`.
struct OutgoingFrame {
  std::vector<std::uint8_t> head;
  std::span<const std::uint8_t> payload;
  std::shared_ptr<const void> owner{};
};

// The error of a frame that breaks the protocol: its sender counts as lost.
inline Error nonsense(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

}  // namespace starling::averaging
