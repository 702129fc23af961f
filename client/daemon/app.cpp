#include "client/daemon/app.h"

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <future>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/overloaded.h"
#include "shared/base/version.h"

namespace starling::daemon {
namespace {

constexpr Duration kFirstLookMax = std::chrono::seconds(5);  // a status is answered when there is one, or after this
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

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

// The last lines of the daemon's log.
Result<std::string> log_tail(const std::filesystem::path& data_dir, int lines) {
  flush_logs();
  STARLING_ASSIGN(std::string text, read_file(data_dir / "starlingd.log", kLogBytesMax));
  std::size_t start = text.size();
  for (int line = 0; line <= lines && start != std::string::npos && start > 0; ++line)
    start = text.rfind('\n', start - 1);
  text = start == std::string::npos ? text : text.substr(start + (start > 0 ? 1 : 0));
  if (text.size() > kLogReplyBytesMax) text = text.substr(text.size() - kLogReplyBytesMax);
  return text;
}

Error is_ending() { return {ErrorCode::unavailable, "the daemon is ending"}; }

// Returns the promised value of another thread; a promise is dropped when the daemon ends.
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

}  // namespace

Result<std::unique_ptr<App>> App::create(const AppOptions& options) {
  STARLING_ASSIGN(storage::ProjectFiles files, storage::ProjectFiles::open(options.data_dir));
  STARLING_ASSIGN(storage::HostIdentity host, files.host_identity());
  STARLING_ASSIGN(storage::Memberships memberships, storage::Memberships::open(std::move(files)));
  std::unique_ptr<App> app(new App(options, std::move(memberships), std::move(host)));
  App* self = app.get();
  STARLING_ASSIGN(app->server_, ControlServer::create(app->options_.data_dir / app->options_.control_socket,
                                                      [self](const auto& request) { return self->handle(request); }));
  if (options.remote_door) app->remote_.door->reopen();
  // The first look comes first, so that nothing begins that the rules forbid.
  app->loops_.sensors.post([self] {
    self->look_around();
    self->loops_.control.post([self] {
      if (self->current() != nullptr) self->open_project();
      self->publish();
    });
  });
  return app;
}

App::App(const AppOptions& options, storage::Memberships memberships, storage::HostIdentity host)
    : options_(options),
      host_(std::move(host)),
      preparation_{.backoff = net::Backoff(static_cast<std::uint64_t>(clocks_.corrected.wall_now().unix_ms),
                                           {std::chrono::milliseconds(500), std::chrono::seconds(30)})},
      sensing_{.sensors = sensors::Sensors(sensors_for(options))},
      memberships_(std::move(memberships)),
      governor_(storage::PreferenceFiles(options.data_dir), clocks_.volunteers, options.threads),
      loops_(clocks_.corrected) {
  remote_.door = std::make_unique<RemoteDoor>(options_.data_dir, clocks_.volunteers,
                                              [this](const auto& request) { return handle(request); });
  loops_.control.start("control");
  loops_.trainer.start("trainer");
  loops_.coordinator.start("coordinator");
  loops_.sensors.start("sensors");
  updates_.keeper =
      std::make_unique<UpdateKeeper>(UpdateOptions{options_.update_source, options_.program, options_.data_dir,
                                                   [this] { loops_.control.post([this] { publish(); }); }, &line_},
                                     clocks_.volunteers);
}

App::~App() {
  preparation_.ending = true;
  board_.close();
  look_ups_.cancel();
  updates_.keeper->cancel();
  loops_.sensors.stop();
  loops_.control.run_and_wait([this] {
    count_traffic();
    governor_.save_traffic();
    save_history();
    if (run_) run_->stop();
    if (calls_) calls_->cancel();
  });
  // These tasks stand behind everything that still runs on these threads, in the order in which they feed one another.
  loops_.coordinator.run_and_wait([] {});
  loops_.trainer.run_and_wait([this] {
    if (run_) run_->finish_on_trainer(true);
  });
  server_.reset();
  remote_.door->close();  // control still asks for its view
  loops_.coordinator.stop();
  loops_.trainer.stop();
  loops_.control.stop();
  updates_.keeper.reset();  // posts to control until its thread has ended
}

wire::ControlReply App::handle(const wire::ControlRequest& request) {
  using namespace wire;
  return std::visit(
      Overloaded{
          [&](const GetStatus& asked) { return status_after(asked.after_revision); },
          [&](const JoinProject& asked) {
            return reply_of(join(asked.link, {asked.name, asked.email, asked.password}));
          },
          [&](const LeaveProject& asked) { return reply_of(leave(asked.project)); },
          [&](const ListProjects&) { return arrange(nullptr); },
          [&](const ShareProject& asked) { return arrange([&] { return share(asked); }); },
          [&](const TrainProject& asked) { return arrange([&] { return give_turn(asked.project); }); },
          [&](const AllowProject& asked) { return arrange([&] { return allow(asked.project); }); },
          [&](const OneOf<Pause, Resume, GetPreferences, SetPreferences> auto&) { return steer(request); },
          [&](const OneOf<GetHistory, GetPeers> auto&) { return recall(request); },
          [&](const OneOf<PreviewProject, GetLeaderboard, ArrangeTeam> auto&) { return look_up(request); },
          [&](const GetLog& asked) { return reply_of(log_tail(options_.data_dir, asked.lines)); },
          [&](const ArrangeRemote& asked) { return arrange_remote(asked); },
          [&](const LookForUpdate& asked) { return reply_of(updates_.keeper->ask(asked.install)); },
          [&](const SampleText& asked) { return reply_of(sample(asked)); },
          [&](const StopDaemon&) { return reply_of(stop()); },
          [](const Authenticate&) {
            return reply_of(
                Status(Error{ErrorCode::invalid_argument, "a token is the first line from another computer"}));
          },
      },
      request);
}

wire::ControlReply App::status_after(std::optional<std::int64_t> revision) {
  wire::ControlReply reply;
  reply.status = board_.wait(std::max<std::int64_t>(0, revision.value_or(0)),
                             revision ? from_ms(wire::kLongPollMs) : kFirstLookMax);
  return reply;
}

Status App::stop() {
  if (!options_.stop) return Error{ErrorCode::unsupported, "this daemon cannot be ended from here"};
  log_info("asked to end, over the control socket");
  options_.stop();
  return {};
}

Result<std::string> App::sample(const wire::SampleText& request) {
  // Shared: the trainer thread may answer after this caller has given up.
  auto answer = std::make_shared<std::promise<Result<std::string>>>();
  std::future<Result<std::string>> future = answer->get_future();
  loops_.control.run_and_wait([&] {
    if (!run_) {
      answer->set_value(
          Error{ErrorCode::failed_precondition,
                "there is no model here yet: join a project, or see `starling status` for what its run waits for"});
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

void App::publish() {
  wire::DaemonStatus status;
  status.version = kVersion;
  status.membership.peer = host_.key.peer_id();
  status.membership.projects = static_cast<int>(memberships_.all().size());
  const storage::Membership* membership = current();
  sensing_.has_project = membership != nullptr;
  if (membership != nullptr) {
    status.membership.project = membership->project.name;
    status.membership.display_name = membership->project.display_name;
  }
  if (!change_.closing.empty()) {
    status.phase = wire::DaemonPhase::idle;
    status.reason = change_.closing;
    status.ends_when = "what it left is put away";
  } else if (membership == nullptr) {
    status.phase = wire::DaemonPhase::idle;
    status.reason = "no project was joined";
    status.ends_when = "you join one: starling join LINK --name NAME";
  } else if (run_) {
    run_->describe(status);
  } else {
    status.phase = preparation_.due ? wire::DaemonPhase::paused : wire::DaemonPhase::preparing;
    status.reason = preparation_.activity;
    status.ends_when =
        preparation_.version_required.empty() ? "the model and its data are here" : "Starling is updated";
    if (preparation_.failure && preparation_.version_required.empty() && !preparation_.due) {
      const Obstacle obstacle = obstacle_of(*preparation_.failure);
      if (status.reason == preparation_.failure->message) status.ends_when = obstacle.ends_when;
      if (obstacle.is_problem && !preparation_.refusal) status.problems.push_back(preparation_.failure->message);
    }
    if (preparation_.refusal) {
      status.ends_when = preparation_.refusal->ends_when;
      status.rules.action = preparation_.refusal->action;
      status.rules.action_command = preparation_.refusal->command;
    }
  }
  status.update = updates_.keeper->status();
  status.update.required = preparation_.version_required;
  governor_.describe(status);
  if (const std::string problem = remote_.door->view().problem; !problem.empty()) {
    status.problems.push_back("other computers cannot control this daemon: " + problem);
  }
  notice_round_ends(status);
  board_.publish(std::move(status));
}

}  // namespace starling::daemon
