#include "client/training/micro_batch_size.h"

#include <doctest/doctest.h>

#include <functional>

using namespace starling;
using namespace starling::training;

namespace {

// The size that it settles at when samples take this long.
SampleCount settled(SampleCount most, const std::function<double(SampleCount size)>& seconds_a_sample) {
  MicroBatchSize size(most);
  for (int i = 0; i < 100; ++i) size.on_time(most, seconds_a_sample(size.size()) * static_cast<double>(most));
  return size.size();
}

}  // namespace

TEST_CASE("as many samples as possible, unless fewer are clearly faster") {
  CHECK(settled(32, [](SampleCount) { return 1.0; }) == 32);
  CHECK(settled(32, [](SampleCount size) { return 1.0 / static_cast<double>(size); }) == 32);
  CHECK(settled(32, [](SampleCount size) { return size > 8 ? 1.0 + static_cast<double>(size) : 1.0; }) == 8);
  CHECK(settled(32, [](SampleCount size) { return static_cast<double>(size); }) == 1);
  CHECK(settled(24, [](SampleCount size) { return static_cast<double>(size); }) == 3);
  CHECK(settled(1, [](SampleCount) { return 1.0; }) == 1);
}

TEST_CASE("a slow first piece is no reason to take fewer") {
  MicroBatchSize size(16);
  size.on_time(16, 100);
  for (int i = 0; i < 20; ++i) size.on_time(16, 16);
  CHECK(size.size() == 16);
}

TEST_CASE("pieces that memory does not hold are halved and never tried again, down to a single sample") {
  MicroBatchSize size(5);
  CHECK(size.on_out_of_memory());
  CHECK(size.size() == 3);
  for (int i = 0; i < 20; ++i) size.on_time(5, 1);
  CHECK(size.size() == 3);
  CHECK(size.on_out_of_memory());
  CHECK(size.on_out_of_memory());
  CHECK(size.size() == 1);
  CHECK_FALSE(size.on_out_of_memory());
}
