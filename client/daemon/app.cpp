#include "client/daemon/app.h"

#include <fmt/core.h>

#include <future>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/manifest/join_link.h"

namespace starling::daemon {
namespace {

constexpr std::size_t kLogBytesMax = 16 * 1024 * 1024;
constexpr std::size_t kLogReplyBytesMax = wire::kControlLineBytesMax / 4;  // JSON escapes can lengthen it

wire::ControlReply reply_of(const Status& status) {
  wire::ControlReply reply;
  if (!status.ok()) reply.error = status.error();
  return reply;
}

wire::ControlReply reply_of(Result<std::string> text) {
  wire::ControlReply reply;
  if (text.ok()) {
    reply.text = std::move(*text);
  } else {
    reply.error = text.error();
  }
  return reply;
}

Error is_ending() { return {ErrorCode::unavailable, "the daemon is ending"}; }

// What another thread promised; a promise is dropped when the daemon ends.
template <typename T>
T kept(std::future<T> promise) {
  try {
    return promise.get();
  } catch (const std::future_error&) {
    return is_ending();
  }
}

sensors::SensorOptions sensors_for(const AppOptions& options) {
  sensors::SensorOptions sensors = options.sensors;
  sensors.data_dir = options.data_dir;
  return sensors;
}

// Errors that trying again soon cannot mend.
bool is_lasting(ErrorCode code) {
  return code == ErrorCode::unsupported || code == ErrorCode::corrupt || code == ErrorCode::permission_denied ||
         code == ErrorCode::unauthenticated || code == ErrorCode::invalid_argument;
}

}  // namespace

Result<std::unique_ptr<App>> App::create(const AppOptions& options) {
  STARLING_ASSIGN(storage::ProjectFiles files, storage::ProjectFiles::open(options.data_dir));
  STARLING_ASSIGN(crypto::PrivateKey key, files.host_key());
  STARLING_ASSIGN(const std::optional<storage::Project> project, files.project());
  std::unique_ptr<App> app(new App(options, std::move(files), std::move(key)));
  App* self = app.get();
  STARLING_ASSIGN(app->server_, ControlServer::create(app->options_.data_dir / app->options_.control_socket,
                                                      [self](const auto& request) { return self->handle(request); }));
  // The first look comes first, so that nothing begins that the rules forbid.
  app->sensing_.post([self, project] {
    self->look_around();
    self->control_.post([self, project] {
      if (project.has_value()) self->open_project(*project);
      self->publish();
    });
  });
  return app;
}

App::App(const AppOptions& options, storage::ProjectFiles files, crypto::PrivateKey key)
    : options_(options),
      files_(std::move(files)),
      key_(std::move(key)),
      sensors_(sensors_for(options)),
      governor_(storage::PreferenceFiles(options.data_dir), volunteers_clock_, options.threads),
      history_(options.data_dir),
      backoff_(static_cast<std::uint64_t>(clock_.wall_now().unix_ms),
               {std::chrono::milliseconds(500), std::chrono::seconds(30)}),
      control_(clock_),
      trainer_(clock_),
      coordinator_(clock_),
      sensing_(clock_) {
  control_.start("control");
  trainer_.start("trainer");
  coordinator_.start("coordinator");
  sensing_.start("sensors");
  updates_ = std::make_unique<UpdateKeeper>(UpdateOptions{options_.update_source, options_.program, options_.data_dir,
                                                          [this] { control_.post([this] { publish(); }); }, &line_},
                                            volunteers_clock_);
}

App::~App() {
  closing_ = true;
  board_.close();
  look_ups_.cancel();
  updates_->cancel();
  sensing_.stop();
  control_.run_and_wait([this] {
    count_traffic();
    governor_.save_traffic();
    save_history();
    if (run_) run_->stop();
    if (calls_) calls_->cancel();
  });
  // Posted behind everything that still runs on these threads, in the order in which they feed one another.
  coordinator_.run_and_wait([] {});
  trainer_.run_and_wait([this] {
    if (run_) run_->finish_on_trainer(true);
  });
  server_.reset();
  coordinator_.stop();
  trainer_.stop();
  control_.stop();
  updates_.reset();  // posts to control until its thread has ended
}

wire::ControlReply App::handle(const wire::ControlRequest& request) {
  if (request.command == "status") {
    wire::ControlReply reply;
    reply.status = request.after_revision.has_value() ? board_.wait(*request.after_revision, from_ms(wire::kLongPollMs))
                                                      : board_.wait(-1, Duration::zero());
    return reply;
  }
  if (request.command == "join") return reply_of(join(request.link, request.name));
  if (request.command == "pause" || request.command == "resume" || request.command == "preferences" ||
      request.command == "set_preferences") {
    return steer(request);
  }
  if (request.command == "leave") return reply_of(leave());
  if (request.command == "stop" && options_.stop) {
    log_info("asked to end, over the control socket");
    options_.stop();
    return {};
  }
  if (request.command == "log") return reply_of(log_tail(request.lines));
  if (request.command == "history" || request.command == "peers") return recall(request);
  if (request.command == "preview" || request.command == "leaderboard") return look_up(request);
  if (request.command == "update") return reply_of(updates_->ask(request.install));
  if (request.command == "sample") return reply_of(sample(request));
  return reply_of(
      Status(Error{ErrorCode::invalid_argument,
                   fmt::format("this daemon has no command '{}'; if Starling was updated, start the daemon again",
                               request.command)}));
}

Status App::check_vacant() const {
  if (!project_.has_value()) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("this data directory belongs to '{}' already; leave it first (starling leave), or use "
                           "another --data-dir",
                           project_->name)};
}

