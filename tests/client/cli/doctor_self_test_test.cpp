#include "client/cli/doctor_self_test.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <bit>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/trainer_link/trainer_process.h"
#include "shared/base/clock.h"

using namespace starling;
using namespace starling::cli;

namespace {

// The real trainer, in a computer that does something to the parameters before a computation, or to its result.
class BrokenComputer final : public session::Trainer {
 public:
  explicit BrokenComputer(std::unique_ptr<trainer_link::TrainerProcess> real) : real_(std::move(real)) {}

  std::function<void(int time, std::span<float> parameters)> before = [](int, auto) {};
  std::function<void(int time, std::span<double> sketches)> after = [](int, auto) {};
  int times = 0;

  [[nodiscard]] session::StateLayout layout() const override { return real_->layout(); }
  std::span<float> state() override { return real_->state(); }
  Status initialize() override { return real_->initialize(); }
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override {
    return real_->train_batch(samples, into);
  }
  Status audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                     std::span<const float> parameters, std::span<double> sketches) override {
    std::vector<float> held(parameters.begin(), parameters.end());
    before(++times, held);
    Status done = real_->audit_batch(samples, parts, held, sketches);
    after(times, sketches);
    return done;
  }
  Status step(RoundIndex round, std::span<const float> gradient) override { return real_->step(round, gradient); }
  Result<session::Evaluation> evaluate() override { return real_->evaluate(); }
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override {
    return real_->sample_tokens(prompt, count, temperature);
  }

 private:
  std::unique_ptr<trainer_link::TrainerProcess> real_;
};

class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] WallTime wall_now() const override { return {}; }
  void advance(Duration time) { now_ += time; }

 private:
  TimePoint now_{};
};

BrokenComputer computer() {
  auto run = self_test_run(STARLING_TRAINER, 1);
  REQUIRE(run.ok());
  auto trainer = trainer_link::TrainerProcess::create(std::move(*run));
  REQUIRE(trainer.ok());
  return BrokenComputer(std::move(*trainer));
}

// Computes four times, whatever time that takes.
Finding check(BrokenComputer& computer) {
  SelfTestOptions options;
  options.computing = std::chrono::hours(1);
  bool last = false;
  options.progress = [&](const std::string&) { last = computer.times == 4; };
  ManualClock clock;
  options.stopped = [&] {
    if (last) clock.advance(std::chrono::hours(2));
    return false;
  };
  return check_computing(computer, clock, options);
}

bool mentions(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

float with_flipped_bit(float value, int bit) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1U << bit);
}

}  // namespace

TEST_CASE("a computer that computes right passes") {
  BrokenComputer sound = computer();
  const Finding finding = check(sound);
  MESSAGE(finding.text);
  CHECK(finding.health == Health::good);
  CHECK(sound.times >= 4);
}

TEST_CASE("one bit that falls over between two computations is noticed") {
  BrokenComputer broken = computer();
  for (const int bit : {0, 12, 30}) {  // the least of a parameter, one in the middle, and one of its exponent
    CAPTURE(bit);
    broken.times = 0;
    broken.before = [bit](int time, std::span<float> parameters) {
      if (time == 3) parameters[1000] = with_flipped_bit(parameters[1000], bit);
    };
    const Finding finding = check(broken);
    CHECK(finding.health == Health::bad);
    MESSAGE(finding.text);
    if (bit < 30) CHECK(mentions(finding.text, "two different results from one computation (the 3. time)"));
    CHECK(mentions(finding.to_do, "overclocking"));
    CHECK(broken.times == 3);
  }
}

TEST_CASE("a computer that always finds something else than others is noticed at once") {
  BrokenComputer broken = computer();
  broken.after = [](int, std::span<double> sketches) { sketches[7] *= 1.01; };
  const Finding finding = check(broken);
  CHECK(finding.health == Health::bad);
  CHECK(mentions(finding.text, "something else than others do"));
  CHECK(broken.times == 1);
}

TEST_CASE("a trainer that cannot start is named, and a test that is stopped is no fault") {
  auto run = self_test_run("/nowhere/starling-trainer", 1);
  auto trainer = trainer_link::TrainerProcess::create(std::move(*run));
  REQUIRE(trainer.ok());
  const Finding missing = check_computing(**trainer, SystemClock(), {});
  CHECK(missing.health == Health::bad);
  CHECK(mentions(missing.text, "/nowhere/starling-trainer"));
  SelfTestOptions options;
  options.stopped = [] { return true; };
  CHECK(check_computing(**trainer, SystemClock(), options).health == Health::note);
  options.memory_bytes = 1 << 20;
  CHECK(check_memory(options).health == Health::note);
}

TEST_CASE("memory that keeps what is written passes, and one bit that falls over is noticed") {
  SelfTestOptions options;
  options.memory_bytes = 100 << 20;
  CHECK(check_memory(options).health == Health::good);
  for (const std::size_t place : {std::size_t{0}, std::size_t{13'000'000}}) {
    const Finding finding = check_memory(options, [place](std::span<std::uint64_t> memory) { memory[place] ^= 256; });
    CHECK(finding.health == Health::bad);
    CHECK(mentions(finding.text, "2 of the words"));  // one with each pattern
  }
  const Finding doubled = check_memory(options, [](std::span<std::uint64_t> memory) { memory[5] = memory[6]; });
  CHECK(doubled.health == Health::bad);
  options.memory_bytes = 0;
  CHECK(check_memory(options).health == Health::note);
}

TEST_CASE("the command tests beside whatever runs, says what it found, and ends at Ctrl-C") {
  const std::string command = STARLING " --data-dir /nowhere --json doctor --self-test --seconds ";
  FILE* out = ::popen((command + "1").c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), out));
  const int status = ::pclose(out);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(mentions(text, R"({"ok":true,"findings":[{"health":"good","about":"processor")"));
  CHECK(mentions(text, R"("about":"memory")"));

  out = ::popen(("timeout --signal=INT 2 " + command + "600").c_str(), "r");
  REQUIRE(out != nullptr);
  text.assign(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), out));
  ::pclose(out);
  CHECK(mentions(text, "the test was stopped before its end"));
}
