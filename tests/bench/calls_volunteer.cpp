// One volunteer of the calls benchmark: the product's windows, desk and links, and a trainer. Its only thread is the
// work thread: it computes windows on command, and in between answers others' calls.
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/daemon/cell_work.h"
#include "client/transport/peer_network.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"
#include "shared/swarm/plan.h"
#include "tests/bench/bench_network.h"
#include "tests/bench/calls_bench.h"
#include "tests/bench/process_pool.h"

namespace starling::bench {
namespace {

constexpr std::size_t kGreetingFloats = 4096;

using Holders = std::map<wire::CellIndex, std::vector<PeerId>>;

double now_s() { return to_seconds(std::chrono::steady_clock::now().time_since_epoch()); }

// Rung on any thread, heard in a poll().
class Doorbell {
 public:
  Doorbell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void ring() const { ::eventfd_write(fd_.get(), 1); }
  // Whether it was rung since the last time.
  [[nodiscard]] bool heard() const {
    eventfd_t rings = 0;
    return ::eventfd_read(fd_.get(), &rings) == 0;
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

class CallsVolunteer {
 public:
  static Result<std::unique_ptr<CallsVolunteer>> create(const CallsChild& child);
  [[nodiscard]] std::string endpoint() const { return fmt::format("{} {}", child_.address, network_->port()); }
  // Obeys commands until there are no more.
  Status serve();

 private:
  explicit CallsVolunteer(const CallsChild& child) : child_(child), model_(calls_model_of(child.model)) {}
  Result<std::string> obey(const std::string& command);
  // Makes links with the peers at these addresses, by rank, and waits until they are up.
  Status meet(std::istringstream& endpoints);
  // "CELL CELL …": holds them, in their first state.
  Status hold(std::istringstream& cells);
  // "CELL:RANK,RANK …": calls these holders.
  Status call(std::istringstream& holders);
  // Computes as many windows, the first ones of which are not counted. Returns the seconds of each other one.
  Result<std::string> train(std::istringstream& counts);
  // Likewise, of the whole model in one trainer.
  Result<std::string> train_whole(std::istringstream& counts);
  // Computes windows until the next command comes. Returns the moments at which each began, and at which the last one
  // ended.
  Result<std::string> train_on();
  Result<double> window();
  // Takes the gradients of the cells that are held, as at the end of a round; nothing steps. Returns the CPU seconds of
  // this process that it took, and the gradients' bytes.
  [[nodiscard]] std::string end_round();
  // Since the last round's end: CPU seconds of this process, bytes of calls sent and received, units computed for
  // others, and units that own windows asked for.
  [[nodiscard]] std::string costs();
  [[nodiscard]] wire::SampleRange next_samples();

  const CallsChild child_;
  const CallsModel model_;
  SystemClock clock_;
  Doorbell calls_wait_;
  std::vector<PeerId> members_;
  std::unique_ptr<transport::PeerNetwork> network_;
  std::unique_ptr<trainer_link::TrainerProcess> trainer_, whole_;
  std::unique_ptr<daemon::CellWork> work_;
  std::vector<float> gradient_, whole_gradient_, round_;
  std::vector<wire::CellIndex> held_;
  RoundIndex windows_ = 0;
  std::int64_t units_asked_ = 0;
  double cpu_before_ = 0;  // at the last round's end
  // At the last costs().
  transport::NetworkStats network_before_{};
  std::int64_t units_before_ = 0;
};

Result<std::unique_ptr<CallsVolunteer>> CallsVolunteer::create(const CallsChild& child) {
  std::unique_ptr<CallsVolunteer> volunteer(new CallsVolunteer(child));
  const BenchHome home{child.rank, child.peers, child.address, child.folder, ""};
  STARLING_ASSIGN(volunteer->members_, members_of(home));
  STARLING_ASSIGN(volunteer->network_, open_network(home, volunteer->clock_, nullptr));
  STARLING_ASSIGN(trainer_link::TrainerProcessOptions trainer,
                  calls_trainer(volunteer->model_, wire::kTrunk, child.yields));
  STARLING_ASSIGN(volunteer->trainer_, trainer_link::TrainerProcess::create(std::move(trainer)));
  STARLING_TRY(volunteer->trainer_->initialize());
  daemon::CellWorkOptions options;
  options.trunk = calls_manifest(volunteer->model_, wire::kTrunk);
  options.self = volunteer->members_[static_cast<std::size_t>(child.rank)];
  options.in_flight_max = static_cast<std::size_t>(volunteer->model_.in_flight);
  options.piece_samples = volunteer->model_.micro_batch;
  volunteer->work_ = std::make_unique<daemon::CellWork>(
      std::move(options), *volunteer->network_, *volunteer->trainer_, volunteer->clock_,
      daemon::CellWork::Listener{[&bell = volunteer->calls_wait_] { bell.ring(); }, {}});
  STARLING_TRY(volunteer->work_->prepare());
  volunteer->gradient_.resize(volunteer->trainer_->layout().parameter_count);
  return volunteer;
}

Status CallsVolunteer::serve() {
  pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {calls_wait_.fd(), POLLIN, 0}};
  while (true) {
    if (calls_wait_.heard()) {
      while (work_->serve()) {
      }
    }
    if (::poll(watched, 2, -1) < 0 || watched[0].revents == 0) continue;
    const std::string command = read_command();
    if (command.empty()) return {};
    STARLING_ASSIGN(const std::string line, obey(command));
    answer(line);
  }
}

Result<std::string> CallsVolunteer::obey(const std::string& command) {
  std::istringstream in(command);
  std::string verb;
  in >> verb;
  if (verb == "train") return train(in);
  if (verb == "train-whole") return train_whole(in);
  if (verb == "train-on") return train_on();
  if (verb == "costs") return costs();
  if (verb == "end-round") return end_round();
  if (verb == "meet") STARLING_TRY(meet(in));
  if (verb == "hold") STARLING_TRY(hold(in));
  if (verb == "call") STARLING_TRY(call(in));
  return std::string("done");
}

// A link of each with each is up when all have averaged a vector of which everybody owns a part.
Status CallsVolunteer::meet(std::istringstream& endpoints) {
  std::vector<wire::MemberInfo> members(members_.size());
  std::vector<wire::Endpoint> others;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    wire::Endpoint& endpoint = members[rank].endpoint;
    endpoint.peer = members_[rank];
    endpoints >> endpoint.host >> endpoint.port;
    others.push_back(endpoint);
  }
  const auto self = static_cast<std::size_t>(child_.rank);
  network_->link_with_holders(others, others[self]);
  swarm::PlanOptions options;
  options.run_id = kBenchRun;
  options.vector_floats = kGreetingFloats;
  options.target_batch_size = std::ssize(members);
  transport::AverageRequest request;
  request.group = swarm::plan_group(members, options);
  const auto place = std::ranges::find(request.group.members, members_[self],
                                       [](const wire::GroupMember& member) { return member.endpoint.peer; });
  if (place == request.group.members.end()) return Error{ErrorCode::failed_precondition, request.group.reason};
  request.self = static_cast<averaging::Rank>(place - request.group.members.begin());
  std::vector<float> greeting(kGreetingFloats), answer(kGreetingFloats);
  request.weight = 1;
  request.input = greeting;
  request.output = answer;
  request.start = clock_.now();
  std::promise<averaging::AveragingOutcome> ended;
  request.done = [&ended](const averaging::AveragingOutcome& outcome) { ended.set_value(outcome); };
  STARLING_TRY(network_->average(std::move(request)));
  const averaging::AveragingOutcome outcome = ended.get_future().get();
  network_->abandon();
  if (outcome.verdict == averaging::AveragingOutcome::Verdict::averaged && outcome.lost.empty()) return {};
  return Error{ErrorCode::unavailable, "make links with the other volunteers: somebody is missing"};
}

Status CallsVolunteer::hold(std::istringstream& cells) {
  for (wire::CellIndex cell = 0; cells >> cell;) {
    STARLING_ASSIGN(const std::span<float> state, work_->hold(cell));
    state::fill_initial_state(calls_manifest(model_, cell), state);
    work_->serve_cell(cell, 0);
    held_.push_back(cell);
  }
  return {};
}

Status CallsVolunteer::call(std::istringstream& holders) {
  Holders by_cell;
  for (std::string entry; holders >> entry;) {
    std::istringstream in(entry);
    wire::CellIndex cell = 0;
    char separator = 0;
    in >> cell;
    for (std::size_t rank = 0; in >> separator >> rank;) by_cell[cell].push_back(members_.at(rank));
  }
  work_->set_holders(by_cell);
  return {};
}

wire::SampleRange CallsVolunteer::next_samples() {
  return {windows_++, child_.rank, 0, model_.window_samples(), wire::kNoEpoch};
}

Result<double> CallsVolunteer::window() {
  STARLING_ASSIGN(const session::BatchReport report, work_->train(next_samples(), gradient_));
  units_asked_ += report.samples * model_.context * model_.active * model_.layers;
  return report.seconds;
}

Result<std::string> CallsVolunteer::train(std::istringstream& counts) {
  int before = 0;
  int counted = 0;
  counts >> before >> counted;
  std::string seconds;
  for (int i = 0; i < before + counted; ++i) {
    STARLING_ASSIGN(const double took, window());
    if (i >= before) seconds += fmt::format("{:.6f} ", took);
  }
  return seconds;
}

Result<std::string> CallsVolunteer::train_whole(std::istringstream& counts) {
  if (whole_ == nullptr) {
    STARLING_ASSIGN(trainer_link::TrainerProcessOptions options,
                    calls_trainer(model_, wire::kWholeModel, child_.yields));
    STARLING_ASSIGN(whole_, trainer_link::TrainerProcess::create(std::move(options)));
    STARLING_TRY(whole_->initialize());
    whole_gradient_.resize(whole_->layout().parameter_count);
  }
  int before = 0;
  int counted = 0;
  counts >> before >> counted;
  std::string seconds;
  for (int i = 0; i < before + counted; ++i) {
    const double began = now_s();
    STARLING_TRY(whole_->train_batch(next_samples(), whole_gradient_).status());
    if (i >= before) seconds += fmt::format("{:.6f} ", now_s() - began);
  }
  return seconds;
}

Result<std::string> CallsVolunteer::train_on() {
  const auto is_told = [] {
    pollfd commands{STDIN_FILENO, POLLIN, 0};
    return ::poll(&commands, 1, 0) > 0;
  };
  std::string moments = fmt::format("{:.6f}", now_s());
  while (!is_told()) {
    STARLING_TRY(window().status());
    moments += fmt::format(" {:.6f}", now_s());
  }
  (void)read_command();
  return moments;
}

std::string CallsVolunteer::end_round() {
  const std::vector<wire::Cell> cells = wire::cells_of(calls_manifest(model_, wire::kTrunk).model);
  std::size_t floats = 0;
  for (const wire::CellIndex cell : held_) floats += cells[static_cast<std::size_t>(cell)].count;
  round_.resize(floats);  // a run has this memory all the time
  const double before = cpu_seconds();
  std::span<float> left(round_);
  for (const wire::CellIndex cell : held_) {
    const std::size_t count = cells[static_cast<std::size_t>(cell)].count;
    (void)work_->take_gradient(cell, left.first(count));
    left = left.subspan(count);
  }
  cpu_before_ = cpu_seconds();
  return fmt::format("{:.6f} {}", cpu_before_ - before, floats * sizeof(float));
}

std::string CallsVolunteer::costs() {
  const transport::NetworkStats network = network_->stats();
  const daemon::CellWork::Served served = work_->served();
  std::int64_t units = 0;
  for (const auto& [cell, by_expert] : served.units) units = std::accumulate(by_expert.begin(), by_expert.end(), units);
  std::string line = fmt::format("{:.6f} {} {} {} {}", cpu_seconds() - cpu_before_,
                                 network.call_bytes_sent - network_before_.call_bytes_sent,
                                 network.call_bytes_received - network_before_.call_bytes_received,
                                 units - std::exchange(units_before_, units), std::exchange(units_asked_, 0));
  network_before_ = network;
  return line;
}

}  // namespace

int run_calls_volunteer(const CallsChild& child) {
  const auto fail = [&child](const Error& error) {
    std::fprintf(stderr, "volunteer %d: %s\n", child.rank, error.message.c_str());
    return 1;
  };
  const auto volunteer = CallsVolunteer::create(child);
  if (!volunteer.ok()) return fail(volunteer.error());
  answer((*volunteer)->endpoint());
  const Status status = (*volunteer)->serve();
  return status.ok() ? 0 : fail(status.error());
}

}  // namespace starling::bench