Status App::join(const std::string& link_text, const std::string& name) {
  auto link = manifest::parse_join_link(link_text);
  if (!link.ok()) return link.error().prefixed("read the join link");
  Status status = is_ending();
  const auto check = [&] { control_.run_and_wait([&] { status = check_vacant(); }); };
  check();  // without waiting for the coordinator thread, which may be busy for long
  if (!status.ok()) return status;
  status = is_ending();
  coordinator_.run_and_wait([&] {
    check();  // joins take turns here: another one may have come first
    if (!status.ok()) return;
    auto project = join_project(*link, name, key_, clock_, &line_);
    status = project.ok() ? files_.save_project(*project) : Status(project.error());
    if (!status.ok()) return;
    log_info("joined '{}' as '{}'", project->name, project->display_name);
    control_.run_and_wait([&] { open_project(*project); });
  });
  return status;
}

Status App::leave() {
  auto answer = std::make_shared<std::promise<Status>>();
  std::future<Status> future = answer->get_future();
  control_.run_and_wait([&] {
    if (!project_.has_value() || leaving_) {
      answer->set_value(Error{ErrorCode::failed_precondition, "there is no project to leave"});
    } else {
      close_project([answer](const Status& closed) { answer->set_value(closed); });
    }
  });
  answer.reset();
  return kept(std::move(future));
}

Result<std::string> App::sample(const wire::ControlRequest& request) {
  // Shared: the trainer thread may answer after this caller has given up.
  auto answer = std::make_shared<std::promise<Result<std::string>>>();
  std::future<Result<std::string>> future = answer->get_future();
  control_.run_and_wait([&] {
    if (!run_) {
      answer->set_value(Error{ErrorCode::failed_precondition, "there is no model here yet: join a project first"});
    } else if (!governor_.verdict().may_train()) {
      answer->set_value(Error{ErrorCode::failed_precondition,
                              "writing text needs the model, which rests: " + describe_obstacle(governor_.verdict())});
    } else {
      run_->sample_text(request.prompt, request.length, request.temperature,
                        [answer](Result<std::string> text) { answer->set_value(std::move(text)); });
    }
  });
  answer.reset();
  return kept(std::move(future));
}

Result<std::string> App::log_tail(int lines) const {
  flush_logs();
  STARLING_ASSIGN(std::string text, read_file(options_.data_dir / "starlingd.log", kLogBytesMax));
  std::size_t start = text.size();
  for (int line = 0; line <= lines && start != std::string::npos && start > 0; ++line)
    start = text.rfind('\n', start - 1);
  text = start == std::string::npos ? text : text.substr(start + (start > 0 ? 1 : 0));
  if (text.size() > kLogReplyBytesMax) text = text.substr(text.size() - kLogReplyBytesMax);
  return text;
}

void App::open_project(const storage::Project& project) {
  project_ = project;
  auto calls = CoordinatorCalls::create(project, key_, clock_, &line_);
  if (!calls.ok()) {
    preparing_ = calls.error().message;
    log_error("open project '{}': {}", project.name, preparing_);
    publish();
    return;
  }
  calls_ = std::move(*calls);
  prepare();
}

