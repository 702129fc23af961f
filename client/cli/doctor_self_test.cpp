#include "client/cli/doctor_self_test.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/protocol/audit.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/sketch.h"

namespace starling::cli {
namespace {

constexpr double kToleranceOfOthers = 1e-4;  // honest computers are within 1e-5 of each other
constexpr std::size_t kTextBytes = 64 * 1024;
constexpr std::size_t kHeldOutBytes = 4096;
constexpr wire::SampleRange kSamples{0, 0, 0, 16};
constexpr std::uint64_t kPatterns[] = {0x5555555555555555, 0xaaaaaaaaaaaaaaaa};
constexpr std::size_t kPieceWords = std::size_t{4} << 20;  // written or read between two looks at the clock
constexpr double kGigabyte = 1e9;

constexpr const char* kLikelyCause = "overclocked or broken memory, or an overclocked, overheated or broken processor";
constexpr const char* kToDo =
    "undo overclocking (memory profiles such as XMP and EXPO, too), clean the cooler, test the memory with memtest86+, "
    "and ask again; until then do not train here";

// The sketch of the gradient, found by LibTorch 1.13 on a processor with AVX2.
constexpr std::array<double, swarm::kSketchBuckets> kKnown = {
    -13.9259156, -12.435256,   -4.5197854,  -16.3490319, -6.78580822, 20.4188313,  -10.4249615, -3.47055169,
    -14.2712585, 8.99298036,   9.25671523,  9.08655872,  -9.96997951, 28.9915631,  -6.66975296, 3.60193017,
    -3.39159451, -7.72796421,  12.2309683,  -10.4663828, 11.5727614,  -3.42913202, 3.69277101,  11.0297414,
    2.2528124,   -6.86013735,  -9.80706111, -4.05117303, 5.72940871,  6.45942286,  4.0481354,   10.426119,
    -3.61846814, 6.85480293,   -5.75709447, -9.08900277, -3.65755579, -2.9070671,  1.89325819,  0.839686368,
    1.74317944,  -0.245607932, 3.6739499,   -4.68190113, 6.82672787,  5.51290799,  -2.74868952, 26.7352036,
    2.55222574,  -3.87306422,  -1.12452321, 2.16359479,  -2.15131574, 15.2154281,  1.02547131,  -3.70822983,
    14.1398584,  5.29085479,   2.41564251,  5.60241461,  -20.1497905, 6.29251492,  -2.91565553, -13.7457573};

Finding stopped_early(std::string about) {
  return {Health::note, std::move(about), "the test was stopped before its end", "let it end"};
}

Result<UniqueFd> file_of(const std::string& bytes) {
  UniqueFd fd(::memfd_create("self-test", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorCode::io, fmt::format("make a file in memory: {}", std::strerror(errno))};
  }
  return fd;
}

// Letters and spaces in a seeded order.
std::string seeded_text(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uint64_t drawn = mix64(i) % 32;
    if (drawn < 26) text[i] = static_cast<char>('a' + drawn);
  }
  return text;
}

Result<swarm::Sketch> compute(session::Trainer& trainer, std::span<const float> parameters) {
  wire::SketchedPart all{0, std::ssize(parameters), {}};
  all.seed.bytes.fill(45);
  std::array<double, swarm::kSketchBuckets> numbers{};
  STARLING_TRY(trainer.audit_batch(kSamples, {&all, 1}, parameters, numbers));
  return numbers;
}

bool equal_to_the_bit(const swarm::Sketch& a, const swarm::Sketch& b) {
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

// Memory of this process alone, given back at the end.
class Pages {
 public:
  explicit Pages(std::int64_t bytes) : words_(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t)) {
    base_ = ::mmap(nullptr, words_ * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ok())
      (void)::madvise(base_, words_ * sizeof(std::uint64_t), MADV_HUGEPAGE);  // a million faults fewer, if it can
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (ok()) ::munmap(base_, words_ * sizeof(std::uint64_t));
  }
  [[nodiscard]] bool ok() const { return base_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::uint64_t> words() const { return {static_cast<std::uint64_t*>(base_), words_}; }

 private:
  std::size_t words_;
  void* base_ = nullptr;
};

// Each word's place, mixed into the pattern, so that a word that lies in another's place is noticed.
std::uint64_t word_at(std::size_t place, std::uint64_t pattern) { return place * 0x9e3779b97f4a7c15U ^ pattern; }

void write_pattern(std::span<std::uint64_t> words, std::size_t first, std::uint64_t pattern) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_at(first + i, pattern);
}

std::size_t wrong_words(std::span<const std::uint64_t> words, std::size_t first, std::uint64_t pattern) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) wrong += words[i] != word_at(first + i, pattern) ? 1 : 0;
  return wrong;
}

}  // namespace

