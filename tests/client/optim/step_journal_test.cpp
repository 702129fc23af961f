// Really kills a process in the middle of a step: the shared state has a page that may not be written, so the child
// dies at the first store into it. Another process then finishes the step.
#include "client/optim/step_journal.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "client/optim/optimizer.h"
#include "shared/base/permutation.h"
#include "shared/base/words.h"

using namespace starling;
using namespace starling::optim;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPageFloats = kPage / sizeof(float);

class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes) : bytes_((bytes + kPage - 1) / kPage * kPage) {
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(data_ != MAP_FAILED);
  }
  ~SharedPages() { ::munmap(data_, bytes_); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] char* data() const { return static_cast<char*>(data_); }
  [[nodiscard]] std::size_t pages() const { return bytes_ / kPage; }

 private:
  void* data_;
  std::size_t bytes_;
};

// A model of three and a half blocks, with decayed and plain stretches within them.
wire::RunManifest manifest_of_several_blocks(wire::OptimizerKind kind = wire::OptimizerKind::adamw) {
  wire::RunManifest manifest;
  manifest.optimizer = wire::default_optimizer(kind);
  manifest.model.layers = 1;
  manifest.model.width = 64;
  manifest.model.heads = 2;
  manifest.model.context = 16;
  return manifest;
}

std::vector<float> noise(std::uint64_t seed, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<double>(mix64(seed + i * 7919) >> 11) * 0x1p-53);
  }
  return values;
}

// Runs the step of round 7 in a child that may not write `page`. True if that killed it.
bool step_dies(const Optimizer& optimizer, std::span<const float> gradient, std::span<float> state,
               StepJournal& journal, char* page) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    ::mprotect(page, kPage, PROT_READ);
    const Status status = optimizer.step(7, gradient, state, journal);
    ::_exit(status.ok() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSEGV;
  REQUIRE(WEXITSTATUS(status) == 0);
  return false;
}

}  // namespace

TEST_CASE("a step whose process dies at any store is finished by another process to the same bits") {
  // Round 7 ends a window of AccumAdamW, in which that writes all of its vectors.
  std::vector<wire::RunManifest> manifests;
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    manifests.push_back(manifest_of_several_blocks(kind));
  }
  manifests.push_back(manifest_of_several_blocks());
  manifests.back().moments = wire::MomentForm::fp8;
  for (const wire::RunManifest& manifest : manifests) {
    CAPTURE(word_of(manifest.optimizer.kind));
    CAPTURE(word_of(manifest.moments));
    const Optimizer optimizer(manifest);
    REQUIRE(optimizer.parameter_count() > 3 * kStepBlock);
    const std::vector<float> gradient = noise(1, optimizer.parameter_count());
    const std::vector<float> start = noise(2, optimizer.state_size());
    std::vector<float> expected = start;
    {
      const auto journal = std::make_unique<StepJournal>();
      REQUIRE(optimizer.step(7, gradient, expected, *journal).ok());
    }

    int deaths = 0;
    const SharedPages journal_pages(sizeof(StepJournal));
    const SharedPages state_pages((optimizer.state_size() + kPageFloats) * sizeof(float));
    const auto die_in = [&](const SharedPages& pages, std::size_t page, std::size_t first_float) {
      std::memset(journal_pages.data(), 0, sizeof(StepJournal));
      auto& journal = *reinterpret_cast<StepJournal*>(journal_pages.data());
      const std::span<float> state(reinterpret_cast<float*>(state_pages.data()) + first_float, optimizer.state_size());
      std::copy(start.begin(), start.end(), state.begin());
      if (step_dies(optimizer, gradient, state, journal, pages.data() + page * kPage)) {
        ++deaths;
        CHECK(!journal.finished(7));
      }
      REQUIRE(optimizer.step(7, gradient, state, journal).ok());
      CHECK(journal.finished(7));
      REQUIRE(std::memcmp(state.data(), expected.data(), expected.size() * sizeof(float)) == 0);
    };
    // The place of the state within its pages moves, so the page borders cut it at many different elements.
    for (std::size_t page = 0; page < state_pages.pages(); page += 3) {
      die_in(state_pages, page, (page * 37) % kPageFloats);
    }
    for (std::size_t page = 1; page < journal_pages.pages(); ++page) die_in(journal_pages, page, 0);
    CHECK(deaths > 50);
  }
}

TEST_CASE("a step that dies again and again is still finished to the same bits") {
  const Optimizer optimizer(manifest_of_several_blocks());
  const std::vector<float> gradient = noise(3, optimizer.parameter_count());
  const std::vector<float> start = noise(4, optimizer.state_size());
  std::vector<float> expected = start;
  const auto fresh = std::make_unique<StepJournal>();
  REQUIRE(optimizer.step(7, gradient, expected, *fresh).ok());

  const SharedPages journal_pages(sizeof(StepJournal));
  const SharedPages state_pages(optimizer.state_size() * sizeof(float));
  auto& journal = *reinterpret_cast<StepJournal*>(journal_pages.data());
  const std::span<float> state(reinterpret_cast<float*>(state_pages.data()), optimizer.state_size());
  std::copy(start.begin(), start.end(), state.begin());
  int deaths = 0;
  for (std::size_t page = 0; page < state_pages.pages() / 3; page += 2) {
    if (step_dies(optimizer, gradient, state, journal, state_pages.data() + page * kPage)) ++deaths;
  }
  REQUIRE(optimizer.step(7, gradient, state, journal).ok());
  CHECK(deaths > 1);
  CHECK(std::memcmp(state.data(), expected.data(), expected.size() * sizeof(float)) == 0);
}

TEST_CASE("a finished step is not taken twice, and after a clear it is") {
  const Optimizer optimizer(manifest_of_several_blocks());
  const std::vector<float> gradient = noise(5, optimizer.parameter_count());
  std::vector<float> state = noise(6, optimizer.state_size());
  const auto journal = std::make_unique<StepJournal>();
  REQUIRE(optimizer.step(4, gradient, state, *journal).ok());
  const std::vector<float> once = state;
  REQUIRE(optimizer.step(4, gradient, state, *journal).ok());
  CHECK(state == once);
  journal->clear();
  REQUIRE(optimizer.step(4, gradient, state, *journal).ok());
  CHECK(state != once);
}

TEST_CASE("where a step would lead is where it leads, for every kind") {
  for (const wire::OptimizerKind kind : all_values<wire::OptimizerKind>()) {
    CAPTURE(word_of(kind));
    const Optimizer optimizer(manifest_of_several_blocks(kind));
    const std::size_t parameters = optimizer.parameter_count();
    std::vector<float> state = noise(1, optimizer.state_size());
    std::vector<float> expected(parameters);
    const auto journal = std::make_unique<StepJournal>();
    for (RoundIndex round = 0; round < 8; ++round) {
      const std::vector<float> gradient = noise(2 + static_cast<std::uint64_t>(round), parameters);
      const std::vector<float> before = state;
      REQUIRE(optimizer.parameters_after(round, gradient, state, expected).ok());
      CHECK(state == before);
      REQUIRE(optimizer.step(round, gradient, state, *journal).ok());
      CHECK(std::memcmp(expected.data(), state.data(), parameters * sizeof(float)) == 0);
    }
    const std::vector<float> kept = expected;
    CHECK_FALSE(optimizer.parameters_after(8, std::vector<float>(parameters, 1e30F), state, expected).ok());
    CHECK(expected == kept);
  }
}