void App::prepare() {
  prepare_due_ = !may_prepare_;
  if (prepare_due_) return publish();
  preparing_ = "preparing the run";
  publish();
  const Threads threads{control_, trainer_, coordinator_, clock_};
  const std::int64_t disk_bytes_left = governor_.disk_bytes_left();
  const int preparation = ++preparation_;
  coordinator_.post([this, preparation, threads, disk_bytes_left, project = *project_, calls = calls_.get()] {
    if (closing_ || preparation != preparation_) return;
    PreparationOptions options;
    options.disk_bytes_left = disk_bytes_left;
    options.tell = [this](const std::string& doing) {
      control_.post([this, doing] {
        preparing_ = doing;
        publish();
      });
    };
    options.too_old = [this](const std::string& version) {
      control_.post([this, version] {
        version_required_ = version;
        updates_->hurry();
      });
    };
    options.may_go_on = [this, preparation] { return !closing_ && may_prepare_ && preparation == preparation_; };
    auto prepared = prepare_run(project, files_, *calls, clock_, options);
    if (!prepared.ok()) {
      control_.post([this, preparation, error = prepared.error()] { on_prepared(preparation, error); });
      return;
    }
    trainer_.post([this, preparation, threads, project, calls, prepared = std::move(*prepared)] {
      if (closing_ || preparation != preparation_) return;
      auto run = ProjectRun::create(threads, options_.run, {project, prepared, key_, files_, *calls, line_});
      // std::function wants copyable tasks, so the run travels in a shared holder.
      auto holder = std::make_shared<Result<std::unique_ptr<ProjectRun>>>(std::move(run));
      control_.post([this, preparation, holder] { on_prepared(preparation, std::move(*holder)); });
    });
  });
}

void App::on_prepared(int preparation, Result<std::unique_ptr<ProjectRun>> run) {
  if (closing_ || preparation != preparation_) return;
  if (!run.ok() && !may_prepare_) return prepare();
  if (!run.ok()) {
    const Duration delay = is_lasting(run.error().code) ? std::chrono::seconds(60) : backoff_.next_delay();
    log_warning("{}; trying again in {:.1f} s", run.error().message, to_seconds(delay));
    preparing_ = run.error().message;
    control_.set_timer(clock_.now() + delay, [this] { prepare(); });
    publish();
    return;
  }
  backoff_.reset();
  version_required_.clear();
  run_ = std::move(*run);
  rounds_ended_ = 0;
  run_->start(
      permission(), [this] { publish(); },
      [this](wire::HistoryPoint round) {
        round.begin = volunteers_clock_.wall_now();
        history_.add(round);
      });
}

void App::close_project(std::function<void(Status)> closed) {
  leaving_ = true;
  ++preparation_;
  prepare_due_ = false;
  control_.set_timer(kNever, nullptr);
  count_traffic();
  if (run_) run_->stop();
  if (calls_) calls_->cancel();
  // Whatever still runs on the other threads ends first, in the order in which they feed one another; then the run,
  // what it called with, and its files may go.
  auto run = std::make_shared<std::unique_ptr<ProjectRun>>(std::move(run_));
  coordinator_.post([this, run, closed = std::move(closed)] {
    trainer_.post([this, run, closed] {
      if (*run) (*run)->finish_on_trainer(false);
      control_.post([this, run, closed] {
        run->reset();
        closed(forget_project());
      });
    });
  });
  publish();
}

Status App::forget_project() {
  leaving_ = false;
  calls_.reset();
  if (Status removed = files_.remove_project(); !removed.ok()) {
    open_project(storage::Project(*project_));
    return removed.error().prefixed("leave the project");
  }
  project_.reset();
  version_required_.clear();
  if (const Status removed = history_.remove(); !removed.ok()) log_warning("{}", removed.error().message);
  publish();
  return {};
}

void App::publish() {
  wire::DaemonStatus status;
  status.version = kVersion;
  status.peer = key_.peer_id();
  if (!project_.has_value()) {
    status.phase = "idle";
    status.reason = "no project was joined";
    status.ends_when = "you join one: starling join LINK --name NAME";
  } else if (leaving_) {
    status.phase = "idle";
    status.reason = "leaving the project";
    status.ends_when = "what it left on this disk is removed";
  } else {
    status.project = project_->name;
    status.display_name = project_->display_name;
    if (run_) {
      run_->describe(status);
    } else {
      status.phase = prepare_due_ ? "paused" : "preparing";
      status.reason = preparing_;
      status.ends_when = version_required_.empty() ? "the model and its data are here" : "Starling is updated";
    }
  }
  status.update = updates_->status();
  status.update.required = version_required_;
  governor_.describe(status);
  notice_round_ends(status);
  board_.publish(std::move(status));
}

}  // namespace starling::daemon
