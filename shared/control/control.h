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
#include <variant>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/control/control_views.h"
#include "shared/control/preferences.h"
#include "shared/protocol/checked_work.h"
#include "shared/protocol/compute_device.h"
#include "shared/protocol/team.h"

namespace starling::wire {

constexpr std::size_t kControlLineBytesMax = 256 * 1024;
constexpr std::int64_t kLongPollMs = 30000;
constexpr std::size_t kProblemsShownMax = 8;
constexpr std::size_t kPreferenceChangesMax = 64;

// A preference by its name, and its new value as people write it.
struct PreferenceChange {
  std::string name;
  std::string value;  // in the form that set_preference takes
};

// The requests, one struct for each command, with its word.
struct GetStatus {
  static constexpr std::string_view kCommand = "status";
  std::optional<std::int64_t> after_revision;  // waits for a later one
};
// Joins the project that a link names, as a new or a known account.
struct JoinProject {
  static constexpr std::string_view kCommand = "join";
  std::string link;
  std::string name;      // the display name, or the e-mail address of an account that has one
  std::string password;  // an existing account's, or a new one's; empty: none
  std::string email;     // for a new account; may be empty
};
// Asks for all joined projects, with their shares and the one whose turn it is.
struct ListProjects {
  static constexpr std::string_view kCommand = "projects";
};
// A project is meant by its name or host:port.
struct ShareProject {
  static constexpr std::string_view kCommand = "share";
  std::string project;
  std::optional<double> share;
};
// Gives this project its turn now.
struct TrainProject {
  static constexpr std::string_view kCommand = "train";
  std::string project;
};
// The volunteer agrees to run the program of the project's run.
struct AllowProject {
  static constexpr std::string_view kCommand = "allow";
  std::string project;
};
// Ends the membership and removes the project's files.
struct LeaveProject {
  static constexpr std::string_view kCommand = "leave";
  std::string project = {};  // may be empty if there is only one
};
// Ends the daemon, once its state is saved.
struct StopDaemon {
  static constexpr std::string_view kCommand = "stop";
};
// Stops training until a time, or until it is resumed.
struct Pause {
  static constexpr std::string_view kCommand = "pause";
  std::string reason = {};
  std::string duration = {};  // "15m", "3h", "2d", "tomorrow"; empty: until resumed
  bool after_round = false;   // once the round under way is done
  bool gpu = false;           // the graphics card alone
};
// Ends a pause.
struct Resume {
  static constexpr std::string_view kCommand = "resume";
  bool gpu = false;  // the graphics card alone
};
// Asks for all settings with their values.
struct GetPreferences {
  static constexpr std::string_view kCommand = "preferences";
};
// Changes settings: all of the request or, on an error, none.
struct SetPreferences {
  static constexpr std::string_view kCommand = "set_preferences";
  std::string preset = {};                     // empty: none
  std::vector<PreferenceChange> changes = {};  // after the preset
};
// Lets the model go on from a text.
struct SampleText {
  static constexpr std::string_view kCommand = "sample";
  std::string prompt;
  int length = 200;  // tokens (bytes where data are bytes), at most kSampleBytesMax
  double temperature = 0.8;
};
// Looks for a newer version now.
struct LookForUpdate {
  static constexpr std::string_view kCommand = "update";
  bool install = false;  // installs it whatever the preferences say
};
// Asks for the last lines of the log.
struct GetLog {
  static constexpr std::string_view kCommand = "log";
  int lines = 100;
};
// Asks what a join link leads to, without joining.
struct PreviewProject {
  static constexpr std::string_view kCommand = "preview";
  std::string link;
};
// Asks for the figures of past rounds.
struct GetHistory {
  static constexpr std::string_view kCommand = "history";
  std::string span;  // history_span() knows the words
};
// Asks for the members of the last averaging.
struct GetPeers {
  static constexpr std::string_view kCommand = "peers";
};
// Shows or changes the account's team.
struct ArrangeTeam {
  static constexpr std::string_view kCommand = "team";
  std::string action;     // show, found, join or leave
  std::string name = {};  // the team's
};
// Asks the coordinator for a page of the leaderboard.
struct GetLeaderboard {
  static constexpr std::string_view kCommand = "leaderboard";
  std::string sort = {};    // recent, total, run, day or week
  std::string search = {};  // part of a name
  int page = 1;
};
// Opens, shows or shuts the door for other computers.
struct ArrangeRemote {
  static constexpr std::string_view kCommand = "remote";
  std::string action;                // enable, show or disable
  std::string listen = "127.0.0.1";  // IP address on which others may call
  int port = 7447;                   // 0: any free one
};
// Proves to an opened door that the caller may use it; the first request of such a connection.
struct Authenticate {
  static constexpr std::string_view kCommand = "authenticate";
  std::string token;
};
using ControlRequest =
    std::variant<GetStatus, JoinProject, ListProjects, ShareProject, TrainProject, AllowProject, LeaveProject,
                 StopDaemon, Pause, Resume, GetPreferences, SetPreferences, SampleText, LookForUpdate, GetLog,
                 PreviewProject, GetHistory, GetPeers, ArrangeTeam, GetLeaderboard, ArrangeRemote, Authenticate>;
std::string_view command_of(const ControlRequest& request);
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

// The trainer of the run under way, and the device that it computes on.
struct ComputingStatus {
  // Its trainer: "not started", "running", "ended" (a pause ends it; the next computation starts another).
  std::string trainer = "not started";
  // By the word of the last trainer that was ready. The reason why no card is used is complete here: that of the rules,
  // too. Unset: no trainer has been ready yet, so it is not known.
  std::optional<ComputeDevice> device;
};

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

// The daemon's activity: without a run it is idle, or prepares one; with a run it has the phase of its session.
enum class DaemonPhase : std::uint8_t {
  idle,
  preparing,
  joining,
  waiting,
  downloading,
  training,
  averaging,
  stepping,
  evaluating,
  paused,
};
std::string_view to_string(DaemonPhase phase);
// True while the computer takes part in a round that a pause can wait for.
bool has_round_under_way(DaemonPhase phase);

// The project whose turn it is, and this computer in it.
struct MembershipStatus {
  std::string project;
  std::string display_name;
  int projects = 0;  // number of projects joined
  RunId run_id;
  std::string run_title;  // the project's name for it
  std::string run_state;
  PeerId peer;
  int listen_port = 0;
  bool coordinator_away = false;
};

// This computer's work on the run.
struct TrainingStatus {
  RoundIndex round = 0;        // the swarm's
  RoundIndex state_round = 0;  // this replica's
  Digest state_digest;
  bool synced = false;
  SampleCount samples_this_round = 0;
  SampleCount samples_total = 0;     // computed since the daemon started
  SampleCount samples_credited = 0;  // this account's in the coordinator's ledger
  double credit = 0;
  double samples_per_s = 0;
  double loss = 0;                                 // training, nats, last finished round
  std::optional<double> validation_bits_per_byte;  // the last one measured here
  std::optional<double> validation_accuracy;  // the fraction of its predictions that were right, where that is known
  RoundIndex validation_round = 0;            // the round whose state was measured
  std::int64_t rounds_done = 0;
  std::int64_t rounds_failed = 0;
  std::int64_t reports_waiting = 0;  // finished rounds that the coordinator has not acknowledged
};

// The swarm as the last heartbeat described it.
struct SwarmStatus {
  int size = 0;
  double samples_per_s = 0;
  SampleCount samples_accumulated = 0;  // toward target_batch_size
  SampleCount target_batch_size = 0;
  std::string plan;  // the last averaging plan's reason for its choice
};

// Averages with others' parameters by gossip between rounds; runs with local steps only.
struct LocalStepsStatus {
  std::int64_t mixings = 0;
  std::int64_t mixings_missed = 0;  // meetings to which nobody else came
  // consensus distance of the last round: own parameters' distance from the average, over the average's length
  double spread = 0;
};

// A cell that this computer holds (shared/run/cells.h).
struct HeldCell {
  std::int64_t cell = 0;   // its number
  std::int64_t layer = 0;  // the layer of its experts
  std::int64_t first_expert = 0;
  std::vector<std::int64_t> units{};  // tokens that each of its experts was computed for here
};

// The cells of a model that no computer holds whole, and the calls to them.
struct CellsStatus {
  std::int64_t all = 0;          // cells of the model
  std::vector<HeldCell> held{};  // by this computer
  std::int64_t calls_answered = 0;
  bool trunk_here = true;  // false: it does not fit into the memory that is allowed, and the cells are all that is here
};

// This computer's traffic with other volunteers: present rates, and sums.
struct NetworkStatus {
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
};

// The one snapshot that every view of a daemon shows. In its JSON form the fields of `membership` and `training`, and
// swarm.target_batch_size, stand beside the others.
struct DaemonStatus {
  std::int64_t revision = 0;  // grows with every change
  std::string version;
  DaemonPhase phase = DaemonPhase::idle;
  std::string reason;                 // why it is not training; empty while it trains
  std::string ends_when;              // the event that ends that
  std::vector<std::string> problems;  // for the owner: a damaged file, a full disk, a message of the coordinator
  bool paused = false;                // by the volunteer
  RulesStatus rules;
  MembershipStatus membership;
  ReachStatus reach;
  UpdateStatus update;
  TrainingStatus training;
  SwarmStatus swarm;
  LocalStepsStatus local_steps;
  NetworkStatus network;
  ComputingStatus computing;
  std::optional<CheckedWork> checked;  // unset: the run's work is not checked, or nobody has told
  std::optional<CellsStatus> cells{};  // unset: the model is not cut into cells
};

// The answer to one request: an error, or the one field that its command fills in.
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
// corrupt for a line that is not such an object; invalid_argument, naming the field, for an unknown command or values
// out of range.
Result<ControlRequest> decode_control_request(std::string_view line);
Result<ControlReply> decode_control_reply(std::string_view line);
// The status alone, one line: the output of `starling status --json`.
std::string encode_status(const DaemonStatus& status);

}  // namespace starling::wire
