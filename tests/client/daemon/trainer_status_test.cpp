#include "client/daemon/trainer_status.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling;
using namespace starling::daemon;

namespace {

trainer_link::TrainerProcessView on(const std::string& kind, const std::string& card_unused = "") {
  trainer_link::TrainerProcessView trainer;
  trainer.pid = 7;
  trainer.starts = 1;
  trainer.device = wire::ComputeDevice{.kind = kind, .name = "Z80", .card_unused = card_unused};
  return trainer;
}

// The reasons for the owner and for others.
std::pair<std::string, std::string> reasons(const trainer_link::TrainerProcessView& trainer, const CardRules& card) {
  wire::ComputingStatus owner;
  describe_trainer(trainer, card, owner);
  const auto others = device_for_others(trainer, card);
  REQUIRE(owner.device);
  REQUIRE(others);
  CHECK(owner.device->name == "Z80");
  CHECK(others->name == "Z80");
  return {owner.device->card_unused, others->card_unused};
}

using Reasons = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("before a trainer was ready nothing is said of what computes") {
  wire::ComputingStatus computing;
  describe_trainer({}, {true, ""}, computing);
  CHECK(computing.trainer == "not started");
  CHECK_FALSE(computing.device);
  CHECK_FALSE(device_for_others({}, {true, ""}));
}

TEST_CASE("what a trainer computed on stays known when a pause has ended it") {
  trainer_link::TrainerProcessView trainer = on("cpu");
  wire::ComputingStatus computing;
  describe_trainer(trainer, {}, computing);
  CHECK(computing.trainer == "running");
  trainer.pid = 0;
  describe_trainer(trainer, {}, computing);
  CHECK(computing.trainer == "ended");
  CHECK(computing.device);
}

TEST_CASE("why a card does not compute: the trainer's reason, else the rules', which others do not read") {
  CHECK(reasons(on("cpu", "it is broken"), {true, ""}) == Reasons("it is broken", "it is broken"));
  CHECK(reasons(on("cpu", "it is broken"), {true, "somebody uses the computer"}) ==
        Reasons("it is broken", "it is broken"));
  CHECK(reasons(on("cpu"), {true, "somebody uses the computer"}) ==
        Reasons("somebody uses the computer", "the volunteer's rules do not allow it now"));
  const std::string since = "it was not allowed yet when the trainer started";
  CHECK(reasons(on("cpu"), {true, ""}) == Reasons(since, since));
}

TEST_CASE("others are told no path of what a library says about the card") {
  CHECK(reasons(on("cpu", "cannot load '/home/ada lovelace/cuda/libcudart.so': gone"), {true, ""}) ==
        Reasons("cannot load '/home/ada lovelace/cuda/libcudart.so': gone", "cannot load 'libcudart.so': gone"));
}

TEST_CASE("where there is no card, or it computes, there is nothing to explain") {
  CHECK(reasons(on("cpu", "this LibTorch is built without CUDA"), {false, ""}) == Reasons());
  CHECK(reasons(on("cpu"), {false, "switched off in the preferences"}) == Reasons());
  CHECK(reasons(on("cuda"), {true, ""}) == Reasons());
  CHECK(reasons(on("cuda"), {true, "somebody uses the computer"}) == Reasons());  // it ends within a batch
}
