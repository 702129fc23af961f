// The leased samples that this process trains on (wire::SampleLease): it draws from its leases by number, and no number
// twice. Samples whose gradient was not counted return to the pool when the lease expires. Pure.
//
// A gradient covers leased samples whose numbers follow each other, or samples that are not leased, never both: its
// first draw and its weight then say everything that counting needs. There may be two gradients, like in RoundProgress:
// the present round's, and the next one's while the present one's is averaged.
//
// A batch that cannot be used is halved until the sample that spoils it is alone, and that sample is passed over. A
// later batch without error proves that the sample was at fault, and not the model or this computer. Then the sample
// may be reported (wire::UnusableSamples). A gradient that goes on behind it counts it although it adds nothing, so
// that the gradient's samples still follow by number.
#pragma once

#include <optional>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/sample_lease.h"
#include "shared/run/training_data.h"

namespace starling::session {

class Draws {
 public:
  // Takes all leases that the coordinator says this process holds.
  void hold(const std::vector<wire::SampleLease>& leases) { leases_ = leases; }
  // These four are called together with RoundProgress's functions of the same names.
  void begin_round();
  void look_ahead() { ahead_ = true; }
  void look_back() { ahead_ = false; }
  void finish_round();
  // The last round that was finished does not count, and begins again: its samples are drawn once more, in their order.
  void return_to_last_round();

  // Returns samples for the next batch of the gradient that grows, at most `count`; none if no lease has any that
  // belong in it. It returns them again until one of the next two calls says how the batch ended.
  std::optional<wire::SampleRange> begin_batch(RoundIndex round, SampleCount count);
  struct Passed {
    std::vector<SampleCount> draws;  // numbers of samples that certainly cannot be used
    SampleCount counted = 0;         // how many of these the gradient counts
  };
  Passed on_batch();  // the samples of the batch are in the gradient
  // The samples of the batch cannot be used together. Returns whether some of them are to be tried: false when it was a
  // single one.
  bool on_unusable();

  // The number of the present gradient's first sample; 0 when it has no leased ones.
  [[nodiscard]] SampleCount first() const { return now_.first; }
  // True if the gradient that the next batch would go into has leased samples.
  [[nodiscard]] bool grows() const { return (ahead_ ? ahead_gradient_ : now_).first > 0; }
  [[nodiscard]] SampleCount next() const { return next_; }
  // The count of samples passed over since the last batch that was fine.
  [[nodiscard]] SampleCount passed() const { return passed_from(0); }
  // The count of samples that may still be drawn in this round.
  [[nodiscard]] SampleCount left(RoundIndex round) const;
  // Returns one number beyond the last that is held.
  [[nodiscard]] SampleCount end() const;

 private:
  void begin_next();
  struct Gradient {
    SampleCount first = 0;
    SampleCount end = 0;  // one beyond the last
  };
  // Counts the numbers that were passed over, from `from` on.
  [[nodiscard]] SampleCount passed_from(SampleCount from) const;
  [[nodiscard]] Gradient& of_batch() { return batch_is_ahead_ ? ahead_gradient_ : now_; }

  std::vector<wire::SampleLease> leases_;
  SampleCount next_ = 1;             // the lowest number that has not been drawn
  SampleCount batch_ = 1;            // the first number of the batch under way
  SampleCount batch_count_ = 0;      // the size of the batch under way
  SampleCount spoilt_end_ = 0;       // some number from next_ on and below this one spoils a batch
  std::vector<SampleCount> passed_;  // numbers passed over since the last batch that was fine
  Gradient now_;
  Gradient ahead_gradient_;
  bool ahead_ = false;
  bool batch_is_ahead_ = false;
  SampleCount last_first_ = 0;  // first draw of the last finished round's gradient
  std::vector<wire::SampleLease> last_leases_;
};

}  // namespace starling::session
