// Predicted cost of each way to train, for a swarm that need not exist yet: the algorithms that an operator can name,
// each with the codecs that lose little, by the runtime model (shared/swarm/runtime_model.h) for these computers and
// lines. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/swarm/host_kinds.h"
#include "shared/swarm/runtime_model.h"

namespace starling::operations {

constexpr std::size_t kSwarmBytesMax = 1 << 20;

constexpr std::int64_t kHostsMax = 1000;
// {"hosts": [{"count": 4, "samples_per_s": 10, "upload_mbit_s": 20, "download_mbit_s": 100, "delay_ms": 20,
//             "jitter": 0.1, "departures_per_h": 0.5, "dialable": true}, …]}
// All fields but the speeds have defaults; at most kHostsMax hosts. Error invalid_argument names the field and its
// allowed values.
Result<std::vector<swarm::Host>> read_swarm(std::string_view json);

// JSON of this form, with every field that read_swarm() knows.
std::string write_swarm(std::span<const swarm::HostKind> kinds);

// One way to train, with its predicted rate and traffic.
struct Prospect {
  std::string algorithm;                         // empty: the manifest as it is
  std::optional<wire::GossipPartners> partners;  // gossip partners between rounds; none: no gossip
  swarm::Method method;
  swarm::RoundForecast round;
  double samples_per_s = 0;     // accepted samples; 0: volunteers leave before a round is full
  double bytes_per_sample = 0;  // sent by all volunteers together
  std::string why;              // the main uses of a round's time
};

// Assumptions about settings that the manifest leaves open.
struct ProspectOptions {
  double local_steps = 50;  // per computer and round, unless the manifest says
};

// Predictions for the manifest as it is, and for every algorithm with each of fp32, fp16 and int8 (or the algorithm's
// own codec) and, if replicas gossip, with each topology; topologies of equal cost appear once. The fastest, in samples
// per second, comes first. `hosts` has at least one element.
//
// Rounds of gradients have the manifest's target_batch_size, and algorithms with local steps let every computer take
// `local_steps` steps between two averagings of a parameter. If the manifest itself has local steps, these keep its
// distance between averagings, and rounds of gradients have one micro-batch of each computer. Gossip exchanges that are
// several steps apart count as averagings here, and a round has ten. A consensus_bound can only make exchanges rarer
// than predicted.
std::vector<Prospect> prospects(const wire::RunManifest& manifest, std::span<const swarm::Host> hosts,
                                const ProspectOptions& options = {});

}  // namespace starling::operations
