// What each way to train would cost a swarm that is not there yet: the algorithms that an operator can name, each with
// the codecs that lose little, by what the runtime model (shared/swarm/runtime_model.h) says of these computers and
// lines. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/swarm/host_kinds.h"
#include "shared/swarm/runtime_model.h"
#include "shared/wire/run_manifest.h"

namespace starling::operations {

constexpr std::size_t kSwarmBytesMax = 1 << 20;

// {"hosts": [{"count": 4, "samples_per_s": 10, "upload_mbit_s": 20, "download_mbit_s": 100, "delay_ms": 20,
//             "jitter": 0.1, "departures_per_h": 0.5, "dialable": true}, …]}, all but the speeds with defaults; at most
// kHostsMax hosts.
// invalid_argument: which field, and what it may be.
constexpr std::int64_t kHostsMax = 1000;
Result<std::vector<swarm::Host>> read_swarm(std::string_view json);

// The same form, of which read_swarm() reads everything back.
std::string write_swarm(std::span<const swarm::HostKind> kinds);

struct Prospect {
  std::string algorithm;  // empty: the manifest as it is
  std::string partners;   // with whom replicas mix between rounds (wire::LocalOptions); empty: with nobody's
  swarm::Method method;
  swarm::RoundForecast round;
  double samples_per_s = 0;     // that count; 0: volunteers leave before a round is full
  double bytes_per_sample = 0;  // that volunteers send, all together
  std::string why;              // what a round's time goes to
};

struct ProspectOptions {
  double local_steps = 50;  // of each computer in a round, where the manifest does not say
};

// The manifest as it is, and every algorithm with fp32, fp16 and int8, and where replicas mix, with as many at a time
// as any topology has (of several with equal costs, one); the most samples a second first. Rounds of
// gradients have the manifest's target_batch_size, and rounds of local steps so many steps of everybody between two
// averagings of a parameter; where the manifest itself has local steps, it is the other way round. Where mixings are
// many steps apart they count as averagings here, and a round has ten. A consensus_bound can only make them rarer than
// they are told. `hosts` has at least one.
std::vector<Prospect> prospects(const wire::RunManifest& manifest, std::span<const swarm::Host> hosts,
                                const ProspectOptions& options = {});

}  // namespace starling::operations
