#include "shared/swarm/runtime_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace starling;
using namespace starling::swarm;

namespace {

constexpr double kMbit = 1e6 / 8;
constexpr double kPayload = 0.94;

Host host(double samples_per_s, double up_mbit, double down_mbit, double delay_s = 0, double jitter = 0) {
  return {{up_mbit * kMbit, down_mbit * kMbit, true}, samples_per_s, delay_s, jitter};
}

Method gradients(double floats, double samples) {
  return {.vector_floats = floats, .round_samples = samples, .micro_batch = 8};
}

}  // namespace

TEST_CASE("without jitter and delay, equal hosts take the closed form's time") {
  for (const int n : {2, 4, 8, 16}) {
    CAPTURE(n);
    const std::vector<Host> hosts(static_cast<std::size_t>(n), host(10, 100, 100));
    const RoundForecast round = predict_round(hosts, gradients(4e6, 1000));
    CHECK(round.compute_s == doctest::Approx(1000.0 / (10 * n)));
    CHECK(round.wait_s == doctest::Approx(0.5 * 8 / 10));
    // Each sends and receives 2 (n - 1) / n vectors.
    CHECK(round.averaging_s == doctest::Approx(2.0 * (n - 1) / n * 16e6 / (100 * kMbit * kPayload)));
    CHECK(round.bytes_sent == doctest::Approx(2.0 * (n - 1) / n * 16e6));
    CHECK(round.left_out == 0);
  }
}

TEST_CASE("delays cost round trips, jitter the largest of the deviations, codecs their width") {
  const std::vector<Host> near(4, host(10, 100, 100));
  const std::vector<Host> far(4, host(10, 100, 100, 0.01));
  const std::vector<Host> shaky(4, host(10, 100, 100, 0, 0.2));
  const RoundForecast plain = predict_round(near, gradients(4e6, 1000));
  CHECK(predict_round(far, gradients(4e6, 1000)).averaging_s == doctest::Approx(plain.averaging_s + 4 * 0.04));
  CHECK(predict_round(shaky, gradients(4e6, 1000)).wait_s ==
        doctest::Approx(plain.wait_s + 0.2 * 0.8 * std::sqrt(2 * std::log(4.0))));
  Method halves = gradients(4e6, 1000);
  halves.codec = wire::Codec::fp16;
  CHECK(predict_round(near, halves).averaging_s == doctest::Approx(plain.averaging_s / 2).epsilon(0.01));
  Method sparse = gradients(4e6, 1000);
  sparse.codec = wire::Codec::sparse;
  sparse.error_feedback = true;
  CHECK(predict_round(near, sparse).averaging_s == doctest::Approx(plain.averaging_s * 116 / 16384).epsilon(0.01));
  CHECK(predict_round(near, sparse).bytes_sent == doctest::Approx(plain.bytes_sent * 116 / 16384).epsilon(0.01));
}

TEST_CASE("a grid moves everything two and a half times") {
  const std::vector<Host> hosts(9, host(10, 100, 100));
  Method method = gradients(4e6, 1000);
  const RoundForecast one_group = predict_round(hosts, method);
  method.grid = true;
  CHECK(predict_round(hosts, method).averaging_s == doctest::Approx(2.5 * one_group.averaging_s));
  CHECK(predict_round(hosts, method).bytes_sent == doctest::Approx(2.5 * one_group.bytes_sent));
}

TEST_CASE("delayed updates hide whichever is shorter, computing or averaging") {
  const std::vector<Host> hosts(4, host(10, 100, 100));
  Method method = gradients(4e6, 1000);
  method.delay_parameter_updates = true;
  const RoundForecast computing = predict_round(hosts, method);
  CHECK(computing.compute_s > computing.averaging_s);
  CHECK(computing.period_s() == doctest::Approx(computing.compute_s));
  method.round_samples = 40;
  const RoundForecast averaging = predict_round(hosts, method);
  CHECK(averaging.period_s() == doctest::Approx(averaging.averaging_s + 2 * averaging.wait_s));
}

