// The daemon's control API. The command line and the window send it requests over its Unix socket, or from another
// computer over TLS; a TLS connection begins with {"command":"authenticate","token":"…"}. Requests and replies are one
// JSON object a line, any number on one connection, in turn.
//
//   {"command":"status"}                          -> {"ok":true,"status":{…}}
//   {"command":"status","after_revision":N}       -> like status, once the revision is above N (or after 30 s)
//   {"command":"join","link":"starling://…","name":"Ada"}
//   {"command":"join","link":"…","name":"Ada","password":"…","email":"ada@example.org"}   to an account
//   {"command":"projects"}                        -> {"ok":true,"projects":[…]}     all projects joined
//   {"command":"share","project":"Birds","share":2}   sets its share of the time; replies like projects
//   {"command":"train","project":"Birds"}             trains it now, for a turn; replies like projects
//   {"command":"allow","project":"Birds"}             allows its run's own program; replies like projects
//   {"command":"leave","project":"Birds"}         the name may be missing if there is only one
//   {"command":"stop"}                                                    ends the daemon
//   {"command":"pause","reason":"…","for":"1h","after_round":true}        -> {"ok":true,"text":"…"}
//   {"command":"pause","gpu":true,"for":"tomorrow"}                       the graphics card alone
//   {"command":"resume"}  {"command":"resume","gpu":true}                 the text names remaining obstacles
//   {"command":"preferences"}                                             -> {"ok":true,"preferences":{…}}
//   {"command":"set_preferences","preset":"gentle","changes":[{"name":"on_battery","value":"yes"}]}
//                                                                         all changes or none; replies like preferences
//   {"command":"sample","prompt":"…","length":200,"temperature":0.8}  -> {"ok":true,"text":"…"}
//   {"command":"update","install":true}           -> {"ok":true,"text":"…"}         looks for one at once
//   {"command":"log","lines":100}                 -> {"ok":true,"text":"…"}
//   {"command":"preview","link":"starling://…"}   -> {"ok":true,"preview":{…}}      the link's target
//   {"command":"history","span":"day"}            -> {"ok":true,"history":[…]}      rounds, day, month or all
//   {"command":"peers"}                           -> {"ok":true,"peers":{…}}        members of the last averaging
//   {"command":"team","team":"join","name":"Swans"}   -> {"ok":true,"team":{…}}   show, found, join or leave
//   {"command":"leaderboard","sort":"recent","page":1,"search":"…"}  -> {"ok":true,"leaderboard":{…}}
//   {"command":"remote","remote":"enable","listen":"192.0.2.5","port":7447}   -> {"ok":true,"remote":{…}}
//                                                           enable, show or disable: only over the Unix socket
//
// A refusal is {"ok":false,"code":"not_found","message":"…"}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/control/control_views.h"
#include "shared/control/preferences.h"
#include "shared/protocol/team.h"

