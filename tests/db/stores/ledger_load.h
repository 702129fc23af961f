// Contributions whose every field follows from one number.
#pragma once

#include <algorithm>

#include "db/stores/database.h"

namespace starling::db::testing {

constexpr const char* kLoadRun = "load";

inline PeerId load_peer() {
  PeerId id;
  id.bytes.fill(1);
  return id;
}

// A second computer of the account. Its work of every second round is a lie, which is found out after some rounds.
inline PeerId lying_peer() {
  PeerId id;
  id.bytes.fill(2);
  return id;
}
constexpr RoundIndex kLoadWait = 6;        // rounds until credit is final
constexpr RoundIndex kFoundOutEvery = 8;   // after such a round, its lies are taken back
constexpr RoundIndex kFoundOutRounds = 4;  // and those of this number of rounds before it

// The account that the load credits; creates account and run if they do not exist.
inline Result<AccountId> prepare_load(const Stores& stores) {
  STARLING_ASSIGN(const AccountId account, stores.people.accounts.join({"load", load_peer(), {}, {1}}));
  JoinRequest second{"", lying_peer(), {}, {1}};
  second.account_id = account;
  STARLING_TRY(stores.people.accounts.join(second).status());
  const Status created = stores.training.runs.create({kLoadRun, "", RunState::running, {1}, 0});
  if (!created && created.error().code != ErrorCode::already_exists) return created.error();
  return account;
}

inline RoundResult load_round(AccountId account, RoundIndex round) {
  RoundResult result;
  result.record.run_id = kLoadRun;
  result.record.round = round;
  result.contributions = {{load_peer(), account, 1 + round % 7, 10 * (1 + round % 7), {round}}};
  return result;
}

// A round with credit that waits, and a lie now and then.
inline RoundResult waiting_round(AccountId account, RoundIndex round) {
  RoundResult result = load_round(account, round);
  result.wait = kLoadWait;
  result.final_below = std::max<RoundIndex>(0, round + 1 - kLoadWait);
  if (round % 2 == 0) result.contributions.push_back({lying_peer(), account, 5, 50, {round}});
  return result;
}
// A check of the liar's work of that round, which voids its credit.
inline WorkCheck load_check(AccountId account, RoundIndex round) {
  WorkCheck check;
  check.run_id = kLoadRun;
  check.round = round;
  check.peer_id = lying_peer();
  check.account_id = account;
  check.verdict = Verdict::missed;
  check.auditors = {load_peer()};
  check.distance = 1;
  check.why = "it sent zeros";
  check.at = {round};
  return check;
}
inline VoidRequest load_void(AccountId account, RoundIndex round) {
  return {kLoadRun, lying_peer(), account, std::max<RoundIndex>(0, round - kFoundOutRounds), "it sent zeros", {round}};
}

}  // namespace starling::db::testing
