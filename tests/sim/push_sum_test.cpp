#include "tests/sim/push_sum.h"

#include <doctest/doctest.h>

using namespace starling::sim;

namespace {

double error_after(PushSumMethod method, double loss_rate) {
  return push_sum_errors({.method = method, .loss_rate = loss_rate}, 1).back();
}

}  // namespace

TEST_CASE("running sums give the exact mean though every tenth message is lost; shares and plain means do not") {
  CHECK(error_after(PushSumMethod::running_sums, 0.1) < 1e-12);
  CHECK(error_after(PushSumMethod::plain_shares, 0.1) > 1e-2);
  CHECK(error_after(PushSumMethod::naive, 0.1) > 1e-2);
}

TEST_CASE("shares alone are exact where nothing is lost, plain means are not even there") {
  CHECK(error_after(PushSumMethod::plain_shares, 0) < 1e-12);
  CHECK(error_after(PushSumMethod::naive, 0) > 1e-2);
}

TEST_CASE("three bits of differences give the exact mean, three bits of values do not") {
  CHECK(error_after(PushSumMethod::differences, 0) < 1e-12);
  CHECK(error_after(PushSumMethod::direct, 0) > 1e-2);
}
