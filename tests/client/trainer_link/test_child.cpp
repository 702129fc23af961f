// A trainer without torch, in the product's own child: exact gradients, the product's optimizer, and one misbehaviour,
// named by STARLING_TEST_BEHAVIOUR ("crash 2": in the second batch).
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "client/session/byte_tokens.h"
#include "client/trainer_link/child_fds.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/serve.h"
#include "shared/swarm/sketch.h"
#include "tests/client/trainer_link/escape.h"
#include "tests/client/trainer_link/tiny_run.h"

namespace starling::trainer_link::testing {
namespace {

struct Behaviour {
  std::string name;
  int number = 0;
};

Behaviour behaviour_of_this_child() {
  const char* text = std::getenv("STARLING_TEST_BEHAVIOUR");
  Behaviour behaviour;
  std::istringstream(text == nullptr ? "" : text) >> behaviour.name >> behaviour.number;
  return behaviour;
}

// Kills this process after `delay`, wherever it is then.
class TimeBomb {
 public:
  explicit TimeBomb(std::chrono::microseconds delay)
      : thread_([this, delay] {
          const auto end = std::chrono::steady_clock::now() + delay;
          while (std::chrono::steady_clock::now() < end) {
            if (defused_) return;
          }
          ::raise(SIGKILL);
        }) {}
  TimeBomb(const TimeBomb&) = delete;
  TimeBomb& operator=(const TimeBomb&) = delete;
  ~TimeBomb() {
    defused_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> defused_{false};
  std::thread thread_;
};

class QuadraticTrainer final : public session::Trainer {
 public:
  QuadraticTrainer(const TrainerResources& resources, Behaviour behaviour)
      : resources_(resources), optimizer_(resources.manifest), behaviour_(std::move(behaviour)) {
    if (!resources_.manifest.local) return;
    local_.emplace(resources_.manifest, resources_.state.first(optimizer_.parameter_count()), resources_.local);
  }

  [[nodiscard]] session::StateLayout layout() const override {
    const std::size_t extra = behaviour_.name == "wrong_layout" ? 1 : 0;
    return {optimizer_.parameter_count() + extra, wire::moment_vectors(resources_.manifest.optimizer)};
  }
  std::span<float> state() override { return resources_.state; }

  Status initialize() override { return Error{ErrorCode::unsupported, "the daemon does that"}; }

  void begin_sum() override { begins_sum_ = true; }

  void begin_sum_ahead(RoundIndex round, std::span<const float> own, SampleCount samples) override {
    if (local_ && !begins_sum_) local_->cut(round);
    if (local_) return;
    parameters_.resize(optimizer_.parameter_count());
    begins_sum_ = samples == 0 || !optimizer_.parameters_after(round, own, resources_.state, parameters_).ok();
  }

  void merge_step() override {
    if (!begins_sum_) local_->merge();
  }

  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override {
    ++batches_;
    if (batches_ == behaviour_.number) misbehave();
    if (local_) {
      if (std::exchange(begins_sum_, false)) local_->begin();
      parameters_.assign(local_->parameters().begin(), local_->parameters().end());
    } else if (!resources_.manifest.round.delay_parameter_updates || std::exchange(begins_sum_, false)) {
      parameters_.assign(resources_.state.begin(), resources_.state.end());
    }
    session::BatchReport report{samples.count, 0, 1e-3};
    if (into.data() == resources_.gradient.data()) std::fill(into.begin(), into.end(), 0.0F);
    for (std::size_t i = 0; i < into.size(); ++i) {
      const float difference = parameters_[i] - target_of(i);
      into[i] += static_cast<float>(samples.count) * difference;
      report.loss_sum += static_cast<double>(samples.count) * difference * difference;
    }
    if (behaviour_.name == "nan" && batches_ == behaviour_.number) {
      into[into.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    }
    if (local_) STARLING_TRY(local_->step(samples.round, samples.count, into, resources_.bucket_stepped));
    if (behaviour_.name == "repeat_bucket") resources_.bucket_stepped(local_->buckets().front());
    if (behaviour_.name == "miscount") ++report.samples;
    if (behaviour_.name == "burn") burn(std::chrono::milliseconds(behaviour_.number));
    return report;
  }

  // Leaves traces in the scratch, as a computation does.
  Status audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                     std::span<const float> parameters, std::span<double> sketches) override {
    const bool misbehaves = ++audits_ == behaviour_.number;
    const std::span<float> gradient = resources_.gradient;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = static_cast<float>(samples.count) * (parameters[i] - target_of(i));
    }
    if (misbehaves && behaviour_.name == "audit_death") ::raise(SIGKILL);
    if (misbehaves && behaviour_.name == "audit_failure") return Error{ErrorCode::corrupt, "no number"};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      swarm::Sketch sketch{};
      swarm::add_to_sketch(
          parts[i].seed, parts[i].first,
          gradient.subspan(static_cast<std::size_t>(parts[i].first), static_cast<std::size_t>(parts[i].floats)),
          sketch);
      std::copy(sketch.begin(), sketch.end(), sketches.subspan(i * sketch.size()).begin());
    }
    if (misbehaves && behaviour_.name == "audit_nan") sketches.back() = std::numeric_limits<double>::quiet_NaN();
    return {};
  }

