// Volunteers that go through real rounds at a real coordinator: the product's sessions and payloads, each on a
// connection of its own, with trainers that only take time, and averages at a meeting place.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "client/session/session.h"
#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"
#include "tests/bench/meeting_place.h"
#include "tests/bench/volunteers.h"

namespace starling::bench {

class VirtualTrainer;

class VirtualSwarm {
 public:
  static constexpr SampleCount kMicroBatch = 2;

  VirtualSwarm(EventLoop& loop, const CoordinatorProcess& coordinator, std::span<const Volunteer> volunteers,
               double samples_per_s_each);
  ~VirtualSwarm();

  // Everybody ends its round, computes nothing more, and goes on calling until its reports are acknowledged.
  void stop();
  [[nodiscard]] bool all_acknowledged() const;

  // The newest state that the trainers have made, which all other volunteers report too.
  [[nodiscard]] RoundIndex round() const { return round_; }
  [[nodiscard]] const Digest& state_digest() const { return state_digest_; }
  // Samples of the rounds that the coordinator has acknowledged, and their number.
  [[nodiscard]] SampleCount acknowledged_samples() const;
  [[nodiscard]] RoundIndex acknowledged_rounds() const { return acknowledged_rounds_; }
  // All volunteers' heartbeats so far.
  struct Calls {
    std::int64_t answered = 0;
    std::int64_t bytes_up = 0;  // messages, without headers
    std::int64_t bytes_down = 0;
    std::int64_t bytes_measured = 0;  // part of bytes_up: what reports bring for audits
  };
  [[nodiscard]] const Calls& calls() const { return calls_; }
  // How others find the members' work: rounds of all of them, by the members' last knowledge.
  struct Checked {
    std::int64_t rounds = 0;
    std::int64_t missed = 0;
  };
  [[nodiscard]] Checked checked() const;
  // Samples that were computed again for audits.
  [[nodiscard]] SampleCount audited_samples() const { return audited_samples_; }

 private:
  friend class VirtualTrainer;
  void on_recorded(const wire::RoundReport& report);
  void on_acknowledged(RoundIndex below) { acknowledged_rounds_ = std::max(acknowledged_rounds_, below); }

  MeetingPlace meeting_place_;
  RoundIndex round_ = 0;
  Digest state_digest_;
  std::map<RoundIndex, SampleCount> recorded_;
  RoundIndex acknowledged_rounds_ = 0;
  Calls calls_;
  SampleCount audited_samples_ = 0;
  std::vector<std::unique_ptr<VirtualTrainer>> trainers_;
};

}  // namespace starling::bench
