// A benchmark's result: its settings and its figures. Every claim of speed or memory is one of these, as a ratio to a
// named peer or bound of the same run, because machines are noisy.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/plots/dot_plot.h"

namespace starling::bench {

using plot::median;

// Value of a figure that could not be measured: null in JSON.
constexpr double kDoesNotApply = std::numeric_limits<double>::quiet_NaN();

struct BenchResult {
  std::string name;     // name of a table's row
  std::string problem;  // reason why that row could not be measured: then it has no figures
  std::string note;     // for the reader of the row, beside its figures
  std::map<std::string, std::string> settings;
  std::map<std::string, double> figures;
  std::map<std::string, std::vector<double>> series;  // figures of each counted round
  std::map<std::string, double> aims;                 // figures that should not be above these
  std::map<std::string, double> least;                // figures that should not be below these
  std::vector<BenchResult> rows;                      // rows of a table
};

// {"bench","settings":{…},"figures":{…}}, one line; with "series", "aims" and "rows" if there are any.
std::string to_json(const std::string& bench, const BenchResult& result);
// A small table for people: the figures or, for a table, its rows with the figures that `columns` names.
std::string to_text(const std::string& bench, const BenchResult& result, const std::vector<std::string>& columns = {});

// Calls work(0) … work(count - 1) from many threads, so that waits for the disk overlap. An error ends the share of the
// thread that met it.
Status all_at_once(int count, const std::function<Status(int)>& work);

// CPU time of this thread, which other programs on the machine affect little.
double thread_cpu_seconds();

}  // namespace starling::bench
