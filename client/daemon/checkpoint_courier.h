// Brings copies of the run's state to the coordinator, and fetches them from there. It has a thread and a connection of
// its own, since either may take minutes and heartbeats must go on meanwhile. It does one job at a time: a new one ends
// the one under way. All methods belong to the control thread; `done` is called on the courier's.
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
#include "shared/base/limited_log.h"
#include "shared/base/mutex.h"

namespace starling::daemon {

class CheckpointCourier {
 public:
  // Ends the job under way, and waits for it.
  ~CheckpointCourier();

  // A connection for one job; nobody else uses it.
  using Calls = std::shared_ptr<CoordinatorCalls>;

  // The copy is of the cell with this id, or of the run itself if it is empty. Ends when the coordinator does not want
  // it any more.
  void send(Calls calls, const RunId& cell, std::shared_ptr<const transport::StateSnapshot> state);

  struct Wanted {
    wire::Artefact file;
    Digest state_digest;
    std::filesystem::path path;  // where the file is written, and an interrupted download goes on
  };
  using State = std::shared_ptr<std::vector<float>>;
  // corrupt: the file is not the state that state_digest names.
  void fetch(Calls calls, const Wanted& wanted, std::function<void(Result<State>)> done);
  [[nodiscard]] bool is_sending(const Digest& state) const;
  // Ends the job under way soon; its `done` gets unavailable.
  void end();

  // Bytes moved both ways so far.
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

  LimitedLog complaints_{std::chrono::minutes(1)};  // they may come with every round
  std::list<std::unique_ptr<Job>> jobs_;            // the last is the newest; those before were ended
  std::int64_t earlier_wire_bytes_ = 0;             // bytes of jobs that are forgotten
};

}  // namespace starling::daemon
