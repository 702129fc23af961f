#include "client/routing/weave.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace starling::routing;

namespace {

// Does the next step, and returns it; its experts answer at once if `answered`.
std::optional<Weave::Step> do_next(Weave& weave, bool answered) {
  const std::optional<Weave::Step> step = weave.take();
  if (!step) return step;
  weave.on_computed();
  const bool is_last = step->way == Way::back && step->segment == 0;
  if (answered && !is_last) weave.on_exchanged(step->micro_batch);
  return step;
}

}  // namespace

TEST_CASE("a micro-batch goes forth through all segments, turns in the last one and comes back") {
  Weave weave(4, 1, 8);
  std::vector<Weave::Step> steps;
  while (const auto step = do_next(weave, true)) steps.push_back(*step);
  CHECK(steps == std::vector<Weave::Step>{{0, 0, Way::forth},
                                          {0, 1, Way::forth},
                                          {0, 2, Way::forth},
                                          {0, 3, Way::turn},
                                          {0, 2, Way::back},
                                          {0, 1, Way::back},
                                          {0, 0, Way::back}});
  CHECK(weave.is_done());
}

TEST_CASE("while some wait for experts others are computed, as many as the bound allows") {
  Weave weave(2, 5, 3);
  CHECK(do_next(weave, false) == Weave::Step{0, 0, Way::forth});
  CHECK(do_next(weave, false) == Weave::Step{1, 0, Way::forth});
  CHECK(do_next(weave, false) == Weave::Step{2, 0, Way::forth});
  CHECK(weave.in_flight() == 3);
  CHECK_FALSE(do_next(weave, false));
  weave.on_exchanged(1);
  CHECK(do_next(weave, false) == Weave::Step{1, 1, Way::turn});
  CHECK_FALSE(do_next(weave, false));
  weave.on_exchanged(2);
  weave.on_exchanged(1);
  CHECK(do_next(weave, false) == Weave::Step{1, 0, Way::back});  // the nearest to its end comes first
  CHECK(weave.in_flight() == 2);
  CHECK(do_next(weave, false) == Weave::Step{2, 1, Way::turn});
  CHECK(do_next(weave, false) == Weave::Step{3, 0, Way::forth});
}

TEST_CASE("one step is computed at a time") {
  Weave weave(2, 2, 2);
  CHECK(weave.take());
  CHECK_FALSE(weave.take());
  weave.on_computed();
  CHECK(weave.take() == Weave::Step{1, 0, Way::forth});
}

TEST_CASE("whenever experts answer, each micro-batch has all its steps once, and all are done in the end") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 chance(seed);
    const int segments = 2 + static_cast<int>(chance() % 4);
    const std::size_t micro_batches = chance() % 9, most = 1 + chance() % 4;
    Weave weave(segments, micro_batches, most);
    std::vector<std::size_t> waiting;
    std::vector<int> steps(micro_batches, 0);
    while (!weave.is_done()) {
      CHECK(weave.in_flight() <= most);
      if (const auto step = do_next(weave, false)) {
        ++steps[step->micro_batch];
        if (step->way != Way::back || step->segment > 0) waiting.push_back(step->micro_batch);
        continue;
      }
      REQUIRE_FALSE(waiting.empty());
      std::swap(waiting[chance() % waiting.size()], waiting.back());
      weave.on_exchanged(waiting.back());
      waiting.pop_back();
    }
    CHECK(waiting.empty());
    CHECK(std::ranges::all_of(steps, [&](int done) { return done == 2 * segments - 1; }));
  }
}

TEST_CASE("what is only judged goes forth, and is done") {
  Weave weave(3, 2, 1, Way::judge);
  for (std::size_t micro_batch = 0; micro_batch < 2; ++micro_batch) {
    for (int segment = 0; segment < 3; ++segment) {
      const auto step = weave.take();
      REQUIRE(step);
      CHECK(*step == Weave::Step{micro_batch, segment, segment == 2 ? Way::judge : Way::forth});
      weave.on_computed();
      if (segment < 2) weave.on_exchanged(micro_batch);
    }
  }
  CHECK(weave.is_done());
}
