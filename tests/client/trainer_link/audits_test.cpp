#include "client/trainer_link/audits.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/swarm/sketch.h"
#include "tests/client/trainer_link/tiny_run.h"

using namespace starling;
using namespace starling::trainer_link;
using namespace starling::trainer_link::testing;

namespace {

constexpr wire::SampleRange kBatch{0, 0, 0, 8};

Hash128 seed(std::uint8_t number) {
  Hash128 seed;
  seed.bytes.fill(number);
  return seed;
}

// A trainer process with parameters of an earlier state, at which it is asked to audit.
struct Auditor {
  explicit Auditor(TrainerProcessOptions options) : trainer(TrainerProcess::create(std::move(options)).value()) {
    REQUIRE(trainer->initialize().ok());
    count = trainer->layout().parameter_count;
    parameters.assign(count, 0.25F);
    parts = {{0, 100, seed(1)}, {100, static_cast<std::int64_t>(count) - 100, seed(2)}};
    sketches.assign(parts.size() * wire::kSketchFloats, 0.5);
  }
  explicit Auditor(const std::string& behaviour = "") : Auditor(tiny_options(TEST_CHILD, behaviour)) {}

  Status audit() { return trainer->audit_batch(kBatch, parts, parameters, sketches); }
  // The sketches after one audit.
  [[nodiscard]] std::vector<double> expected() const {
    std::vector<float> gradient(count);
    for (std::size_t i = 0; i < count; ++i) gradient[i] = 8 * (parameters[i] - target_of(i));
    std::vector<double> all;
    for (const wire::SketchedPart& part : parts) {
      swarm::Sketch sketch{};
      const auto first = gradient.begin() + part.first;
      swarm::add_to_sketch(part.seed, part.first, {first, first + part.floats}, sketch);
      for (const double number : sketch) all.push_back(0.5 + number);
    }
    return all;
  }
  [[nodiscard]] bool untouched() const { return sketches == std::vector<double>(sketches.size(), 0.5); }
  std::vector<float> gradient_of(const wire::SampleRange& samples) const {
    std::vector<float> gradient(count);
    REQUIRE(trainer->train_batch(samples, gradient).ok());
    return gradient;
  }

  std::unique_ptr<TrainerProcess> trainer;
  std::size_t count = 0;
  std::vector<float> parameters;
  std::vector<wire::SketchedPart> parts;
  std::vector<double> sketches;
};

}  // namespace

TEST_CASE("parts and sketches arrive as they were sent, and others are refused") {
  const std::vector<wire::SketchedPart> parts = {{0, 5, seed(1)}, {5, 7, seed(2)}};
  const auto got = unpack_parts(pack_parts(parts));
  REQUIRE(got.ok());
  REQUIRE(got->size() == 2);
  CHECK((got->back().first == 5 && got->back().floats == 7 && got->back().seed == seed(2)));
  CHECK_FALSE(unpack_parts(pack_parts(parts).substr(1)).ok());
  CHECK_FALSE(unpack_parts(pack_parts(std::vector<wire::SketchedPart>(wire::kAuditPartsMax + 1))).ok());

  CHECK(check_parts(parts, 12).ok());
  CHECK_FALSE(check_parts(parts, 11).ok());
  CHECK_FALSE(check_parts({}, 11).ok());
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<wire::SketchedPart> outside[] = {{{-1, 2, {}}}, {{1, -2, {}}}, {{1, kMost, {}}}, {{kMost, 1, {}}}};
  for (const auto& part : outside) CHECK_FALSE(check_parts(part, 100).ok());

  std::vector<double> sketches(wire::kSketchFloats, 0.25);
  CHECK(unpack_sketches(pack_sketches(sketches), 1).value() == sketches);
  CHECK_FALSE(unpack_sketches(pack_sketches(sketches), 2).ok());
  sketches.back() = std::numeric_limits<double>::infinity();
  CHECK_FALSE(unpack_sketches(pack_sketches(sketches), 1).ok());
}