namespace starling::wire {

constexpr std::size_t kControlLineBytesMax = 256 * 1024;
constexpr std::int64_t kLongPollMs = 30000;
constexpr std::size_t kProblemsShownMax = 8;
constexpr std::size_t kPreferenceChangesMax = 64;

struct PreferenceChange {
  std::string name;
  std::string value;  // in the form that set_preference takes
};

struct ControlRequest {
  std::string command;
  std::optional<std::int64_t> after_revision;  // status
  std::string link;                            // join, preview
  std::string team;                            // team: show, found, join or leave
  std::string name;      // team: its name; join: the display name, or the e-mail address of an account that has one
  std::string password;  // join: the password of an existing account, or of a new one; empty: none
  std::string email;     // join: for a new account; may be empty
  std::string project;   // share, train, allow, leave: its name or host:port
  std::optional<double> share;            // share
  std::string reason;                     // pause
  std::string duration;                   // pause: "15m", "3h", "2d", "tomorrow"; empty: until resumed
  bool after_round = false;               // pause: once the round under way is done
  bool gpu = false;                       // pause, resume: the graphics card alone
  bool install = false;                   // update: installs it whatever the preferences say
  std::string preset;                     // set_preferences; empty: none
  std::vector<PreferenceChange> changes;  // set_preferences, after the preset
  std::string prompt;                     // sample
  int length = 200;                       // sample: tokens (bytes where data are bytes), at most kSampleBytesMax
  double temperature = 0.8;               // sample
  int lines = 100;                        // log
  std::string span;                       // history
  std::string sort;                       // leaderboard: recent, total, run, day or week
  std::string search;                     // leaderboard: part of a name
  int page = 1;                           // leaderboard
  std::string remote;                     // remote: enable, show or disable
  std::string listen = "127.0.0.1";       // remote: IP address on which others may call
  int port = 7447;                        // remote; 0: any free one
  std::string token;                      // authenticate
};
constexpr int kSampleBytesMax = 4096;  // limit for a prompt's bytes, and for the tokens to sample

// The present verdict of the volunteer's rules.
struct RulesStatus {
  std::string code;            // a stable word for the reason why the rules stop training; "none": they do not
  std::string action;          // the volunteer's remedy for the status' reason; empty: nothing needs doing
  std::string action_command;  // the arguments behind `starling`
  WallTime ends_at;            // zero: not known
  bool pause_after_round = false;
  int threads = 0;  // number that the trainer may use
  std::int64_t memory_bytes = 0;
  bool gpu_present = false;
  bool gpu = true;                           // whether it may be used
  std::string gpu_reason;                    // why not
  std::vector<std::string> unknown;          // values that a rule asks for and no sensor reports
  std::int64_t month_bytes = 0;              // sent and received in this month of data
  std::int64_t month_averaging_bytes = 0;    // part of it: gradients and averages, with relayed bytes
  std::int64_t month_models_bytes = 0;       // part of it: whole models, from and for others
  std::int64_t month_coordinator_bytes = 0;  // part of it: heartbeats, manifests, training data
  std::int64_t month_bytes_max = 0;          // 0: no cap
  std::int64_t month_bytes_forecast = 0;     // 0: too early to tell
};
constexpr std::size_t kUnknownMax = 16;

// The reachability of this computer for other volunteers' computers, and its relaying between others.
struct ReachStatus {
  std::string reachability;     // the coordinator's finding: "unknown", "reachable", "blocked"; empty: not heard yet
  std::string address;          // this computer's, as the coordinator sees it
  PeerId relay;                 // others can call us there; zero: nowhere
  std::string relay_problem;    // why not, although the coordinator named one
  int mapped_port = 0;          // the router opened this one; 0: none
  std::string mapped_by;        // "UPnP", "NAT-PMP"
  std::string mapping_problem;  // why the router opened none, where it was asked
  std::int64_t links_relayed = 0;
  std::int64_t clients = 0;  // computers that wait for calls here
  std::int64_t streams = 0;  // pairs of computers connected here
  std::int64_t bytes = 0;    // passed on between others, since the daemon started
};

// Newer versions of Starling that this daemon has heard of.
struct UpdateStatus {
  std::string state = "off";  // off, unknown, current, available, downloading, ready, failed
  std::string text;           // the state, for people
  std::string version;        // the newer one's; empty: none is known
  std::string notes;          // its news
  std::string notes_url;
  std::string required;      // the version that the run needs at least, where this daemon is older; empty: it is not
  bool can_install = false;  // this installation can change itself; others belong to the system's packages
  WallTime checked;          // zero: not yet
};

// The one snapshot that every view of a daemon shows.
struct DaemonStatus {
  std::int64_t revision = 0;  // grows with every change
  std::string version;
  std::string phase = "idle";         // idle, preparing, or a session::Phase
  std::string reason;                 // why it is not training; empty while it trains
  std::string ends_when;              // the event that ends that
  std::vector<std::string> problems;  // for the owner: a damaged file, a full disk, a message of the coordinator
  bool paused = false;                // by the volunteer
  RulesStatus rules;
  std::string project;  // the one whose turn it is
  std::string display_name;
  int projects = 0;  // number of projects joined
  RunId run_id;
  std::string run_title;  // the project's name for it
  std::string run_state;
  PeerId peer;
  int listen_port = 0;
  ReachStatus reach;
  UpdateStatus update;
  bool coordinator_away = false;
  RoundIndex round = 0;        // the swarm's
  RoundIndex state_round = 0;  // this replica's
  Digest state_digest;
  bool synced = false;
  SampleCount samples_this_round = 0;   // this computer's
  SampleCount samples_accumulated = 0;  // the swarm's, toward target_batch_size
  SampleCount target_batch_size = 0;
  SampleCount samples_total = 0;     // computed since the daemon started
  SampleCount samples_credited = 0;  // this account's in the coordinator's ledger
  double credit = 0;
  double samples_per_s = 0;
  double swarm_samples_per_s = 0;
  int swarm_size = 0;
  std::string plan;                                // the last averaging plan's reason for its choice
  double loss = 0;                                 // training, nats, last finished round
  std::optional<double> validation_bits_per_byte;  // the last one measured here
  std::optional<double> validation_accuracy;  // the fraction of its predictions that were right, where that is known
  RoundIndex validation_round = 0;            // the round whose state was measured
  std::int64_t rounds_done = 0;
  std::int64_t rounds_failed = 0;
  // Runs with local steps only: averages with others' parameters by gossip, between rounds.
  std::int64_t mixings = 0;         // with others' parameters, between rounds
  std::int64_t mixings_missed = 0;  // meetings to which nobody else came
  // consensus distance of the last round: own parameters' distance from the average, over the average's length
  double spread = 0;
  std::int64_t reports_waiting = 0;  // finished rounds that the coordinator has not acknowledged
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
};

struct ControlReply {
  std::optional<Error> error;
  std::optional<DaemonStatus> status;
  std::optional<Preferences> preferences;
  std::optional<ProjectPreview> preview;
  std::optional<std::vector<ProjectView>> projects;
  std::optional<std::vector<HistoryPoint>> history;
  std::optional<PeersView> peers;
  std::optional<LeaderboardView> leaderboard;
  std::optional<TeamReply> team;
  std::optional<RemoteView> remote;
  std::string text;
};

// Each returns one line, newline included.
std::string encode_line(const ControlRequest& request);
std::string encode_line(const ControlReply& reply);
// corrupt for a line that is not such an object; invalid_argument, naming the field, for values out of range.
Result<ControlRequest> decode_control_request(std::string_view line);
Result<ControlReply> decode_control_reply(std::string_view line);
// The status alone, one line: the output of `starling status --json`.
std::string encode_status(const DaemonStatus& status);

}  // namespace starling::wire
