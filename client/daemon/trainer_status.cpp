#include "client/daemon/trainer_status.h"

#include <string>
#include <utility>

#include "client/session/failure_text.h"

namespace starling::daemon {
namespace {

constexpr const char* kRulesForOthers = "the volunteer's rules do not allow it now";
constexpr const char* kAllowedSince = "it was not allowed yet when the trainer started";

// `by_rules`: the reason where the rules allow no card.
std::optional<wire::ComputeDevice> device_of(const trainer_link::TrainerProcessView& trainer, const CardRules& card,
                                             const std::string& by_rules) {
  std::optional<wire::ComputeDevice> device = trainer.device;
  if (!device) return device;
  if (!device->is_processor() || !card.present) {
    device->card_unused.clear();
  } else if (device->card_unused.empty()) {  // this trainer was given no card
    device->card_unused = card.unused.empty() ? kAllowedSince : by_rules;
  }
  return device;
}

}  // namespace

void describe_trainer(const trainer_link::TrainerProcessView& trainer, const CardRules& card,
                      wire::ComputingStatus& computing) {
  computing.trainer = trainer.pid != 0 ? "running" : trainer.starts > 0 ? "ended" : "not started";
  if (auto device = device_of(trainer, card, card.unused)) computing.device = wire::within_bounds(std::move(*device));
}

std::optional<wire::ComputeDevice> device_for_others(const trainer_link::TrainerProcessView& trainer,
                                                     const CardRules& card) {
  auto device = device_of(trainer, card, kRulesForOthers);
  if (device) device->card_unused = session::failure_for_others(device->card_unused);  // libraries tell paths
  return device;
}

}  // namespace starling::daemon
