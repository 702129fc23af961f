#include "coordinator/operations/prospects.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "shared/manifest/algorithms.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::operations;

namespace {

std::vector<swarm::Host> hosts_of(const std::string& hosts) {
  const auto read = read_swarm("{\"hosts\": [" + hosts + "]}");
  REQUIRE(read.ok());
  return *read;
}

std::string refusal(const std::string& json) {
  const auto read = read_swarm(json);
  REQUIRE(!read.ok());
  return read.error().message;
}

const Prospect& find(const std::vector<Prospect>& all, std::string_view algorithm, wire::Codec codec) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Prospect& each) {
    return each.algorithm == algorithm && each.method.codec == codec;
  });
  REQUIRE(found != all.end());
  return *found;
}

wire::RunManifest small_run() {
  wire::RunManifest manifest;
  manifest.target_batch_size = 512;
  return manifest;
}

constexpr const char* kHome = R"({"count": 8, "samples_per_s": 20, "upload_mbit_s": 10, "download_mbit_s": 50})";

}  // namespace

TEST_CASE("a swarm is described by its computers, with what is usual left out") {
  const auto hosts = hosts_of(std::string(kHome) +
                              R"(, {"samples_per_s": 100, "upload_mbit_s": 100, "download_mbit_s": 100,
                                    "delay_ms": 20, "jitter": 0.5, "departures_per_h": 2, "dialable": false})");
  REQUIRE(hosts.size() == 9);
  CHECK(hosts[0].link.upload == 10e6 / 8);
  CHECK(hosts[7].link.dialable);
  CHECK(hosts[8].delay_s == 0.02);
  CHECK(hosts[8].jitter == 0.5);
  CHECK(hosts[7].departures_per_s == 0);
  CHECK(hosts[8].departures_per_s == doctest::Approx(2.0 / 3600));
  CHECK(!hosts[8].link.dialable);
}

TEST_CASE("a swarm that is written down is read back, kind by kind") {
  const auto hosts =
      hosts_of(std::string(kHome) + R"(, {"samples_per_s": 3, "upload_mbit_s": 40, "download_mbit_s": 200,
                                                         "delay_ms": 20, "jitter": 0.5, "departures_per_h": 0.25,
                                                         "dialable": false})");
  const auto again = read_swarm(write_swarm(swarm::host_kinds(hosts)));
  REQUIRE(again.ok());
  REQUIRE(again->size() == 9);
  CHECK(again->front().samples_per_s == 20);
  CHECK(again->front().link.download == 50e6 / 8);
  CHECK(again->back().jitter == 0.5);
  CHECK(again->back().delay_s == 0.02);
  CHECK(again->back().departures_per_s == doctest::Approx(0.25 / 3600));
  CHECK(!again->back().link.dialable);
}

TEST_CASE("a description that will not do is refused by its field") {
  CHECK(refusal("{}").find("hosts") != std::string::npos);
  CHECK(refusal(R"({"hosts": []})").find("at least one") != std::string::npos);
  CHECK(
      refusal(R"({"hosts": [{"samples_per_s": 0, "upload_mbit_s": 1, "download_mbit_s": 1}]})").find("samples_per_s") !=
      std::string::npos);
  CHECK(refusal(R"({"hosts": [{"count": 999, "samples_per_s": 1, "upload_mbit_s": 1, "download_mbit_s": 1},
                              {"count": 2, "samples_per_s": 1, "upload_mbit_s": 1, "download_mbit_s": 1}]})")
            .find("1000 hosts") != std::string::npos);
}

TEST_CASE("over home lines rare averagings are ahead of frequent ones, and narrow codecs of wide ones") {
  const auto all = prospects(small_run(), hosts_of(kHome));
  // One algorithm names its codec, one is for models in cells, and two gossip: in pairs, in pairs that take turns, in a
  // grid, and all together.
  CHECK(all.size() == 1 + 3 * (manifest::algorithms().size() - 2 + 2 * 3) + 1);
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const Prospect& a, const Prospect& b) { return a.samples_per_s > b.samples_per_s; }));
  const Prospect& often = find(all, "dedloc", wire::Codec::fp32);
  const Prospect& seldom = find(all, "diloco", wire::Codec::fp32);
  CHECK(seldom.samples_per_s > often.samples_per_s);
  CHECK(find(all, "dedloc", wire::Codec::int8).samples_per_s > often.samples_per_s);
  // 50 steps of 8 samples by 8 computers, against 512 samples.
  CHECK(often.bytes_per_sample / seldom.bytes_per_sample == doctest::Approx(50.0 * 64 / 512).epsilon(0.02));
  CHECK(seldom.bytes_per_sample > 100 * find(all, "sparseloco", wire::Codec::sparse).bytes_per_sample);
  CHECK(often.why.find("slowest line sends 10 Mbit/s") != std::string::npos);
  CHECK(find(all, "", wire::Codec::fp32).samples_per_s == often.samples_per_s);
}

