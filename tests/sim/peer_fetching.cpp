// A volunteer's downloads: the product's StateFetcher, with simulated donors and paths that take their time.
#include <algorithm>
#include <utility>

#include "client/transport/state_fetcher.h"
#include "shared/state/state_digest.h"
#include "tests/sim/liar.h"
#include "tests/sim/peer.h"

namespace starling::sim {

struct Peer::Download {
  struct Donor {
    Peer* peer = nullptr;
    std::uint64_t life = 0;
    std::vector<float> copy;  // its state when it was asked; empty: it held another
    [[nodiscard]] bool lives() const { return peer != nullptr && peer->up() && peer->incarnation() == life; }
  };
  std::uint64_t serial = 0;
  RoundIndex round = 0;
  Digest wanted;
  std::vector<float> out;
  std::vector<Donor> donors;
  std::optional<transport::StateFetcher> fetcher;
  TimePoint timer = kNever;
  bool over = false;
};

namespace {

using Bytes = std::vector<std::uint8_t>;

// The chunk digests are of no state that anybody has made, unless the donor holds it.
wire::StateInfo info_of(const wire::StateRequest& request, std::span<const float> copy, Donation donation) {
  wire::StateInfo info;
  info.round = request.round;
  info.state_digest = request.state_digest;
  info.state_floats = static_cast<std::int64_t>(copy.size());
  info.chunk_digests = state::chunk_digests(copy);
  if (donation == Donation::garbage && state::state_digest(info.chunk_digests) != request.state_digest) {
    for (Digest& digest : info.chunk_digests) digest.bytes.fill(0xAB);
  }
  return info;
}

Bytes chunk_bytes(std::span<const float> copy, std::size_t chunk, Donation donation) {
  const std::span<const float> floats = state::chunk_of(copy, chunk);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(floats.data());
  Bytes sent(bytes, bytes + floats.size_bytes());
  if (donation == Donation::garbage) sent.back() ^= 1;
  return sent;
}

}  // namespace

void Peer::fetch_state(std::span<const wire::Endpoint> endpoints, RoundIndex round, const Digest& wanted) {
  end_meeting();
  if (wanted == invented_state(round)) world_.fail("a member loads a state that the coordinator has invented");
  const TimePoint now = world_.scheduler().now();
  const auto download = std::make_shared<Download>();
  download->serial = ++fetches_;
  download->round = round;
  download->wanted = wanted;
  download->out.resize(state().size());
  download->donors.resize(endpoints.size());
  download->fetcher.emplace(now, transport::StateFetcher::Wanted{round, wanted, download->out}, endpoints.size());
  for (std::size_t number = 0; number < endpoints.size(); ++number) {
    Peer* const peer = world_.find(endpoints[number].peer);
    const bool lives = peer != nullptr && peer->up();
    if (lives) download->donors[number] = {peer, peer->incarnation(), {}};
    const Duration way = lives ? world_.network().path(peer->index(), index_) : Duration{};
    schedule(now + way, [this, download, number] {
      Download::Donor& donor = download->donors[number];
      const TimePoint then = world_.scheduler().now();
      donor.lives() ? download->fetcher->donor_up(then, number) : download->fetcher->donor_lost(then, number, "gone");
      go_on(download);
    });
  }
}

// Sends the requests that are due, and ends the download when it is over.
void Peer::go_on(const std::shared_ptr<Download>& download) {
  if (download->over || download->serial != fetches_) return;  // given up for a newer one
  const TimePoint now = world_.scheduler().now();
  for (std::size_t number = 0; number < download->donors.size(); ++number) {
    while (const auto request = download->fetcher->next_request(now, number)) ask(download, number, *request);
  }
  if (download->fetcher->outcome()) {
    download->over = true;
    const Status status = *download->fetcher->outcome();
    if (status.ok()) learner_->load(download->out);
    if (status.ok() && digest() != download->wanted) world_.fail("a member has loaded garbage");
    session_->on_state_fetched(now, download->round, download->wanted, status);
    return after_session_event();
  }
  const TimePoint deadline = download->fetcher->next_deadline();
  if (deadline == kNever || deadline == download->timer) return;
  download->timer = deadline;
  schedule(deadline, [this, download] {
    download->timer = kNever;
    download->fetcher->on_timer(world_.scheduler().now());
    go_on(download);
  });
}

void Peer::ask(const std::shared_ptr<Download>& download, std::size_t number, const wire::StateRequest& request) {
  Download::Donor& donor = download->donors[number];
  const Donation donation = world_.donation_of(*donor.peer);
  if (donation == Donation::nothing) return;
  const Duration ways = 2 * world_.network().path(donor.peer->index(), index_);
  const TimePoint now = world_.scheduler().now();
  if (request.chunk_count == 0) {
    const bool holds_it = donor.peer->digest() == download->wanted;
    if (holds_it || donation == Donation::garbage) donor.copy = donor.peer->learner_->state();
    schedule(now + ways, [this, download, number, info = info_of(request, donor.copy, donation)] {
      (void)download->fetcher->on_info(world_.scheduler().now(), number, info);
      go_on(download);
    });
    return;
  }
  const double rate = std::min(world_.network().rates(donor.peer->index()).upload_bytes_per_s,
                               world_.network().rates(index_).download_bytes_per_s);
  Duration took = ways;
  for (std::size_t chunk = request.first_chunk; chunk < request.first_chunk + request.chunk_count; ++chunk) {
    const Bytes bytes = chunk_bytes(donor.copy, chunk, donation);
    took += from_seconds(std::max(static_cast<double>(bytes.size()) / rate, world_.options().download_s_min));
    schedule(now + took, [this, download, number, chunk, bytes] {
      const TimePoint then = world_.scheduler().now();
      if (download->donors[number].lives()) {
        (void)download->fetcher->on_chunk(then, number, chunk, bytes);
      } else {
        download->fetcher->donor_lost(then, number, "it vanished");
      }
      go_on(download);
    });
  }
}

}  // namespace starling::sim
