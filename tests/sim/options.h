// The options of a simulated swarm. Everything random about it comes from `seed`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "tests/sim/cheats.h"

namespace starling::sim {

struct SwarmOptions {
  std::uint64_t seed = 1;
  std::string algorithm = "dedloc";  // shared/manifest/algorithms.h
  int mix_every = 0;                 // own steps from one gossip average to the next, at least; 0: the algorithm's
  int peers = 6;
  int parameters = 96;
  int segment_floats = 8;
  SampleCount target_batch_size = 64;
  std::int64_t epoch_samples = 0;  // epochs of this size are leased; below a batch: samples are drawn independently
  double unusable_share = 0;       // fraction of an epoch's samples whose gradients are not finite
  std::string formation = "auto";  // the word of a run manifest; auto: the algorithm's
  std::string aggregation;         // the word of a run manifest; empty: the default
  // steps on gradients have momentum, in one group, as bounds around the momentum need them; these have them anyway
  bool steps_with_momentum = false;
  int group_size = 0;
  bool delay_parameter_updates = false;        // else: the algorithm's
  std::string codec;                           // the word of a run manifest; empty: the algorithm's
  std::string contribution_codec;              // likewise
  double error_feedback = -1;                  // the value of a run manifest; below 0: the algorithm's
  int low_rank = 0;                            // the value of a run manifest; above 0, the parameters are a matrix
  Duration calm = std::chrono::seconds(20);    // after the faults: everything must be well again by its end
  Duration length = std::chrono::seconds(60);  // length of the time with faults
  double seconds_between_faults = 5;           // mean, over the whole swarm; 0: no faults
  bool coordinator_faults = true;
  bool coordinator_lies = false;  // while there are faults, it names states to some members that nobody has made
  // Interval at which one of all peers is killed and started again, from a third of `length` on; 0: never.
  double seconds_between_kills = 0;
  bool kills_reset = true;      // its system lives on, and resets its links; else nobody hears of it
  double calls_delayed = 0.01;  // fraction of the calls to the coordinator that get there up to 1.5 s later
  double calls_lost = 0.001;    // fraction of the calls, and of the answers, that get lost: the caller waits for 5 s
  // mean, for each peer: its computer is busy with something else for up to hiccup_s_max
  double seconds_between_hiccups = 0;
  double hiccup_s_max = 1;
  double newcomers_trickle_s = 3;  // peers come within this time, a few of them in its first seconds
  double download_s_min = 0;       // time to load the swarm's state, however small
  double upload_mbit_min = 5, upload_mbit_max = 100;
  double latency_ms_min = 1, latency_ms_max = 60;  // one way, half of it at each end
  double samples_per_s_min = 5, samples_per_s_max = 50;
  double batch_jitter = 0;    // standard deviation of a batch's time, over the mean; log-normal
  bool speeds_known = false;  // members report the rates of their lines
  int garbage_peers = 0;      // the number of peers at the end of the list that send floats that are not numbers
  int slow_peers = 0;         // the number of peers before them that send at a hundredth of the reported rate
  int accounts = 0;           // number that the peers belong to, in turn; 0: each to one of its own
  int liars = 0;              // peers beyond `peers` that lie to the coordinator
  std::string byzantine;      // their lie (liar.h); "all": each another
  int poison = -1;            // the poisoners' way (Liar::poison); below 0: they take turns
  double audit_rate = 0;      // the value of a run manifest
  int colluders = 0;          // honest peers that, as auditors, confirm false work and blame the work of others
};

// Bounds of the time that a killed peer is down.
constexpr double kDownSecondsMin = 1, kDownSecondsMax = 4;
constexpr double kDownSecondsMean = (kDownSecondsMin + kDownSecondsMax) / 2;

// The results. `broken` is empty when every invariant held at every step.
struct SwarmResult {
  std::string broken;
  std::int64_t rounds_decided = 0;
  SampleCount samples_ledger = 0;
  SampleCount samples_counted = 0;    // leased samples among these
  SampleCount samples_set_aside = 0;  // samples that cannot be used, and were set aside
  std::int64_t epochs_complete = 0;   // epochs whose samples were all counted exactly once, or set aside
  std::int64_t crashes = 0;
  std::int64_t coordinator_crashes = 0;
  std::int64_t freezes = 0;
  std::int64_t partitions = 0;
  Cheats::Tally audits{};
  std::int64_t rounds_lost = 0;  // rounds in which a member's work did not count
  // results of members whose groups came to no decision: each returned to the state before
  std::int64_t results_void = 0;
  std::int64_t downloads = 0;      // downloads of the swarm's state that were begun
  SampleCount honest_samples = 0;  // credited to members that do not lie
  // Averaged in results that were void, where most accounts do not lie, or lost with an expelled member that had not
  // lost a call.
  SampleCount honest_samples_lost = 0;
  SampleCount honest_samples_beyond = 0;  // in contributions of a smaller weight: more than plans had room for
  double in_step = 0;                     // fraction of the peers' time in which they held the swarm's state
  double samples_per_s_calm = 0;          // averaged, after the faults
  double batch_filled = 0;  // samples of a round over those that were asked for, mean of `length`'s last two thirds
  // Averages from one round to the last one of that time, before anybody was killed, and afterwards.
  double samples_per_s_usual = 0;
  double samples_per_s_kills = 0;
  double averaging_s_max = 0;  // longest time a member spent in one averaging
  double round_s_usual = 0;    // median time from one finished round to the next before anybody was killed
  double round_s_longest = 0;  // the longest afterwards
  double idle_s_usual = 0;     // longest time in which a live member computed nothing, before anybody was killed
  double idle_s_longest = 0;   // the longest afterwards
  // Consensus distances: how far own parameters were from the average at a round's end, root mean square of a
  // parameter.
  double consensus_distance_usual = 0;  // the largest before anybody was killed
  double consensus_distance_most = 0;   // the largest afterwards
  double consensus_distance_mean = 0;   // mean of all afterwards
  std::int64_t gossips = 0;             // gossip averages of two or more, each counted by each of them
  std::int64_t gossips_alone = 0;
  std::int64_t feedbacks_checked = 0;  // rounds after which all that codecs had left out was found with the members
  double distance_first = 0;           // the model's distance from the optimum at the beginning
  double distance_last = 0;
  std::map<RoundIndex, double> distances;  // after each round's step
  std::uint64_t events = 0;
  double virtual_s = 0;
};

}  // namespace starling::sim
