// The columns of a project's leaderboard. The database, the public page with its CSV and JSON, the command line and the
// window read this one table, so that all of them know the same figures by the same names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace starling::leaderboard {

// The sums that are kept for each holder of credit, be it a volunteer, a team or a computer. Each makes a board, whose
// order is by the credit of that sum; ties go by samples, then by who was first.
enum class Board : std::uint8_t {
  recent,  // no sum but an average: credit a day, half of which is forgotten every 7 days
  total,   // everything
  run,     // in one run
  day,     // in the last 24 hours
  week,    // in the last 7 days
};
constexpr std::size_t kBoards = 5;

// The measure of a column; a day is 24 hours.
enum class Unit : std::uint8_t { credit_per_day, credit, samples };

// Texts are English. A column is left out wherever its text is empty.
struct Column {
  std::string_view name;  // field in JSON, heading in CSV
  Board board = Board::total;
  Unit unit = Unit::credit;
  std::string_view sort = {};     // word for the order of this board, in addresses, requests and commands
  std::string_view heading = {};  // on the public page
  std::string_view title = {};    // the heading in full
  std::string_view text = {};     // heading on the command line
  std::string_view window = {};   // heading in the window
  std::string_view order = {};    // the window's choice of this order
};

// In the order of CSV and JSON. A column with `sort` has all texts of the page and of the window's choice.
constexpr std::array kColumns = {
    Column{.name = "recent_average",
           .board = Board::recent,
           .unit = Unit::credit_per_day,
           .sort = "recent",
           .heading = "Recent",
           .title = "Recent average",
           .text = "recent a day",
           .window = "Recent average",
           .order = "By recent average"},
    Column{.name = "credit",
           .sort = "total",
           .heading = "Total",
           .title = "Total credit",
           .text = "credit",
           .window = "Credit",
           .order = "By credit in all"},
    Column{.name = "samples", .unit = Unit::samples, .heading = "Samples", .text = "samples", .window = "Samples"},
    Column{.name = "run_credit",
           .board = Board::run,
           .sort = "run",
           .heading = "This run",
           .title = "Credit in this run",
           .order = "By this run"},
    Column{.name = "run_samples", .board = Board::run, .unit = Unit::samples},
    Column{.name = "day_credit",
           .board = Board::day,
           .sort = "day",
           .heading = "24 hours",
           .title = "Credit of the last 24 hours",
           .order = "By the last 24 hours"},
    Column{.name = "day_samples", .board = Board::day, .unit = Unit::samples, .window = "Samples, 24 hours"},
    Column{.name = "week_credit",
           .board = Board::week,
           .sort = "week",
           .heading = "7 days",
           .title = "Credit of the last 7 days",
           .order = "By the last 7 days"},
    Column{.name = "week_samples", .board = Board::week, .unit = Unit::samples, .window = "Samples, 7 days"},
};

// The column that a board is ordered by.
const Column& column_of(Board board);
// The board with that word for its order; Board::recent for any other.
Board board_named(std::string_view sort);
// All words for an order, in the table's order.
std::vector<std::string> sort_words();

// One holder's figures by column; samples are whole numbers.
class Figures {
 public:
  [[nodiscard]] double at(std::size_t column) const { return values_[column]; }
  double& at(std::size_t column) { return values_[column]; }
  // The table must have such a column.
  [[nodiscard]] double of(Board board, Unit unit) const;
  double& of(Board board, Unit unit);

 private:
  std::array<double, kColumns.size()> values_{};
};

}  // namespace starling::leaderboard
