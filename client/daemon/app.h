// The whole daemon: its threads, its data directory, the projects it has joined, and the control socket. One project at
// a time has its turn (client/policy/turns.h): preparing (manifest, data, model) -> running; preparation is tried again
// until it succeeds. The others wait, with their files in place. The sensors look every second, and the verdict of the
// volunteer's rules is obeyed at once.
//
// The control thread owns everything below `control thread` in the members; connections' threads only post to it.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/daemon/control_server.h"
#include "client/daemon/coordinator_calls.h"
#include "client/daemon/corrected_clock.h"
#include "client/daemon/governor.h"
#include "client/daemon/look_ups.h"
#include "client/daemon/project_run.h"
#include "client/daemon/remote_door.h"
#include "client/daemon/status_board.h"
#include "client/daemon/task_loop.h"
#include "client/daemon/update_keeper.h"
#include "client/policy/turns.h"
#include "client/sensors/sensors.h"
#include "client/storage/memberships.h"
#include "client/storage/project_files.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/control/control.h"
#include "shared/net/backoff.h"
#include "shared/net/line.h"

namespace starling::daemon {

// Settings for the life of the daemon, made by its main program. Preferences that the volunteer may change while it
// runs stand in wire::Preferences.
struct AppOptions {
  std::filesystem::path data_dir;
  std::string control_socket = "control.sock";  // in the data directory
  bool remote_door = true;                      // for other computers, where the owner has opened it
  RunOptions run;
  int threads = 0;                 // the trainer's, whatever the preferences say; 0: by the preferences
  policy::TurnOptions turns;       // for several projects
  sensors::SensorOptions sensors;  // except the data directory
  // the file that names the source of newer versions; if it is missing there is none
  std::filesystem::path update_source;
  std::filesystem::path program;  // this daemon's own: it shows whether the installation may change itself
  // Called when a newer version lies there complete, and a good moment has come: end soon, and start it. Control
  // thread.
  std::function<void(const std::string& version)> hand_over;
  std::function<void()> stop;   // ends the program soon, at the volunteer's request; any thread
  std::function<void()> alive;  // called about once a second, on the control thread, while that does not hang
};

class App {
 public:
  // Opens the data directory and the control socket and, when a project was joined earlier, goes on with it.
  static Result<std::unique_ptr<App>> create(const AppOptions& options);
  // Saves the model, ends the trainer and all threads. Blocks while one step or save takes place.
  ~App();

 private:
  App(const AppOptions& options, storage::Memberships memberships, storage::HostIdentity host);

  wire::ControlReply handle(const wire::ControlRequest& request);
  Result<std::string> join(const std::string& link, const Applicant& applicant);
  wire::ControlReply steer(const wire::ControlRequest& request);  // pause, resume, preferences
  Status leave(const std::string& project);
  // Does `work` on the control thread, if there is any, and lists the projects.
  wire::ControlReply arrange(const std::function<Result<std::string>()>& work);
  wire::ControlReply status_after(std::optional<std::int64_t> revision);
  Status stop();
  Result<std::string> sample(const wire::SampleText& request);
  wire::ControlReply recall(const wire::ControlRequest& request);  // history, peers
  wire::ControlReply arrange_remote(const wire::ArrangeRemote& request);
  wire::ControlReply look_up(const wire::ControlRequest& request);  // preview, leaderboard, team: asks a coordinator