Result<trainer_link::TrainerProcessOptions> self_test_run(const std::filesystem::path& program, int threads) {
  trainer_link::TrainerProcessOptions options;
  options.program = program;
  options.limits.threads = std::clamp(threads, 1, trainer_link::kThreadsMax);
  options.limits.yield_to_others = false;  // somebody waits for it
  wire::RunManifest& manifest = options.manifest;
  manifest.run_id = "self-test";
  manifest.model = {.layers = 2, .width = 128, .heads = 4, .context = 128};
  manifest.data.train.bytes = kTextBytes;
  manifest.data.train.sha256.bytes.fill(1);
  manifest.data.validation.bytes = kHeldOutBytes;
  manifest.data.validation.sha256.bytes.fill(2);
  manifest.micro_batch_size = static_cast<int>(kSamples.count);
  manifest.flops_per_sample = wire::flops_per_sample(manifest.model);
  STARLING_TRY(wire::check_manifest(manifest));
  const std::string text = seeded_text(kTextBytes);
  STARLING_ASSIGN(options.train_data, file_of(text));
  STARLING_ASSIGN(options.validation_data, file_of(text.substr(0, kHeldOutBytes)));
  return options;
}

Finding check_computing(session::Trainer& trainer, const Clock& clock, const SelfTestOptions& options) {
  const auto bad = [](std::string text) { return Finding{Health::bad, "processor", std::move(text), kToDo}; };
  const auto failed = [](const Status& status) {
    return Finding{Health::bad, "trainer", "nothing could be computed: " + status.error().message, ""};
  };
  if (const Status ready = trainer.initialize(); !ready.ok()) return failed(ready);
  const std::span<const float> parameters = trainer.state().first(trainer.layout().parameter_count);
  const TimePoint begin = clock.now();
  swarm::Sketch first{};
  std::int64_t times = 0;
  double distance = 0;
  do {
    if (options.stopped()) return stopped_early("processor");
    const auto found = compute(trainer, parameters);
    if (options.stopped()) return stopped_early("processor");
    if (!found.ok() && found.error().code == ErrorCode::corrupt) {
      return bad(fmt::format("this computer found no number where others find one: {}", kLikelyCause));
    }
    if (!found.ok()) return failed(found.status());
    if (++times == 1) {
      first = *found;
      distance = swarm::relative_distance(first, kKnown);
      if (!(distance < kToleranceOfOthers)) {
        return bad(
            fmt::format("this computer found something else than others do ({:.1e} off): {}", distance, kLikelyCause));
      }
    }
    if (!equal_to_the_bit(first, *found)) {
      return bad(fmt::format("this computer got two different results from one computation (the {}. time): {}", times,
                             kLikelyCause));
    }
    options.progress(fmt::format("computing: {} times alike, {:.0f} of {:.0f} s", times,
                                 std::min(to_seconds(clock.now() - begin), to_seconds(options.computing)),
                                 to_seconds(options.computing)));
  } while (clock.now() - begin < options.computing);
  return {Health::good, "processor",
          fmt::format("it computed one thing {} times in {:.0f} s, always alike, and what others find ({:.1e} off)",
                      times, to_seconds(clock.now() - begin), distance),
          ""};
}

Finding check_memory(const SelfTestOptions& options, const std::function<void(std::span<std::uint64_t>)>& between) {
  const double gigabytes = static_cast<double>(options.memory_bytes) / kGigabyte;
  if (options.memory_bytes <= 0) return {Health::note, "memory", "none is free to be looked at", ""};
  const Pages pages(options.memory_bytes);
  if (!pages.ok()) {
    return {Health::note, "memory", fmt::format("{:.1f} GB could not be had: {}", gigabytes, std::strerror(errno)), ""};
  }
  const std::span<std::uint64_t> words = pages.words();
  std::size_t wrong = 0, done = 0;
  const auto each_piece = [&](const auto& work) {
    for (std::size_t at = 0; at < words.size() && !options.stopped(); at += kPieceWords) {
      const std::span<std::uint64_t> piece = words.subspan(at, std::min(kPieceWords, words.size() - at));
      work(piece, at);
      done += piece.size();
      options.progress(fmt::format("memory: {:.0f} % of {:.1f} GB written and read",
                                   100.0 * static_cast<double>(done) / (4.0 * static_cast<double>(words.size())),
                                   gigabytes));
    }
  };
  for (const std::uint64_t pattern : kPatterns) {
    each_piece([pattern](std::span<std::uint64_t> piece, std::size_t at) { write_pattern(piece, at, pattern); });
    between(words);
    each_piece([&](std::span<std::uint64_t> piece, std::size_t at) { wrong += wrong_words(piece, at, pattern); });
    if (options.stopped()) return stopped_early("memory");
  }
  if (wrong == 0) {
    return {Health::good, "memory", fmt::format("{:.1f} GB were written twice, and read back as they were", gigabytes),
            ""};
  }
  return {Health::bad, "memory",
          fmt::format("{} of the words written to {:.1f} GB were read back otherwise: broken or overclocked memory",
                      wrong, gigabytes),
          kToDo};
}

}  // namespace starling::cli
