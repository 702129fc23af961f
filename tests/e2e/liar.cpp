// The volunteer's daemon with a lie in it, named by STARLING_LIE: everything else is the product.
//
//   samples      tells the others that its gradient has a hundred million samples
//   overclaimer  tells the others that its gradient has as many samples as its plan has room for
//   numbers      sends a gradient that is not a number
//   poison       sends a gradient that points the other way, a thousand times as long
//   boast        tells the coordinator that it computes a thousand times what it does
//   staller      says that its batches take an hour, and begins each averaging half a minute late
//   report       tells the coordinator that everybody brought a thousand samples more
//   lone-report  reports rounds that it averaged alone, in groups that nobody dealt, with an invented state
//   split-owner  gives one member another mean of its part than the rest, and signs both
//   filed-ahead  the same of rounds to come, behind its true reports
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/daemon/daemon_program.h"
#include "shared/base/mutex.h"
#include "shared/protocol/heartbeat.h"
#include "tests/client/averaging/split_owner.h"

namespace {

using namespace starling;

constexpr SampleCount kSamplesClaimed = 100'000'000;
constexpr SampleCount kSamplesAdded = 1000;
constexpr SampleCount kSamplesAlone = 3840;
constexpr float kPoison = -1000;
constexpr double kBoast = 1000;
constexpr double kHourS = 3600;
constexpr Duration kLate = std::chrono::seconds(30);
constexpr RoundIndex kRoundsAlone = 8;
constexpr int kCallsBetweenLies = 3;
constexpr std::uint8_t kInvented = 0x66;  // each byte of the state that nobody has

wire::RoundReport lone_report(const PeerId& self, RoundIndex round) {
  wire::RoundReport report;
  report.round = round;
  report.group.bytes.fill(static_cast<std::uint8_t>(round));
  report.members = {self};
  report.contributions = {{self, kSamplesAlone}};
  report.state_digest.bytes.fill(kInvented);
  return report;
}

// Learns in its first averaging who it is, on another thread than heartbeats are sent from.
class LoneReporter {
 public:
  explicit LoneReporter(bool ahead) : ahead_(ahead) {}

  void on_averaging(const transport::AverageRequest& request) {
    const MutexLock lock(mutex_);
    self_ = request.group.members[request.self].endpoint.peer;
  }
  void change(wire::Heartbeat& heartbeat) {
    const MutexLock lock(mutex_);
    if (self_.is_zero() || ++calls_ % kCallsBetweenLies != 0) return;
    if (!ahead_) heartbeat.reports.clear();
    for (RoundIndex i = 0; i < kRoundsAlone; ++i) {
      heartbeat.reports.push_back(lone_report(self_, heartbeat.state_round + i));
    }
    if (ahead_) return;
    heartbeat.state_round += kRoundsAlone;
    heartbeat.state_digest.bytes.fill(kInvented);
  }

 private:
  const bool ahead_;
  Mutex mutex_;
  PeerId self_ GUARDED_BY(mutex_);
  int calls_ GUARDED_BY(mutex_) = 0;
};

// One of the others gets other values, whichever of them it is in this round.
void split(transport::AverageRequest& request) {
  const averaging::Rank victim = (request.self + 1) % request.group.members.size();
  const auto of_round = std::make_shared<std::optional<averaging::SplitOwner>>();
  request.outgoing = [victim, of_round](const transport::AverageRequest& own, averaging::Rank to,
                                        averaging::OutgoingFrame& frame) {
    if (!*of_round) {
      of_round->emplace(own.group, own.self, own.engine.signer,
                        [victim](averaging::Rank rank) { return rank == victim; });
    }
    const auto header = wire::decode_header(std::span(frame.head).first<wire::kFrameHeaderBytes>());
    std::vector<std::uint8_t> payload(frame.head.begin() + wire::kFrameHeaderBytes, frame.head.end());
    payload.insert(payload.end(), frame.payload.begin(), frame.payload.end());
    (*of_round)->change(to, header.value(), payload);
    frame.head.resize(wire::kFrameHeaderBytes);
    frame.head.insert(frame.head.end(), payload.begin(), payload.end());
    frame.payload = {};
  };
}

daemon::Outgoing lies_of(const std::string& lie) {
  daemon::Outgoing outgoing;
  if (lie == "samples") {
    outgoing.contribution = [](transport::AverageRequest& request) {
      if (request.weight > 0) request.weight = kSamplesClaimed;
    };
  } else if (lie == "overclaimer") {
    outgoing.contribution = [](transport::AverageRequest& request) {
      const SampleCount most = request.group.members[request.self].weight_max;
      if (request.weight > 0) request.weight = std::max(request.weight, most);
    };
  } else if (lie == "numbers") {
    // For one round at a time. Its own part is sound: the program looks at that itself, and would tell nobody of the
    // rest.
    outgoing.contribution = [nothing = std::make_shared<std::vector<float>>()](transport::AverageRequest& request) {
      if (request.weight == 0) return;
      nothing->assign(request.input.begin(), request.input.end());
      auto part = nothing->begin();
      for (averaging::Rank rank = 0; rank < request.group.members.size(); ++rank) {
        const auto end = part + request.group.members[rank].part_floats;
        if (rank != request.self) std::fill(part, end, std::numeric_limits<float>::quiet_NaN());
        part = end;
      }
      request.input = *nothing;
    };
  } else if (lie == "poison") {
    outgoing.contribution = [poison = std::make_shared<std::vector<float>>()](transport::AverageRequest& request) {
      if (request.weight == 0) return;
      poison->assign(request.input.begin(), request.input.end());
      for (float& value : *poison) value *= kPoison;
      request.input = *poison;
    };
  } else if (lie == "boast") {
    outgoing.heartbeat = [](wire::Heartbeat& heartbeat) {
      heartbeat.samples_per_s *= kBoast;
      heartbeat.samples_this_round *= static_cast<SampleCount>(kBoast);
    };
  } else if (lie == "staller") {
    outgoing.heartbeat = [](wire::Heartbeat& heartbeat) { heartbeat.batch_seconds = kHourS; };
    outgoing.contribution = [](transport::AverageRequest& request) { request.start += kLate; };
  } else if (lie == "report") {
    outgoing.heartbeat = [](wire::Heartbeat& heartbeat) {
      for (wire::RoundReport& report : heartbeat.reports) {
        for (wire::Contribution& contribution : report.contributions) contribution.samples += kSamplesAdded;
      }
    };
  } else if (lie == "split-owner") {
    outgoing.contribution = split;
  } else if (lie == "lone-report" || lie == "filed-ahead") {
    const auto reporter = std::make_shared<LoneReporter>(lie == "filed-ahead");
    outgoing.contribution = [reporter](const transport::AverageRequest& request) { reporter->on_averaging(request); };
    outgoing.heartbeat = [reporter](wire::Heartbeat& heartbeat) { reporter->change(heartbeat); };
  }
  return outgoing;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const lie = std::getenv("STARLING_LIE");
  return daemon::run_daemon(argc, argv,
                            {STARLING_TRAINER_FOLDER, STARLING_UPDATE_SOURCE, lies_of(lie != nullptr ? lie : "")});
}
