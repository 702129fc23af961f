#include "client/serving/merge.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/client/serving/callers.h"

using namespace starling;
using namespace starling::serving;

TEST_CASE("units of several calls are in the order of experts, with rows that follow one another") {
  const std::vector<std::int32_t> counts_1{1, 0, 2}, rows_1{1, 0, 1}, counts_2{0, 1, 1}, rows_2{0, 0};
  const std::vector<float> inputs_1{1, 2, 3, 4}, inputs_2{5, 6};
  const std::vector<float> upstream_1{10, 11, 12, 13, 14, 15}, upstream_2{20, 21, 22, 23};
  const std::vector<Share> shares{{counts_1, rows_1, inputs_1, upstream_1}, {counts_2, rows_2, inputs_2, upstream_2}};
  const Merged merged = merge(shares, kWidth);
  CHECK(merged.counts == std::vector<std::int32_t>{1, 1, 3});
  CHECK(merged.rows == std::vector<std::int32_t>{1, 2, 0, 1, 2});
  CHECK(merged.inputs == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(merged.upstream == std::vector<float>{10, 11, 20, 21, 12, 13, 14, 15, 22, 23});
  const auto results = split_results(shares, merged.upstream, kWidth);
  CHECK(results[0] == upstream_1);
  CHECK(results[1] == upstream_2);
  const auto gradient = split_gradient(shares, merged.inputs);
  CHECK(gradient[0] == inputs_1);
  CHECK(gradient[1] == inputs_2);
}

TEST_CASE("the answer to merged calls is, for each, what it gets alone") {
  std::mt19937 random(3);
  for (int run = 0; run < 100; ++run) {
    const auto chance = [&](int below) { return std::uniform_int_distribution<>(0, below - 1)(random); };
    std::vector<Call> calls;
    std::vector<std::vector<float>> inputs, upstream;
    for (int i = 0; i <= chance(5); ++i) {
      Call& call = calls.emplace_back();
      call.inputs = 1 + chance(4);
      for (int expert = 0; expert < kExperts; ++expert) {
        call.counts.push_back(chance(4));
        for (int unit = 0; unit < call.counts.back(); ++unit) call.rows.push_back(chance(call.inputs));
      }
      const auto values = [&](std::size_t rows) {
        std::vector<float> drawn(rows * kWidth);
        for (float& value : drawn) value = static_cast<float>(chance(1000));
        return drawn;
      };
      inputs.push_back(values(static_cast<std::size_t>(call.inputs)));
      upstream.push_back(values(call.rows.size()));
    }
    for (const bool is_back : {false, true}) {
      std::vector<Share> shares;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const std::span<const float> gradient =
            is_back ? std::span<const float>(upstream[i]) : std::span<const float>();
        shares.push_back({calls[i].counts, calls[i].rows, inputs[i], gradient});
      }
      const Merged merged = merge(shares, kWidth);
      const auto all = computed(is_back, {merged.counts, merged.rows, merged.inputs, merged.upstream});
      const auto parts = is_back ? split_gradient(shares, all) : split_results(shares, all, kWidth);
      REQUIRE(parts.size() == calls.size());
      for (std::size_t i = 0; i < calls.size(); ++i) CHECK(parts[i] == computed(is_back, shares[i]));
    }
  }
}
