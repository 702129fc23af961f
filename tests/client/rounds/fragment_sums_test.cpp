#include "client/rounds/fragment_sums.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"

using namespace starling;
using rounds::FragmentSums;

namespace {

constexpr int kFragments = 3;

wire::RunManifest manifest_of_three() {
  wire::RunManifest manifest;
  manifest.model = {.layers = 1, .width = 16, .heads = 2, .context = 8};
  manifest.local.emplace().fragments = kFragments;
  return manifest;
}

// A batch that brings `value` for every sample and coordinate.
void add(FragmentSums& sums, SampleCount samples, float value) {
  for (float& each : sums.into(false)) each += static_cast<float>(samples) * value;
  sums.on_batch(samples);
}

}  // namespace

TEST_CASE("fragments are equally long, follow each other, and are all of the vector") {
  const wire::RunManifest manifest = manifest_of_three();
  const std::size_t parameters = wire::parameter_count(manifest.model);
  std::size_t end = 0;
  for (RoundIndex round = 0; round < kFragments; ++round) {
    const wire::Fragment fragment = wire::fragment_of(manifest, round + kFragments);
    CHECK(fragment.number == round);
    CHECK(fragment.begin == end);
    CHECK(fragment.count <= wire::fragment_floats(manifest));
    CHECK(fragment.count + kFragments > wire::fragment_floats(manifest));
    end += fragment.count;
  }
  CHECK(end == parameters);
  wire::RunManifest whole = manifest;
  whole.local->fragments = 1;
  CHECK(wire::fragment_of(whole, 7).count == parameters);
  whole.local.reset();
  CHECK(wire::fragments(whole) == 1);
}

TEST_CASE("a fragment brings its mean displacement since its last round, with the round's own samples as its weight") {
  const wire::RunManifest manifest = manifest_of_three();
  FragmentSums sums(manifest);
  for (RoundIndex round = 0; round < 7; ++round) {
    add(sums, 8, 1.0F);
    add(sums, 24, 2.0F);
    const std::span<const float> cut = sums.cut(round, 32, 32);
    const wire::Fragment fragment = wire::fragment_of(manifest, round);
    REQUIRE(cut.size() == wire::fragment_floats(manifest));
    // 1.75 a sample, in up to three rounds; 32 samples are this round's.
    CHECK(cut.front() == 32 * 1.75F);
    CHECK(cut[fragment.count - 1] == 32 * 1.75F);
    CHECK(std::all_of(cut.begin() + static_cast<std::ptrdiff_t>(fragment.count), cut.end(),
                      [](float value) { return value == 0; }));
    CHECK(sums.into(false)[fragment.begin] == 0);
  }
}

TEST_CASE("rounds without samples of one's own take nothing, and what did not count is brought again") {
  const wire::RunManifest manifest = manifest_of_three();
  FragmentSums sums(manifest);
  add(sums, 16, 1.0F);
  CHECK(sums.cut(0, 16, 16).front() == 16);
  add(sums, 16, 3.0F);  // meanwhile
  sums.put_back();
  sums.put_back();  // once is enough
  CHECK(sums.cut(0, 32, 32).front() == 32 * 2.0F);
  // Rounds 1 and 2 go by with nothing; fragment 1 still has all of it.
  add(sums, 8, 5.0F);
  CHECK(sums.cut(4, 8, 8).front() == doctest::Approx(8 * (16 * 1.0 + 16 * 3.0 + 8 * 5.0) / 40));
  sums.put_back();
  CHECK(sums.cut(4, 8, 2).front() == doctest::Approx(2 * (16 * 1.0 + 16 * 3.0 + 8 * 5.0) / 40));
  sums.clear();
  sums.put_back();
  CHECK(std::all_of(sums.into(false).begin(), sums.into(false).end(), [](float value) { return value == 0; }));
}
