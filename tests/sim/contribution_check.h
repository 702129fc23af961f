// A second account of a volunteer's contributions, kept batch by batch and without the payload's sums: each batch is in
// exactly one contribution that counts or, where rounds average fragments, in exactly one for each fragment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/rounds/batch_order.h"
#include "client/rounds/round_payload.h"
#include "shared/run/run_manifest.h"

namespace starling::sim {

class ContributionCheck {
 public:
  explicit ContributionCheck(const wire::RunManifest& manifest) : manifest_(manifest) {}

  // Returns the sum of a batch that begins: the present round's, or the one that is the present round's after it.
  [[nodiscard]] std::size_t sum_of(const rounds::BatchTarget& target) const {
    return target.next_round ? 1 - present_ : present_;
  }
  [[nodiscard]] std::size_t present() const { return present_; }
  // A batch of that sum, for this target, has added `added`, the sum of `samples`.
  void on_batch(std::size_t sum, const rounds::BatchTarget& target, SampleCount samples, std::span<const float> added);
  // Returns what is wrong with a contribution to `round` of the mean of `samples` (above 0); empty if nothing is.
  [[nodiscard]] std::string on_contributed(RoundIndex round, SampleCount samples, const rounds::RoundPayload::Own& own);
  // Nothing was contributed to the round that begins.
  void on_listened() { contributed_ = false; }
  // The round counts, and is over.
  void on_stepped(RoundIndex round);

 private:
  struct Batch {
    SampleCount samples = 0;
    std::vector<float> added;
    std::size_t sum = 0;             // sum_of
    bool contributed = false;        // it is in the last contribution, of its fragment
    std::vector<std::uint8_t> sent;  // by fragment: it is in one that counts
  };
  [[nodiscard]] bool is_in(const Batch& batch, std::size_t fragment) const;

  const wire::RunManifest& manifest_;
  std::vector<Batch> batches_;
  std::size_t present_ = 0;
  bool contributed_ = false;
};

}  // namespace starling::sim
