#include "tests/bench/bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <future>
#include <string_view>

#include "shared/wire/json_writer.h"

namespace starling::bench {

namespace {

using wire::JsonWriter;

void write_numbers(JsonWriter& out, std::string_view name, const std::map<std::string, double>& numbers) {
  out.open(name, '{');
  for (const auto& [key, value] : numbers) out.number(key, value);
  out.close('}');
}

void write_result(JsonWriter& out, const BenchResult& result) {
  out.open("settings", '{');
  for (const auto& [name, value] : result.settings) out.text(name, value);
  out.close('}');
  write_numbers(out, "figures", result.figures);
  if (!result.series.empty()) {
    out.open("series", '{');
    for (const auto& [name, values] : result.series) {
      out.open(name, '[');
      for (const double value : values) out.number("", value);
      out.close(']');
    }
    out.close('}');
  }
  if (!result.aims.empty()) write_numbers(out, "aims", result.aims);
  if (!result.least.empty()) write_numbers(out, "least", result.least);
  if (result.rows.empty()) return;
  out.open("rows", '[');
  for (const BenchResult& row : result.rows) {
    out.open("", '{');
    out.text("name", row.name);
    if (!row.problem.empty()) out.text("problem", row.problem);
    if (!row.note.empty()) out.text("note", row.note);
    write_result(out, row);
    out.close('}');
  }
  out.close(']');
}

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-"; }

std::string missed_aims(const BenchResult& row) {
  std::string text;
  for (const auto& [name, aim] : row.aims) {
    const auto found = row.figures.find(name);
    if (found != row.figures.end() && found->second > aim) text += fmt::format(" {} above {:g};", name, aim);
  }
  for (const auto& [name, aim] : row.least) {
    const auto found = row.figures.find(name);
    if (found != row.figures.end() && found->second < aim) text += fmt::format(" {} below {:g};", name, aim);
  }
  return text.empty() ? " met" : text;
}

std::string rows_text(const BenchResult& result, const std::vector<std::string>& columns) {
  std::size_t widest = 0;
  for (const BenchResult& row : result.rows) widest = std::max(widest, row.name.size());
  std::string text = fmt::format("  {:<{}}", "", widest);
  for (const std::string& column : columns) text += "  " + column;
  text += "  aims\n";
  for (const BenchResult& row : result.rows) {
    text += fmt::format("  {:<{}}", row.name, widest);
    for (const std::string& column : columns) {
      const auto found = row.figures.find(column);
      text += fmt::format("  {:>{}}", number_text(found == row.figures.end() ? kDoesNotApply : found->second),
                          column.size());
    }
    text += " " + (row.problem.empty() ? missed_aims(row) : " not measured: " + row.problem);
    text += row.note.empty() ? "\n" : "; " + row.note + "\n";
  }
  return text;
}

}  // namespace

std::string to_json(const std::string& bench, const BenchResult& result) {
  JsonWriter out;
  out.open("", '{');
  out.text("bench", bench);
  write_result(out, result);
  out.close('}');
  return out.str() + "\n";
}

std::string to_text(const std::string& bench, const BenchResult& result, const std::vector<std::string>& columns) {
  std::string text = bench + "\n";
  for (const auto& [name, value] : result.settings) text += fmt::format("  {:<24} {}\n", name, value);
  if (!result.rows.empty()) return text + rows_text(result, columns);
  for (const auto& [name, value] : result.figures) {
    if (std::isfinite(value)) text += fmt::format("  {:<24} {:.6g}\n", name, value);
  }
  if (!result.aims.empty() || !result.least.empty()) text += fmt::format("  {:<23} {}\n", "aims", missed_aims(result));
  return text;
}

Status all_at_once(int count, const std::function<Status(int)>& work) {
  constexpr int kThreads = 64;
  std::vector<std::future<Status>> shares;
  for (int first = 0; first < std::min(count, kThreads); ++first) {
    shares.push_back(std::async(std::launch::async, [&work, first, count]() -> Status {
      for (int i = first; i < count; i += kThreads) STARLING_TRY(work(i));
      return {};
    }));
  }
  Status all;
  for (auto& share : shares) {
    if (const Status one = share.get(); !one.ok()) all = one;
  }
  return all;
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace starling::bench
