#include "client/daemon/certificate_renewal.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

using namespace starling;
using namespace starling::daemon;

namespace {

// A renewal whose coordinator answers what `answer` says; both belong to the thread that settles.
struct Renewals {
  Renewals() {
    control.start("control");
    trainer.start("trainer");
    coordinator.start("coordinator");
  }
  // Runs `ask` on control, then waits for everything that follows.
  void on_control(const std::function<void()>& ask) {
    control.run_and_wait(ask);
    coordinator.run_and_wait([] {});
    control.run_and_wait([] {});
  }

  CorrectedClock clock;
  TaskLoop control{clock};
  TaskLoop trainer{clock};
  TaskLoop coordinator{clock};
  RunThreads threads{{control, trainer, coordinator, clock}, false, [] {}};
  Result<std::string> answer = std::string("fresh");
  int calls = 0;
  std::vector<std::string> adopted;
  CertificateRenewal renewal{threads,
                             {[this] {
                                ++calls;
                                return answer;
                              },
                              [this](const std::string& pem) { adopted.push_back(pem); }}};
};

}  // namespace

TEST_CASE("one renewal is under way at a time, and another may follow") {
  Renewals renewals;
  renewals.on_control([&] {
    renewals.renewal.begin();
    renewals.renewal.begin();
  });
  CHECK(renewals.calls == 1);
  CHECK(renewals.adopted == std::vector<std::string>{"fresh"});
  renewals.on_control([&] { renewals.renewal.begin(); });
  CHECK(renewals.adopted.size() == 2);
}

TEST_CASE("a coordinator that refuses every certificate is asked once a minute") {
  Renewals renewals;
  renewals.answer = Error{ErrorCode::unauthenticated, "this computer is no member any more"};
  const TimePoint begin = renewals.clock.now();
  const auto refused_after = [&](Duration passed) {
    renewals.on_control([&] { renewals.renewal.on_refused(begin + passed); });
    return renewals.calls;
  };
  CHECK(refused_after(std::chrono::seconds(0)) == 1);
  CHECK(refused_after(std::chrono::seconds(30)) == 1);
  CHECK(refused_after(CertificateRenewal::kRefusedRetry) == 2);
  CHECK(renewals.adopted.empty());
}

TEST_CASE("a certificate that arrives after the run was stopped is dropped") {
  Renewals renewals;
  std::promise<void> goes_on;
  renewals.coordinator.post([&] { goes_on.get_future().wait(); });
  renewals.control.run_and_wait([&] {
    renewals.renewal.begin();
    renewals.threads.stop();
  });
  goes_on.set_value();
  renewals.on_control([] {});
  CHECK(renewals.calls == 0);
  CHECK(renewals.adopted.empty());
}
