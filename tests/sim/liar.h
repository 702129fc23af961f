// Volunteers that lie. Most liars compute and average like everybody else, and only their heartbeats differ from the
// truth; poisoners lie in what they compute. The kinds are those of a stranger with a certificate and a hand-made
// heartbeat.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "tests/client/averaging/split_owner.h"
#include "tests/sim/network.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::sim {

enum class Lie : std::uint8_t {
  lone_report,  // reports rounds that it averaged alone, in groups that nobody dealt, with an invented state
  filed_ahead,  // reports such rounds of the future, behind its true reports
  leap,         // says that it holds an invented state of a round far ahead
  first_state,  // says from the first moment that round 0 begins with an invented state
  sybil,        // all computers of one account report one invented result of every group
  staller,      // says that its batches take an hour, or none, and never begins a round that waits for it; some say
                // that they have
  overclaimer,  // tells a thousand times its rate, names 64 times its samples, or says that its line is faster
                // than any, by turns; some name no more samples than the others believe. They say that the others'
                // lines carry next to nothing
  poisoner,     // tells the truth, and brings false gradients (Liar::poison)
  false_evaluation,  // says that the held-out loss is lower than it is, all of them the same
  expeller,          // says in each round that another member is lost, which is well
  split_owner,       // gives some members other means of its part than the rest, and seals both
  garbage_state,     // says that it holds the state, and has none, or gives others garbage or nothing
  crowd,             // new accounts of one computer each do that, when others have long been at work
  // These are honest for some rounds, and then bring other sums than they should: half of the work doubled, the sum of
  // an older round, the opposite, nearly twice the sum, some more that no sketch of one seed would show, nothing, or
  // somebody else's.
  lazy,
  stale,
  sign_flip,
  scaled,
  null_space,
  zeros,
  copycat,
};
std::string_view to_string(Lie lie);
std::optional<Lie> lie_named(std::string_view name);
// True of those that do not do their work, from lazy to copycat.
bool is_cheat(Lie lie);
// Returns the first of the words between commas that names no lie; empty if there is none.
std::string no_lie_in(std::string_view names);
// The names: "lone-report, filed-ahead" and so on.
std::string lie_names();

// A donor's answer to those that ask it for the state.
enum class Donation : std::uint8_t { truth, garbage, nothing };

constexpr int kSybilHosts = 50;      // computers of the one account, if it could; or accounts of a crowd
constexpr double kCrowdComesS = 60;  // at the earliest

// A digest that no honest computation ends with.
// The lie of a liar, by its number: the one that is named, or else they take turns: of a list with commas, or of all.
Lie lie_in_turn(std::string_view named, int number);
// True if the liar of this number says that its line is faster than any, and has a slow one.
bool boasts_of_its_line(Lie lie, int number);
// When a liar first calls, in seconds. Most are there first; but a member that is alone decides alone, most of the
// first group may do with the mean as they like, so those come with the others; and a crowd comes to those that are at
// work.
double comes_at_s(Lie lie, double first_come_s);
Digest invented_state(std::uint64_t seed);

class Liar {
 public:
  // number: among all liars; their ways of poisoning (modulo 4), and of holding no state, take turns
  Liar(Lie lie, const PeerId& self, int number) : lie_(lie), self_(self), number_(number) {}

  // Returns its heartbeat instead of `truth`.
  [[nodiscard]] wire::Heartbeat tell(const wire::Heartbeat& truth);
  // Makes a poisoner's sum of a batch: 10^10 times too large, -1000 times, a constant direction, or turned about; or a
  // cheat's. Returns whether it is false. `others`: the last sum of an honest member.
  bool poison(std::span<float> sum, std::span<const float> others);
  // Returns the terms that it names to its group for a gradient of `truth`. `most`: its plan's limit; 0: none.
  [[nodiscard]] averaging::ContributionTerms name(const averaging::ContributionTerms& truth, SampleCount most) const;
  // The member that it says is lost, in each averaging.
  [[nodiscard]] std::optional<averaging::Rank> expels(const wire::GroupInfo& group);
  // Changes a frame that the liar sends to `to` in an averaging.
  void change(const wire::GroupInfo& group, averaging::Rank to, Frame& frame);
  // Returns what it gives to a newcomer.
  [[nodiscard]] Donation donates();
  // True if the liar's proofs that it holds the state are false.
  [[nodiscard]] bool proves_falsely() const;
  // Returns what the liar makes of the coordinator's reply.
  [[nodiscard]] wire::HeartbeatReply hear(const wire::HeartbeatReply& reply);

 private:
  void cheat(std::span<float> sum, std::span<const float> others);
  // It holds the state that it was told of last, it says.
  void say_held(wire::Heartbeat& told) const;

  Lie lie_;
  PeerId self_;
  int number_;
  std::uint64_t calls_ = 0;
  std::uint64_t donations_ = 0;
  RoundIndex called_to_ = -1;  // the last round that it had a place in
  // The last reply's, for who only says that it holds the state.
  RoundIndex round_ = 0;
  Digest state_;
  Hash128 challenge_;
  GroupId splits_;  // the group of split_
  std::optional<averaging::SplitOwner> split_;
  int rounds_ = 0;  // that it had a place in
  RoundIndex last_place_ = -1;
  std::vector<float> old_sum_;  // its first honest one
  std::uint64_t batches_ = 0;
};

}  // namespace starling::sim
