#include "client/trainer_link/trainer_process.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "shared/base/words.h"
#include "shared/run/buckets.h"
#include "shared/run/model_layout.h"
#include "tests/client/trainer_link/tiny_run.h"

using namespace starling;
using namespace starling::trainer_link;
using namespace starling::trainer_link::testing;

namespace {

constexpr wire::SampleRange kBatch{0, 0, 0, 8};

std::unique_ptr<TrainerProcess> make(TrainerProcessOptions options) {
  auto trainer = TrainerProcess::create(std::move(options));
  REQUIRE(trainer.ok());
  return std::move(trainer).value();
}

std::unique_ptr<TrainerProcess> make(const std::string& behaviour) { return make(tiny_options(TEST_CHILD, behaviour)); }

std::vector<float> expected_gradient(TrainerProcess& trainer, float samples) {
  std::vector<float> gradient(trainer.layout().parameter_count);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = samples * (trainer.state()[i] - target_of(i));
  return gradient;
}

std::set<std::string> environment_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  std::set<std::string> entries;
  for (std::string entry; std::getline(file, entry, '\0');) entries.insert(entry);
  return entries;
}

// Runs a batch that must fail; returns its error.
Error failing_batch(TrainerProcess& trainer) {
  std::vector<float> gradient(trainer.layout().parameter_count, 5.0F);
  const auto report = trainer.train_batch(kBatch, gradient);
  REQUIRE_FALSE(report.ok());
  CHECK(gradient == std::vector<float>(gradient.size(), 5.0F));
  return report.error();
}

void check_good_batch(TrainerProcess& trainer) {
  std::vector<float> gradient(trainer.layout().parameter_count);
  const auto report = trainer.train_batch(kBatch, gradient);
  REQUIRE(report.ok());
  CHECK(report->samples == 8);
  CHECK(gradient == expected_gradient(trainer, 8));
}

}  // namespace

TEST_CASE("a child computes gradients, steps, evaluates and samples") {
  auto trainer = make("");
  REQUIRE(trainer->initialize().ok());
  CHECK(trainer->view().pid == 0);
  check_good_batch(*trainer);
  CHECK(trainer->view().pid > 0);
  std::vector<float> gradient(trainer->layout().parameter_count, 1.0F);
  const float before = trainer->state()[0];
  REQUIRE(trainer->step(0, gradient).ok());
  CHECK(trainer->state()[0] < before);
  CHECK(trainer->view().steps_taken_here == 0);
  const auto evaluation = trainer->evaluate();
  REQUIRE(evaluation.ok());
  CHECK(evaluation->bytes == 4'000);
  const auto tokens = trainer->sample_tokens(std::vector<int>{104, 70'000}, 3, 0.5);
  REQUIRE(tokens.ok());
  CHECK(*tokens == std::vector<int>(3, 'x'));
  CHECK(trainer->view().starts == 1);
  CHECK(trainer->view().deaths == 0);
}

TEST_CASE("daemon and child agree on the state of every optimizer, and on every bit of a step") {
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    CAPTURE(word_of(kind));
    TrainerProcessOptions options = tiny_options(TEST_CHILD);
    options.manifest.optimizer = wire::default_optimizer(kind);
    const wire::RunManifest manifest = options.manifest;
    auto trainer = TrainerProcess::create(std::move(options));
    REQUIRE(trainer.ok());
    REQUIRE((*trainer)->initialize().ok());
    REQUIRE((*trainer)->evaluate().ok());  // a child exists from here on
    const optim::Optimizer optimizer(manifest);
    REQUIRE((*trainer)->state().size() == optimizer.state_size());
    CHECK((*trainer)->layout().size() == optimizer.state_size());
    std::vector<float> expected((*trainer)->state().begin(), (*trainer)->state().end());
    const auto journal = std::make_unique<optim::StepJournal>();
    for (RoundIndex round = 0; round < 9; ++round) {
      std::vector<float> gradient(optimizer.parameter_count());
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>((i + 3) % 11) - 5;
      REQUIRE((*trainer)->step(round, gradient).ok());
      REQUIRE(optimizer.step(round, gradient, expected, *journal).ok());
    }
    CHECK(std::equal(expected.begin(), expected.end(), (*trainer)->state().begin()));
    CHECK((*trainer)->view().steps_taken_here == 0);
    CHECK((*trainer)->view().deaths == 0);
  }
}

TEST_CASE("with delayed updates a child keeps its parameters until a sum begins, a step is done, or it is replaced") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD);
  options.manifest.round.delay_parameter_updates = true;
  auto trainer = make(std::move(options));
  REQUIRE(trainer->initialize().ok());
  const std::span<float> state = trainer->state();
  const auto computed = [&trainer] {
    std::vector<float> gradient(trainer->layout().parameter_count);
    REQUIRE(trainer->train_batch(kBatch, gradient).ok());
    return gradient;
  };
  const auto expected = [&state](std::size_t count) {
    std::vector<float> gradient(count);
    for (std::size_t i = 0; i < count; ++i) gradient[i] = 8 * (state[i] - target_of(i));
    return gradient;
  };
  const std::size_t count = trainer->layout().parameter_count;
  const std::vector<float> first = computed();
  CHECK(first == expected(count));
  state[0] += 1;  // a step that is under way also changes it
  CHECK(computed() == first);
  trainer->begin_sum();
  CHECK(computed() == expected(count));
  state[1] += 1;
  trainer->stop();
  CHECK(computed() == expected(count));
  const std::vector<float> ones(count, 1.0F);
  for (RoundIndex round = 0; round < 20; ++round) {
    const std::vector<float> before = expected(count);
    std::thread stepper([&] { CHECK(trainer->step(round, ones).ok()); });
    const std::vector<float> beside = computed();
    stepper.join();
    CHECK((beside == before || beside == expected(count)));
    CHECK(computed() == expected(count));
    CHECK(expected(count) != before);
  }
  CHECK(trainer->view().starts == 2);
}

