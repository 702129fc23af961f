// How often the work of one computer is recomputed by others, and what follows from the results. Pure.
//
// Everybody's work is checked with a probability that falls with the number n of checks that were right, as BOINC's
// adaptive replication does: newcomers' one round in eight; after ten, max(rate, 1 / n). After a miss each round is
// checked for a while; after a second one, until ten checks were right. With this rate, a member that cheats in each
// round brings 1 / rate false rounds on average before it is caught, and credit is pending for longer than that
// (shared/protocol/audit.h).
#pragma once

#include <string>

#include "shared/base/ids.h"

namespace starling::core {

constexpr double kNewcomerAuditRate = 1.0 / 8;
constexpr int kCleanEnough = 10;           // checks in a row, until a computer is no newcomer any more
constexpr RoundIndex kWatchedRounds = 32;  // after a miss
constexpr RoundIndex kSuspectedRounds = 8;
// Rounds after which a line of the ledger is final: three times as many as false ones pass before one is caught, and
// those that a check may take.
RoundIndex rounds_pending(double audit_rate);
// Credit of rounds before this one is final once `round` is decided. 0: none yet, or all of it at once.
RoundIndex final_below(double audit_rate, RoundIndex round);

struct AuditStanding {
  int clean = 0;                  // checks in a row, since the last miss
  int misses = 0;                 // all of them
  std::int64_t checks = 0;        // all that were right
  RoundIndex watched_until = 0;   // its work of rounds before this one is always checked
  int untold = 0;                 // on_untold: how near it is to being out
  RoundIndex told_in = -1;        // misses of rounds up to this one are the same as the last
  RoundIndex out_until = 0;       // it has no place in plans of rounds before this one,
  bool awaits_self_test = false;  // nor until its computer's self-test finds nothing wrong

  // The probability with which its work of this round is checked. `rate`: the run's, above 0.
  [[nodiscard]] double probability(double rate, RoundIndex round) const;
  void on_clean();
  // Others disagree with its work, but not enough of them to be sure: it is watched for a while.
  void on_suspicion(RoundIndex round, RoundIndex rounds = kSuspectedRounds);
  // Its work of this round cannot be checked, since it does not tell what it is made of: it is watched, and out for a
  // while, which true returns, where that is a habit. Once in a while its report is lost, or its line.
  bool on_untold(RoundIndex round);
  // Its work of this round was found false when `newest` was the last decided one. None further: the round began before
  // it could know of the last miss. may_ban: enough accounts have found it for that.
  enum class Consequence { none_further, told, out_until_self_test, banned };
  Consequence on_miss(RoundIndex round, RoundIndex newest, bool may_ban);
  void on_self_test_passed() { awaits_self_test = false; }
  // True if each of its rounds is checked: after a miss, or a suspicion.
  [[nodiscard]] bool is_watched(RoundIndex round) const;
  [[nodiscard]] bool is_out(RoundIndex round) const { return awaits_self_test || round < out_until; }
  // For the volunteer: what has happened, the likely cause, and what to do. Empty unless something is.
  [[nodiscard]] std::string advice(RoundIndex round) const;
};

}  // namespace starling::core
