// The common part of the averaging benchmark's children: identities, links, and the state that peers send.
#pragma once

#include <memory>
#include <vector>

#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/run/moments.h"
#include "tests/bench/averaging_bench.h"

namespace starling::bench {

constexpr const char* kBenchRun = "bench";

// Peer IDs of the group's members, by rank.
Result<std::vector<PeerId>> members_of(const AveragingChild& child);
// `clock` must outlive the network.
Result<std::unique_ptr<transport::PeerNetwork>> open_network(const AveragingChild& child, const Clock& clock,
                                                             transport::StateSource state_source);
// State of an optimizer with two vectors of moments, whose values are exact in every form.
std::vector<float> bench_state(std::int64_t floats);
wire::StateForm bench_form(const AveragingOptions& options);

}  // namespace starling::bench
