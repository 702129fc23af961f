#include "coordinator/core/numeric_classes.h"

#include <doctest/doctest.h>

#include "shared/swarm/random_stream.h"

using namespace starling;
using namespace starling::core;

TEST_CASE("a quantile of distances is a bound that is close") {
  Distances distances;
  CHECK(distances.quantile(0.5) == 0);
  for (int i = 1; i <= 1000; ++i) distances.add(1e-9 * i);
  CHECK(distances.count() == 1000);
  CHECK(distances.quantile(0.5) >= 500e-9);
  CHECK(distances.quantile(0.5) <= 500e-9 * 1.5);
  CHECK(distances.quantile(1) >= 1000e-9);
  CHECK(distances.quantile(1) <= 1000e-9 * 1.5);
  distances.add(0);
  distances.add(1e30);  // beyond all bins
  CHECK(distances.quantile(1) > 1);
}

TEST_CASE("the tolerance follows the honest pairs of a class, between two bounds") {
  NumericClasses classes(1e-4);
  CHECK(classes.tolerance("a") == 1e-4);
  for (int i = 0; i < 1000; ++i) classes.on_agreed("a", "a", 5e-7);
  CHECK(classes.tolerance("a") == 1e-4);  // ten times as much is below the lowest
  for (int i = 0; i < 1000; ++i) classes.on_agreed("a", "b", 3e-5);
  CHECK(classes.tolerance("a") > 2.9e-4);
  CHECK(classes.tolerance("b") < 5e-4);
  CHECK(classes.tolerance("c") == 1e-4);
}

TEST_CASE("a few pairs say nothing, and pairs of liars cannot widen the tolerance for long") {
  NumericClasses classes(1e-4);
  for (int i = 0; i < 99; ++i) classes.on_agreed("a", "a", 9e-5);
  CHECK(classes.tolerance("a") == 1e-4);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 100; ++i) classes.on_agreed("a", "a", 0.99 * classes.tolerance("a"));
  }
  CHECK(classes.tolerance("a") <= 1.001e-3);
}

TEST_CASE("classes are told apart by platform, device and precision, and their checks are counted") {
  CHECK(numeric_class_of(std::nullopt) == "unknown");
  wire::ComputeDevice device;
  device.kind = "cuda";
  device.precision = "fp32";
  CHECK(numeric_class_of(device) == "unknown");
  device.platform = "linux x86_64";
  CHECK(numeric_class_of(device) == "linux x86_64, cuda, fp32");
  NumericClasses classes(1e-4);
  PeerId one, other;
  other.bytes.fill(1);
  classes.on_checked("a", one, true);
  classes.on_checked("a", one, false);
  classes.on_checked("a", one, true);
  REQUIRE(classes.figures().size() == 1);
  CHECK(classes.figures().front().name == "a");
  CHECK(classes.figures().front().right == 2);
  CHECK(classes.figures().front().wrong == 1);
  CHECK_FALSE(classes.figures().front().is_suspicious());
  for (int i = 0; i < 9; ++i) classes.on_checked("a", one, false);
  CHECK_FALSE(classes.figures().front().is_suspicious());  // it is that computer
  classes.on_checked("a", other, false);
  CHECK(classes.figures().front().is_suspicious());
  for (int i = 0; i < 300; ++i) classes.on_checked("a", one, true);
  CHECK_FALSE(classes.figures().front().is_suspicious());
  for (int i = 0; i < 1000; ++i) classes.on_checked(std::to_string(i), one, true);
  CHECK(classes.figures().size() <= 257);
}
