// How many samples to compute at once: as many as memory holds, and no more than are fastest.
#pragma once

#include "shared/base/ids.h"

namespace starling::training {

// Begins with the most, then tries ever smaller halves as long as they are faster: what stays within a processor's
// caches often is. Gradients are sums over samples, so the size changes nothing but time and memory.
class MicroBatchSize {
 public:
  // most: at least 1.
  explicit MicroBatchSize(SampleCount most) : size_(most) {}

  // Samples of the next piece.
  [[nodiscard]] SampleCount size() const { return size_; }
  // `samples` took so long, in pieces of size(). Fewer than size() tell nothing.
  void on_time(SampleCount samples, double seconds);
  // Memory did not hold a piece. False when it was a single sample: there is nothing left to try.
  bool on_out_of_memory();

 private:
  SampleCount size_;
  bool settled_ = false;
  int tries_ = 0;              // of this size
  double best_ = 0;            // seconds a sample at this size, the fastest try
  double best_of_larger_ = 0;  // the same at the size before; 0: this is the first
};

}  // namespace starling::training
