// The daemon's answers beside its status (control.h): its history, the members it averages with, the project's
// leaderboard, and the preview of a join link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/leaderboard/columns.h"

namespace starling::wire {

// How far back, and how fine: single rounds; 5 minutes over a day; 2 hours over 30 days; days over all time.
enum class HistorySpan : std::uint8_t { rounds, day, month, all };
constexpr int kHistorySpans = 4;
std::string_view to_string(HistorySpan span);
std::optional<HistorySpan> history_span(std::string_view name);

// This computer's training within one interval, for charts.
struct HistoryPoint {
  WallTime begin;        // start of the interval; a round's end, where the points are rounds
  RoundIndex round = 0;  // the last of the interval
  std::int64_t rounds = 1;
  SampleCount samples = 0;        // by this computer
  SampleCount swarm_samples = 0;  // by everybody in its groups
  double loss = 0;                // mean, nats
  double credit = 0;              // the account's, at the end
  std::int64_t bytes = 0;         // sent and received by averaging
};
constexpr std::size_t kHistoryPointsMax = 1000;  // limit for one span

// A member of the last averaging.
struct PeerView {
  PeerId peer;
  std::string role;         // to_string(MemberRole)
  SampleCount samples = 0;  // its contribution to the last finished round
  double part = 0;          // its fraction of the vector, 0 … 1: the faster its link, the larger
  bool relayed = false;     // others reach it over a relay
  bool self = false;
  // Rates that the link with it has shown in its fastest moments; zeros: nothing yet, or there is no link.
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  double round_trip_ms = 0;  // the least of late; not known over a relay
};
constexpr std::size_t kPeersShownMax = 256;

// The members of the last averaging, of whom at most kPeersShownMax are listed.
struct PeersView {
  RoundIndex round = 0;
  std::int64_t members = 0;  // more than kPeersShownMax are possible
  std::vector<PeerView> peers;
};

// A volunteer's row of the leaderboard.
struct StandingView {
  std::int64_t rank = 0;
  std::string name;
  leaderboard::Figures figures;  // each under its column's name
};
constexpr std::size_t kStandingsShownMax = 50;

// The coordinator's /v1/leaderboard.json.
struct LeaderboardView {
  std::string project;
  std::string sort;  // recent, total, run, day, week
  std::int64_t volunteers = 0;
  int page = 1;
  int per_page = 0;
  std::optional<StandingView> pinned;  // the asker's own
  std::vector<StandingView> rows;
};
Result<LeaderboardView> decode_leaderboard(std::string_view json);

// The target of a join link, for somebody who has not decided yet.
struct ProjectPreview {
  std::string address;      // host:port
  std::string fingerprint;  // the project CA's, hex
  std::string project;
  bool has_run = false;
  std::string run_title;
  std::string run_state;
  std::int64_t parameters = 0;
  std::int64_t data_bytes = 0;       // to download once
  std::int64_t disk_bytes = 0;       // data, model and checkpoints
  std::int64_t bytes_per_round = 0;  // sent, and as many received
  std::int64_t bytes_per_hour = 0;   // likewise, by a usual member at the swarm's present pace; 0: nobody trains
  std::int64_t volunteers = 0;       // those that have contributed
  std::int64_t swarm_size = 0;       // members that train now
  double bits_per_byte = 0;          // the model's, as measured last; 0: not yet
};

// The door for the owner's other computers: this API over TLS, for callers that know the token.
struct RemoteView {
  bool enabled = false;
  std::string address;  // where it listens
  int port = 0;
  std::string fingerprint;  // hex fingerprint of the certificate that callers must see; callers name it
  std::string token;        // only in the answer to enable, which made it
  std::string problem;      // why nobody can call, although it is enabled
  int callers = 0;          // connected now
};

// One of the projects this computer has joined.
struct ProjectView {
  std::string name;
  std::string display_name;  // the volunteer's there
  std::string address;       // host:port
  double share = 1;          // the share of the time, relative to the others
  double trained_s = 0;
  bool current = false;  // the one that is trained, or would be
};
constexpr std::size_t kProjectsShownMax = 64;

}  // namespace starling::wire
