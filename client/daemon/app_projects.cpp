// The daemon's projects: joining, leaving, and one after another, each for its turn.
#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <utility>

#include "client/daemon/app.h"
#include "shared/base/log.h"
#include "shared/manifest/join_link.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::daemon {
namespace {

constexpr Duration kTurnSavedEvery = std::chrono::seconds(60);
constexpr Duration kLookedLongAgo = std::chrono::seconds(5);  // the computer slept

Error is_ending() { return {ErrorCode::unavailable, "the daemon is ending"}; }

// Errors that trying again soon cannot mend.
bool is_lasting(ErrorCode code) {
  return code == ErrorCode::unsupported || code == ErrorCode::corrupt || code == ErrorCode::permission_denied ||
         code == ErrorCode::unauthenticated || code == ErrorCode::invalid_argument;
}

// Resources of this computer, disk above all, may be free again at any moment, and looking costs nobody else anything.
constexpr Duration kHereWaitMax = std::chrono::seconds(5);
bool is_of_this_computer(ErrorCode code) { return code == ErrorCode::resource_exhausted || code == ErrorCode::io; }

}  // namespace

storage::Membership* App::current() {
  const std::size_t index = memberships_.current();
  return index < memberships_.all().size() ? &memberships_.all()[index] : nullptr;
}

Result<std::string> App::join(const std::string& link_text, const Applicant& applicant) {
  STARLING_ASSIGN(const manifest::JoinLink link, manifest::parse_join_link(manifest::find_join_link(link_text)));
  const MutexLock lock(join_mutex_);
  Status status = is_ending();
  loops_.control.run_and_wait([&] { status = memberships_.check_new(link.host, link.port); });
  if (!status.ok()) return status.error();
  auto project = join_project(link, applicant, host_, clocks_.corrected, &line_);
  if (!project.ok()) return project.error();
  status = is_ending();
  loops_.control.run_and_wait([&] {
    status = memberships_.add(*project, policy::trained_at_start(claims()));
    if (!status.ok()) return;
    log_info("joined '{}' as '{}'", project->name, project->display_name);
    change_over(memberships_.all().size() - 1);
  });
  if (!status.ok()) return status.error();
  return fmt::format("Joined '{}' as '{}'.", project->name, project->display_name);
}

Status App::Change::check_over() const {
  if (closing.empty()) return {};
  return Error{ErrorCode::failed_precondition, fmt::format("{}: try again in a moment", closing)};
}

Result<std::size_t> App::meant(const std::string& project) const {
  if (!project.empty()) return memberships_.find(project);
  if (memberships_.all().size() == 1) return 0;
  if (memberships_.all().empty()) return Error{ErrorCode::failed_precondition, "no project was joined"};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("{} projects were joined: say which one (starling projects lists them)", memberships_.all().size())};
}

Status App::leave(const std::string& project) {
  auto answer = std::make_shared<std::promise<Status>>();
  std::future<Status> future = answer->get_future();
  loops_.control.run_and_wait([&] {
    const auto index = meant(project);
    if (const Status settled = change_.check_over(); !settled.ok()) {
      answer->set_value(settled);
    } else if (!index.ok()) {
      answer->set_value(index.error());
    } else {
      leave_now(*index, [answer](const Status& left) { answer->set_value(left); });
    }
  });
  answer.reset();
  try {
    return future.get();
  } catch (const std::future_error&) {
    return is_ending();
  }
}

void App::leave_now(std::size_t index, std::function<void(Status)> left) {
  if (index != memberships_.current()) {
    turn_.resting_until.erase(memberships_.all()[index].number);
    const Status removed = memberships_.remove(index);
    publish();
    return left(removed.ok() ? removed : removed.error().prefixed("leave the project"));
  }
  close_run("leaving the project", false, [this, index, left = std::move(left)] {
    const Status removed = memberships_.remove(index);
    if (removed.ok()) {
      open_next();
    } else {
      open_project();
    }
    publish();
    left(removed.ok() ? removed : removed.error().prefixed("leave the project"));
  });
}

