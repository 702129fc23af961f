// Which leased samples this process trains on (wire::SampleLease): it draws from its leases by number, and no number
// twice. What of a gradient did not count is drawn again by others, when the lease is over. Pure.
//
// A gradient is of leased samples that follow each other by number, or of samples that are not leased, never of both:
// its first draw and its weight then say all of it to whoever counts. As in RoundProgress, there may be two: the
// present round's, and the next one's while the present one's is averaged.
//
// A batch that can not be used is halved until the sample that spoils it is alone, and is passed over. Once another is
// fine after it, it was the sample, not the model or this computer: then it may be told (wire::UnusableSamples), and a
// gradient that goes on behind it counts it, with nothing, so that what the gradient is of still follows by number.
#pragma once

#include <optional>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/messages.h"
#include "shared/wire/training_data.h"

namespace starling::session {

class Draws {
 public:
  // All that the coordinator says this process holds.
  void hold(const std::vector<wire::SampleLease>& leases) { leases_ = leases; }
  // As RoundProgress's.
  void begin_round();
  void look_ahead() { ahead_ = true; }
  void look_back() { ahead_ = false; }
  void finish_round();
  // The last round that was finished does not count, and begins again: its samples are drawn once more, in their order.
  void return_to_last_round();

  // Samples for the next batch of the gradient that grows, which is this round's, at most `count`; none where no lease
  // has any that belong in it. The same again until one of the next two calls says what became of them.
  std::optional<wire::SampleRange> begin_batch(RoundIndex round, SampleCount count);
  struct Passed {
    std::vector<SampleCount> draws;  // that can not be used, as is certain now
    SampleCount counted = 0;         // of these, so many in the gradient
  };
  Passed on_batch();  // they are in the gradient
  // They can not be used as they are. Whether more of them are to be tried: false when it was one alone.
  bool on_unusable();

  // Of the present gradient's first sample; 0 when it has no leased ones.
  [[nodiscard]] SampleCount first() const { return now_.first; }
  // The gradient that the next batch would go into has leased samples.
  [[nodiscard]] bool grows() const { return (ahead_ ? ahead_gradient_ : now_).first > 0; }
  [[nodiscard]] SampleCount next() const { return next_; }
  // Passed over since the last batch that was fine.
  [[nodiscard]] SampleCount passed() const { return passed_from(0); }
  // Samples that may still be drawn in this round.
  [[nodiscard]] SampleCount left(RoundIndex round) const;
  // One number beyond the last that is held.
  [[nodiscard]] SampleCount end() const;

 private:
  void begin_next();
  struct Gradient {
    SampleCount first = 0;
    SampleCount end = 0;  // one beyond the last
  };
  // Of the numbers that were passed over, those from `from` on.
  [[nodiscard]] SampleCount passed_from(SampleCount from) const;
  [[nodiscard]] Gradient& of_batch() { return batch_is_ahead_ ? ahead_gradient_ : now_; }

  std::vector<wire::SampleLease> leases_;
  SampleCount next_ = 1;             // the lowest number that has not been drawn
  SampleCount batch_ = 1;            // the first of the batch under way, …
  SampleCount batch_count_ = 0;      // … which are so many
  SampleCount spoilt_end_ = 0;       // among the numbers below it and from next_ on is one that spoils a batch
  std::vector<SampleCount> passed_;  // over, and nothing was fine since
  Gradient now_;
  Gradient ahead_gradient_;
  bool ahead_ = false;
  bool batch_is_ahead_ = false;
  SampleCount last_first_ = 0;  // first draw of the last finished round's gradient, and the leases of that time
  std::vector<wire::SampleLease> last_leases_;
};

}  // namespace starling::session
