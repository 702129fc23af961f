// What the children of the averaging benchmark have in common: identities, links, and the state that peers hand over.
#pragma once

#include <memory>
#include <vector>

#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/wire/moments.h"
#include "tests/bench/averaging_bench.h"

namespace starling::bench {

constexpr const char* kBenchRun = "bench";

// Of the group's members, by rank.
Result<std::vector<PeerId>> members_of(const AveragingChild& child);
// `clock` outlives the network.
Result<std::unique_ptr<transport::PeerNetwork>> open_network(const AveragingChild& child, const Clock& clock,
                                                             transport::StateSource state_source);
// Of an optimizer with two vectors of moments, which all forms hold.
std::vector<float> bench_state(std::int64_t floats);
wire::StateForm bench_form(const AveragingOptions& options);

}  // namespace starling::bench
