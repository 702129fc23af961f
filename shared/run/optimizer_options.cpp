#include "shared/run/optimizer_options.h"

#include <algorithm>
#include <array>
#include <span>

namespace starling::wire {

namespace {

constexpr std::array<std::string_view, 5> kOptimizers = {"sgd", "adamw", "lamb", "muon", "accum_adamw"};
constexpr std::array<std::string_view, 4> kSchedules = {"cosine", "linear", "inverse_sqrt", "constant"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string quoted(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    list += (list.empty() ? "'" : ", '");
    list += word;
    list += '\'';
  }
  return list;
}

}  // namespace

OptimizerOptions default_optimizer(std::string_view kind) {
  OptimizerOptions options;
  options.kind = kind;
  if (kind == "sgd") {
    options.weight_decay = 0;
  } else if (kind == "lamb") {
    options.beta2 = 0.999;
    options.epsilon = 1e-6;
    options.weight_decay = 0.01;
  } else if (kind == "muon") {
    options.momentum = 0.95;
    options.nesterov = true;
  } else if (kind == "accum_adamw") {
    options.beta2 = 0.98;
  }
  return options;
}

std::string optimizer_kinds() { return quoted(kOptimizers); }
std::string schedule_kinds() { return quoted(kSchedules); }
bool is_optimizer_kind(std::string_view kind) { return is_one_of(kOptimizers, kind); }
bool is_schedule_kind(std::string_view kind) { return is_one_of(kSchedules, kind); }

int moment_vectors(const OptimizerOptions& options) {
  if (options.kind == "sgd") return options.momentum > 0 ? 1 : 0;
  return options.kind == "accum_adamw" ? 3 : 2;
}

bool has_end(const ScheduleOptions& options) { return options.kind == "cosine" || options.kind == "linear"; }

}  // namespace starling::wire