TEST_CASE("mixings cost bytes and no time, one a batch where lines are fast, and as many as they carry where not") {
  const std::vector<Host> hosts(4, host(8, 100, 100));  // a batch takes a second
  Method method = gradients(2.5e6, 32 * 50);
  const RoundForecast plain = predict_round(hosts, method);
  method.gossip_members = 2;
  const RoundForecast mixed = predict_round(hosts, method);
  CHECK(mixed.period_s() == plain.period_s());
  CHECK(mixed.gossip_s == doctest::Approx(10e6 / (100 * kMbit * kPayload)));  // takes 0.85 s
  CHECK(mixed.bytes_sent == doctest::Approx(plain.bytes_sent + 50 * 10e6));
  method.vector_floats = 5e6;
  CHECK(predict_round(hosts, method).bytes_sent ==
        doctest::Approx(2 * plain.bytes_sent + 25 * 20e6));  // every other batch begins one
  method.mix_every = 10;
  CHECK(predict_round(hosts, method).bytes_sent == doctest::Approx(2 * plain.bytes_sent + 5 * 20e6));
}

TEST_CASE("one alone computes and steps") {
  const std::vector<Host> alone{host(10, 1, 1)};
  Method method = gradients(6e6, 100);
  method.step_vectors = 10;
  const RoundForecast round = predict_round(alone, method);
  CHECK(round.averaging_s == 0);
  CHECK(round.wait_s == 0);
  CHECK(round.bytes_sent == 0);
  CHECK(round.period_s() == doctest::Approx(10 + 10 * 24e6 / 6e9));
}

TEST_CASE(
    "who departs takes along what it has computed, and holds up the averaging for as long as that is made up for") {
  constexpr double kDeparturesPerS = 1.0 / 600;
  std::vector<Host> hosts(8, host(10, 100, 100));
  const RoundForecast stays = predict_round(hosts, gradients(4e6, 8000));
  CHECK(stays.samples == 8000);
  CHECK(stays.lost == 0);
  CHECK(stays.recovery_s == 0);
  for (Host& each : hosts) each.departures_per_s = kDeparturesPerS;
  Method method = gradients(4e6, 8000);
  const RoundForecast departs = predict_round(hosts, method);
  const double speed = 80 * std::exp(-method.newcomer_s * kDeparturesPerS);
  CHECK(departs.compute_s == doctest::Approx(-std::log1p(-kDeparturesPerS * 8000 / speed) / kDeparturesPerS));
  CHECK(departs.averaging_s == stays.averaging_s);
  const double sent = departs.averaging_s * kDeparturesPerS;
  CHECK(departs.samples == doctest::Approx(8000 * (1 - std::exp(-sent)) / sent));
  CHECK(departs.lost == doctest::Approx(1 - departs.samples / (80 * departs.compute_s)));
  // One of them departs within these two seconds, on average in their middle.
  CHECK(departs.recovery_s == doctest::Approx(8 * kDeparturesPerS * 2 * 2 / 2).epsilon(0.02));
  CHECK(departs.period_s() ==
        doctest::Approx(departs.compute_s + departs.wait_s + departs.averaging_s + departs.recovery_s));
  method.round_samples = 80;
  CHECK(predict_round(hosts, method).lost < 0.02);  // rare averagings lose more
  CHECK(departs.lost > 0.07);
  method.grid = true;
  CHECK(predict_round(hosts, method).recovery_s == doctest::Approx(3 * departs.recovery_s).epsilon(0.001));
  // With an averaging of a twentieth of that length, all of the recovery is waited for.
  const double averaging_s = predict_round(hosts, gradients(1.68e5, 80)).averaging_s;
  CHECK(averaging_s == doctest::Approx(0.1).epsilon(0.01));
  CHECK(predict_round(hosts, gradients(1.68e5, 80)).recovery_s ==
        doctest::Approx(8 * kDeparturesPerS * averaging_s * 2).epsilon(0.03));
}

