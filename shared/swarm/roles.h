// What each member of a group does in a round, so that the swarm takes the most steps an hour: DeDLOC's objective
// (arXiv 2106.10207, section 3.2). A round lasts as long as it takes to compute the target batch and to average.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "shared/swarm/shares.h"
#include "shared/wire/group_info.h"

namespace starling::swarm {

// A way to encode contributions.
struct CodecCost {
  std::string_view name;
  double bytes_per_float = sizeof(float);
  double worth = 1;  // of a sample that travels in it, in samples of full precision
};

// `widest`, and what this version has below it; without error feedback nothing that loses more than int8 does.
std::vector<CodecCost> narrower_codecs(std::string_view widest, bool error_feedback);

struct Volunteer {
  Link link;
  double samples_per_s = 0;  // 0: not known yet
  double reliance = 1;       // 0 … 1: how far its line has kept what it promised
};

struct RoleOptions {
  double vector_floats = 0;
  double target_batch = 0;              // samples; 0: nobody is demoted
  std::span<const CodecCost> codecs;    // by falling size. The first is everybody's where it can be
  double result_bytes = sizeof(float);  // of an averaged coordinate, encoded
  double overhead_s = 0;                // of every averaging, beside what flows
  bool overlapped = false;              // members compute while they average
  bool may_leave_out = true;            // else everybody has a place
  bool may_only_reduce = true;          // else whoever owns a part contributes, too
};

struct Duty {
  wire::MemberRole role = wire::MemberRole::full;
  bool left_out = false;  // could not follow the others' rounds: gets no place in the plan
  std::size_t codec = 0;  // index in RoleOptions::codecs
  double share = 0;
  double ready_s = 0;  // from the start of the averaging until it holds the result
};

struct RoleChoice {
  std::vector<Duty> duties;
  double averaging_s = 0;  // until everybody who is not deferred holds the result
  double unhurried_s = 0;  // what the owners need if nobody's own line holds them up: who keeps that is not demoted
  double period_s = 0;     // of a whole round; 0 when nobody's computing speed is known
};

// Everybody in `codecs.front()`, nobody late.
RoleChoice everybody_alike(std::span<const Volunteer> volunteers, const RoleOptions& options);

// The best choice found by trying, for each time T that the line of a slow member (measured, and longer than
// unhurried_s at full width, and than usual) would just hold, the widest codecs that hold T; who cannot take the result
// in T is deferred. In each of these, single members are changed while that helps: another codec, deferred or not,
// reducing only (auxiliary), or left out, samples and all, as long as most stay in. Demoting must pay: below kGainMin,
// it is everybody_alike.
RoleChoice choose_roles(std::span<const Volunteer> volunteers, const RoleOptions& options);

constexpr double kGainMin = 1.03;  // of the period

}  // namespace starling::swarm
