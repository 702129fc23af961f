// Contributions whose every field follows from one number.
#pragma once

#include "db/stores/database.h"

namespace starling::db::testing {

constexpr const char* kLoadRun = "load";

inline PeerId load_peer() {
  PeerId id;
  id.bytes.fill(1);
  return id;
}

// The account that the load credits; creates account and run if they do not exist.
inline Result<AccountId> prepare_load(const Stores& stores) {
  STARLING_ASSIGN(const AccountId account, stores.people.accounts.join({"load", load_peer(), {}, {1}}));
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

}  // namespace starling::db::testing
