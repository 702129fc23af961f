// The processes of one averaging benchmark, either ours or Gloo's, with one control.
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

// Cost of a round: wall time from the command to the last peer's answer, CPU and memory of all.
struct AveragingRound {
  double seconds = 0;
  double late_seconds = 0;     // until the last deferred peer had its result, too; 0: no peer was deferred
  double cpu_seconds = 0;      // total over the peers
  double wakes = 0;            // total over the peers
  double streams = 0;          // connections, total over the peers
  double extra_bytes_max = 0;  // that of the peer that needed most, beyond its input
  bool correct = true;
  bool identical = true;  // all peers hold equal bits
  int expelled = 0;       // healthy peers that the others took for dead: they have no result
  bool deceived = false;  // a victim took other values for the group's result
  double complete = 1;    // share of coordinates that all peers except a victim are in
};

// Number of a group's first rounds that are not counted: the first opens connections; over shaped links more are needed
// until speeds are known, by which parts are cut and links are paced.
inline int warm_ups(bool shaped) { return shaped ? 4 : 1; }

// A fault of one peer in the middle of a round.
struct InjectedFault {
  std::size_t victim = 0;
  double after_s = 0;  // from the command to average
  std::function<void(pid_t)> strike;
  bool lives = false;  // the victim answers in the end
};

// Starts a child process of the benchmark, in the lab's home of its rank.
Result<std::unique_ptr<ChildProcess>> start_child(const std::string& command, const AveragingOptions& options, int rank,
                                                  const std::filesystem::path& folder, const netlab::Lab* lab);

class AveragingGroup {
 public:
  // `command`: the subcommand of a child. `lab`: the children's homes, or null for loopback; must outlive the group.
  static Result<std::unique_ptr<AveragingGroup>> start(const std::string& command, const AveragingOptions& options,
                                                       const std::filesystem::path& folder, const netlab::Lab* lab);
  // After a fault only the survivors are asked, and the group cannot be used again.
  Result<AveragingRound> run_round(const std::string& command, const std::optional<InjectedFault>& fault = {});
  // Leaves the children alone for this long. unavailable as soon as one ends meanwhile.
  Status rest(Duration length) const { return rest_beside(children_, length); }
  // The choice that the last round's plan describes.
  Result<std::string> last_plan();
  // Tells every peer the speeds of the others' links in the rounds so far, as heartbeats and plans do.
  Status share_speeds();
  // The text sent to children: "peers", then each one's address and port.
  [[nodiscard]] const std::string& endpoints() const { return endpoints_; }

 private:
  AveragingGroup() = default;
  Status introduce();

  Children children_;
  std::string endpoints_ = "peers";
};

}  // namespace starling::bench