TEST_CASE("the parameters of audits lie in a file that nobody can change, and stay there until others come") {
  AuditedParameters audited;
  CHECK_FALSE(audited.held());
  std::vector<float> parameters(3000, 0.5F);
  REQUIRE(audited.hold(parameters).ok());
  audited.went_to(3);
  const int fd = audited.fd();
  struct stat info {};
  REQUIRE(::fstat(fd, &info) == 0);
  CHECK(info.st_size == 12'000);
  CHECK(::mmap(nullptr, 12'000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  REQUIRE(audited.hold(std::vector<float>(3000, 0.5F)).ok());
  CHECK((audited.is_at(3) && !audited.is_at(4) && audited.fd() == fd));
  parameters[7] = 1;
  REQUIRE(audited.hold(parameters).ok());
  CHECK((audited.held() && !audited.is_at(3)));
  audited.release();
  CHECK_FALSE(audited.held());
}

TEST_CASE("a child audits at parameters that are not the replica's, and the sums go on") {
  Auditor auditor;
  const std::vector<float> before = auditor.gradient_of(kBatch);
  REQUIRE(auditor.audit().ok());
  CHECK(auditor.sketches == auditor.expected());
  CHECK(auditor.gradient_of(kBatch) == before);
  auditor.parameters[200] += 1;  // another state's
  auditor.sketches.assign(auditor.sketches.size(), 0.5);
  REQUIRE(auditor.audit().ok());
  CHECK(auditor.sketches == auditor.expected());
  REQUIRE(auditor.trainer->step(0, std::vector<float>(auditor.count, 1.0F)).ok());
  auditor.trainer->begin_sum();
  CHECK(auditor.gradient_of(kBatch) != before);  // gives the audited parameters up
  auditor.sketches.assign(auditor.sketches.size(), 0.5);
  REQUIRE(auditor.audit().ok());
  CHECK(auditor.sketches == auditor.expected());
  CHECK(auditor.trainer->view().starts == 1);
}

TEST_CASE("an audit before the first batch of a sum ahead does not change where that is computed") {
  for (const bool audits : {false, true}) {
    TrainerProcessOptions options = tiny_options(TEST_CHILD);
    options.manifest.round.delay_parameter_updates = true;
    Auditor auditor(std::move(options));
    std::vector<float> own = auditor.gradient_of({1, 0, 0, 8});
    const std::vector<float> at_state = own;
    auditor.trainer->begin_sum_ahead(0, own, 8);
    if (audits) REQUIRE(auditor.audit().ok());
    const std::vector<float> ahead = auditor.gradient_of({1, 0, 0, 8});
    CHECK(ahead != at_state);
    if (audits) REQUIRE(auditor.audit().ok());
    CHECK(auditor.gradient_of({1, 0, 0, 8}) == ahead);
    auditor.trainer->begin_sum();
    CHECK(auditor.gradient_of({1, 0, 0, 8}) == at_state);
    CHECK(auditor.trainer->view().starts == 1);
  }
}

TEST_CASE("an audit that fails, dies, or answers with nonsense adds nothing, and the next one is right") {
  for (const char* behaviour : {"audit_failure 2", "audit_death 2", "audit_nan 2"}) {
    CAPTURE(behaviour);
    Auditor auditor(behaviour);
    const std::vector<float> state(auditor.trainer->state().begin(), auditor.trainer->state().end());
    const std::vector<float> batch = auditor.gradient_of(kBatch);
    REQUIRE(auditor.audit().ok());
    auditor.sketches.assign(auditor.sketches.size(), 0.5);
    const Status failed = auditor.audit();
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().message.find("audit a micro-batch") != std::string::npos);
    CHECK(auditor.untouched());
    CHECK(auditor.gradient_of(kBatch) == batch);
    REQUIRE(auditor.audit().ok());
    CHECK(auditor.sketches == auditor.expected());
    CHECK(std::equal(state.begin(), state.end(), auditor.trainer->state().begin()));
    CHECK(auditor.trainer->view().starts == (std::string_view(behaviour) == "audit_failure 2" ? 1 : 2));
  }
}

TEST_CASE("a part beyond the model is refused without a child") {
  Auditor auditor;
  auditor.parts[1].floats += 1;
  CHECK(auditor.audit().error().code == ErrorCode::invalid_argument);
  CHECK(auditor.untouched());
  CHECK(auditor.trainer->view().starts == 0);
}
