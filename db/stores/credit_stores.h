// Questions that the coordinator may ask about credit: standings, corrections, and claims that earned none. See
// stores.h for rules that hold for every call.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "db/stores/check_store.h"
#include "db/stores/recent_average.h"
#include "db/stores/records.h"
#include "db/stores/stats_store.h"
#include "shared/base/result.h"
#include "shared/leaderboard/columns.h"

namespace starling::db {

using leaderboard::Board;

// Kinds of holders of credit, with their numbers in the schema.
enum class Holder : std::uint8_t {
  volunteer = 0,
  team = 1,
  computer = 2,  // on boards only if its owner shows it
};

// A page of a board, and one holder beside it, wherever that one stands.
struct StandingsRequest {
  Holder of = Holder::volunteer;
  Board board = Board::recent;
  RunId run_id = {};        // for Board::run, and for the run's totals in rows
  int limit = 50;           // 1 … kPageRowsMax
  std::int64_t offset = 0;  // rows before the first one wanted
  std::string search = {};  // only names that contain it, for computers their owner's; empty: everybody
  std::string pinned = {};  // the name of one volunteer or team to look up as well
};

// A volunteer, team or computer as leaderboards show it.
struct Standing {
  std::int64_t rank = 0;       // on the board asked for, from 1; 0: not on it
  std::int64_t holder_id = 0;  // account id for volunteers
  std::string display_name;
  WallTime joined;  // for a team, when it was founded
  WallTime last_contribution;
  RecentAverage recent;
  std::array<Totals, leaderboard::kBoards> sums{};  // by board; Board::recent has none
  std::int64_t team_id = 0;                         // team of a volunteer; 0: none
  std::string team_name;