TEST_CASE("a sum ahead is computed where a step with one's own gradient leads, until the state steps") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD);
  options.manifest.round.delay_parameter_updates = true;
  const optim::Optimizer optimizer(options.manifest);
  auto trainer = make(std::move(options));
  REQUIRE(trainer->initialize().ok());
  const std::size_t count = trainer->layout().parameter_count;
  const auto computed = [&] {
    std::vector<float> gradient(count);
    REQUIRE(trainer->train_batch({1, 0, 0, 8}, gradient).ok());
    return gradient;
  };
  const auto expected_at = [count](std::span<const float> state) {
    std::vector<float> gradient(count);
    for (std::size_t i = 0; i < count; ++i) gradient[i] = 8 * (state[i] - target_of(i));
    return gradient;
  };
  const std::vector<float> own = computed();
  std::vector<float> mean = own;
  for (float& value : mean) value /= 8;
  std::vector<float> ahead(count);
  REQUIRE(optimizer.parameters_after(0, mean, trainer->state(), ahead).ok());
  const std::vector<float> before = expected_at(trainer->state());
  CHECK(expected_at(ahead) != before);

  trainer->begin_sum_ahead(0, own, 8);
  CHECK(computed() == expected_at(ahead));
  CHECK(computed() == expected_at(ahead));
  trainer->begin_sum();  // the round did not count
  CHECK(computed() == before);
  trainer->begin_sum_ahead(0, own, 0);  // without a contribution of its own
  CHECK(computed() == before);
  trainer->begin_sum_ahead(0, std::vector<float>(count, std::numeric_limits<float>::infinity()), 8);
  CHECK(computed() == before);

  trainer->begin_sum_ahead(0, own, 8);
  trainer->stop();  // the next child can still be given the sum
  CHECK(computed() == expected_at(ahead));
  trainer->stop();
  CHECK(computed() == before);

  const std::vector<float> ones(count, 1.0F);
  trainer->begin_sum_ahead(0, own, 8);
  REQUIRE(trainer->step(0, ones).ok());
  const std::vector<float> after = expected_at(trainer->state());
  CHECK(after != before);
  CHECK(computed() == after);
  trainer->begin_sum_ahead(0, own, 8);  // too late
  CHECK(computed() == after);
}

