#include "shared/swarm/formation_choice.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace starling::swarm;

namespace {

using Kind = FormationSpec::Kind;

// 64 MB over 20 Mbit/s.
SwarmForecast volunteers(std::size_t peers) {
  SwarmForecast forecast;
  forecast.peers = peers;
  forecast.vector_bytes = 64e6;
  forecast.bytes_per_s = 2.5e6;
  forecast.round_s = 1;
  forecast.link_s = 0.004;
  forecast.recovery_s = 2;
  return forecast;
}

// The smallest swarm of this kind that a grid suits better.
std::size_t grid_from(SwarmForecast forecast) {
  for (forecast.peers = 2; forecast.peers < 1'000'000; forecast.peers += 1 + forecast.peers / 50) {
    if (choose_formation(forecast).spec.kind == Kind::planned_grid) return forecast.peers;
  }
  return forecast.peers;
}

}  // namespace

TEST_CASE("a few peers make one group, and many a grid, when a lost member costs its group the round") {
  SwarmForecast forecast = volunteers(0);
  forecast.restart_share = 1;
  forecast.failures_per_s = 0.005 / 50;  // one in 200 while it averages once
  const std::size_t many = grid_from(forecast);
  CHECK(many > 60);
  CHECK(many < 300);
  forecast.peers = many * 10;
  CHECK(choose_formation(forecast).spec.kind == Kind::planned_grid);
}

TEST_CASE("vanishings delay an averaging until there is a gap between them; the last of several groups waits longer") {
  CHECK(recovery_delay_s(0, 2) == 0);
  CHECK(recovery_delay_s(0.1, 2) == doctest::Approx((std::exp(0.2) - 1) / 0.1 - 2));
  CHECK(recovery_delay_s(1e-6, 2) == doctest::Approx(1e-6 * 2 * 2 / 2));
  CHECK(recovery_delay_s(0.1, 2, 5) > 3 * recovery_delay_s(0.1, 2));
}

TEST_CASE("the more often peers vanish, the smaller the swarm that a grid suits better") {
  SwarmForecast forecast = volunteers(0);
  forecast.restart_share = 1;
  std::size_t before = 1'000'000;
  for (const double share : {0.0005, 0.001, 0.005, 0.01, 0.03}) {
    forecast.failures_per_s = share / 50;
    const std::size_t many = grid_from(forecast);
    CHECK(many < before);
    before = many;
  }
}

TEST_CASE("what is made up for in two seconds costs a group little, so one group may be larger") {
  SwarmForecast forecast = volunteers(0);
  forecast.failures_per_s = 0.005 / 50;
  const std::size_t repaired = grid_from(forecast);
  forecast.restart_share = 1;
  CHECK(repaired > 10 * grid_from(forecast));
}

TEST_CASE("where every partner costs time, a grid is faster for many peers although nobody fails") {
  SwarmForecast forecast = volunteers(100);
  CHECK(choose_formation(forecast).spec.kind == Kind::one_group);
  forecast.peers = 100'000;
  const FormationForecast chosen = choose_formation(forecast);
  CHECK(chosen.spec.kind == Kind::planned_grid);
  CHECK(chosen.expected_s == doctest::Approx(chosen.undisturbed_s));
  CHECK(chosen.expected_s < predict({}, forecast).expected_s / 4);
}

TEST_CASE("an undisturbed group takes two vectors less its own shares, its partners and its start") {
  SwarmForecast forecast = volunteers(101);
  CHECK(predict({}, forecast).undisturbed_s == doctest::Approx(1 + 0.4 + 2 * 100.0 / 101 * 25.6));
  forecast.peers = 100;
  CHECK(predict({Kind::planned_grid, {10, 10}}, forecast).undisturbed_s ==
        doctest::Approx(2 * (1 + 9 * 0.004 + 2 * 0.9 * 25.6)));
}

TEST_CASE("one group that restarts takes e^(members x chance) times as long") {
  SwarmForecast forecast = volunteers(200);
  forecast.restart_share = 1;
  const double once = predict({}, forecast).undisturbed_s;
  forecast.failures_per_s = 0.01 / once;
  CHECK(predict({}, forecast).expected_s == doctest::Approx(once * std::exp(2.0)));
}

TEST_CASE("a forecast that nobody can meet is infinite, not wrong") {
  SwarmForecast forecast = volunteers(100'000);
  forecast.restart_share = 1;
  forecast.failures_per_s = 1;
  CHECK(std::isinf(predict({}, forecast).expected_s));
}

TEST_CASE("columns and heads move the vector twice and a half as often, over fewer partners") {
  const SwarmForecast forecast = volunteers(100);
  const double one_group = 1 + 99 * 0.004 + 2 * 0.99 * 25.6;
  CHECK(columns_expected_s(1, forecast) == doctest::Approx(one_group));
  const double column = 1 + 9 * 0.004 + 2 * 0.9 * 25.6;
  const double heads = 1 + 19 * 0.004 + 2 * 0.95 * 25.6;
  const double spread = 1 + 9 * 0.004 + 0.9 * 25.6;
  CHECK(columns_expected_s(10, forecast) == doctest::Approx(column + heads + spread));
}

TEST_CASE("one group as long as all fit into it, unless its partners take longer than the vector") {
  SwarmForecast forecast = volunteers(512);
  forecast.group_max = 512;
  forecast.batch_s = 60;
  CHECK(choose_columns(forecast, 256) == 1);
  forecast.vector_bytes = 1e5;
  forecast.round_s = 0.1;
  CHECK(choose_columns(forecast, 256) > 1);
}

TEST_CASE("beyond what a group can hold, a grid when the others' samples are worth its longer averaging") {
  SwarmForecast forecast = volunteers(540);
  forecast.group_max = 512;
  forecast.batch_s = 60;
  CHECK(choose_columns(forecast, 256) == 1);
  forecast.peers = 2000;
  const std::size_t columns = choose_columns(forecast, 256);
  CHECK(columns >= 4);
  CHECK(columns <= 256);
  CHECK(choose_columns(forecast, 1) == 1);
}
