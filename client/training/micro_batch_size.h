// Number of samples to compute at once: the fastest of the sizes that fit in memory.
#pragma once

#include "shared/base/ids.h"

namespace starling::training {

// Begins with the largest size, then tries halves as long as they are faster: they often are, when they fit into a
// processor's caches. Gradients are sums over samples, so the size changes nothing but time and memory.
class MicroBatchSize {
 public:
  // most: at least 1.
  explicit MicroBatchSize(SampleCount most) : size_(most) {}

  // Samples of the next piece.
  [[nodiscard]] SampleCount size() const { return size_; }
  // Reports the time of `samples` computed in pieces of size(). Fewer samples than size() are ignored.
  void on_time(SampleCount samples, double seconds);
  // Reports that a piece did not fit in memory. False if it was a single sample: no smaller size is left.
  bool on_out_of_memory();

 private:
  SampleCount size_;
  bool settled_ = false;
  int tries_ = 0;              // tries of this size
  double best_ = 0;            // seconds per sample of the fastest try at this size
  double best_of_larger_ = 0;  // best_ of the previous size; 0: this is the first
};

}  // namespace starling::training