TEST_CASE(
    "a bucket that has stepped is told of before its batch is over, and what is written there counts from then on") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD);
  options.manifest.local.emplace().optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
  options.manifest.local->schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = 0.125, .warmup_rounds = 0};
  options.manifest.local->partners = wire::GossipPartners::ring;
  const wire::RunManifest manifest = options.manifest;
  auto trainer = make(std::move(options));
  REQUIRE(trainer->initialize().ok());
  const std::size_t count = trainer->layout().parameter_count;
  std::vector<float> own(wire::local_state_size(manifest));
  optim::LocalSteps expected(manifest, trainer->state().first(count), own);
  expected.begin();
  std::vector<wire::Bucket> told;
  trainer->on_bucket_stepped([&](const wire::Bucket& bucket) {
    told.push_back(bucket);
    trainer->own_parameters()[bucket.begin] += 0.25F;
  });
  for (int batch = 0; batch < 3; ++batch) {
    told.clear();
    std::vector<float> sum(count);
    REQUIRE(trainer->train_batch(kBatch, sum).ok());
    CHECK(told == wire::buckets(manifest.model));
    std::vector<float> gradient(count);
    for (std::size_t i = 0; i < count; ++i) gradient[i] = 8 * (expected.parameters()[i] - target_of(i));
    REQUIRE(expected.step(0, 8, gradient).ok());
    CHECK(sum == gradient);
    for (const wire::Bucket& bucket : expected.buckets()) expected.parameters()[bucket.begin] += 0.25F;
    CHECK(std::equal(expected.parameters().begin(), expected.parameters().end(), trainer->own_parameters().begin()));
  }
}

TEST_CASE("a child that tells of a bucket twice is ended") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "repeat_bucket");
  options.manifest.local.emplace().optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
  options.manifest.local->partners = wire::GossipPartners::ring;
  auto trainer = make(std::move(options));
  REQUIRE(trainer->initialize().ok());
  int told = 0;
  trainer->on_bucket_stepped([&](const wire::Bucket&) { ++told; });
  CHECK(failing_batch(*trainer).message.find("cannot have stepped now") != std::string::npos);
  CHECK(told == 1);
}

