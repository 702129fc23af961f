// The processes of one averaging benchmark, steered together: ours, or Gloo's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/averaging_bench.h"
#include "tests/bench/process_pool.h"
#include "tests/netlab/lab.h"

namespace starling::bench {

// What a round cost: wall time from the word to the last peer's answer, CPU and memory of all.
struct AveragingRound {
  double seconds = 0;
  double late_seconds = 0;     // until the last deferred peer had its result, too; 0: nobody was
  double cpu_seconds = 0;      // of all peers together
  double wakes = 0;            // of all peers together
  double streams = 0;          // connections of all peers together
  double extra_bytes_max = 0;  // of the peer that needed most, beyond its input
  bool correct = true;
  bool identical = true;  // all peers hold the same bits
  int expelled = 0;       // peers that were not struck, but taken for dead by the others: they have no result
  bool deceived = false;  // a victim took something else for the group's result
  double complete = 1;    // the part of all coordinates that everybody is in, but for a victim
};

// Rounds of a group that are not counted: the first opens connections; over shaped links more are needed until speeds
// are known, by which parts are cut and links are paced.
inline int warm_ups(bool shaped) { return shaped ? 4 : 1; }

// What happens to one peer in the middle of a round.
struct Blow {
  std::size_t victim = 0;
  double after_s = 0;  // from the word to average
  std::function<void(pid_t)> strike;
  bool lives = false;  // and will answer in the end
};

// A child process of the benchmark, behind the lab's home of its rank.
Result<std::unique_ptr<ChildProcess>> start_child(const std::string& command, const AveragingOptions& options, int rank,
                                                  const std::filesystem::path& folder, const netlab::Lab* lab);

class AveragingGroup {
 public:
  // `command`: the subcommand of a child. `lab`: where the children live, or null for loopback; outlives the group.
  static Result<std::unique_ptr<AveragingGroup>> start(const std::string& command, const AveragingOptions& options,
                                                       const std::filesystem::path& folder, const netlab::Lab* lab);
  // After a blow only the survivors are asked, and the group is good for nothing more.
  Result<AveragingRound> run_round(const std::string& command, const std::optional<Blow>& blow = {});
  // Leaves the children alone for so long. unavailable as soon as one ends meanwhile.
  Status rest(Duration length) const;
  // What the plan of the last round says of its choice.
  Result<std::string> last_plan();
  // Tells every peer how fast the others' links were in the rounds so far, as heartbeats and plans do.
  Status share_speeds();
  // As children are told of them: "peers", then each one's address and port.
  [[nodiscard]] const std::string& endpoints() const { return endpoints_; }

 private:
  AveragingGroup() = default;
  Status introduce();
  // Tells all children `command` and collects their answers.
  Result<std::vector<std::string>> ask_all(const std::string& command);
  Status tell_all(const std::string& command);
  Result<std::vector<std::string>> hear_all();

  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::string endpoints_ = "peers";
};

}  // namespace starling::bench