TEST_CASE("local steps that go on while a round is averaged take whichever is longer, computing or the line") {
  const auto all = prospects(small_run(), hosts_of(kHome));
  const swarm::RoundForecast& waits = find(all, "diloco", wire::Codec::fp32).round;
  const swarm::RoundForecast& goes_on = find(all, "eager-diloco", wire::Codec::fp32).round;
  CHECK(goes_on.averaging_s == waits.averaging_s);
  CHECK(waits.period_s() == doctest::Approx(waits.compute_s + waits.wait_s + waits.averaging_s + waits.step_s));
  CHECK(goes_on.period_s() ==
        doctest::Approx(std::max(goes_on.compute_s, 2 * goes_on.wait_s + goes_on.averaging_s) + goes_on.step_s));
  CHECK(goes_on.period_s() < waits.period_s());
  CHECK_FALSE(find(all, "decentralized-adam", wire::Codec::fp32).round.overlapped);
  wire::RunManifest own = small_run();
  manifest::find_algorithm("eager-diloco")->compose(own);
  CHECK(find(prospects(own, hosts_of(kHome)), "", wire::Codec::fp32).round.overlapped);
  CHECK_FALSE(find(prospects(own, hosts_of(kHome)), "diloco", wire::Codec::fp32).round.overlapped);
}

TEST_CASE("rounds of a fragment move as many bytes a sample, in rounds that many times shorter") {
  const auto all = prospects(small_run(), hosts_of(kHome));
  const Prospect& whole = find(all, "diloco", wire::Codec::fp32);
  const Prospect& quarter = find(all, "streaming-diloco", wire::Codec::fp32);
  CHECK(quarter.method.round_samples == whole.method.round_samples / 4);
  CHECK(quarter.round.bytes_sent == doctest::Approx(whole.round.bytes_sent / 4).epsilon(1e-3));
  CHECK(quarter.round.averaging_s < 0.3 * whole.round.averaging_s);
  CHECK(quarter.bytes_per_sample == doctest::Approx(whole.bytes_per_sample).epsilon(1e-3));
}

TEST_CASE("who mixes with more at a time moves more bytes, in mixings that take longer") {
  const auto all = prospects(small_run(), hosts_of(kHome));
  const auto of = [&all](wire::GossipPartners partners) {
    return *std::find_if(all.begin(), all.end(), [&](const Prospect& each) {
      return each.algorithm == "decentralized-adam" && each.partners == partners &&
             each.method.codec == wire::Codec::fp32;
    });
  };
  const Prospect pairs = of(wire::GossipPartners::exponential), grid = of(wire::GossipPartners::grid),
                 complete = of(wire::GossipPartners::complete);
  CHECK(complete.method.gossip_members == 8);
  CHECK(pairs.round.gossip_s < grid.round.gossip_s);
  CHECK(grid.round.gossip_s < complete.round.gossip_s);
  CHECK(pairs.samples_per_s == complete.samples_per_s);  // no computer waits for the exchanges
}

TEST_CASE("pairs that take turns mix half as often") {
  wire::RunManifest run = small_run();
  manifest::find_algorithm("decentralized-adam")->compose(run);
  const Prospect always = find(prospects(run, hosts_of(kHome)), "", wire::Codec::fp32);
  run.local->partners = wire::GossipPartners::alternating_exponential_ring;
  const Prospect in_turn = find(prospects(run, hosts_of(kHome)), "", wire::Codec::fp32);
  CHECK(in_turn.round.gossip_s == always.round.gossip_s);
  run.local->partners.reset();
  const double without = find(prospects(run, hosts_of(kHome)), "", wire::Codec::fp32).round.bytes_sent;
  CHECK(in_turn.round.bytes_sent - without == doctest::Approx((always.round.bytes_sent - without) / 2));
}

