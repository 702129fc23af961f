#include "tests/bench/calls_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>
#include <utility>

#include "tests/bench/bench_network.h"

namespace starling::bench {
namespace {

Result<std::unique_ptr<ChildProcess>> start_volunteer(std::size_t rank, const std::vector<CallsModel>& models,
                                                      bool yields, const std::filesystem::path& folder,
                                                      const netlab::Lab* lab) {
  std::vector<std::string> arguments = {
      "calls-volunteer", "--rank",  std::to_string(rank), "--peers", std::to_string(models.size()), "--folder",
      folder.string(),   "--model", to_line(models[rank])};
  if (!yields) arguments.emplace_back("--foreground");
  std::optional<netlab::InNamespace> home;
  if (lab != nullptr) {
    home.emplace(lab->home(rank));
    arguments.insert(arguments.end(), {"--address", netlab::Lab::address(rank)});
  }
  return ChildProcess::start(arguments);
}

std::vector<double> numbers_in(const std::string& line) {
  std::istringstream in(line);
  std::vector<double> numbers;
  for (double number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

Result<std::unique_ptr<CallsGroup>> CallsGroup::start(const std::vector<CallsModel>& models, bool yields,
                                                      const netlab::Lab* lab) {
  std::unique_ptr<CallsGroup> group(new CallsGroup);
  STARLING_TRY(write_identities(group->folder_.path(), static_cast<int>(models.size())));
  for (std::size_t rank = 0; rank < models.size(); ++rank) {
    STARLING_ASSIGN(auto child, start_volunteer(rank, models, yields, group->folder_.path(), lab));
    group->children_.push_back(std::move(child));
  }
  STARLING_ASSIGN(const std::vector<std::string> endpoints, hear_all(group->children_));
  STARLING_TRY(ask_all(group->children_, fmt::format("meet {}", fmt::join(endpoints, " "))).status());
  return group;
}

Result<std::string> CallsGroup::ask(std::size_t rank, const std::string& command) {
  STARLING_TRY(children_[rank]->send(command));
  return children_[rank]->receive();
}

Status CallsGroup::hold(std::size_t rank, const std::vector<wire::CellIndex>& cells) {
  return ask(rank, fmt::format("hold {}", fmt::join(cells, " "))).status();
}

Status CallsGroup::call(std::size_t rank, const CallsHolders& holders) {
  std::string command = "call";
  for (const auto& [cell, ranks] : holders) command += fmt::format(" {}:{}", cell, fmt::join(ranks, ","));
  return ask(rank, command).status();
}

Result<std::vector<double>> CallsGroup::train(std::size_t rank, const std::string& command, int uncounted,
                                              int counted) {
  STARLING_ASSIGN(const std::string line, ask(rank, fmt::format("{} {} {}", command, uncounted, counted)));
  return numbers_in(line);
}

Result<std::vector<std::vector<double>>> CallsGroup::train_for(Duration time) {
  STARLING_TRY(tell_all(children_, "train-on"));
  STARLING_TRY(rest_beside(children_, time));
  STARLING_ASSIGN(const std::vector<std::string> lines, ask_all(children_, "stop"));
  std::vector<std::vector<double>> moments;
  for (const std::string& line : lines) moments.push_back(numbers_in(line));
  return moments;
}

Result<std::vector<CallsCosts>> CallsGroup::end_round() {
  STARLING_ASSIGN(const std::vector<std::string> lines, ask_all(children_, "costs"));
  std::vector<CallsCosts> all;
  for (const std::string& line : lines) {
    std::istringstream in(line);
    CallsCosts& costs = all.emplace_back();
    in >> costs.cpu_s >> costs.bytes_sent >> costs.bytes_received >> costs.units_computed >> costs.units_asked;
  }
  STARLING_ASSIGN(const std::vector<std::string> ends, ask_all(children_, "end-round"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::istringstream in(ends[i]);
    in >> all[i].gradient_cpu_s >> all[i].gradient_bytes;
  }
  return all;
}

}  // namespace starling::bench
