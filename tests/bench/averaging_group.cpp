#include "tests/bench/averaging_group.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <thread>

#include "shared/base/clock.h"

namespace starling::bench {
namespace {

// A peer's answer to "report".
struct PeerReport {
  double cpu_seconds = 0;
  double extra_bytes = 0;
  bool averaged = false;
  bool correct = false;
  std::string digest;
  double complete = 0;
  double wakes = 0;  // Gloo's peers do not report it
  double streams = 0;
};

PeerReport parse_report(const std::string& line) {
  std::istringstream in(line);
  PeerReport report;
  in >> report.cpu_seconds >> report.extra_bytes >> report.averaged >> report.correct >> report.digest >>
      report.complete >> report.wakes >> report.streams;
  return report;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> start_child(const std::string& command, const AveragingOptions& options, int rank,
                                                  const std::filesystem::path& folder, const netlab::Lab* lab) {
  std::vector<std::string> arguments = {command,
                                        "--rank",
                                        std::to_string(rank),
                                        "--peers",
                                        std::to_string(options.peers),
                                        "--floats",
                                        std::to_string(options.floats),
                                        "--codec",
                                        options.codec,
                                        "--folder",
                                        folder.string()};
  std::optional<netlab::InNamespace> home;
  if (lab != nullptr) {
    const auto index = static_cast<std::size_t>(rank);
    home.emplace(lab->home(index));
    arguments.insert(arguments.end(), {"--address", netlab::Lab::address(index)});
  }
  // Over loopback all peers are equally fast: any difference would be the noise of this machine.
  if (command == "averaging-peer") {
    arguments.insert(arguments.end(), {"--aggregation", options.aggregation});
    if (options.audited) arguments.emplace_back("--audited");
    arguments.insert(arguments.end(), {"--batch-seconds", std::to_string(lab == nullptr ? 0 : options.batch_s)});
  }
  if (options.step_s > 0) arguments.insert(arguments.end(), {"--step-seconds", std::to_string(options.step_s)});
  if (!options.congestion.empty()) arguments.insert(arguments.end(), {"--congestion", options.congestion});
  if (options.joiners > 0) {
    arguments.insert(arguments.end(), {"--state-floats", std::to_string(options.state_floats)});
    arguments.insert(arguments.end(), {"--moments", options.moments});
  }
  return ChildProcess::start(arguments);
}

Result<std::unique_ptr<AveragingGroup>> AveragingGroup::start(const std::string& command,
                                                              const AveragingOptions& options,
                                                              const std::filesystem::path& folder,
                                                              const netlab::Lab* lab) {
  std::unique_ptr<AveragingGroup> group(new AveragingGroup);
  for (int rank = 0; rank < options.peers; ++rank) {
    STARLING_ASSIGN(auto child, start_child(command, options, rank, folder, lab));
    group->children_.push_back(std::move(child));
  }
  STARLING_TRY(group->introduce());
  return group;
}

// Tells the peers each other's addresses, which are known only once all of them listen.
Status AveragingGroup::introduce() {
  for (auto& child : children_) {
    STARLING_ASSIGN(const std::string endpoint, child->receive());
    endpoints_ += " " + endpoint;
  }
  return ask_all(children_, endpoints_).status();
}

Result<AveragingRound> AveragingGroup::run_round(const std::string& command,
                                                 const std::optional<InjectedFault>& fault) {
  const auto began = std::chrono::steady_clock::now();
  STARLING_TRY(tell_all(children_, command));
  std::unique_ptr<ChildProcess> victim;  // held until the others are done, because its destructor kills it
  if (fault.has_value()) {
    std::this_thread::sleep_until(began + from_seconds(fault->after_s));
    victim = std::move(children_[fault->victim]);
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(fault->victim));
    fault->strike(victim->pid());
  }
  STARLING_ASSIGN(const std::vector<std::string> answers, hear_all(children_));
  AveragingRound round;
  round.seconds = to_seconds(std::chrono::steady_clock::now() - began);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] != kDeferredAnswer) continue;
    STARLING_TRY(children_[i]->send("finish"));
    STARLING_TRY(children_[i]->receive().status());
    round.late_seconds = to_seconds(std::chrono::steady_clock::now() - began);
  }
  const std::string without = fault.has_value() ? " " + std::to_string(fault->victim) : "";
  STARLING_ASSIGN(const std::vector<std::string> costs, ask_all(children_, "report" + without));
  std::string first_digest;
  for (const std::string& line : costs) {
    const PeerReport peer = parse_report(line);
    if (first_digest.empty()) first_digest = peer.digest;
    round.complete = std::min(round.complete, peer.complete);
    round.cpu_seconds += peer.cpu_seconds;
    round.wakes += peer.wakes;
    round.streams += peer.streams;
    round.extra_bytes_max = std::max(round.extra_bytes_max, peer.extra_bytes);
    round.correct = round.correct && peer.correct;
    round.expelled += peer.averaged ? 0 : 1;
    round.identical = round.identical && !peer.digest.empty() && peer.digest == first_digest;
  }
  if (victim != nullptr && fault->lives) {
    STARLING_TRY(victim->receive().status());
    STARLING_TRY(victim->send("report"));
    STARLING_ASSIGN(const std::string line, victim->receive());
    const PeerReport peer = parse_report(line);
    round.deceived = peer.averaged && peer.digest != first_digest;
  }
  return round;
}

Result<std::string> AveragingGroup::last_plan() {
  STARLING_TRY(children_.front()->send("plan"));
  return children_.front()->receive();
}

Status AveragingGroup::share_speeds() {
  STARLING_ASSIGN(const std::vector<std::string> speeds, ask_all(children_, "measured"));
  std::string everyone = "speeds";
  for (const std::string& speed : speeds) everyone += " " + speed;
  return ask_all(children_, everyone).status();
}

}  // namespace starling::bench
