// Pieces of the copy of a run's state that a member was asked for.
#include <charconv>
#include <optional>
#include <utility>

#include "coordinator/api/api.h"
#include "coordinator/api/kept_copies.h"
#include "coordinator/api/responses.h"
#include "shared/base/log.h"
#include "shared/protocol/checkpoint.h"

namespace starling::api {
namespace {

std::optional<std::int64_t> count_in(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) return std::nullopt;
  return count;
}

// The cell that the copy is of; empty: it is of the run.
RunId run_of(const gate::Request& request) { return RunId(request.parameter("run")); }

// Removes the copies that need not be kept any more, with their files.
Status thin_copies(const Api& api) {
  STARLING_ASSIGN(auto copies, api.stores.training.checkpoints.list());
  const auto outdated = outdated_copies(std::move(copies), api.clock.wall_now(), api.copies_bytes);
  if (outdated.empty()) return {};
  STARLING_ASSIGN(const auto gone, api.stores.training.checkpoints.remove(outdated));
  for (const Digest& digest : gone) {
    std::error_code absent;
    std::filesystem::remove(api.artefacts / digest.hex(), absent);
  }
  return {};
}

// Keeps a copy: the store has it, and older ones that it makes superfluous are gone.
Status keep(const Api& api, const CopyWanted& wanted, const wire::Checkpoint& checkpoint, const PeerId& peer) {
  const db::KeptCheckpoint record{wanted.state.run_id,    checkpoint.round,      checkpoint.state_digest,
                                  checkpoint.file.sha256, checkpoint.file.bytes, peer,
                                  api.clock.wall_now()};
  STARLING_TRY(api.stores.training.checkpoints.keep(record, wanted.rollbacks));
  if (const Status thinned = thin_copies(api); !thinned.ok()) {
    log_warning("outdated copies of states were not removed, and are when the next one is kept: {}",
                thinned.error().message);
  }
  api.run.keep_checkpoint(wanted.state.run_id, checkpoint);
  log_info("kept a copy of the state of round {}: {} bytes, from peer {}", checkpoint.round, checkpoint.file.bytes,
           peer.brief());
  return {};
}

Result<std::string> take(const Api& api, const PeerId& peer, const gate::Request& request) {
  const auto round = count_in(request.parameter("round"));
  const auto digest = Digest::from_hex(request.parameter("digest"));
  const auto offset = count_in(request.parameter("offset"));
  if (!round || !digest || !offset) {
    return Error{ErrorCode::invalid_argument, "a piece of a copy comes with its round, digest and offset"};
  }
  STARLING_ASSIGN(const CopyWanted wanted, api.run.checkpoint_wanted(run_of(request), peer));
  if (*round != wanted.state.round || *digest != wanted.state.state_digest) {
    return Error{ErrorCode::failed_precondition, "a copy of another state is wanted by now"};
  }
  STARLING_ASSIGN(const auto progress, api.checkpoints.take(wanted.state, *offset, request.body));
  if (progress.complete) STARLING_TRY(keep(api, wanted, *progress.complete, peer));
  return wire::encode(wire::CheckpointReply{progress.bytes});
}

}  // namespace

gate::Response checkpoint(const Api& api, const gate::Request& request) {
  const auto account = admit_member(api, request);
  if (!account) return error_response(account.error());
  auto reply = take(api, *request.peer, request);
  if (reply.ok()) return json_response(std::move(*reply));
  const ErrorCode code = reply.error().code;
  if (code != ErrorCode::failed_precondition && code != ErrorCode::invalid_argument) {
    log_warning("a copy of the model from peer {}: {}", request.peer->brief(), reply.error().message);
    api.run.give_up_checkpoint(run_of(request), *request.peer);
  }
  return error_response(told(reply.error()));
}

}  // namespace starling::api