  // Control thread.
  storage::Membership* current();  // null: nothing is joined, or one project makes room for the next
  void open_project();             // the current one
  void open_next();                // opens the project whose turn it is among those that are left
  void prepare();
  void on_prepared(int preparation, Result<std::unique_ptr<ProjectRun>> run);
  // `closed` runs on the control thread once nothing of the run is open any more.
  void close_run(std::string reason, bool keep_state, std::function<void()> closed);
  void change_over(std::size_t next);
  // Changes to the run that the project has now, if it is another one than `run_id`.
  void follow_to_next_run(const RunId& run_id);
  // Returns the index of the request's project, or of the only one; an Error says why none is meant.
  [[nodiscard]] Result<std::size_t> meant(const std::string& project) const;
  [[nodiscard]] Result<std::string> share(const wire::ShareProject& request);
  [[nodiscard]] Result<std::string> give_turn(const std::string& project);
  [[nodiscard]] Result<std::string> allow(const std::string& project);
  void leave_now(std::size_t index, std::function<void(Status)> left);
  void count_turn();        // every second
  void end_turn_if_over();  // between two rounds
  [[nodiscard]] std::vector<policy::Claim> claims() const;
  [[nodiscard]] std::vector<wire::ProjectView> project_views();  // marks the one whose turn it is, or will be
  // Records that the volunteer agrees to run the program of the project's run.
  Status allow_program(const storage::Membership& membership);
  void publish();
  // Asks the rules and does what they say: whenever one of their inputs has changed, and every second.
  void obey();
  void count_traffic();
  void save_history();
  void notice_round_ends(const wire::DaemonStatus& status);
  // Starts it at the end of a round, or where none is under way.
  void start_waiting_version();
  [[nodiscard]] Permission permission() const;

  // Sensor thread.
  void look_around();

  // A run that is being opened, and the obstacle that the last attempt found.
  struct Preparation {
    std::atomic<bool> ending{false};  // the daemon ends, and the preparation with it
    std::atomic<bool> allowed{true};  // by the rules; otherwise it ends, until they allow it again
    std::atomic<int> number{0};       // the one that counts; the result of an earlier one comes too late
    // Control thread:
    std::string activity{};  // or why it waits
    bool due = false;        // it begins once the rules allow it
    std::optional<Refusal> refusal{};
    std::optional<Error> failure{};  // the last attempt's; unset: it is the first, or succeeded
    std::string version_required{};  // version that the run needs; this one is older
    net::Backoff backoff;
  };
  // The sensors, and what the control thread wants them to look at. Sensor thread.
  struct Sensing {
    std::atomic<bool> has_project{false};
    std::atomic<bool> needs_programs{false};
    std::atomic<bool> needs_temperature{false};
    sensors::Sensors sensors;
  };
  struct Clocks {
    CorrectedClock corrected;
    SystemClock machine{};
    SleeplessClock elapsed{};
    SettledClock volunteers{machine, elapsed};
  };
  // A run makes room for the next one.
  struct Change {
    bool asks_for_next_run = false;
    std::string closing;              // why the run is being closed; empty: it is not
    std::optional<std::size_t> next;  // index of the project whose turn comes once the run is closed
    // failed_precondition while a run is being closed.
    [[nodiscard]] Status check_over() const;
  };
  struct Turn {
    TimePoint began{};
    TimePoint looked{};        // when the turn was counted last
    TimePoint trained_last{};  // when it last trained, or was forbidden to
    TimePoint saved{};
    bool trains = false;                     // the state published last
    std::map<int, TimePoint> resting_until;  // by number of the membership
  };
  struct History {
    std::int64_t rounds_ended = 0;
    TimePoint saved{};
  };
  struct Updates {
    std::unique_ptr<UpdateKeeper> keeper;
    bool handing_over = false;
  };
  // In the order of their making: those that are fed end before those that feed them.
  struct Loops {
    explicit Loops(const Clock& clock) : control(clock), trainer(clock), coordinator(clock), sensors(clock) {}
    TaskLoop control;
    TaskLoop trainer;
    TaskLoop coordinator;
    TaskLoop sensors;
  };
  struct Remote {
    Mutex mutex;  // opening and shutting the door take turns
    std::unique_ptr<RemoteDoor> door;
  };

  AppOptions options_;
  storage::HostIdentity host_;
  Clocks clocks_;
  net::Line line_;  // all traffic takes from it; the control thread sets its limits
  StatusBoard board_;
  Preparation preparation_;
  Sensing sensing_;
  LookUps look_ups_{line_, clocks_.corrected};  // connections' threads

  // Control thread:
  storage::Memberships memberships_;
  std::unique_ptr<CoordinatorCalls> calls_;
  std::unique_ptr<ProjectRun> run_;
  Updates updates_;
  Change change_;
  Turn turn_;
  Governor governor_;
  History history_;

  Mutex join_mutex_;  // joins take turns
  Loops loops_;
  std::unique_ptr<ControlServer> server_;
  Remote remote_;
};

}  // namespace starling::daemon
