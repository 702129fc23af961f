#include "client/daemon/checkpoint_courier.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <utility>

#include "shared/base/log.h"
#include "shared/state/state_digest.h"

namespace starling::daemon {
namespace {

// Attempts to send a piece that was lost with its connection.
constexpr int kTries = 5;

std::string_view bytes_of(std::span<const float> floats) {
  return {reinterpret_cast<const char*>(floats.data()), floats.size_bytes()};
}

Status send_all(CoordinatorCalls& calls, const RunId& cell, const transport::StateSnapshot& state) {
  const std::string_view all = bytes_of(state.floats);
  const auto total = static_cast<std::int64_t>(all.size());
  int failures = 0;
  for (std::int64_t at = 0; at < total;) {
    const std::string_view piece = all.substr(static_cast<std::size_t>(at), wire::kCheckpointPieceBytes);
    const auto reply = calls.send_checkpoint(cell, state.round, state.digest, at, piece);
    if (!reply.ok()) {
      if (reply.error().code != ErrorCode::unavailable || ++failures == kTries) return reply.error();
      continue;
    }
    failures = 0;
    if (reply->bytes > total) return Error{ErrorCode::corrupt, "the coordinator says that it has more than there is"};
    at = reply->bytes;
  }
  return {};
}

Result<CheckpointCourier::State> read_state(const CheckpointCourier::Wanted& wanted) {
  auto state = std::make_shared<std::vector<float>>(static_cast<std::size_t>(wanted.file.bytes) / sizeof(float));
  std::ifstream file(wanted.path, std::ios::binary);
  file.read(reinterpret_cast<char*>(state->data()), wanted.file.bytes);
  if (!file) return Error{ErrorCode::io, fmt::format("read '{}'", wanted.path.string())};
  if (state::state_digest(std::span<const float>(*state)) != wanted.state_digest) {
    return Error{ErrorCode::corrupt, "the copy that the coordinator keeps is not the state that it names"};
  }
  return state;
}

Result<CheckpointCourier::State> fetch_state(CoordinatorCalls& calls, const CheckpointCourier::Wanted& wanted) {
  STARLING_TRY(calls.fetch_artefact(wanted.file, wanted.path, [](std::int64_t) { return true; }));
  auto state = read_state(wanted);
  std::error_code absent;
  std::filesystem::remove(wanted.path, absent);
  return state;
}

}  // namespace

CheckpointCourier::~CheckpointCourier() {
  end();
  for (const auto& job : jobs_) job->thread.join();
}

void CheckpointCourier::send(Calls calls, const RunId& cell, std::shared_ptr<const transport::StateSnapshot> state) {
  const Digest digest = state->digest;
  begin(std::move(calls), digest, [this, cell, state = std::move(state)](CoordinatorCalls& with) {
    const Status sent = send_all(with, cell, *state);
    if (sent.ok()) return log_info("the coordinator has a copy of the state of round {} now", state->round);
    complaints_.info(SystemClock().now(), fmt::format("a copy of the state of round {} for the coordinator: {}",
                                                      state->round, sent.error().message));
  });
}

bool CheckpointCourier::is_sending(const Digest& state) const {
  return !jobs_.empty() && !jobs_.back()->over && jobs_.back()->sends == state;
}

void CheckpointCourier::fetch(Calls calls, const Wanted& wanted, std::function<void(Result<State>)> done) {
  begin(std::move(calls), Digest(),
        [wanted, done = std::move(done)](CoordinatorCalls& with) { done(fetch_state(with, wanted)); });
}

void CheckpointCourier::begin(Calls calls, const Digest& sends, std::function<void(CoordinatorCalls&)> work) {
  end();
  forget_ended();
  auto job = std::make_unique<Job>();
  job->calls = std::move(calls);
  job->sends = sends;
  job->thread = std::thread([job = job.get(), work = std::move(work)] {
    work(*job->calls);
    job->over = true;
  });
  pthread_setname_np(job->thread.native_handle(), "courier");
  jobs_.push_back(std::move(job));
}

void CheckpointCourier::end() {
  for (const auto& job : jobs_) job->calls->cancel();
}

void CheckpointCourier::forget_ended() {
  jobs_.remove_if([this](const std::unique_ptr<Job>& job) {
    if (!job->over) return false;
    job->thread.join();
    earlier_wire_bytes_ += job->calls->wire_bytes();
    return true;
  });
}

std::int64_t CheckpointCourier::wire_bytes() const {
  std::int64_t bytes = earlier_wire_bytes_;
  for (const auto& job : jobs_) bytes += job->calls->wire_bytes();
  return bytes;
}

}  // namespace starling::daemon