  [[nodiscard]] const Totals& earned(Board board) const { return sums[static_cast<std::size_t>(board)]; }
  Totals& earned(Board board) { return sums[static_cast<std::size_t>(board)]; }
};

// The answer, read at one moment; rows are in the board's order.
struct Standings {
  std::int64_t volunteers = 0;  // number on the board; with `search`: number of matches, counted up to kPageRowsMax
  std::vector<Standing> rows;
  std::optional<Standing> pinned;
};

// Asks for the page of one volunteer or team.
struct ProfileRequest {
  Holder of = Holder::volunteer;
  std::int64_t holder_id = 0;
  WallTime now;
  int days = 30;  // number of days up to and including today
};

// Credit that one holder earned in one run.
struct RunTotals {
  RunId run_id;
  Totals earned;
  Totals pending{};  // part of it: not final yet
};

// Credit that one holder earned on one day, which begins at midnight UTC.
struct DayTotals {
  std::int64_t day = 0;  // since 1970 UTC
  Totals earned;
};

// One volunteer's or team's public record, read at one moment.
struct Profile {
  Standing standing;            // its rank is by the recent average
  std::int64_t total_rank = 0;  // 0: no credit yet
  std::int64_t ranked = 0;      // number of holders with a recent average above kRankedRecentMin
  Totals pending{};             // part of all that it earned: not final yet
  std::vector<RunTotals> runs;  // newest first, at most kProfileRunsMax
  std::vector<DayTotals> days;  // with credit, oldest first
};
constexpr double kRankedRecentMin = 1;  // credit a day: less is no competition
constexpr int kProfileRunsMax = 20;

// Everybody's credit, in one run or in all.
struct Credited {
  Totals totals;
  std::int64_t volunteers = 0;  // accounts with a line in the ledger
  Totals pending{};             // part of the totals: not final yet
};
// A volunteer's part of a run.
struct VolunteerTotals {
  AccountId account_id = 0;
  std::string display_name;
  Totals totals;
};

// Totals of the last day and week.
struct Activity {
  Totals day;
  std::int64_t volunteers_day = 0;
  Totals week;
  std::int64_t volunteers_week = 0;
};

// Credit that holders have earned, and the standings of those that have some on a board.
class StandingsStore {
 public:
  virtual ~StandingsStore() = default;
  virtual Result<Standings> page(const StandingsRequest& request) const = 0;
  virtual Result<Profile> profile(const ProfileRequest& request) const = 0;  // or not_found; not for computers
  virtual Result<Activity> activity() const = 0;
  // `run_id` empty: over all runs; else not_found when there is no such run.
  virtual Result<Credited> credited(const RunId& run_id) const = 0;
  // The part of what the holder earned in all runs that is not final yet.
  virtual Result<Totals> pending(Holder of, std::int64_t holder_id) const = 0;
  // Everybody with a line in the run's ledger, also those who have nothing left, by credit, then samples, then who was
  // first.
  virtual Result<std::vector<VolunteerTotals>> volunteers_of(const RunId& run_id, const Page& page) const = 0;
  // Moves the sums of the last day and week on to `now`. Returns at once and promises nothing; does nothing when the
  // last call was a moment ago. The sums are late by as long as nobody calls it.
  virtual Status roll(WallTime now) = 0;
};

// Ledger lines to take back: those that meet all conditions given.
struct CorrectionRequest {
  AccountId account_id = 0;
  std::optional<PeerId> peer_id = {};  // only contributions of this computer of theirs
  RunId run_id = {};                   // empty: in all runs
  RoundIndex round_min = 0;
  RoundIndex round_max = INT64_MAX;
  std::string reason = {};  // for the record
  WallTime now = {};
  bool pending_only = false;  // only lines that are not final
};

// Takes back what a computer was credited with in a run from a round on, as far as that is not final.
struct VoidRequest {
  RunId run_id;
  PeerId peer_id;
  AccountId account_id = 0;
  RoundIndex from = 0;
  std::string reason;  // for the record; what is beyond its size there is cut off
  WallTime now;
};

// The ledger lines of a correction, and the credit that they took back or would take back.
struct CorrectionOutcome {
  std::int64_t lines = 0;
  Totals taken_back;
};

// A run's credit, summed over the ledger and over the totals kept beside it.
struct RunAudit {
  RunId run_id;
  std::int64_t lines = 0;  // number of lines, including reversals
  std::int64_t reversals = 0;
  Totals ledger;
  Totals volunteers;
  Totals teams;
  Totals teamless;             // part of the ledger: lines of volunteers that were in no team
  Totals final_lines;          // part of the ledger: lines that are final
  Totals waiting;              // part of the ledger: lines that are not
  Totals pending;              // the sum kept of these
  std::int64_t misvalued = 0;  // lines whose credit is not their samples times the run's constant
};

// The ledger's other side: taking credit back, and checking that all sums follow from the ledger's lines. Lines are
// never changed or removed; a reversal is a line of its own.
class CorrectionStore {
 public:
  virtual ~CorrectionStore() = default;
  // The lines that correct() would take back.
  virtual Result<CorrectionOutcome> preview(const CorrectionRequest& request) const = 0;
  // The accounts with lines of that run and those rounds that correct() would take back, and the sums, largest first.
  virtual Result<std::vector<VolunteerTotals>> concerned(const RunId& run_id, RoundIndex round_min,
                                                         RoundIndex round_max) const = 0;
  // Adds a reversal for every such line that has none yet. Another call finishes an interrupted one.
  virtual Result<CorrectionOutcome> correct(const CorrectionRequest& request) = 0;
  // correct(), as the leader's decision; in one write up to thousands of lines.
  virtual Result<CorrectionOutcome> void_pending(const VoidRequest& request) = 0;
  // Ledger number of the newest reversal, 0 when there is none: it grows whenever credit is taken back.
  virtual Result<std::int64_t> newest_reversal() const = 0;
  // Adds up all lines of the run. `micro_credit_per_sample` is the run's constant; a line may differ from it by
  // rounding.
  virtual Result<RunAudit> audit(const RunId& run_id, double micro_credit_per_sample) const = 0;
  // corrupt, with the first difference, unless every kept average equals a replay of the ledger.
  virtual Status verify_recent() const = 0;
};

constexpr std::int64_t kClaimsKeptMs = std::int64_t{90} * 24 * 3'600'000;

// Samples that were claimed and not credited in the last ninety days.
class ClaimStore {
 public:
  virtual ~ClaimStore() = default;
  // Adds the one claim of a computer in a round; a repeated one is ignored. Claims that are too old are deleted.
  virtual Status add(const UnconfirmedClaim& claim) = 0;
  virtual Result<ClaimSums> of(AccountId account) const = 0;
  virtual Result<std::vector<UnconfirmedClaim>> list(const Page& page) const = 0;  // newest first
};

// The stores of what volunteers earned: references into one Database, which must outlive them. The ledger itself
// belongs to the rounds that write it (TrainingStores).
struct CreditStores {
  StandingsStore& standings;
  CorrectionStore& corrections;
  ClaimStore& claims;
  StatsStore& stats;
  WorkCheckStore& checks;
};

}  // namespace starling::db
