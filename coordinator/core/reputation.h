// How far members can be relied on, judged by what others say of them in their reports, and by what they measure.
//
// A complaint is one member's word about another, and a line between two may fail by either's fault. So a member is at
// fault when several others complain about it in the rounds that are remembered: most of those that were with it, and
// no more than kVoicesEnough. Others' word about that member is then believed. A member whose own complaints nobody
// shares, or about whom others complain one by one, is at odds with all of these; when they are as many, it is
// the one at fault.
//
// Faults count less with every round, and are forgotten after kRemembered rounds: a computer that merely slept is soon
// where it was. Faults together make a member own less, then no part, and then sit out some rounds. When it is back,
// less is enough, and it sits out twice as many.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/messages.h"

namespace starling::core {

constexpr RoundIndex kRemembered = 32;
constexpr double kFaultHalfLife = 6;  // rounds
constexpr double kOwnsNothing = 3;    // faults, each as it weighs now
constexpr int kNotWaitedFor = 2;      // rounds spoiled: no other is held open for it while it gets the state
constexpr double kSitsOut = 4;        // with so many it is left out; half of it the second time, and so on
constexpr double kSitsOutMin = 1;     // … but never with fewer
constexpr RoundIndex kRoundsOut = 8;  // the first time
constexpr RoundIndex kRoundsOutMax = 1024;
constexpr RoundIndex kForgiven = 64;      // so many rounds without a fault make up for having sat out once
constexpr std::size_t kVoicesEnough = 5;  // of a large group: each voice that lies is soon at odds itself
constexpr std::size_t kVoicesMin = 2;

// What follows for the next plan.
struct Standing {
  double reliance = 1;                    // the part of what its line could own that it may own
  bool sits_out = false;                  // no place in a plan
  bool waited_for = true;                 // else no round is held open for it while it gets the state
  int rounds = 0;                         // that it spoiled, of the last kRemembered
  RoundIndex rounds_out = 0;              // how many more it sits out
  bool at_odds = false;                   // its own complaints are what nobody shares
  wire::Fault fault = wire::Fault::gone;  // else: the worst
};

// For the volunteer: why it owns less, and what ends that. Empty when it is as good as any.
std::string explain(const Standing& standing);

class Reputation {
 public:
  struct Present {
    PeerId peer;
    bool callable = false;  // may own a part
  };

  // What one member says of a round that it finished in a group of `members` (sorted). Whoever spoke once is not heard
  // on that round again.
  void on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const PeerId> members);
  // The coordinator itself knows that what the member told in `round` is false: others measured another held-out loss
  // (EvaluationTurn), or it reported a result that it cannot have.
  void on_false_word(RoundIndex round, const PeerId& peer);
  [[nodiscard]] bool has_heard(const PeerId& reporter, const wire::RoundReport& report) const;
  // Judges everybody by the rounds before `round`. Of those who are there no more than a third sits out, and never all
  // whom others can call: whatever is wrong then, it is not they.
  void judge(RoundIndex round, std::span<const Present> present);
  [[nodiscard]] Standing of(const PeerId& peer) const;

 private:
  struct Word {
    PeerId accuser;
    PeerId accused;
    wire::Fault fault = wire::Fault::gone;
  };
  struct Meeting {
    std::vector<PeerId> members;  // sorted
    std::set<PeerId> reporters;
    std::vector<Word> words;
  };
  using Pairs = std::map<PeerId, std::set<PeerId>>;

  [[nodiscard]] std::size_t voices_needed(const PeerId& about) const;
  [[nodiscard]] std::set<PeerId> at_fault(const Pairs& pairs) const;
  void weigh(RoundIndex round, const std::set<PeerId>& guilty, const std::set<PeerId>& at_odds);
  void seat(RoundIndex round, std::span<const Present> present);

  std::map<std::pair<RoundIndex, GroupId>, Meeting> meetings_;
  std::map<RoundIndex, std::set<PeerId>> false_words_;
  struct Record {
    double faults = 0;
    int times_out = 0;         // that count against it
    RoundIndex out_until = 0;  // takes part from this round on
    RoundIndex good_from = 0;  // no fault since
    Standing standing;
  };
  std::map<PeerId, Record> records_;  // of those against whom something counts
};

}  // namespace starling::core
