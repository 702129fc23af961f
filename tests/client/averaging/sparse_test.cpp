// The sparse codec, and error feedback, which makes up for values that the codec leaves out.
#include "client/averaging/sparse.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/error_feedback.h"
#include "client/averaging/kernels.h"
#include "tests/client/averaging/in_memory_group.h"

using namespace starling;
using namespace starling::averaging;

namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

Bytes encoded(const Floats& values) {
  Bytes bytes(encoded_bytes(Codec::sparse, values.size()));
  encode(Codec::sparse, values, bytes);
  return bytes;
}

Floats decoded(const Bytes& bytes, std::size_t size) {
  Floats values(size, 7.0F);
  REQUIRE(decode(Codec::sparse, bytes, values).ok());
  return values;
}

// A few large values among many small ones, as gradients have.
Floats heavy_tailed(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = std::pow(std::abs(normal(random)), 3.0F) * (random() % 2 == 0 ? 1.0F : -1.0F);
  return values;
}

double energy(const Floats& values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * value;
  return sum;
}

Floats difference(Floats a, const Floats& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

}  // namespace

TEST_CASE("a chunk takes 116 bytes") {
  CHECK(encoded_bytes(Codec::sparse, 4096) == 116);
  CHECK(encoded_bytes(Codec::sparse, 8192) == 232);
  CHECK(encoded_bytes(Codec::sparse, 1) == 4 + 2 + 1);
  CHECK(encoded_bytes(Codec::sparse, 4096 + 65) == 116 + 4 + 3 + 1);
}

TEST_CASE("the largest magnitudes of each chunk are sent, each near its value, and nothing else") {
  for (const std::size_t size : {1u, 63u, 64u, 65u, 200u, 4095u, 4096u, 4097u, 10000u}) {
    CAPTURE(size);
    const Floats values = heavy_tailed(static_cast<unsigned>(size), size);
    const Floats back = decoded(encoded(values), size);
    for (std::size_t begin = 0; begin < size; begin += 4096) {
      const std::size_t count = std::min<std::size_t>(4096, size - begin);
      const std::size_t wanted = (count + 63) / 64;
      Floats magnitudes(count);
      for (std::size_t i = 0; i < count; ++i) magnitudes[i] = std::abs(values[begin + i]);
      std::sort(magnitudes.rbegin(), magnitudes.rend());
      std::size_t sent = 0;
      for (std::size_t i = begin; i < begin + count; ++i) {
        if (back[i] == 0) continue;
        ++sent;
        CHECK(std::abs(values[i]) >= magnitudes[wanted - 1]);
        CHECK(std::signbit(back[i]) == std::signbit(values[i]));
        CHECK(std::abs(back[i]) <= magnitudes[0] * 1.01F);
        CHECK(std::abs(back[i]) >= magnitudes[wanted - 1] * 0.99F);
      }
      CHECK(sent == wanted);
    }
  }
}

TEST_CASE("what is left of a vector is smaller than the vector, and much smaller where the tail is heavy") {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const Floats values = heavy_tailed(seed, 4096 + seed * 37);
    const Floats rest = difference(values, decoded(encoded(values), values.size()));
    CHECK(energy(rest) < 0.65 * energy(values));
  }
  const Floats equal(4096, 2.0F);
  CHECK(energy(difference(equal, decoded(encoded(equal), 4096))) == doctest::Approx(4.0 * (4096 - 64)));
}

TEST_CASE("of equal magnitudes the first are sent, and zeros stay zeros") {
  const Floats back = decoded(encoded(Floats(128, -1.0F)), 128);
  CHECK(back[0] == -1);
  CHECK(back[1] == -1);
  CHECK(std::count(back.begin(), back.end(), -1.0F) == 2);
  CHECK(decoded(encoded(Floats(5000, 0.0F)), 5000) == Floats(5000, 0.0F));
}

TEST_CASE("decoded values encode and decode to themselves") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Floats values = heavy_tailed(seed, 1 + seed * 61);
    if (seed % 3 == 0) std::fill(values.begin() + 1, values.end(), 0.0F);
    for (float& value : values) value = std::ldexp(value, static_cast<int>(seed % 100) - 80);
    const Floats once = decoded(encoded(values), values.size());
    CHECK(decoded(encoded(once), once.size()) == once);
  }
}

