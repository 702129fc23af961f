#include "tests/bench/bench.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/verify.h"
#include "shared/wire/json_writer.h"

namespace starling::bench {

std::string to_json(const std::string& bench, const BenchResult& result) {
  wire::JsonWriter out;
  out.open("", '{');
  out.text("bench", bench);
  out.open("settings", '{');
  for (const auto& [name, value] : result.settings) out.text(name, value);
  out.close('}');
  out.open("figures", '{');
  for (const auto& [name, value] : result.figures) out.number(name, value);
  out.close('}');
  out.close('}');
  return out.str() + "\n";
}

std::string to_text(const std::string& bench, const BenchResult& result) {
  std::string text = bench + "\n";
  for (const auto& [name, value] : result.settings) text += fmt::format("  {:<24} {}\n", name, value);
  for (const auto& [name, value] : result.figures) text += fmt::format("  {:<24} {:.6g}\n", name, value);
  return text;
}

double median(std::vector<double> values) {
  VERIFY(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace starling::bench
