// Helpers for the tallies: the sums and averages that holders of credit have. Inside db/stores only.
#pragma once

#include <cstdint>

#include "db/sql/connection.h"
#include "db/stores/credit_stores.h"
#include "shared/base/result.h"

namespace starling::db {

// The holder's recent average when every line that still counts is granted again.
Result<RecentAverage> replay_tally(Connection& connection, Holder of, std::int64_t holder);

// The sum of the holder's lines that are not final, in all runs.
Result<Totals> pending_of(Connection& connection, Holder of, std::int64_t holder);

// Replays and stores the tallies that the account's lines count in. Inside a write, after lines of the account were
// reversed.
Status restore_tallies_of(Connection& connection, AccountId account);

// Calls `check` for every kept average until that fails.
template <typename Check>
Status for_each_tally(Connection& connection, const Check& check) {
  STARLING_ASSIGN(Statement all, connection.prepare("SELECT kind, holder, recent, recent_ms FROM tally"));
  for (;;) {
    STARLING_ASSIGN(const bool more, all.step());
    if (!more) return {};
    const RecentAverage kept{all.real(2), {all.integer(3)}};
    STARLING_TRY(check(static_cast<Holder>(all.integer(0)), all.integer(1), kept));
  }
}

}  // namespace starling::db
