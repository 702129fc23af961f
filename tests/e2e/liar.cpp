// The volunteer's daemon with a lie in it, named by STARLING_LIE: everything else is the product, to the last call. The
// linker routes the daemon's calls of two functions here first (--wrap, by their mangled names).
//
//   samples   tells the others that its gradient has a hundred million samples
//   numbers   sends a gradient that is not a number
//   report    tells the coordinator that everybody brought a thousand samples more
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "client/daemon/coordinator_calls.h"
#include "client/transport/peer_network.h"

namespace {

using namespace starling;

constexpr SampleCount kSamplesClaimed = 100'000'000;
constexpr SampleCount kSamplesAdded = 1000;

bool lies_about(std::string_view what) {
  const char* lie = std::getenv("STARLING_LIE");
  return lie != nullptr && what == lie;
}

}  // namespace

Status real_average(transport::PeerNetwork* network, transport::AverageRequest request) asm(
    "__real__ZN8starling9transport11PeerNetwork7averageENS0_14AverageRequestE");
Status lying_average(transport::PeerNetwork* network, transport::AverageRequest request) asm(
    "__wrap__ZN8starling9transport11PeerNetwork7averageENS0_14AverageRequestE");

Status lying_average(transport::PeerNetwork* network, transport::AverageRequest request) {
  static std::vector<float> nothing;  // for one round at a time
  if (request.weight > 0 && lies_about("samples")) request.weight = kSamplesClaimed;
  if (request.weight > 0 && lies_about("numbers")) {
    nothing.assign(request.input.size(), std::numeric_limits<float>::quiet_NaN());
    request.input = nothing;
  }
  return real_average(network, std::move(request));
}

Result<wire::HeartbeatReply> real_heartbeat(daemon::CoordinatorCalls* calls, const wire::Heartbeat& heartbeat) asm(
    "__real__ZN8starling6daemon16CoordinatorCalls9heartbeatERKNS_4wire9HeartbeatE");
Result<wire::HeartbeatReply> lying_heartbeat(daemon::CoordinatorCalls* calls, const wire::Heartbeat& heartbeat) asm(
    "__wrap__ZN8starling6daemon16CoordinatorCalls9heartbeatERKNS_4wire9HeartbeatE");

Result<wire::HeartbeatReply> lying_heartbeat(daemon::CoordinatorCalls* calls, const wire::Heartbeat& heartbeat) {
  if (!lies_about("report")) return real_heartbeat(calls, heartbeat);
  wire::Heartbeat lie = heartbeat;
  for (wire::RoundReport& report : lie.reports) {
    for (wire::Contribution& contribution : report.contributions) contribution.samples += kSamplesAdded;
  }
  return real_heartbeat(calls, lie);
}