wire::ControlReply App::arrange(const std::function<Result<std::string>()>& work) {
  wire::ControlReply reply;
  reply.error = is_ending();
  loops_.control.run_and_wait([&] {
    reply.error.reset();
    if (work) {
      if (auto arranged = work(); arranged.ok()) {
        reply.text = std::move(*arranged);
      } else {
        reply.error = arranged.error();
      }
    }
    reply.projects = project_views();
  });
  return reply;
}

Result<std::string> App::give_turn(const std::string& project) {
  STARLING_ASSIGN(const std::size_t index, meant(project));
  if (change_.next) {
    change_.next = index;
  } else {
    STARLING_TRY(change_.check_over());
    change_over(index);
  }
  return change_.next ? fmt::format("Changing over to '{}'.", memberships_.all()[index].project.name) : std::string();
}

Result<std::string> App::allow(const std::string& project) {
  STARLING_ASSIGN(const std::size_t index, meant(project));
  STARLING_TRY(change_.check_over());
  STARLING_TRY(allow_program(memberships_.all()[index]));
  return std::string();
}

Result<std::string> App::share(const wire::ShareProject& request) {
  STARLING_ASSIGN(const std::size_t index, meant(request.project));
  if (!request.share || *request.share > storage::kShareMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("a share is a number from 0 to {}", storage::kShareMax)};
  }
  memberships_.all()[index].share = *request.share;
  STARLING_TRY(memberships_.save());
  return std::string();
}

Status App::allow_program(const storage::Membership& membership) {
  STARLING_ASSIGN(const auto key, crypto::PublicKey::from_pem(membership.project.manifest_public_key));
  STARLING_ASSIGN(const std::string kept, membership.files->manifest_envelope());
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(kept));
  STARLING_ASSIGN(const wire::RunManifest manifest, manifest::verify_manifest(envelope, key));
  if (!wire::has_program(manifest.model)) {
    return Error{ErrorCode::failed_precondition,
                 "this project's run is no program of its own: nothing is to be allowed"};
  }
  STARLING_TRY(membership.files->allow(manifest.model.script.program.sha256));
  log_info("allowed: program {} of '{}'", manifest.model.script.program.sha256.hex(), membership.project.name);
  if (&membership == current() && !run_) {
    preparation_.refusal.reset();
    prepare();
  }
  return {};
}

std::vector<wire::ProjectView> App::project_views() {
  std::vector<wire::ProjectView> views;
  const std::size_t turn = change_.next.value_or(memberships_.current());
  for (std::size_t i = 0; i < memberships_.all().size(); ++i) {
    const storage::Membership& membership = memberships_.all()[i];
    views.push_back({membership.project.name, membership.project.display_name, storage::address_of(membership.project),
                     membership.share, membership.trained_s, i == turn});
  }
  return views;
}

void App::open_project() {
  storage::Membership& membership = *current();
  turn_ = {};
  turn_.began = turn_.looked = turn_.trained_last = turn_.saved = clocks_.corrected.now();
  history_.rounds_ended = 0;
  preparation_.backoff.reset();
  preparation_.refusal.reset();
  preparation_.failure.reset();
  auto calls = CoordinatorCalls::create(membership.project, host_.key, clocks_.corrected, &line_);
  if (!calls.ok()) {
    preparation_.activity = calls.error().message;
    preparation_.failure = calls.error();
    log_error("open project '{}': {}", membership.project.name, preparation_.activity);
    publish();
    return;
  }
  calls_ = std::move(*calls);
  prepare();
}

void App::open_next() {
  if (memberships_.all().empty()) return;
  policy::Turn over;
  over.lasted = options_.turns.turn;
  memberships_.set_current(policy::whose_turn(claims(), 0, over, options_.turns));
  open_project();
}