TEST_CASE("every processor chooses the same values: the largest magnitudes, of ties the first") {
  using Make = float (*)(std::mt19937&);
  const Make makes[] = {
      [](std::mt19937& random) { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); },
      [](std::mt19937& random) { return std::normal_distribution<float>()(random); },
      [](std::mt19937&) { return 0.0F; },
      [](std::mt19937&) { return -2.5F; },
      [](std::mt19937& random) { return random() % 300 == 0 ? -1.0F : 0.0F; },  // fewer values than are sent
      [](std::mt19937& random) { return static_cast<float>(static_cast<int>(random() % 7)); },  // many ties
      [](std::mt19937& random) { return std::bit_cast<float>(static_cast<std::uint32_t>(random() % 2000)); },  // tiny
      [](std::mt19937& random) { return random() % 50 == 0 ? INFINITY : NAN; },
  };
  std::mt19937 random(17);
  for (std::size_t kind = 0; kind < std::size(makes); ++kind) {
    for (const std::size_t size : {4096u, 4096u, 4096u, 100u, 3000u}) {
      CAPTURE(kind);
      CAPTURE(size);
      Floats values(size);
      for (float& value : values) value = makes[kind](random);
      const std::size_t wanted = wire::sparse_values(size);
      std::vector<std::uint16_t> expected(size);
      std::iota(expected.begin(), expected.end(), std::uint16_t{0});
      const auto magnitude = [&](std::uint16_t i) { return std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffu; };
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::uint16_t a, std::uint16_t b) { return magnitude(a) > magnitude(b); });
      expected.resize(wanted);
      std::sort(expected.begin(), expected.end());
      std::vector<std::uint16_t> chosen(wanted);
      portable_kernels().select_largest(values.data(), size, wanted, chosen.data());
      CHECK(chosen == expected);
      if (avx2_kernels() == nullptr) continue;
      std::fill(chosen.begin(), chosen.end(), std::uint16_t{0});
      avx2_kernels()->select_largest(values.data(), size, wanted, chosen.data());
      CHECK(chosen == expected);
    }
  }
}

TEST_CASE("sparse bytes that are out of order, out of place or out of range change nothing") {
  const Floats values = heavy_tailed(3, 4096);
  const Bytes good = encoded(values);
  Floats out(4096, 2.0F);
  const auto refused = [&](const Bytes& bytes) {
    const auto square = square_sum(Codec::sparse, bytes, out.size(), out);
    CHECK(out == Floats(4096, 2.0F));
    return !square.ok() && square.error().code == ErrorCode::corrupt;
  };
  Bytes twice = good;  // the second index repeats the first
  twice[5] = static_cast<std::uint8_t>((twice[5] & 15) | twice[4] << 4);
  twice[6] = static_cast<std::uint8_t>(twice[5] << 4 | twice[4] >> 4);
  CHECK(refused(twice));
  Bytes lower_above_upper = good;
  std::swap(lower_above_upper[0], lower_above_upper[2]);
  std::swap(lower_above_upper[1], lower_above_upper[3]);
  CHECK(refused(lower_above_upper));
  for (const std::uint8_t top : {0x7f, 0x80, 0xbf, 0xff, 0x72}) {  // infinite, negative, or beyond 2^100
    Bytes bad = good;
    bad[3] = top;
    CHECK(refused(bad));
  }
  Bytes beyond = encoded(Floats(100, 1.0F));
  beyond[5] = static_cast<std::uint8_t>(beyond[5] | 0x0f);  // index 3840 and more, in a chunk of 100
  Floats small(100, 2.0F);
  CHECK_FALSE(square_sum(Codec::sparse, beyond, small.size(), small).ok());
  CHECK(small == Floats(100, 2.0F));
}

TEST_CASE("a sender's values that are not finite are seen by whoever decodes them") {
  for (const float poison : {INFINITY, -INFINITY, NAN, std::numeric_limits<float>::max()}) {
    Floats values = heavy_tailed(4, 5000);
    values[4500] = poison;
    Floats out(5000);
    CHECK_FALSE(decode(Codec::sparse, encoded(values), out).ok());
  }
}

