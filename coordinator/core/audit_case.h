// The audit of one member's contribution to one round: which slices of its samples others recompute, how many of them
// have to agree, and the verdict. Pure.
//
// Each slice is recomputed by two members. Where they agree, and their sum is what the owners of parts received, the
// work is right. Where it is not, or the two disagree, more have to find the same before anything happens, and several
// owners must have received something else. Members that computed something else than these are at fault themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/audit.h"
#include "shared/swarm/sketch.h"

namespace starling::core {

// A contribution that is audited.
struct AuditedClaim {
  PeerId peer;
  AccountId account = 0;
  SampleCount weight = 0;                    // samples that it counts as
  SampleCount computed = 0;                  // samples that it is the mean of, at least `weight`
  std::vector<wire::SampleRange> samples{};  // these
};

// A part of the vector as somebody told it.
struct ToldPart {
  wire::SketchedPart part;
  AccountId told_by = 0;  // its owner's account; of the whole, the member's own
  bool decides = false;   // that account's word is enough (AccountStanding::auditor)
  swarm::Sketch sketch{};
  bool told = true;  // false: the member's own word, which has not come yet
};

// Somebody who recomputes.
struct Auditor {
  PeerId peer;
  AccountId account = 0;
  bool decides = false;  // its result is enough, and the right one (AccountStanding::auditor)
  friend bool operator==(const Auditor&, const Auditor&) = default;
};

// The evidence that it takes. Counts are of accounts, each at least two.
struct AuditBar {
  double tolerance = 1e-4;   // the largest relative distance of honest recomputations
  double codec_error = 0;    // the contribution may be farther from these by as much
  std::size_t first = 2;     // those that are asked in any case
  std::size_t agreeing = 2;  // those that have to find a miss, or an auditor at fault
  std::size_t wanted = 2;    // those that are asked about one, if there are as many; not below `agreeing`
  std::size_t owners = 2;    // owners that have to have received something else
  bool on_auditors = false;  // the auditors are compared with each other, and with nothing that owners received
};

// Two computers that have computed the same, and how far apart.
struct AgreedPair {
  PeerId one;
  PeerId other;
  double distance = 0;  // relative
};

class AuditCase {
 public:
  // slices: ranges of the claim's samples, each for one auditor at a time.
  AuditCase(AuditedClaim claim, std::vector<ToldPart> parts, std::vector<std::vector<wire::SampleRange>> slices,
            const AuditBar& bar);

  [[nodiscard]] const AuditedClaim& claim() const { return claim_; }
  [[nodiscard]] std::vector<wire::SketchedPart> parts() const;
  [[nodiscard]] const std::vector<wire::SampleRange>& slice(std::size_t index) const { return slices_[index].samples; }

  // The slices that need another auditor now, each once for each that it needs.
  [[nodiscard]] std::vector<std::size_t> wanted() const;
  // True once somebody has computed something else than others, or than the contribution.
  [[nodiscard]] bool is_doubtful() const;
  // True if this auditor may be asked about the slice: nobody of its account was.
  [[nodiscard]] bool may_ask(std::size_t slice, const Auditor& auditor) const;
  void ask(std::size_t slice, const Auditor& auditor, std::int64_t number);
  // An answer to the order with this number; nothing for sketches: it cannot tell, or is gone.
  void on_answer(std::int64_t number, const std::vector<float>& sketches);
  [[nodiscard]] bool is_open(std::int64_t number) const;
  // The member has told the sketch of its own part.
  void on_own_word(const swarm::Sketch& sketch);
  // It is not waited for any more: the other parts decide.
  void give_up_own_word() { waits_for_own_word_ = false; }

  enum class Verdict {
    clean,  // where the case is on auditors: these agree
    missed,
    // a few owners say that the contribution was another one
    disputed,
    unchecked,
  };
  struct Finding {
    Verdict verdict = Verdict::unchecked;
    double distance = 0;                  // relative; of a miss or a clean check
    std::size_t agreeing = 0;             // accounts that have found it, of each slice
    std::vector<Auditor> agreed{};        // the auditors of the verdict
    std::vector<Auditor> contradicted{};  // those that computed something else
    std::vector<AccountId> disputes{};    // the owners' accounts
    std::vector<AgreedPair> pairs{};      // auditors that agreed, of all slices
  };
  // The verdict, once it stands. `nobody_left`: those that are wanted will not come.
  [[nodiscard]] std::optional<Finding> finding(bool nobody_left) const;

 private:
  struct Answer {
    Auditor auditor;
    std::int64_t number = 0;
    bool open = true;
    std::vector<double> sketches{};  // those of all parts in turn; empty: none
  };
  struct Slice {
    std::vector<wire::SampleRange> samples;
    std::vector<Answer> answers{};
  };
  // The largest set of answers to a slice that agree with one of them, or those that agree with one that decides; that
  // one comes first.
  [[nodiscard]] std::vector<const Answer*> agreeing(const Slice& slice) const;
  [[nodiscard]] static bool is_decided(const std::vector<const Answer*>& agreeing);
  // The sum over the slices, scaled like the contribution; nothing while a slice has fewer than `needed` that agree.
  [[nodiscard]] std::optional<std::vector<double>> recomputed(std::size_t needed) const;
  struct Comparison {
    double distance = 0;               // relative, all parts together
    std::vector<AccountId> against{};  // accounts whose parts differ, each once; some if the distance is too large
    bool decides = false;              // one of these does
  };
  // The largest distance of an honest contribution.
  [[nodiscard]] double bound() const { return bar_.tolerance + bar_.codec_error; }
  [[nodiscard]] Comparison compare(const std::vector<double>& recomputed) const;
  // True if auditors of one slice disagree.
  [[nodiscard]] bool is_contested() const;

  AuditedClaim claim_;
  std::vector<ToldPart> parts_;
  std::vector<Slice> slices_;
  AuditBar bar_;
  bool waits_for_own_word_ = true;
};

}  // namespace starling::core
