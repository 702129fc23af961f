// A volunteer's gossip between two rounds, of all buckets: the decisions (bucket_gossip.h), the vectors that are sent
// and averaged, and the steps that take the averages in (client/optim/gossip_step.h). The averagings are legs like a
// round's, one for each bucket at a time.
//
// Two threads. Decisions belong to the session's; forget_steps(), begin_steps() and carry_out() run where batches are
// computed. A bucket's vectors are safe because on_stepped() comes before carry_out(), and on_sent_out() after it.
// Pure.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/optim/gossip_step.h"
#include "client/rounds/bucket_gossip.h"
#include "client/rounds/leg.h"
#include "shared/protocol/round_report.h"
#include "shared/run/buckets.h"
#include "shared/run/run_manifest.h"

namespace starling::rounds {

class Gossip {
 public:
  // Returns null for a run without gossip.
  static std::unique_ptr<Gossip> make(const wire::RunManifest& manifest, const PeerId& self);
  // manifest.local has partners. Takes memory for the parameters twice, and for the steps.
  Gossip(const wire::RunManifest& manifest, const PeerId& self);

  [[nodiscard]] std::span<const wire::Bucket> buckets() const { return buckets_; }

  // A round's averaging by this plan begins. Nothing is averaged between rounds until it is over: the caller ends all
  // meetings.
  void on_round_planned(const wire::GroupInfo& plan);
  // Nothing is averaged either while a member has no state.
  void end_round();
  // The round is over. `distance`: RoundPayload::consensus_distance of its end, 0 if it is not known. begin_steps()
  // follows.
  void begin_round(TimePoint now, const wire::RoundReport& report, double distance);
  void begin_steps();

  // The bucket has taken an own step; `began`: own parameters belong to another process than those of the step before,
  // and forget_steps() has been called. If the order says send_out, the caller ends the bucket's meeting, which is over
  // for it. Then carry_out() follows.
  BucketGossip::Order on_stepped(TimePoint now, std::size_t bucket, bool began);
  void forget_steps();
  // `own` and `agreed` are whole vectors of parameters; of `own`, the bucket changes. Returns how far own parameters
  // were from the average that was taken in, if the order asks for it: on_measured() wants it next.
  std::optional<double> carry_out(const BucketGossip::Order& order, std::size_t bucket, std::span<float> own,
                                  std::span<const float> agreed);
  void on_measured(std::size_t bucket, double distance) { decisions_[bucket].on_measured(distance); }
  // The order's vector has been sent out. Returns the averaging with its partners, if any.
  std::optional<Leg> on_sent_out(TimePoint now, std::size_t bucket);
  // The averaging of that id has ended. Returns another one, if the vector that was sent out is to be averaged there.
  std::optional<Leg> on_met(TimePoint now, std::size_t bucket, const GroupId& id,
                            const averaging::AveragingOutcome& outcome);
  // The averaging could not begin.
  void on_refused(std::size_t bucket) { decisions_[bucket].forget(); }

  // Means over buckets, of all rounds: averagings with others, and those to which nobody else came.
  [[nodiscard]] std::int64_t mixed() const;
  [[nodiscard]] std::int64_t missed() const;

 private:
  std::optional<Leg> leg_of(std::size_t bucket, const std::optional<swarm::GossipGroup>& meeting);

  std::vector<wire::Bucket> buckets_;
  std::vector<BucketGossip> decisions_;   // by bucket
  std::vector<optim::GossipStep> steps_;  // by bucket
  wire::GroupInfo plan_;                  // plan of the last round
  std::vector<float> sent_;
  std::vector<float> mixed_;
};

}  // namespace starling::rounds