TEST_CASE("local steps go on beside a step, and take it in with the next batch, also when that has to be tried again") {
  for (const char* behaviour : {"", "nan 3", "nan 5", "nan 7"}) {
    CAPTURE(behaviour);
    TrainerProcessOptions options = tiny_options(TEST_CHILD, behaviour);
    options.manifest.round.delay_parameter_updates = true;
    options.manifest.local.emplace().optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
    options.manifest.local->schedule = {
        .kind = wire::ScheduleKind::constant, .learning_rate = 0.125, .warmup_rounds = 0};
    const wire::RunManifest manifest = options.manifest;
    auto trainer = make(std::move(options));
    REQUIRE(trainer->initialize().ok());
    const std::size_t count = trainer->layout().parameter_count;
    const std::span<const float> agreed = trainer->state().first(count);
    std::vector<float> own(wire::local_state_size(manifest));
    std::optional<optim::LocalSteps> expected;
    expected.emplace(manifest, agreed, own).begin();
    const auto check_batch = [&](RoundIndex round) {
      std::vector<float> told(count);
      auto report = trainer->train_batch({round, 0, 0, 8}, told);
      if (!report.ok()) report = trainer->train_batch({round, 0, 8, 8}, told);
      REQUIRE(report.ok());
      std::vector<float> gradient(count);
      for (std::size_t i = 0; i < count; ++i) gradient[i] = 8 * (expected->parameters()[i] - target_of(i));
      REQUIRE(expected->step(round, 8, gradient).ok());
      CHECK(told == gradient);
      CHECK(
          std::equal(expected->parameters().begin(), expected->parameters().end(), trainer->own_parameters().begin()));
    };
    const std::vector<float> ones(count, 1.0F);
    check_batch(0);
    check_batch(0);
    trainer->begin_sum_ahead(0, ones, 16);  // the round is averaged
    expected->cut(0);
    check_batch(1);
    check_batch(1);
    REQUIRE(trainer->step(0, ones).ok());
    expected->merge();
    check_batch(1);
    check_batch(1);
    trainer->begin_sum_ahead(1, ones, 32);
    expected->cut(0);
    check_batch(2);
    trainer->begin_sum();  // the round did not count
    expected->begin();
    check_batch(1);
    trainer->begin_sum_ahead(1, ones, 40);  // nothing is computed until it has ended
    REQUIRE(trainer->step(1, ones).ok());
    trainer->begin_sum_ahead(1, ones, 40);
    expected->begin();
    check_batch(2);
    trainer->begin_sum_ahead(2, ones, 8);
    expected->cut(0);
    check_batch(3);
    REQUIRE(trainer->step(2, ones).ok());
    trainer->begin_sum_ahead(3, ones, 8);  // everything that the next round needs was computed meanwhile
    expected->merge();
    expected->cut(0);
    check_batch(4);
    trainer->stop();
    REQUIRE(trainer->evaluate().ok());  // by another child, whose moments begin at zero
    expected.emplace(manifest, agreed, own).begin();
    check_batch(2);
    CHECK(trainer->view().deaths == 0);
  }
}

TEST_CASE("gradients of several batches add up") {
  auto trainer = make("");
  std::vector<float> gradient(trainer->layout().parameter_count);
  REQUIRE(trainer->train_batch(kBatch, gradient).ok());
  REQUIRE(trainer->train_batch({0, 0, 8, 4}, gradient).ok());
  CHECK(gradient == expected_gradient(*trainer, 12));
}

TEST_CASE("a crash costs one micro-batch") {
  auto trainer = make("crash 2");
  check_good_batch(*trainer);
  const Error error = failing_batch(*trainer);
  CHECK(error.code == ErrorCode::unavailable);
  CHECK(error.message.find("Segmentation fault") != std::string::npos);
  CHECK(error.message.find("about to crash") != std::string::npos);
  check_good_batch(*trainer);
  CHECK(trainer->view().starts == 2);
  CHECK(trainer->view().deaths == 1);
}

TEST_CASE("an orderly exit in the middle of a batch is a death like any other") {
  auto trainer = make("exit 1");
  CHECK(failing_batch(*trainer).message.find("exit code 7") != std::string::npos);
}

TEST_CASE("a child that hangs is ended when its patience, learned from its own speed, is over") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "hang 3");
  options.deadlines = {.floor = std::chrono::milliseconds(300), .patience = 4, .unseen_work_per_s = 1e12};
  auto trainer = make(std::move(options));
  check_good_batch(*trainer);
  check_good_batch(*trainer);
  const Error error = failing_batch(*trainer);
  CHECK(error.code == ErrorCode::deadline_exceeded);
  CHECK(error.message.find("hung") != std::string::npos);
  check_good_batch(*trainer);
}

TEST_CASE("a child that computes for ever is ended like one that sleeps") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "spin 1");
  options.deadlines = {.floor = std::chrono::milliseconds(200), .patience = 4, .unseen_work_per_s = 1e12};
  auto trainer = make(std::move(options));
  CHECK(failing_batch(*trainer).code == ErrorCode::deadline_exceeded);
}

