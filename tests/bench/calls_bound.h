// The tokens per second that lines allow a model in cells, in closed form. A layer's expert takes a token's row of
// `width` values from the caller and gives a row back, and on the way back a gradient of each: two rows up the caller's
// line, two up the holder's, and as many down. So a token of a model with L layers of experts, k of which it goes
// through, takes
//     c = 2 k width L beta      bytes up the caller's line, and c more up the holders',
// where beta is a value's bytes on its way. The gradient on the way back is called for at holders that have kept the
// rows.
//
// Volunteers that call and hold at once: if i calls for x_i tokens a second, and holds for y_i of others', then
//     c (x_i + y_i) <= b_i       its line, up as well as down,
//     sum y = sum x = X          each token is held for by somebody,
//     y_i <= X - x_i             nobody calls itself.
// By the first two, X <= sum b / 2c. That is reached unless one line is longer than all others together, whose owner
// cannot be held for by more than they have: X <= (sum b - max b) / c. For n equal lines it is n b / (4 k width L
// beta). Callers reach it with unequal lines, too, where they choose among holders by the finish that they expect: a
// short line makes its owner's calls late, and it is called less until it is as late as others.
#pragma once

#include <span>

#include "tests/netlab/link_spec.h"

namespace starling::bench {

// Part of a line's rate that is left for values, beside the headers of Ethernet, IP, TCP, TLS and frames.
constexpr double kPayloadPart = 0.94;

// Sizes of a model, each expert of which is a cell by itself.
struct CalledModel {
  int layers = 0;  // those with experts
  int width = 0;
  int active = 0;              // experts of a layer that a token goes through
  double bytes_per_value = 0;  // on its way
};

// The bytes c of a token.
double caller_bytes_per_token(const CalledModel& model);
// One volunteer calls over this line; its holders have longer ones, together.
double caller_tokens_per_s(const CalledModel& model, const netlab::LinkSpec& line);
// All of them call, and hold for the others.
double swarm_tokens_per_s(const CalledModel& model, std::span<const netlab::LinkSpec> lines);

}  // namespace starling::bench