namespace {

// A group in which only rank 0 matters: it owns nothing, and its contributions are sparse.
wire::GroupInfo plan(std::int64_t floats, const char* codec) {
  wire::GroupInfo group;
  group.run_id = "test";
  group.vector_floats = floats;
  group.segment_floats = 5000;
  for (const std::int64_t part : {std::int64_t{0}, floats / 2, floats - floats / 2}) {
    wire::GroupMember member;
    member.endpoint.peer.bytes[0] = static_cast<std::uint8_t>(group.members.size());
    member.endpoint.host = "192.0.2.1";
    member.endpoint.port = 4000;
    member.part_floats = part;
    member.codec = codec;
    group.members.push_back(member);
  }
  return group;
}

AveragingOutcome averaged(std::int64_t floats, std::initializer_list<Rank> members = {0, 1, 2}) {
  AveragingOutcome outcome;
  wire::RankSet set(3);
  for (const Rank rank : members) set.set(rank);
  outcome.contributors.push_back({0, floats, set});
  return outcome;
}

// The values that owners decode from a contribution: segments are encoded one by one.
Floats as_sent(const wire::GroupInfo& group, std::span<const float> values) {
  Floats sent;
  const Codec codec = wire::contribution_codec(group, 0);
  for (const wire::GroupMember& member : group.members) {
    for (std::int64_t done = 0; done < member.part_floats; done += group.segment_floats) {
      const auto floats = static_cast<std::size_t>(std::min(group.segment_floats, member.part_floats - done));
      Bytes bytes(encoded_bytes(codec, floats));
      encode(codec, values.subspan(sent.size(), floats), bytes);
      Floats out(floats);
      REQUIRE(decode(codec, bytes, out).ok());
      sent.insert(sent.end(), out.begin(), out.end());
    }
  }
  return sent;
}

}  // namespace

TEST_CASE(
    "with error feedback, what was left out is said later: the sums of what is meant and what is sent stay near") {
  constexpr std::int64_t kSize = 20000;
  for (const char* codec : {"sparse", "int4", "int8"}) {
    CAPTURE(codec);
    const wire::GroupInfo group = plan(kSize, codec);
    ErrorFeedback feedback(kSize, 1);
    const Floats gradient = heavy_tailed(5, kSize);
    Floats sent(kSize, 0.0F);
    constexpr int kRounds = 300;
    for (int round = 0; round < kRounds; ++round) {
      const Floats part = as_sent(group, feedback.contribute(group, 0, gradient));
      for (std::size_t i = 0; i < part.size(); ++i) sent[i] += part[i];
      feedback.on_averaged(group.id, averaged(kSize));
    }
    for (float& value : sent) value /= kRounds;
    // The residual stays bounded, so its share falls as one over the rounds; without feedback 0.5 of the energy of
    // sparse contributions is missing for ever.
    CHECK(energy(difference(gradient, sent)) < 0.02 * energy(gradient));
  }
}

TEST_CASE("the residual decays as it is told to") {
  constexpr std::int64_t kSize = 4096;
  wire::GroupInfo group = plan(kSize, "sparse");
  group.members[1].part_floats = kSize;
  group.members[2].part_floats = 0;
  ErrorFeedback feedback(kSize, 0.5F);
  const Floats gradient = heavy_tailed(6, kSize);
  const auto first = feedback.contribute(group, 0, gradient);
  CHECK(Floats(first.begin(), first.end()) == gradient);
  const Floats rest = difference(gradient, as_sent(group, first));
  feedback.on_averaged(group.id, averaged(kSize));
  const auto second = feedback.contribute(group, 0, Floats(kSize, 0.0F));
  for (std::size_t i = 0; i < second.size(); ++i) CHECK(second[i] == rest[i] / 2);
}