TEST_CASE("a child that others keep from computing is not taken for one that hangs") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  CPU_SET(cpu, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);  // for this thread, its threads and the child
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "burn 60");
  options.limits.yield_to_others = true;
  options.deadlines = {.floor = std::chrono::milliseconds(100), .patience = 1, .unseen_work_per_s = 1e12};
  auto trainer = make(std::move(options));
  REQUIRE(trainer->sample_tokens({}, 1, 0).ok());
  std::thread hog([] {
    const SystemClock clock;
    const TimePoint end = clock.now() + std::chrono::seconds(1);
    while (clock.now() < end) {
    }
  });
  check_good_batch(*trainer);
  hog.join();
  CHECK(trainer->view().deaths == 0);
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("a child with another share of the machine is replaced by one that has it") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "");
  const std::uint64_t memory_bytes = options.limits.memory_bytes;
  options.limits.gpu_memory_percent = 50;
  auto trainer = make(std::move(options));
  REQUIRE(trainer->initialize().ok());
  check_good_batch(*trainer);
  const int first = trainer->view().pid;
  CHECK(environment_of(first).count("OMP_NUM_THREADS=1") == 1);
  CHECK(environment_of(first).count("CUDA_VISIBLE_DEVICES=") == 0);
  trainer->set_share({1, memory_bytes, 50});  // an unchanged share
  check_good_batch(*trainer);
  CHECK(trainer->view().pid == first);
  trainer->set_share({2, memory_bytes / 2, 0});
  CHECK(trainer->view().pid == 0);
  check_good_batch(*trainer);
  const auto environment = environment_of(trainer->view().pid);
  CHECK(environment.count("OMP_NUM_THREADS=2") == 1);
  CHECK(environment.count("CUDA_VISIBLE_DEVICES=") == 1);
  rlimit memory{};
  REQUIRE(::prlimit(trainer->view().pid, RLIMIT_DATA, nullptr, &memory) == 0);
  CHECK(memory.rlim_max == (memory_bytes == 0 ? RLIM_INFINITY : memory_bytes / 2));
  CHECK(trainer->view().starts == 2);
  CHECK(trainer->view().deaths == 0);
}

TEST_CASE("a child takes only what nobody else wants") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "");
  options.limits.yield_to_others = true;
  auto trainer = make(std::move(options));
  check_good_batch(*trainer);
  const int pid = trainer->view().pid;
  constexpr int kIoPriorityOfProcess = 1;
  constexpr int kIoClassShift = 13;
  constexpr int kIoClassIdle = 3;
  CHECK(::sched_getscheduler(pid) == SCHED_IDLE);
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid)) == 19);
  const long priority = ::syscall(SYS_ioprio_get, kIoPriorityOfProcess, pid);
  CHECK((priority >> kIoClassShift) == kIoClassIdle);
}

TEST_CASE("a child that talks nonsense is ended") {
  for (const char* behaviour : {"garbage 1", "longwinded 1", "wrong_sequence 1", "miscount 1"}) {
    CAPTURE(behaviour);
    auto trainer = make(behaviour);
    CHECK(failing_batch(*trainer).code == ErrorCode::corrupt);
    CHECK(trainer->view().pid == 0);
    CHECK(trainer->view().deaths == 1);
  }
}

TEST_CASE("a gradient with NaN is refused, and the child goes on") {
  auto trainer = make("nan 1");
  CHECK(failing_batch(*trainer).code == ErrorCode::corrupt);
  check_good_batch(*trainer);
  CHECK(trainer->view().starts == 1);
}

TEST_CASE("a child that runs into its memory limit says so and goes on" * doctest::skip(kSanitized)) {
  auto trainer = make("eat 1");
  const Error error = failing_batch(*trainer);
  CHECK(error.code == ErrorCode::resource_exhausted);
  CHECK(error.message.find("memory") != std::string::npos);
  check_good_batch(*trainer);
  CHECK(trainer->view().deaths == 0);
}

TEST_CASE("a child that fills its error output loses words, not time") {
  auto trainer = make("chatty 1");
  check_good_batch(*trainer);
}