void App::prepare() {
  preparation_.due = !preparation_.allowed;
  if (preparation_.due) return publish();
  // An obstacle and its remedy stay on display until they are known to be gone.
  if (!preparation_.refusal) preparation_.activity = "preparing the run";
  publish();
  const Threads threads{loops_.control, loops_.trainer, loops_.coordinator, clocks_.corrected};
  const std::int64_t disk_bytes_left = governor_.disk_bytes_left();
  const MemoryHere memory = governor_.memory();
  const int preparation = ++preparation_.number;
  loops_.coordinator.post([this, preparation, threads, disk_bytes_left, memory, project = current()->project,
                           files = current()->files.get(), calls = calls_.get()] {
    if (preparation_.ending || preparation != preparation_.number) return;
    PreparationOptions options;
    options.disk_bytes_left = disk_bytes_left;
    options.memory = memory;
    options.tell = [this, preparation](const std::string& doing) {
      loops_.control.post([this, preparation, doing] {
        if (preparation_.refusal || preparation != preparation_.number) return;
        preparation_.activity = doing;
        publish();
      });
    };
    options.too_old = [this, preparation](const std::string& version) {
      loops_.control.post([this, preparation, version] {
        if (preparation != preparation_.number) return;
        preparation_.version_required = version;
        updates_.keeper->hurry();
      });
    };
    options.judge = [this, preparation](const std::optional<Refusal>& refusal) {
      loops_.control.post([this, preparation, refusal] {
        if (preparation == preparation_.number) preparation_.refusal = refusal;
      });
    };
    options.may_go_on = [this, preparation] {
      return !preparation_.ending && preparation_.allowed && preparation == preparation_.number;
    };
    auto prepared = prepare_run(project, *files, *calls, clocks_.corrected, options);
    if (!prepared.ok()) {
      loops_.control.post([this, preparation, error = prepared.error()] { on_prepared(preparation, error); });
      return;
    }
    loops_.trainer.post([this, preparation, threads, project, files, calls, prepared = std::move(*prepared)] {
      if (preparation_.ending || preparation != preparation_.number) return;
      auto run = ProjectRun::create(threads, options_.run, {project, prepared, host_.key, *files, *calls, line_});
      // A std::function needs copyable tasks, so the run travels in a shared holder.
      auto holder = std::make_shared<Result<std::unique_ptr<ProjectRun>>>(std::move(run));
      loops_.control.post([this, preparation, holder] { on_prepared(preparation, std::move(*holder)); });
    });
  });
}

void App::on_prepared(int preparation, Result<std::unique_ptr<ProjectRun>> run) {
  if (preparation_.ending || preparation != preparation_.number) return;
  if (!run.ok() && !preparation_.allowed) return prepare();
  if (!run.ok()) {
    const ErrorCode code = run.error().code;
    Duration delay = is_lasting(code) ? std::chrono::seconds(60) : preparation_.backoff.next_delay();
    if (is_of_this_computer(code)) delay = std::min(delay, kHereWaitMax);
    log_warning("{}; trying again in {:.1f} s", run.error().message, to_seconds(delay));
    preparation_.activity = run.error().message;
    preparation_.failure = run.error();
    if (preparation_.refusal && preparation_.refusal->reason != preparation_.activity) preparation_.refusal.reset();
    loops_.control.set_timer(clocks_.corrected.now() + delay, [this] { prepare(); });
    publish();
    return;
  }
  preparation_.backoff.reset();
  preparation_.version_required.clear();
  preparation_.failure.reset();
  run_ = std::move(*run);
  history_.rounds_ended = 0;
  ProjectRun::Listener listener;
  listener.changed = [this] { publish(); };
  listener.round_done = [this](wire::HistoryPoint round) {
    round.begin = clocks_.corrected.or_own(clocks_.volunteers.wall_now());
    if (storage::Membership* membership = current(); membership != nullptr) membership->history.add(round);
  };
  listener.not_served = [this](const RunId& run_id) { follow_to_next_run(run_id); };
  run_->start(permission(), std::move(listener));
}

