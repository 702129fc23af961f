// The common part of benchmarks whose peers are processes: their identities, links, and the state that they send.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/run/moments.h"
#include "tests/bench/averaging_bench.h"

namespace starling::bench {

constexpr const char* kBenchRun = "bench";

// One process of a group, as the others see it.
struct BenchHome {
  int rank = 0;
  int peers = 0;
  std::string address;
  std::filesystem::path folder;  // from write_identities()
  std::string congestion;        // TCP's congestion control; empty: the product's
};
BenchHome home_of(const AveragingChild& child);

// Writes an authority's certificate, and a key and a certificate for each of this number of peers.
Status write_identities(const std::filesystem::path& folder, int peers);
// Peer IDs of the group's members, by rank.
Result<std::vector<PeerId>> members_of(const BenchHome& home);
// `clock` must outlive the network.
Result<std::unique_ptr<transport::PeerNetwork>> open_network(const BenchHome& home, const Clock& clock,
                                                             transport::StateSource state_source);
// State of an optimizer with two vectors of moments, whose values are exact in every form.
std::vector<float> bench_state(std::int64_t floats);
wire::StateForm bench_form(const AveragingOptions& options);

}  // namespace starling::bench
