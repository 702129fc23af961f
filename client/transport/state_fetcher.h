// Gathers a state from several donors at once: decides which chunk to ask of which donor, and judges the answers. Pure:
// time, messages and losses come in, requests and an outcome come out.
//
// A donor first sends its chunk digests, which must hash to the wanted state digest; then every chunk is checked as it
// comes. A donor that lies, leaves or falls silent is dropped, and its open requests go to others. Requests grow until
// one takes about a second. When nothing is left to ask, idle donors are asked once more for chunks that slower ones
// still owe, so that the slowest donor does not decide when the transfer ends.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/moments.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// Patience with donors, and sizes of requests. A request is as large as a donor serves in request_target, at most
// chunks_per_request_max.
struct StateFetcherOptions {
  Duration connect_deadline = std::chrono::seconds(15);
  // A donor is silent when nothing, not even part of a chunk, came for max(floor, factor x its largest gap so far).
  Duration silence_floor = std::chrono::seconds(10);
  double silence_factor = 4.0;
  // A donor that only trickles is given up as well when a chunk takes longer than this (2 KB/s).
  Duration chunk_deadline = std::chrono::seconds(120);
  Duration request_target = std::chrono::seconds(1);
  std::size_t chunks_per_request_max = 16;
};

class StateFetcher {
 public:
  using Donor = std::size_t;  // 0 … donors - 1

  struct Wanted {
    RoundIndex round = 0;
    Digest digest;
    std::span<float> out;  // at least one float; only checked chunks are written
    wire::StateForm form{};
  };

  StateFetcher(TimePoint now, Wanted wanted, std::size_t donors, StateFetcherOptions options = {});

  void donor_up(TimePoint now, Donor donor);
  // The donor is lost for good. Dropping a donor twice is harmless.
  void donor_lost(TimePoint now, Donor donor, const std::string& reason);
  // An error means that the donor lied and is dropped: cut the link.
  Status on_info(TimePoint now, Donor donor, const wire::StateInfo& info);
  Status on_chunk(TimePoint now, Donor donor, std::size_t chunk, std::span<const std::uint8_t> bytes);
  // Some bytes of an unfinished chunk came.
  void bytes_came(TimePoint now, Donor donor);
  // The next request, if any; ask after every event until there is none.
  std::optional<wire::StateRequest> next_request(TimePoint now, Donor donor);
  // Drops silent donors.
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;

  // Ok when the state is complete; an error when no donor is left.
  [[nodiscard]] const std::optional<Status>& outcome() const { return outcome_; }
  [[nodiscard]] std::size_t chunks_held() const { return held_count_; }
  [[nodiscard]] std::size_t chunks_total() const { return chunks_.size(); }
  [[nodiscard]] bool dropped(Donor donor) const { return donors_[donor].phase == Phase::dropped; }
  [[nodiscard]] const std::string& drop_reason(Donor donor) const { return donors_[donor].drop_reason; }
  [[nodiscard]] bool serving(Donor donor) const { return donors_[donor].phase == Phase::serving; }

 private:
  enum class Phase : std::uint8_t { connecting, greeted, informing, serving, dropped };
  struct DonorRecord {
    Phase phase = Phase::connecting;
    std::deque<std::uint32_t> owed;  // chunks asked for that are not here yet
    TimePoint last_heard{};          // when any bytes came
    TimePoint last_whole{};          // when a whole answer came, or the first request after a pause went out
    Duration largest_gap{};
    double chunk_seconds = 0;  // smoothed; 0: none came yet
    std::string drop_reason;
  };
  struct Chunk {
    bool held = false;
    std::uint8_t asked = 0;  // number of donors asked at present
  };

  void heard(TimePoint now, DonorRecord& donor);
  [[nodiscard]] std::size_t window_of(const DonorRecord& donor) const;
  std::optional<wire::StateRequest> ask(Donor donor, std::size_t first, std::size_t limit);
  std::optional<std::size_t> next_free();
  std::optional<std::size_t> owed_by_slowest(Donor asking) const;
  [[nodiscard]] TimePoint deadline_of(const DonorRecord& donor) const;

  Wanted wanted_;
  StateFetcherOptions options_;
  std::vector<float> unchecked_;  // a chunk that has come
  std::vector<DonorRecord> donors_;
  std::vector<Digest> digests_;  // empty until the first honest info
  std::vector<Chunk> chunks_;
  std::size_t first_unasked_ = 0;          // all chunks from here on were never asked for
  std::vector<std::uint32_t> given_back_;  // chunks asked of donors that were dropped
  std::size_t held_count_ = 0;
  std::optional<Status> outcome_;
};

}  // namespace starling::transport
