#include "client/transport/state_fetcher.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/crypto/digest.h"
#include "shared/state/state_digest.h"

namespace starling::transport {
namespace {

constexpr double kSmoothing = 0.3;
// Nothing is known about a donor before its first chunk came: ask little.
constexpr std::size_t kFirstRequest = 2;

}  // namespace

StateFetcher::StateFetcher(TimePoint now, Wanted wanted, std::size_t donors, StateFetcherOptions options)
    : wanted_(wanted), options_(options), donors_(donors), chunks_(state::chunk_count(wanted.out.size())) {
  VERIFY(!wanted.out.empty() && donors > 0);
  for (DonorRecord& donor : donors_) donor.last_heard = now;
}

void StateFetcher::donor_up(TimePoint now, Donor donor) {
  DonorRecord& record = donors_[donor];
  if (record.phase != Phase::connecting) return;
  record.phase = Phase::greeted;
  record.last_heard = now;
}

void StateFetcher::donor_lost(TimePoint /*now*/, Donor donor, const std::string& reason) {
  DonorRecord& record = donors_[donor];
  if (record.phase == Phase::dropped) return;
  record.phase = Phase::dropped;
  record.drop_reason = reason;
  for (const std::uint32_t chunk : record.owed) {
    if (--chunks_[chunk].asked == 0 && !chunks_[chunk].held) given_back_.push_back(chunk);
  }
  record.owed.clear();
  const bool any_left =
      std::any_of(donors_.begin(), donors_.end(), [](const DonorRecord& d) { return d.phase != Phase::dropped; });
  if (any_left || outcome_) return;
  outcome_ = Error{ErrorCode::unavailable,
                   fmt::format("download the state of round {} from {} peers: none is left with {} of {} chunks here; "
                               "the last one: {}",
                               wanted_.round, donors_.size(), held_count_, chunks_.size(), reason)};
}

Status StateFetcher::on_info(TimePoint now, Donor donor, const wire::StateInfo& info) {
  DonorRecord& record = donors_[donor];
  if (record.phase == Phase::dropped) return {};
  const auto refuse = [&](ErrorCode code, std::string_view why) -> Status {
    donor_lost(now, donor, std::string(why));
    return Error{code, fmt::format("state of round {}: {}", wanted_.round, why)};
  };
  if (info.state_digest != wanted_.digest || info.round != wanted_.round) {
    return refuse(ErrorCode::corrupt, "the donor answers for another state");
  }
  if (info.state_floats == 0) {  // honest, but useless
    donor_lost(now, donor, "it does not hold that state any more");
    return {};
  }
  if (info.state_floats != static_cast<std::int64_t>(wanted_.out.size()) ||
      info.chunk_digests.size() != chunks_.size() || state::state_digest(info.chunk_digests) != wanted_.digest) {
    return refuse(ErrorCode::corrupt, "the donor's chunk digests are not those of the wanted state");
  }
  if (digests_.empty()) digests_ = info.chunk_digests;
  heard(now, record);
  record.last_whole = now;
  record.phase = Phase::serving;
  return {};
}

Status StateFetcher::on_chunk(TimePoint now, Donor donor, std::size_t chunk, std::span<const std::uint8_t> bytes) {
  DonorRecord& record = donors_[donor];
  if (record.phase == Phase::dropped) return {};
  const auto refuse = [&](std::string_view why) -> Status {
    donor_lost(now, donor, std::string(why));
    return Error{ErrorCode::corrupt, fmt::format("state of round {}, chunk {}: {}", wanted_.round, chunk, why)};
  };
  // A download of this state that was given up a moment ago has asked for the chunk.
  if (record.phase != Phase::serving) return {};
  if (chunk >= chunks_.size()) return refuse("no state has it");
  const double seconds = to_seconds(now - record.last_whole);
  heard(now, record);
  record.last_whole = now;
  record.chunk_seconds =
      record.chunk_seconds == 0 ? seconds : record.chunk_seconds + kSmoothing * (seconds - record.chunk_seconds);
  const std::span<float> place = state::chunk_of(wanted_.out, chunk);
  unchecked_.resize(place.size());
  if (!wire::decode_state(wanted_.form, chunk * wire::kStateChunkFloats, bytes, unchecked_).ok() ||
      state::chunk_digest(unchecked_) != digests_[chunk]) {
    return refuse("its bytes do not have the digest they should have");
  }
  if (const auto owed = std::find(record.owed.begin(), record.owed.end(), chunk); owed != record.owed.end()) {
    record.owed.erase(owed);
    --chunks_[chunk].asked;
  }
  if (chunks_[chunk].held) return {};
  std::copy(unchecked_.begin(), unchecked_.end(), place.begin());
  chunks_[chunk].held = true;
  if (++held_count_ == chunks_.size()) outcome_ = Status();
  return {};
}

void StateFetcher::bytes_came(TimePoint now, Donor donor) {
  if (!donors_[donor].owed.empty()) heard(now, donors_[donor]);
}

std::optional<wire::StateRequest> StateFetcher::next_request(TimePoint now, Donor donor) {
  DonorRecord& record = donors_[donor];
  if (outcome_) return std::nullopt;
  if (record.phase == Phase::greeted) {
    record.phase = Phase::informing;
    record.last_heard = record.last_whole = now;
    return wire::StateRequest{
        .round = wanted_.round, .state_digest = wanted_.digest, .first_chunk = 0, .chunk_count = 0};
  }
  // Half a window is on its way while the other half is requested.
  if (record.phase != Phase::serving || record.owed.size() > window_of(record) / 2) return std::nullopt;
  if (record.owed.empty()) record.last_heard = record.last_whole = now;
  if (const std::optional<std::size_t> first = next_free()) return ask(donor, *first, window_of(record));
  if (!record.owed.empty()) return std::nullopt;
  if (const std::optional<std::size_t> owed = owed_by_slowest(donor)) return ask(donor, *owed, 1);
  return std::nullopt;
}

// Asks for `first` and for the chunks after it, as far as they are free and in a row.
std::optional<wire::StateRequest> StateFetcher::ask(Donor donor, std::size_t first, std::size_t limit) {
  std::size_t count = 0;
  for (std::size_t chunk = first; count < limit; ++chunk, ++count) {
    if (chunk != first && (chunk != first_unasked_ || chunk >= chunks_.size())) break;
    first_unasked_ = std::max(first_unasked_, chunk + 1);
    ++chunks_[chunk].asked;
    donors_[donor].owed.push_back(static_cast<std::uint32_t>(chunk));
  }
  return wire::StateRequest{.round = wanted_.round,
                            .state_digest = wanted_.digest,
                            .first_chunk = static_cast<std::uint32_t>(first),
                            .chunk_count = static_cast<std::uint32_t>(count)};
}

std::optional<std::size_t> StateFetcher::next_free() {
  while (!given_back_.empty()) {
    const std::size_t chunk = given_back_.back();
    given_back_.pop_back();
    if (!chunks_[chunk].held && chunks_[chunk].asked == 0) return chunk;
  }
  if (first_unasked_ < chunks_.size()) return first_unasked_;
  return std::nullopt;
}

std::optional<std::size_t> StateFetcher::owed_by_slowest(Donor asking) const {
  std::optional<std::size_t> best;
  double longest = 0;
  for (Donor donor = 0; donor < donors_.size(); ++donor) {
    const DonorRecord& record = donors_[donor];
    if (donor == asking || record.owed.empty()) continue;
    // A donor that has not sent anything yet counts as slow.
    const double seconds = record.chunk_seconds == 0 ? 1e9 : record.chunk_seconds;
    const double wait = seconds * static_cast<double>(record.owed.size());
    const auto last = std::find_if(record.owed.rbegin(), record.owed.rend(), [&](std::uint32_t chunk) {
      return !chunks_[chunk].held && chunks_[chunk].asked == 1;
    });
    if (last == record.owed.rend() || wait <= longest) continue;
    longest = wait;
    best = *last;
  }
  return best;
}

void StateFetcher::heard(TimePoint now, DonorRecord& donor) {
  donor.largest_gap = std::max(donor.largest_gap, now - donor.last_heard);
  donor.last_heard = now;
}

std::size_t StateFetcher::window_of(const DonorRecord& donor) const {
  if (donor.chunk_seconds <= 0) return kFirstRequest;
  const double fitting = to_seconds(options_.request_target) / donor.chunk_seconds;
  return fitting >= static_cast<double>(options_.chunks_per_request_max)
             ? options_.chunks_per_request_max
             : std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
}

TimePoint StateFetcher::deadline_of(const DonorRecord& donor) const {
  switch (donor.phase) {
    case Phase::connecting:
      return donor.last_heard + options_.connect_deadline;
    case Phase::greeted:
    case Phase::dropped:
      return kNever;
    case Phase::serving:
      if (donor.owed.empty()) return kNever;
      [[fallthrough]];
    case Phase::informing:
      break;
  }
  const auto patience =
      Duration(static_cast<Duration::rep>(static_cast<double>(donor.largest_gap.count()) * options_.silence_factor));
  return std::min(donor.last_heard + std::max(options_.silence_floor, patience),
                  donor.last_whole + options_.chunk_deadline);
}

void StateFetcher::on_timer(TimePoint now) {
  for (Donor donor = 0; donor < donors_.size() && !outcome_; ++donor) {
    if (now < deadline_of(donors_[donor])) continue;
    donor_lost(now, donor, donors_[donor].phase == Phase::connecting ? "it could not be reached" : "it fell silent");
  }
}

TimePoint StateFetcher::next_deadline() const {
  TimePoint next = kNever;
  if (outcome_) return next;
  for (const DonorRecord& donor : donors_) next = std::min(next, deadline_of(donor));
  return next;
}

}  // namespace starling::transport