// Work on the other threads ends first, in the order in which they feed one another; then the run, and its calls, may
// go.
void App::close_run(std::string reason, bool keep_state, std::function<void()> closed) {
  change_.closing = std::move(reason);
  preparation_.version_required.clear();
  ++preparation_.number;
  preparation_.due = false;
  loops_.control.set_timer(kNever, nullptr);
  count_traffic();
  save_history();
  if (run_) run_->stop();
  if (calls_) calls_->cancel();
  auto run = std::make_shared<std::unique_ptr<ProjectRun>>(std::move(run_));
  loops_.coordinator.post([this, run, keep_state, closed = std::move(closed)] {
    loops_.trainer.post([this, run, keep_state, closed] {
      if (*run) (*run)->finish_on_trainer(keep_state);
      loops_.control.post([this, run, closed] {
        run->reset();
        calls_.reset();
        count_traffic();  // the next run counts from the beginning
        change_.closing.clear();
        closed();
      });
    });
  });
  publish();
}

void App::change_over(std::size_t next) {
  if (!change_.closing.empty() || (current() != nullptr && memberships_.current() == next)) return;
  const auto open = [this] {
    memberships_.set_current(*std::exchange(change_.next, std::nullopt));
    log_info("it is the turn of '{}'", current()->project.name);
    if (const Status saved = memberships_.save(); !saved.ok()) log_warning("{}", saved.error().message);
    open_project();
    publish();
  };
  change_.next = next;
  if (current() == nullptr) return open();
  close_run("changing over to another project", true, open);
}

// The present run goes on until the next run's manifest was seen and is sound.
void App::follow_to_next_run(const RunId& run_id) {
  if (change_.asks_for_next_run) return;
  change_.asks_for_next_run = true;
  loops_.coordinator.post(
      [this, run_id, preparation = preparation_.number.load(), project = current()->project, calls = calls_.get()] {
        const bool too_late = preparation_.ending || preparation != preparation_.number;
        auto served = too_late ? Result<RunId>(is_ending()) : served_run(project, *calls);
        loops_.control.post([this, run_id, preparation, served = std::move(served)] {
          change_.asks_for_next_run = false;
          if (preparation_.ending || preparation != preparation_.number || !served.ok() || *served == run_id) return;
          log_info("the project trains '{}' now, no longer '{}'", *served, run_id);
          close_run("changing over to the project's next run", true, [this] { open_project(); });
        });
      });
}

std::vector<policy::Claim> App::claims() const {
  std::vector<policy::Claim> claims;
  for (const storage::Membership& membership : memberships_.all()) {
    const auto rests = turn_.resting_until.find(membership.number);
    claims.push_back({membership.share, membership.trained_s,
                      rests != turn_.resting_until.end() && rests->second > clocks_.corrected.now()});
  }
  return claims;
}

void App::count_turn() {
  storage::Membership* membership = current();
  if (membership == nullptr || !change_.closing.empty() || turn_.began == TimePoint()) return;
  const TimePoint now = clocks_.corrected.now();
  const Duration passed = std::min<Duration>(now - turn_.looked, kLookedLongAgo);
  turn_.looked = now;
  if (turn_.trains) membership->trained_s += to_seconds(passed);
  if (turn_.trains || !governor_.verdict().may_train()) turn_.trained_last = now;
  if (memberships_.all().size() < 2) return;
  if (now - turn_.saved >= kTurnSavedEvery) {
    turn_.saved = now;
    if (const Status saved = memberships_.save(); !saved.ok()) log_warning("{}", saved.error().message);
  }
  if (!turn_.trains) end_turn_if_over();
}

void App::end_turn_if_over() {
  if (current() == nullptr || !change_.closing.empty() || memberships_.all().size() < 2) return;
  const TimePoint now = clocks_.corrected.now();
  const policy::Turn turn{now - turn_.began, now - turn_.trained_last};
  const std::size_t next = policy::whose_turn(claims(), memberships_.current(), turn, options_.turns);
  if (next == memberships_.current()) return;
  if (turn.untrained >= options_.turns.patience) turn_.resting_until[current()->number] = now + options_.turns.rest;
  change_over(next);
}

}  // namespace starling::daemon
