#include "client/daemon/state_fetcher.h"

#include <utility>

#include "shared/run/moments.h"

namespace starling::daemon {

struct StateFetcher::Fetch {
  Fetch(RoundIndex of_round, const Digest& with_digest) : round(of_round), digest(with_digest) {}
  RoundIndex round;
  Digest digest;
  std::atomic<bool> ended{false};  // set on the net thread, or the courier's
};

StateFetcher::StateFetcher(RunThreads& threads, const RunContext& context, StateKeeper& state,
                           transport::PeerNetwork& network, Fetched fetched)
    : threads_(threads), context_(context), state_(state), network_(network), fetched_(std::move(fetched)) {
  courier_.emplace();
}

std::shared_ptr<StateFetcher::Fetch> StateFetcher::begin(RoundIndex round, const Digest& digest) {
  cancel_download();
  courier_->end();
  fetch_ = std::make_shared<Fetch>(round, digest);
  return fetch_;
}

void StateFetcher::cancel_download() {
  if (download_) network_.cancel_fetch(*std::exchange(download_, std::nullopt));
}

void StateFetcher::from_donors(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) {
  const std::shared_ptr<Fetch> fetch = begin(round, digest);
  // The download has memory of its own: a failed one must leave the replica unchanged.
  auto state = std::make_shared<std::vector<float>>(state_.floats());
  transport::StateFetch request;
  request.donors.assign(donors.begin(), donors.end());
  request.round = round;
  request.state_digest = digest;
  request.out = *state;
  request.form = wire::state_form(context_.manifest);
  request.done = [this, state, round, digest, fetch](const Status& status) {
    fetch->ended = true;
    if (status.ok()) {
      install(round, digest, state);
    } else {
      finish(round, digest, status);
    }
  };
  const Result<transport::FetchNumber> begun = network_.fetch_state(std::move(request));
  if (begun.ok()) {
    download_ = *begun;
  } else {
    fetch->ended = true;
    finish(round, digest, begun.error());
  }
}

void StateFetcher::from_coordinator(const wire::Artefact& file, RoundIndex round, const Digest& digest) {
  const std::shared_ptr<Fetch> fetch = begin(round, digest);
  const auto bytes = static_cast<std::int64_t>(state_.floats() * sizeof(float));
  auto calls = CoordinatorCalls::create(context_.project, context_.key, threads_.clock(), &context_.line);
  if (!calls.ok() || file.bytes != bytes) {
    fetch->ended = true;
    const Error other_size{ErrorCode::corrupt, "the copy that the coordinator keeps has another size than the model"};
    return finish(round, digest, calls.ok() ? other_size : calls.error());
  }
  courier_->fetch(std::move(*calls), {file, digest, context_.folder / "fetched-state"},
                  [this, round, digest, fetch](const Result<State>& state) {
                    if (fetch->ended.exchange(true)) return;
                    if (!state.ok()) return finish(round, digest, state.error());
                    install(round, digest, *state);
                  });
}

void StateFetcher::make_initial(const Digest& digest) {
  begin(0, digest)->ended = true;  // seconds at most: no pause interrupts it
  threads_.on_trainer([this, digest] {
    auto made = state_.make_initial();
    if (!made.ok()) return finish(0, digest, made.error());
    install(0, digest, std::make_shared<std::vector<float>>(std::move(*made)));
  });
}

void StateFetcher::restore_previous(RoundIndex round, const Digest& digest) {
  begin(round, digest)->ended = true;  // seconds at most: no pause interrupts it
  threads_.on_trainer([this, round, digest] { finish(round, digest, state_.restore_previous(round, digest)); });
}

void StateFetcher::interrupt() {
  if (fetch_ == nullptr || fetch_->ended) return;
  cancel_download();
  courier_->end();
  if (fetch_->ended.exchange(true)) return;
  finish(fetch_->round, fetch_->digest, Error{ErrorCode::unavailable, "interrupted by a pause"});
}

void StateFetcher::stop() {
  cancel_download();
  courier_.reset();
}

void StateFetcher::send_copy(RoundIndex round, const Digest& digest) {
  if (courier_->is_sending(digest)) return;
  auto state = state_.find(round, digest);
  auto calls = CoordinatorCalls::create(context_.project, context_.key, threads_.clock(), &context_.line);
  if (state == nullptr || !calls.ok()) return;
  const bool is_cell = context_.manifest.model.experts.piece >= 0;
  courier_->send(std::move(*calls), is_cell ? context_.manifest.run_id : RunId(), std::move(state));
}

void StateFetcher::finish(RoundIndex round, const Digest& digest, const Status& status) {
  threads_.deliver([this, round, digest, status](TimePoint now) { fetched_(now, round, digest, status); });
}

void StateFetcher::install(RoundIndex round, const Digest& digest, State state) {
  threads_.on_trainer([this, round, digest, state = std::move(state)] {
    state_.install(round, digest, *state);
    finish(round, digest, Status());
  });
}

}  // namespace starling::daemon
