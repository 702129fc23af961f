// Volunteers that go through real rounds at a real coordinator: the product's sessions, each on a connection of its
// own, with trainers that only take time and an average that all members of a group agree on.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "client/session/session.h"
#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"
#include "tests/bench/volunteers.h"

namespace starling::bench {

// Meetings of groups. Everybody that comes before a meeting closes is averaged, with all its samples.
class MeetingPlace {
 public:
  using Done = std::function<void(const averaging::AveragingOutcome&)>;
  explicit MeetingPlace(EventLoop& loop) : loop_(loop) {}
  // `done` is called later, never from within this call.
  void come(const wire::GroupInfo& group, averaging::Rank self, const averaging::ContributionTerms& terms, Done done);

 private:
  struct Meeting {
    std::vector<averaging::ContributionTerms> terms;
    std::vector<Done> waiting;  // by rank; null: absent
    std::size_t missing = 0;
    bool closed = false;
    TimePoint began{};
  };
  void close(const wire::GroupInfo& group);

  EventLoop& loop_;
  std::map<GroupId, Meeting> meetings_;  // one per round
};

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

 private:
  friend class VirtualTrainer;
  void on_recorded(const wire::RoundReport& report);
  void on_acknowledged(RoundIndex below) { acknowledged_rounds_ = std::max(acknowledged_rounds_, below); }

  MeetingPlace meeting_place_;
  RoundIndex round_ = 0;
  Digest state_digest_;
  std::map<RoundIndex, SampleCount> recorded_;
  RoundIndex acknowledged_rounds_ = 0;
  std::vector<std::unique_ptr<VirtualTrainer>> trainers_;
};

}  // namespace starling::bench
