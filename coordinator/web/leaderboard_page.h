// The leaderboard: as a page, as CSV and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "db/stores/credit_stores.h"
#include "shared/leaderboard/columns.h"
#include "shared/protocol/names.h"

namespace starling::web {

constexpr int kRowsPerPage = 50;
constexpr std::size_t kSearchBytesMax = wire::kDisplayNameBytesMax;  // longer texts are cut

// The viewer's choices; part of every link on the page.
struct LeaderboardQuery {
  db::Holder of = db::Holder::volunteer;
  db::Board board = db::Board::recent;
  int page = 1;
  int per_page = kRowsPerPage;
  std::string search;
  std::string me;  // the viewer's own name, to be pinned
};

// One page of a board, with the view that selected it.
struct LeaderboardData {
  std::string project;
  RunId run_id;  // empty: there is no run
  LeaderboardQuery query;
  db::Standings standings;
  WallTime now;
};

std::string render_leaderboard(const LeaderboardData& data);
std::string leaderboard_csv(const LeaderboardData& data);
std::string leaderboard_json(const LeaderboardData& data);

// "volunteers", "teams", "computers"; anything else is volunteers.
db::Holder holder_named(std::string_view name);
std::string_view name_of(db::Holder holder);
// Credit, credit a day or samples, as the column says; an average as it is at `now`.
double figure_of(const db::Standing& row, const leaderboard::Column& column, WallTime now);

}  // namespace starling::web
