// A benchmark's answer: settings it ran with and figures it saw. Every claim of speed or memory is one of these,
// as a ratio to a named peer or bound of the same run, because machines are noisy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::bench {

struct BenchResult {
  std::map<std::string, std::string> settings;
  std::map<std::string, double> figures;
};

// {"bench","settings":{…},"figures":{…}}, one line.
std::string to_json(const std::string& bench, const BenchResult& result);
// A small table for people.
std::string to_text(const std::string& bench, const BenchResult& result);

double median(std::vector<double> values);

}  // namespace starling::bench