TEST_CASE("a newcomer loads the state over its own line, or the donors' if those are slower together") {
  std::vector<Host> hosts(4, host(10, 10, 100));
  for (Host& each : hosts) each.departures_per_s = 0.001;
  Method method = gradients(1, 0.4);  // practically nobody departs within a hundredth of a second
  method.newcomer_s = 0;
  method.state_bytes = 1e7;
  const auto empty_s = [&] { return std::log(predict_round(hosts, method).compute_s * 40 / 0.4) / 0.001; };
  CHECK(empty_s() == doctest::Approx(10e6 / (80 * kMbit * kPayload)).epsilon(0.01));  // eight donors send it
  for (Host& each : hosts) each.link.download = 10 * kMbit;
  CHECK(empty_s() == doctest::Approx(10e6 / (10 * kMbit * kPayload)).epsilon(0.01));
}

TEST_CASE("mixings are missed by who has departed since the round began") {
  std::vector<Host> hosts(4, host(8, 100, 100));
  for (Host& each : hosts) each.departures_per_s = 0.001;
  Method method = gradients(2.5e6, 32 * 50);
  const RoundForecast plain = predict_round(hosts, method);
  CHECK(plain.gossips_alone == 0);
  method.gossip_members = 2;
  const RoundForecast mixed = predict_round(hosts, method);
  CHECK(mixed.period_s() == plain.period_s());
  CHECK(mixed.gossips_alone == doctest::Approx(0.001 * mixed.compute_s / 2).epsilon(0.03));
  CHECK(mixed.bytes_sent == doctest::Approx(plain.bytes_sent + (1 - mixed.gossips_alone) * mixed.compute_s * 10e6));
}

TEST_CASE("a round that is too long for those who come and go is never full") {
  std::vector<Host> hosts(4, host(10, 100, 100));
  for (Host& each : hosts) each.departures_per_s = 0.1;
  Method method = gradients(1e6, 1000);
  method.gossip_members = 2;
  const RoundForecast round = predict_round(hosts, method);
  CHECK(std::isinf(round.period_s()));
  CHECK(round.samples == 0);
  method.round_samples = 10;
  CHECK(std::isfinite(predict_round(hosts, method).period_s()));
}

TEST_CASE("delays are of round trips to a usual other one") {
  // Delays of 10, 20 and 30 ms to the middle, each computed with the peer itself among the others.
  const std::vector<double> delays = delays_of(std::vector{0.06, 0.08, 0.1, 0.0});
  CHECK(delays[0] == doctest::Approx(0.01));
  CHECK(delays[1] == doctest::Approx(0.02));
  CHECK(delays[2] == doctest::Approx(0.03));
  CHECK(delays[3] == doctest::Approx(0.02));
  CHECK(delays_of(std::vector{0.0, 0.0}) == std::vector{0.0, 0.0});
}

TEST_CASE("fifty steps between two averagings move fifty times fewer bytes a sample") {
  const std::vector<Host> hosts(4, host(50, 20, 100, 0.02));
  const RoundForecast every = predict_round(hosts, gradients(1e6, 128));
  const RoundForecast seldom = predict_round(hosts, gradients(1e6, 50 * 128));
  CHECK(every.bytes_sent / 128 / (seldom.bytes_sent / (50 * 128)) == doctest::Approx(50).epsilon(0.05));
  CHECK(50 * 128 / seldom.period_s() > 128 / every.period_s());
}

TEST_CASE("a line that would hold everybody up is relieved, as plans do") {
  std::vector<Host> hosts(3, host(10, 100, 100));
  hosts.push_back(host(10, 10, 10));
  const RoundForecast round = predict_round(hosts, gradients(4e6, 1200));
  CHECK(round.averaging_s < 0.5 * 2 * 0.75 * 16e6 / (10 * kMbit * kPayload));
}
