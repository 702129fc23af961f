// The daemon put together: its threads, its data directory, at most one project, and the control socket. The life of a
// project here: joined -> preparing (manifest, data, model) -> running; preparation is tried again until it succeeds.
// All along the sensors look every second, and whatever the volunteer's rules say is obeyed at once.
//
// The control thread owns everything below `control thread` in the members; connections' threads only post to it.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/daemon/control_server.h"
#include "client/daemon/coordinator_calls.h"
#include "client/daemon/corrected_clock.h"
#include "client/daemon/governor.h"
#include "client/daemon/look_ups.h"
#include "client/daemon/project_run.h"
#include "client/daemon/status_board.h"
#include "client/daemon/task_loop.h"
#include "client/daemon/update_keeper.h"
#include "client/sensors/sensors.h"
#include "client/storage/history.h"
#include "client/storage/project_files.h"
#include "shared/base/result.h"
#include "shared/net/backoff.h"
#include "shared/net/line.h"
#include "shared/wire/control.h"

namespace starling::daemon {

struct AppOptions {
  std::filesystem::path data_dir;
  std::string control_socket = "control.sock";  // in the data directory
  RunOptions run;
  int threads = 0;                      // of the trainer, whatever the preferences say; 0: what they say
  sensors::SensorOptions sensors;       // but the data directory
  std::filesystem::path update_source;  // where to look for newer versions; a file that is not there: nowhere
  std::filesystem::path program;        // this daemon's own: it tells whether the installation may change itself
  // A newer version lies there complete, and a good moment has come: end soon, and start it. Control thread.
  std::function<void(const std::string& version)> hand_over;
  std::function<void()> stop;   // ends the program, soon, when the volunteer asks for it; any thread
  std::function<void()> alive;  // about once a second, on the control thread, for as long as that does not hang
};

class App {
 public:
  // Opens the data directory and the control socket and, when a project was joined earlier, goes on with it.
  static Result<std::unique_ptr<App>> create(const AppOptions& options);
  // Saves the model, ends the trainer and all threads. Blocks for as long as one step or save takes.
  ~App();

 private:
  App(const AppOptions& options, storage::ProjectFiles files, crypto::PrivateKey key);

  wire::ControlReply handle(const wire::ControlRequest& request);
  Status join(const std::string& link, const std::string& name);
  wire::ControlReply steer(const wire::ControlRequest& request);  // pause, resume, preferences
  Status leave();
  Result<std::string> sample(const wire::ControlRequest& request);
  Result<std::string> log_tail(int lines) const;
  wire::ControlReply recall(const wire::ControlRequest& request);   // history, peers
  wire::ControlReply look_up(const wire::ControlRequest& request);  // preview, leaderboard: asks a coordinator

  // Control thread.
  void open_project(const storage::Project& project);
  void prepare();
  void on_prepared(int preparation, Result<std::unique_ptr<ProjectRun>> run);
  [[nodiscard]] Status check_vacant() const;  // whether a project may be joined
  // `closed` gets the end, on the control thread: the project is forgotten, or, when its files cannot be removed, goes
  // on.
  void close_project(std::function<void(Status)> closed);
  Status forget_project();
  void publish();
  // Asks the rules and does what they say. Whenever anything that they look at has changed, and every second.
  void obey();
  void count_traffic();
  void save_history();
  void notice_round_ends(const wire::DaemonStatus& status);
  // At the end of a round, or where none is under way.
  void start_waiting_version();
  [[nodiscard]] Permission permission() const;

  // Sensor thread.
  void look_around();

  AppOptions options_;
  storage::ProjectFiles files_;
  crypto::PrivateKey key_;
  CorrectedClock clock_;
  SystemClock volunteers_clock_;
  net::Line line_;  // all traffic takes from it; the control thread sets its limits
  StatusBoard board_;
  std::atomic<bool> closing_{false};     // ends a preparation that is under way
  std::atomic<bool> may_prepare_{true};  // so does this, until the rules allow it again
  std::atomic<int> preparation_{0};      // the one that counts; whatever an earlier one brings comes too late
  std::atomic<bool> need_programs_{false};
  std::atomic<bool> need_temperature_{false};
  sensors::Sensors sensors_;  // sensor thread
  LookUps look_ups_{line_};   // connections' threads

  // Control thread:
  std::optional<storage::Project> project_;
  std::unique_ptr<CoordinatorCalls> calls_;
  std::unique_ptr<ProjectRun> run_;
  std::unique_ptr<UpdateKeeper> updates_;
  std::string version_required_;  // by the run, and this is older
  bool handing_over_ = false;
  bool leaving_ = false;  // the project is closed, its files are still there
  Governor governor_;
  std::string preparing_;     // what the preparation is doing, or why it waits
  bool prepare_due_ = false;  // once the rules allow it
  std::int64_t rounds_ended_ = 0;
  storage::HistoryFile history_;
  TimePoint history_saved_{};
  net::Backoff backoff_;

  TaskLoop control_;
  TaskLoop trainer_;
  TaskLoop coordinator_;
  TaskLoop sensing_;
  std::unique_ptr<ControlServer> server_;
};

}  // namespace starling::daemon
