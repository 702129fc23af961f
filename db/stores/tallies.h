// What the stores know of the tallies of teams and computers. Inside db/stores only.
#pragma once

#include <cstdint>

#include "db/sql/connection.h"
#include "db/stores/recent_average.h"
#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// As the schema numbers them.
enum class TallyKind : std::uint8_t { volunteer = 0, team = 1, computer = 2 };

// Its recent average when every line that still counts is granted again.
Result<RecentAverage> replay_tally(Connection& connection, TallyKind kind, std::int64_t holder);

// Replays and keeps those that the account's lines count in. Inside a write, after lines of theirs were reversed.
Status restore_tallies_of(Connection& connection, AccountId account);

// Calls back for every kept one until that fails.
template <typename Check>
Status for_each_tally(Connection& connection, const Check& check) {
  STARLING_ASSIGN(Statement all, connection.prepare("SELECT kind, holder, recent, recent_ms FROM tally"));
  for (;;) {
    STARLING_ASSIGN(const bool more, all.step());
    if (!more) return {};
    const RecentAverage kept{all.real(2), {all.integer(3)}};
    STARLING_TRY(check(static_cast<TallyKind>(all.integer(0)), all.integer(1), kept));
  }
}

}  // namespace starling::db
