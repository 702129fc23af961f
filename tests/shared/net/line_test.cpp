#include "shared/net/line.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/net/http_client.h"
#include "tests/shared/net/test_server.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::net;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kBegin = TimePoint{} + 1h;

TEST_CASE("what is long to send waits for its turns") {
  const testing::Project project;
  testing::TestServer server(project, project.coordinator(),
                             [](const std::string&) { return testing::ok_reply("{}"); });
  Line line;
  const SystemClock clock;
  line.upload.set_rate(clock.now(), 1e6);
  HttpClient client(server.endpoint(), project.client_tls(), {.line = &line});
  const std::string piece(90'000, 'x');
  const TimePoint began = clock.now();
  for (int i = 0; i < 6; ++i) REQUIRE(client.post_bytes("/v1/checkpoint", piece).ok());
  CHECK(to_seconds(clock.now() - began) > 0.4);  // a tenth of a second may pass at once
  CHECK(line.upload.reserve(clock.now(), 1) < clock.now() + 200ms);
}

}  // namespace

TEST_CASE("over a minute exactly the limit passes, however unevenly it is asked for and overdrawn") {
  for (const double rate : {62'500.0, 1e6, 125e6}) {
    CAPTURE(rate);
    LineBudget budget;
    TimePoint now = kBegin;
    budget.set_rate(now, rate);
    double passed = 0;
    for (int asked = 1; now < kBegin + 60s; ++asked) {
      const double turn = budget.turn_bytes();
      const Duration late =
          asked % 5 == 0 ? std::min(3 * from_seconds(turn / rate), LineBudget::kBurst / 2) : Duration::zero();
      now = budget.reserve(now + late, turn);
      const double more = asked % 7 == 0 ? 16'384 : 0;  // a record more than reserved, now and then
      budget.take(now, more);
      passed += turn + more;
    }
    CHECK(passed == doctest::Approx(60 * rate).epsilon(0.01));
  }
}

TEST_CASE("after a rest only a little is due at once") {
  LineBudget budget;
  budget.set_rate(kBegin, 1e6);
  const TimePoint later = kBegin + 1h;
  double at_once = 0;
  while (budget.reserve(later, 10'000) <= later) at_once += 10'000;
  CHECK(at_once == doctest::Approx(110'000));
}

TEST_CASE("those who keep asking share the line, and what is urgent is paid back by all of them") {
  LineBudget budget;
  budget.set_rate(kBegin, 1e6);
  TimePoint due[2] = {kBegin, kBegin};
  double passed[2] = {0, 0};
  budget.take(kBegin, 100'000);  // a tenth of a second
  while (std::min(due[0], due[1]) < kBegin + 10s) {
    const int next = due[0] <= due[1] ? 0 : 1;
    due[next] = budget.reserve(due[next], 20'000);
    passed[next] += 20'000;
  }
  CHECK(passed[0] == doctest::Approx(5e6).epsilon(0.02));
  CHECK(passed[1] == doctest::Approx(5e6).epsilon(0.02));
}

TEST_CASE("a debt keeps its bytes when the limit changes, and is forgotten without one") {
  LineBudget budget;
  budget.set_rate(kBegin, 1e6);
  budget.take(kBegin, 1.1e6);  // a tenth of it was available after the rest
  budget.set_rate(kBegin, 2e6);
  CHECK(to_seconds(budget.reserve(kBegin, 1) - kBegin) == doctest::Approx(0.5).epsilon(0.15));
  budget.set_rate(kBegin, 0);
  CHECK(budget.reserve(kBegin, 1e9) == kBegin);
  budget.set_rate(kBegin, 1e6);
  CHECK(budget.reserve(kBegin, 1) == kBegin);
}

TEST_CASE("a download waits for its turns, small calls do not, and all are taken from the line") {
  const testing::Project project;
  const testing::TempDir folder;
  const std::string bytes(1'500'000, 'x');
  testing::TestServer server(project, project.coordinator(), [&](const std::string& request) {
    return testing::ok_reply(request.starts_with("POST") ? "{}" : bytes);
  });
  Line line;
  constexpr double kRate = 1e6;
  const SystemClock clock;
  line.download.set_rate(clock.now(), kRate);
  line.upload.set_rate(clock.now(), 1000);  // less than a single handshake takes: the download does not wait for it
  HttpClient client(server.endpoint(), project.client_tls(), {.line = &line});
  Download download;
  download.path = "/v1/artefacts/x";
  download.sha256 = crypto::sha256(bytes);
  download.bytes = static_cast<std::int64_t>(bytes.size());
  download.destination = folder / "x";
  const TimePoint began = clock.now();
  REQUIRE(client.download_artefact(download).ok());
  const double seconds = to_seconds(clock.now() - began);
  CHECK(seconds > 1.3);  // a tenth of a second may pass at once
  const TimePoint called = clock.now();
  REQUIRE(client.post_json("/v1/heartbeat", "{}").ok());
  CHECK(clock.now() - called < 1s);  // the upload is seconds in debt by now
  CHECK(line.upload.reserve(clock.now(), 1) > clock.now());
  // The download was read and stopped: its reservation is given back.
  CHECK(line.download.reserve(clock.now(), 1) < clock.now() + 200ms);
}
