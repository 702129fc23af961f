// Brings copies of the run's state to the coordinator, and fetches them from there. On a thread and a connection of its
// own, since either may take minutes and heartbeats must go on meanwhile. One thing at a time: a new one ends what is
// under way. All methods belong to the control thread; `done` is called on the courier's.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "client/daemon/coordinator_calls.h"
#include "client/transport/state_snapshot.h"

namespace starling::daemon {

class CheckpointCourier {
 public:
  // Ends what is under way, and waits for it.
  ~CheckpointCourier();

  // A connection for one job; nobody else uses it.
  using Calls = std::shared_ptr<CoordinatorCalls>;

  // A coordinator that does not want it any more ends it.
  void send(Calls calls, std::shared_ptr<const transport::StateSnapshot> state);

  struct Wanted {
    wire::Artefact file;
    Digest state_digest;
    std::filesystem::path path;  // where it is written, and an interrupted download goes on
  };
  using State = std::shared_ptr<std::vector<float>>;
  // corrupt: the file is not what state_digest names.
  void fetch(Calls calls, const Wanted& wanted, std::function<void(Result<State>)> done);
  [[nodiscard]] bool is_sending(const Digest& state) const;
  // Whatever is under way ends soon, and its `done` tells so (unavailable).
  void end();

  // Moved both ways so far.
  [[nodiscard]] std::int64_t wire_bytes() const;

 private:
  struct Job {
    Calls calls;
    Digest sends;  // zero: nothing
    std::atomic<bool> over{false};
    std::thread thread;
  };
  void begin(Calls calls, const Digest& sends, std::function<void(CoordinatorCalls&)> work);
  void forget_ended();

  std::list<std::unique_ptr<Job>> jobs_;  // the last is the newest; those before were ended
  std::int64_t earlier_wire_bytes_ = 0;   // of jobs that are forgotten
};

}  // namespace starling::daemon