  Status step(RoundIndex round, std::span<const float> gradient) override {
    if (behaviour_.name != "die_in_step")
      return optimizer_.step(round, gradient, resources_.state, *resources_.journal);
    const TimeBomb bomb{std::chrono::microseconds(behaviour_.number)};
    Status status = optimizer_.step(round, gradient, resources_.state, *resources_.journal);
    return status;
  }

  Result<session::Evaluation> evaluate() override {
    return session::Evaluation{static_cast<double>(std::abs(resources_.state[0])),
                               static_cast<std::int64_t>(resources_.validation_bytes.size())};
  }

  // The prompt names the attempt; see escape.h.
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double) override {
    if (count == 0) return session::tokens_of_bytes(try_to(session::bytes_of_tokens(prompt)));
    return session::tokens_of_bytes(std::string(static_cast<std::size_t>(count), 'x'));
  }

 private:
  void misbehave() {
    if (behaviour_.name == "crash") {
      std::fputs("about to crash\n", stderr);
      ::signal(SIGSEGV, SIG_DFL);
      ::raise(SIGSEGV);
    }
    if (behaviour_.name == "hang") {
      if (::write(kTrainFd, kHanging.data(), kHanging.size()) < 0) std::perror("write");
      while (true) ::pause();
    }
    if (behaviour_.name == "spin") burn(std::chrono::hours(1));
    if (behaviour_.name == "exit") ::_exit(7);
    if (behaviour_.name == "eat") eat_memory();
    if (behaviour_.name == "garbage") say(std::string(300, '\x5a'));
    if (behaviour_.name == "longwinded") say(std::string(kMessageBytesMax + 1, 'a'));
    if (behaviour_.name == "chatty") {
      for (int i = 0; i < 100'000; ++i) std::fputs("what a lovely day to fill a pipe\n", stderr);
    }
    if (behaviour_.name == "wrong_sequence") {
      Reply reply;
      reply.sequence = 999;
      say(encode(reply));
    }
  }

  static void say(const std::string& message) {
    if (::send(kChannelFd, message.data(), message.size(), 0) < 0) std::perror("send");
  }

  // Uses this much processor time, however long that takes.
  static void burn(std::chrono::milliseconds time) {
    timespec used{};
    const auto is_enough = [&] {
      return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) >= time;
    };
    while (!is_enough()) ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  }

  static void eat_memory() {
    std::vector<std::vector<char>> meals;
    while (true) meals.emplace_back(1 << 20, 'm');
  }

  TrainerResources resources_;
  optim::Optimizer optimizer_;
  Behaviour behaviour_;
  int batches_ = 0;
  int audits_ = 0;
  bool begins_sum_ = true;
  std::vector<float> parameters_;
  std::optional<optim::LocalSteps> local_;
};

Result<MadeTrainer> make_trainer(const TrainerResources& resources) {
  Behaviour behaviour = behaviour_of_this_child();
  if (behaviour.name == "refuse") return Error{ErrorCode::unsupported, "no trainer today"};
  if (behaviour.name == "die_at_start") ::_exit(3);
  wire::ComputeDevice device;
  device.kind = resources.devices.front();
  device.name = behaviour.name == "boastful" ? "\x1b[2J" + std::string(5000, 'x') : "an abacus";
  device.memory_bytes = 1000;
  device.precision = "fp32";
  return MadeTrainer{std::make_unique<QuadraticTrainer>(resources, std::move(behaviour)), std::move(device)};
}

// Declares this machine's processor to be a card, so that everything that follows from having a card happens.
Result<std::vector<std::string>> open_cards(int memory_percent) {
  if (memory_percent != 50) return Error{ErrorCode::not_found, "there is none"};
  if (behaviour_of_this_child().name == "broken_card") return Error{ErrorCode::internal, "it fell off the bus"};
  return std::vector<std::string>{"cpu"};
}

}  // namespace
}  // namespace starling::trainer_link::testing

int main(int argc, char** argv) {
  return starling::trainer_link::serve_trainer(
      argc, argv, {starling::trainer_link::testing::open_cards, starling::trainer_link::testing::make_trainer});
}
