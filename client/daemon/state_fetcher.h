// Brings another state into the place of the replica's: from other volunteers, from the copy that the coordinator
// keeps, made here, or kept before the last step. One at a time: a fetch of any kind ends the one before, and one that
// fails leaves the replica unchanged. It brings the coordinator copies, too. Control thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/daemon/checkpoint_courier.h"
#include "client/daemon/run_parts.h"
#include "client/daemon/run_threads.h"
#include "client/daemon/state_keeper.h"
#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::daemon {

class StateFetcher {
 public:
  // An event: the fetch has ended. One that was ended by another need not say so.
  using Fetched = std::function<void(TimePoint now, RoundIndex round, const Digest& digest, const Status& status)>;

  // `context`, `threads` and `state` outlive this object. `network` is not used after stop().
  StateFetcher(RunThreads& threads, const RunContext& context, StateKeeper& state, transport::PeerNetwork& network,
               Fetched fetched);

  void from_donors(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest);
  // `file` is the coordinator's copy.
  void from_coordinator(const wire::Artefact& file, RoundIndex round, const Digest& digest);
  void make_initial(const Digest& digest);
  void restore_previous(RoundIndex round, const Digest& digest);
  // Ends the download under way: unavailable. One whose end is on its way already is left to arrive.
  void interrupt();

  // Sends the coordinator a copy of the state in its own time, if the replica holds it.
  void send_copy(RoundIndex round, const Digest& digest);
  // The coordinator may not be called any more: what comes from there, or goes there, ends.
  void leave_coordinator() { courier_->end(); }

  // Ends what is under way, and waits for its end. Nothing may be fetched any more.
  void stop();
  // Bytes moved to and from the coordinator so far; not after stop().
  [[nodiscard]] std::int64_t wire_bytes() const { return courier_->wire_bytes(); }

 private:
  struct Fetch;
  using State = std::shared_ptr<std::vector<float>>;

  // Ends the one before.
  std::shared_ptr<Fetch> begin(RoundIndex round, const Digest& digest);
  void cancel_download();
  // From any thread.
  void finish(RoundIndex round, const Digest& digest, const Status& status);
  void install(RoundIndex round, const Digest& digest, State state);

  RunThreads& threads_;
  const RunContext& context_;
  StateKeeper& state_;
  transport::PeerNetwork& network_;
  const Fetched fetched_;
  std::shared_ptr<Fetch> fetch_;                    // the one that was begun last
  std::optional<transport::FetchNumber> download_;  // the last one from donors, unless cancelled
  std::optional<CheckpointCourier> courier_;        // none after stop()
};

}  // namespace starling::daemon