TEST_CASE("what is made up for is what this member's encoded values left out, or its results did") {
  constexpr std::int64_t kSize = 20000;
  constexpr std::int64_t kHalf = kSize / 2;
  const wire::GroupInfo group = plan(kSize, "sparse");
  const Floats gradient = heavy_tailed(7, kSize);
  const Floats zeros(kSize, 0.0F);
  // Residuals of a member that has reduced the first half (its results left out a quarter of one everywhere), or has
  // not.
  const auto left_after = [&](bool reduces, const AveragingOutcome* outcome, std::span<const float> input) {
    ErrorFeedback feedback(kSize, 1);
    (void)feedback.contribute(group, 1, input);
    if (reduces) std::fill_n(feedback.rest().begin(), kHalf, 0.25F);
    AveragingOutcome told = outcome == nullptr ? AveragingOutcome() : *outcome;
    if (reduces) told.reduced = {true, true, false, false};
    if (outcome != nullptr) feedback.on_averaged(group.id, told);
    const auto next = feedback.contribute(group, 1, zeros);
    return std::pair(Floats(next.begin(), next.begin() + kHalf), Floats(next.begin() + kHalf, next.end()));
  };
  const Floats none(kHalf, 0.0F);
  const Floats quarters(kHalf, 0.25F);
  const Floats rest = difference(gradient, as_sent(group, gradient));
  const std::pair encoded_rest(Floats(rest.begin(), rest.begin() + kHalf), Floats(rest.begin() + kHalf, rest.end()));
  const AveragingOutcome whole = averaged(kSize);
  const AveragingOutcome without = averaged(kSize, {0, 2});
  CHECK(left_after(false, &whole, gradient) == encoded_rest);
  CHECK(left_after(true, &whole, gradient) == std::pair(quarters, encoded_rest.second));
  CHECK(left_after(false, &without, gradient) == std::pair(none, none));
  CHECK(left_after(true, &without, {}) == std::pair(quarters, none));   // it had nothing to contribute
  CHECK(left_after(true, nullptr, gradient) == std::pair(none, none));  // nobody knows what became of the round
  ErrorFeedback other(kSize, 1);
  (void)other.contribute(group, 0, gradient);
  GroupId before;
  before.bytes[0] = 1;
  other.on_averaged(before, whole);
  const auto unsettled = other.contribute(group, 0, zeros);
  CHECK(Floats(unsettled.begin(), unsettled.end()) == zeros);
  const wire::GroupInfo exact = plan(kSize, "fp32");
  ErrorFeedback feedback(kSize, 1);
  (void)feedback.contribute(exact, 0, gradient);
  feedback.on_averaged(exact.id, whole);
  const auto next = feedback.contribute(exact, 0, zeros);
  CHECK(Floats(next.begin(), next.end()) == zeros);
}

TEST_CASE("where a round does not count, or averages without this member, what was made up for stays") {
  constexpr std::int64_t kSize = 20000;
  const wire::GroupInfo group = plan(kSize, "sparse");
  const Floats gradient = heavy_tailed(8, kSize);
  const Floats zeros(kSize, 0.0F);
  const Floats rest = difference(gradient, as_sent(group, gradient));
  ErrorFeedback feedback(kSize, 1);
  const auto contributes = [&](std::span<const float> input) {
    const auto next = feedback.contribute(group, 0, input);
    return Floats(next.begin(), next.end());
  };
  (void)contributes(gradient);
  feedback.on_averaged(group.id, averaged(kSize));
  CHECK(contributes(zeros) == rest);
  AveragingOutcome minority = averaged(kSize);
  minority.verdict = AveragingOutcome::Verdict::minority;
  feedback.on_averaged(group.id, minority);
  CHECK(contributes(zeros) == rest);
  feedback.on_averaged(group.id, averaged(kSize, {1, 2}));
  CHECK(contributes({}).empty());
  CHECK(contributes(zeros) == rest);
  AveragingOutcome expelled = averaged(kSize);
  expelled.verdict = AveragingOutcome::Verdict::expelled;
  feedback.on_averaged(group.id, expelled);
  CHECK(contributes(zeros) == zeros);
}

TEST_CASE("a residual that would not be summable any more is let go") {
  const wire::GroupInfo group = plan(20000, "sparse");
  ErrorFeedback feedback(20000, 1);
  const Floats large(20000, 0x1.fp99F);
  for (int round = 0; round < 4; ++round) {
    CHECK(summable(feedback.contribute(group, 0, large)));
    feedback.on_averaged(group.id, averaged(20000));
  }
}

TEST_CASE("members with sparse contributions average what they sent, and end bit-identical, whoever is lost") {
  for (std::size_t event = 0; event < 400; event += 13) {
    CAPTURE(event);
    GroupOptions options{.members = 5, .vector_floats = 30000, .segment_floats = 5000, .codec = "fp16"};
    options.codecs = {"sparse", "sparse", "", "int4", "sparse"};
    InMemoryGroup group(options, {{.kind = Fault::Kind::kill, .rank = event % 5, .event = event}});
    group.run();
    const AveragingOutcome* first = nullptr;
    for (Rank rank = 0; rank < 5; ++rank) {
      if (!group.alive(rank)) continue;
      REQUIRE(group.outcome(rank) != nullptr);
      CHECK(group.outcome(rank)->verdict == AveragingOutcome::Verdict::averaged);
      if (first == nullptr) first = group.outcome(rank);
      CHECK(group.outcome(rank)->result_digest == first->result_digest);
    }
    CHECK(group.refusals().empty());
  }
}
