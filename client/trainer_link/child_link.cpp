#include "client/trainer_link/child_link.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "client/session/failure_text.h"
#include "client/trainer_link/channel.h"
#include "client/trainer_link/child_fds.h"
#include "shared/base/log.h"

namespace starling::trainer_link {
namespace {

// A start reads a few hundred megabytes of libraries, perhaps from a slow disk. The first start gets 3 minutes, and
// later ones not much less than a minute, since the libraries need not be in memory any more.
constexpr DeadlineOptions kStartDeadline{.floor = std::chrono::seconds(45),
                                         .longest = std::chrono::minutes(12),
                                         .patience = 8,
                                         .unseen_work_per_s = 1.0 / 180};
// Longest wait of a call for its turn to start a child; after it the call returns why there is none.
constexpr Duration kTurnWaitMax = std::chrono::seconds(2);
// Checks of a starved child within its patience.
constexpr int kStarvationChecks = 4;
// A process that closed its channel is ending; its exit status follows within moments.
constexpr Duration kEndGrace = std::chrono::seconds(1);

std::vector<std::string> environment_of(const TrainerProcessOptions& options) {
  std::vector<std::string> environment{
      "LC_ALL=C",
      fmt::format("OMP_NUM_THREADS={}", options.limits.threads),
      fmt::format("OPENBLAS_NUM_THREADS={}", options.limits.threads),
  };
  if (options.limits.gpu_memory_percent == 0) {  // an empty list means no card to every runtime that knows these names
    environment.insert(environment.end(), {"CUDA_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES=", "ZE_AFFINITY_MASK="});
  }
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  return environment;
}

Error stopped(Command command) {
  return {ErrorCode::unavailable, fmt::format("{}: the trainer was stopped", to_string(command))};
}

}  // namespace

ChildLink::ChildLink(const TrainerProcessOptions& options, session::StateLayout layout, int memory_fd)
    : options_(options), layout_(layout), memory_fd_(memory_fd), restarts_(options.restarts) {
  deadlines_.fill(Deadline(options.deadlines));
  deadlines_[static_cast<std::size_t>(Command::start)] = Deadline(kStartDeadline);
}

ChildLink::~ChildLink() { stop(); }

Result<Reply> ChildLink::call(Request request, double work) {
  const std::uint64_t stops_seen = stops();
  if (Status ready = ensure_child(stops_seen); !ready.ok()) return ready.error().prefixed(to_string(request.command));
  return perform(request, work);
}

Result<Reply> ChildLink::call_living(Request request, double work) {
  if (!has_child()) {
    return Error{ErrorCode::unavailable, fmt::format("{}: no trainer is running", to_string(request.command))};
  }
  return perform(request, work);
}

Result<Reply> ChildLink::perform(Request& request, double work) {
  STARLING_ASSIGN(Reply reply, exchange(request, work));
  if (!reply.status.ok()) return reply.status.error().prefixed(to_string(request.command));
  restarts_.on_success();
  return reply;
}

bool ChildLink::has_child() const {
  const MutexLock lock(mutex_);
  return endable_ != nullptr;
}

Error ChildLink::condemn(Command command, std::string why) { return bury(command, ErrorCode::corrupt, std::move(why)); }

Status ChildLink::ensure_child(std::uint64_t stops_seen) {
  if (has_child()) return {};
  child_.reset();  // stop() ended it between two calls
  STARLING_TRY(wait_for_turn(stops_seen));
  STARLING_TRY(spawn(stops_seen));
  return introduce();
}

Status ChildLink::wait_for_turn(std::uint64_t stops_seen) {
  const TimePoint give_up = clock_.now() + kTurnWaitMax;
  const MutexLock lock(mutex_);
  for (TimePoint now = clock_.now(); now < restarts_.next_start(); now = clock_.now()) {
    if (stops_ != stops_seen) return stopped(Command::start);
    if (now < give_up) {
      stop_called_.wait_for(mutex_, std::min(give_up, restarts_.next_start()) - now);
      continue;
    }
    const double wait = to_seconds(restarts_.next_start() - now);
    if (!restarts_.exhausted(now)) {
      return Error{ErrorCode::unavailable, fmt::format("the trainer is started again in {:.0f} s{}{}", wait,
                                                       session::kLastTime, view_.last_death)};
    }
    return Error{ErrorCode::unavailable,
                 fmt::format("the trainer died {} times within a minute and is tried again in {:.0f} s{}{}",
                             options_.restarts.deaths_per_minute, wait, session::kLastTime, view_.last_death)};
  }
  return {};
}

Status ChildLink::spawn(std::uint64_t stops_seen) {
  STARLING_ASSIGN(auto ends, make_channel());
  SpawnOptions options;
  options.program = options_.program;
  options.arguments = {kParentOption, std::to_string(::getpid())};
  options.environment = environment_of(options_);
  // With shards, data comes with the batches, and without a piece there is none: what stands in the files' places is
  // ignored.
  const int validation = options_.validation_data ? options_.validation_data.get() : memory_fd_;
  const int train = options_.train_data ? options_.train_data.get() : validation;
  options.fds = {ends.second.get(), memory_fd_, train, validation};
  if (options_.model_program) options.fds.push_back(options_.model_program.get());
  auto child = ChildProcess::spawn(options);
  const MutexLock lock(mutex_);
  if (!child.ok()) {
    restarts_.on_death(clock_.now());
    view_.last_death = child.error().message;
    return child.error();
  }
  if (stops_ != stops_seen) return stopped(Command::start);
  child_ = std::make_unique<ChildProcess>(std::move(child).value());
  channel_ = std::move(ends.first);
  endable_ = child_.get();
  ended_by_stop_ = false;
  view_.pid = child_->pid();
  ++view_.starts;
  return {};
}

Status ChildLink::introduce() {
  Request request;
  request.command = Command::start;
  request.limits = options_.limits;
  request.text = wire::encode_manifest(options_.manifest);
  request.piece = options_.manifest.model.experts.piece;
  STARLING_ASSIGN(const Reply reply, exchange(request, 1));
  if (!reply.status.ok()) return bury(Command::start, reply.status.error().code, reply.status.error().message);
  if (reply.layout.parameter_count != layout_.parameter_count ||
      reply.layout.optimizer_vectors != layout_.optimizer_vectors) {
    return condemn(Command::start, "it builds a model of another size than this daemon expects");
  }
  const wire::ComputeDevice& device = reply.device;
  log_info("trainer {} is ready, confined by {}; it computes on {}{}", child_->pid(), reply.text, wire::to_text(device),
           device.card_unused.empty() ? "" : "; a graphics card is not used: " + device.card_unused);
  const MutexLock lock(mutex_);
  view_.confinement = reply.text;
  if (!device.kind.empty()) view_.device = device;
  return {};
}

Result<Reply> ChildLink::exchange(Request& request, double work) {
  request.sequence = ++sequence_;
  Deadline& deadline = deadlines_[static_cast<std::size_t>(request.command)];
  const TimePoint begun = clock_.now();
  if (Status sent = send_message(channel_.get(), encode(request), request.data_fd); !sent.ok()) {
    return bury(request.command, ErrorCode::unavailable, "");
  }
  auto reply = await_reply(request, deadline.allowed(work));
  // Lengthens only the deadline of a start: a slow disk needs more time on each try, a command that hangs does not.
  const bool too_slow = !reply.ok() && reply.error().code == ErrorCode::deadline_exceeded;
  if (too_slow && request.command == Command::start) deadline.on_timeout(work);
  if (reply.ok() && reply->status.ok()) deadline.observe(clock_.now() - begun, work);
  return reply;
}

Result<Reply> ChildLink::await_reply(const Request& request, Duration allowed) {
  const Duration processor_time = child_->activity().processor_time;
  TimePoint deadline = clock_.now() + allowed;
  pollfd watched[2] = {{channel_.get(), POLLIN, 0}, {child_->error_output(), POLLIN, 0}};
  while (true) {
    const auto left_ms = std::clamp<std::int64_t>(to_ms(deadline - clock_.now()) + 1, 0, 60'000);
    const int ready = ::poll(watched, 2, static_cast<int>(left_ms));
    if (ready < 0 && errno != EINTR) return bury(request.command, ErrorCode::io, "the channel cannot be watched");
    if (ready > 0 && watched[1].revents != 0 && !child_->drain_error_output()) watched[1].fd = -1;
    if (ready > 0 && watched[0].revents != 0) {
      auto reply = take_reply(request);
      if (!reply.ok() || !reply->status.ok() || reply->stepped_bucket == kNoBucket) return reply;
      const Status expected = bucket_stepped_(reply->stepped_bucket);
      if (!expected.ok()) return condemn(request.command, expected.error().message);
    }
    if (clock_.now() < deadline) continue;
    if (!is_starved(child_->activity(), processor_time, allowed)) {
      return bury(request.command, ErrorCode::deadline_exceeded,
                  fmt::format("it hung: no answer within {:.1f} s", to_seconds(allowed)));
    }
    deadline = clock_.now() + allowed / kStarvationChecks;
  }
}

// On a busy computer the child may get next to no processor time: it is runnable, but has not used up its allowed time.
// A child that hangs either sleeps or has used it up.
bool ChildLink::is_starved(const ChildProcess::Activity& now, Duration processor_time_before, Duration allowed) const {
  return now.runnable && now.processor_time - processor_time_before < allowed * options_.limits.threads;
}

Result<Reply> ChildLink::take_reply(const Request& request) {
  auto message = receive_message(channel_.get());
  if (!message.ok() && message.error().code == ErrorCode::corrupt) {
    return condemn(request.command, message.error().message);
  }
  if (!message.ok()) return bury(request.command, ErrorCode::unavailable, "");
  auto reply = decode_reply(*message);
  if (!reply.ok()) return bury(request.command, reply.error().code, reply.error().message);
  if (reply->sequence != request.sequence) return condemn(request.command, "it answered another request");
  return reply;
}

// `why` is empty when only the child's exit status can tell.
Error ChildLink::bury(Command command, ErrorCode code, std::string why) {
  if (why.empty()) child_->wait_for_end(kEndGrace);  // without the mutex: stop() ends it without waiting for this
  const MutexLock lock(mutex_);
  child_->end();
  child_->drain_error_output();
  endable_ = nullptr;
  view_.pid = 0;
  const bool asked_for = ended_by_stop_;
  if (why.empty()) why = "it " + child_->epitaph();
  std::string output = child_->last_output();
  child_.reset();
  channel_.reset();
  if (asked_for) return stopped(command);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (!output.empty()) why += fmt::format(", after saying: {}", output);
  view_.last_death = fmt::format("{}: the trainer failed, {}", to_string(command), why);
  ++view_.deaths;
  restarts_.on_death(clock_.now());
  log_warning("{}", view_.last_death);
  return {code, view_.last_death};
}

std::uint64_t ChildLink::stops() const {
  const MutexLock lock(mutex_);
  return stops_;
}

void ChildLink::stop() {
  const MutexLock lock(mutex_);
  ++stops_;
  if (endable_ != nullptr) {
    endable_->end();
    endable_ = nullptr;
    ended_by_stop_ = true;
    view_.pid = 0;
  }
  stop_called_.notify_all();
}

TrainerProcessView ChildLink::view() const {
  const MutexLock lock(mutex_);
  return view_;
}

}  // namespace starling::trainer_link
