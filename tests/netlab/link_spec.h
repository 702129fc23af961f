// Rates of a home's access link, as typed on a command line, and the bound that they set.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::netlab {

struct LinkSpec {
  double up_mbit = 0;  // per second, in bytes on the wire
  double down_mbit = 0;
  Duration delay{};  // one way, of this link alone: between two homes it counts twice, for a round trip four times
};

constexpr std::size_t kLinksMax = 64;

// "UP[:DOWN[:DELAY_MS]][xCOUNT]", separated by commas: "100x4" (Mbit/s both ways, four of them), "200x2,50:20:10".
Result<std::vector<LinkSpec>> parse_links(std::string_view text);

// The least time in which peers behind these links can all-reduce `bytes` each over a core that never blocks, sums
// being formed at peers. Every peer sends its data once and receives the result once: T >= bytes / min rate. Every
// element needs n-1 transfers to be summed and n-1 to be distributed: T >= 2 (n-1) bytes / sum of rates, in each
// direction. And the shares s_i that peers own must sum to one with (1 + s_i (n-2)) bytes <= T min(up_i, down_i).
double all_reduce_bound_s(double bytes, std::span<const LinkSpec> links);

}  // namespace starling::netlab