TEST_CASE("a child that cannot start gives its reason, and is not tried without end") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "refuse");
  options.restarts.deaths_per_minute = 3;
  auto trainer = make(std::move(options));
  for (int i = 0; i < 3; ++i) CHECK(failing_batch(*trainer).message.find("no trainer today") != std::string::npos);
  const Error error = failing_batch(*trainer);
  CHECK(error.code == ErrorCode::unavailable);
  CHECK(error.message.find("3 times within a minute") != std::string::npos);
  CHECK(error.message.find("no trainer today") != std::string::npos);
  CHECK(trainer->view().starts == 3);
}

TEST_CASE("a child that dies while it starts, or builds another model, is reported") {
  CHECK(failing_batch(*make("die_at_start")).message.find("exit code 3") != std::string::npos);
  CHECK(failing_batch(*make("wrong_layout")).message.find("another size") != std::string::npos);
}

TEST_CASE("a program that is missing is named") {
  auto trainer = make(tiny_options("/nowhere/starling-trainer"));
  const Error error = failing_batch(*trainer);
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.message.find("/nowhere/starling-trainer") != std::string::npos);
}

TEST_CASE("stop ends the child, keeps the state, and the next call starts a new one") {
  auto trainer = make("");
  check_good_batch(*trainer);
  trainer->state()[0] = 4.5F;
  const int pid = trainer->view().pid;
  trainer->stop();
  CHECK(::kill(pid, 0) != 0);
  CHECK(trainer->view().pid == 0);
  CHECK(trainer->view().deaths == 0);
  const auto evaluation = trainer->evaluate();
  REQUIRE(evaluation.ok());
  CHECK(evaluation->bits_per_byte == 4.5);
  CHECK(trainer->view().starts == 2);
}

TEST_CASE("stop ends a call that is under way") {
  TrainerProcessOptions options = tiny_options(TEST_CHILD, "hang 1");
  const UniqueFd data(::dup(options.train_data.get()));
  auto trainer = make(std::move(options));
  std::atomic<bool> returned{false};
  std::thread stopper([&] {
    std::string seen(kHanging.size(), '\0');
    while (!returned && (::pread(data.get(), seen.data(), seen.size(), 0) < 0 || seen != kHanging)) {
      std::this_thread::yield();
    }
    trainer->stop();
  });
  const Error error = failing_batch(*trainer);
  returned = true;
  stopper.join();
  CHECK(error.code == ErrorCode::unavailable);
  CHECK(error.message.find("stopped") != std::string::npos);
  CHECK(trainer->view().deaths == 0);
}

TEST_CASE("without a child the step is taken on this side") {
  auto with_child = make("");
  auto without = make("");
  check_good_batch(*with_child);
  std::vector<float> gradient(with_child->layout().parameter_count, 0.25F);
  REQUIRE(with_child->step(0, gradient).ok());
  REQUIRE(without->step(0, gradient).ok());
  CHECK(with_child->view().steps_taken_here == 0);
  CHECK(without->view().steps_taken_here == 1);
  CHECK(without->view().starts == 0);
  CHECK(std::equal(with_child->state().begin(), with_child->state().end(), without->state().begin()));
}

TEST_CASE("a step on a gradient that is not finite changes nothing") {
  auto trainer = make("");
  check_good_batch(*trainer);
  std::vector<float> gradient(trainer->layout().parameter_count, 0.25F);
  gradient[17] = std::numeric_limits<float>::infinity();
  const std::vector<float> before(trainer->state().begin(), trainer->state().end());
  CHECK(trainer->step(0, gradient).error().code == ErrorCode::corrupt);
  CHECK(std::equal(before.begin(), before.end(), trainer->state().begin()));
  gradient[17] = 0;
  CHECK(trainer->step(0, gradient).ok());
}

TEST_CASE("text requests beyond the limits never reach the child") {
  auto trainer = make("");
  CHECK(trainer->sample_tokens({}, kTokensMax + 1, 1).error().code == ErrorCode::invalid_argument);
  const std::vector<int> long_prompt(kTokensMax + 1);
  CHECK(trainer->sample_tokens(long_prompt, 1, 1).error().code == ErrorCode::invalid_argument);
  CHECK(trainer->view().starts == 0);
}