TEST_CASE("mixings that are many steps apart count as averagings, and a round has ten") {
  const auto all = prospects(small_run(), hosts_of(kHome));
  const Prospect& whole = find(all, "diloco", wire::Codec::fp32);
  const Prospect& pairs = find(all, "noloco", wire::Codec::fp32);
  CHECK(pairs.method.mix_every == 50);
  CHECK(pairs.method.round_samples == 10 * whole.method.round_samples);
  // A pair moves four sevenths of the bytes that all eight move together, ten times a round, plus one averaging.
  CHECK(pairs.round.bytes_sent == doctest::Approx((10 * 4.0 / 7 + 1) * whole.round.bytes_sent).epsilon(0.01));
  CHECK(pairs.samples_per_s > whole.samples_per_s);  // no computer waits for the exchanges
  wire::RunManifest own = small_run();
  manifest::find_algorithm("noloco")->compose(own);
  own.local->mix_every = 20;
  const auto others = prospects(own, hosts_of(kHome));
  CHECK(find(others, "", wire::Codec::fp32).method.round_samples == 512);
  CHECK(find(others, "diloco", wire::Codec::fp32).method.round_samples == 20 * 8 * 8);
}

TEST_CASE("low-rank products take the lines for as long as their factors do, and two averagings to begin and end") {
  constexpr const char* kFar =
      R"({"count": 4, "samples_per_s": 20, "upload_mbit_s": 10, "download_mbit_s": 10, "delay_ms": 25})";
  wire::RunManifest run = small_run();
  const swarm::RoundForecast whole = find(prospects(run, hosts_of(kFar)), "", wire::Codec::fp32).round;
  run.round.low_rank = 2;
  const auto all = prospects(run, hosts_of(kFar));
  const swarm::RoundForecast& factors = find(all, "", wire::Codec::fp32).round;
  const double share =
      static_cast<double>(wire::averaged_floats(run)) / static_cast<double>(wire::parameter_count(run.model));
  const double round_trips_s = 4 * 0.1;
  CHECK(share < 0.5);
  CHECK(factors.bytes_sent == doctest::Approx(share * whole.bytes_sent));
  CHECK(factors.averaging_s == doctest::Approx(share * (whole.averaging_s - round_trips_s) + 2 * round_trips_s));
  CHECK(factors.step_s == whole.step_s);
  CHECK(find(all, "dedloc", wire::Codec::fp32).round.averaging_s ==
        whole.averaging_s);  // a setting of this manifest alone
}

TEST_CASE("the more often volunteers depart, the more rare averagings lose, until their rounds are never full") {
  const auto with_churn = [](const char* per_h) {
    return prospects(small_run(), hosts_of(R"({"count": 8, "samples_per_s": 2, "upload_mbit_s": 100,
                                               "download_mbit_s": 100, "departures_per_h": )" +
                                           std::string(per_h) + "}"));
  };
  const auto calm = with_churn("0"), rough = with_churn("6"), wild = with_churn("60");
  const Prospect& often = find(rough, "dedloc", wire::Codec::int8);
  const Prospect& seldom = find(rough, "diloco", wire::Codec::int8);
  CHECK(find(calm, "diloco", wire::Codec::int8).samples_per_s > find(calm, "dedloc", wire::Codec::int8).samples_per_s);
  CHECK(find(calm, "diloco", wire::Codec::int8).round.lost == 0);
  CHECK(often.samples_per_s < find(calm, "dedloc", wire::Codec::int8).samples_per_s);
  CHECK(seldom.round.lost > often.round.lost);
  CHECK(seldom.why.find("go with who departs") != std::string::npos);
  CHECK(find(wild, "dedloc", wire::Codec::int8).samples_per_s > 0);
  const Prospect& never = find(wild, "diloco", wire::Codec::int8);
  CHECK(never.samples_per_s == 0);
  CHECK(never.why.find("smaller ones help") != std::string::npos);
  CHECK(find(wild, "dedloc", wire::Codec::int8).samples_per_s > never.samples_per_s);
}

TEST_CASE("over fast lines it hardly matters, and the reason says so") {
  const auto all = prospects(
      small_run(), hosts_of(R"({"count": 4, "samples_per_s": 2, "upload_mbit_s": 1000, "download_mbit_s": 1000})"));
  CHECK(find(all, "dedloc", wire::Codec::fp32).samples_per_s > 0.9 * 8);
  CHECK(find(all, "dedloc", wire::Codec::fp32).why.find("computing is") == 0);
}
