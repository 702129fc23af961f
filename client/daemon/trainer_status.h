// The device that a run's trainer computes on, in the volunteer's status and in heartbeats. Pure.
#pragma once

#include <optional>

#include "client/daemon/permission.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/control/control.h"
#include "shared/protocol/compute_device.h"

namespace starling::daemon {

// For its owner. Where the processor computes although there is a card, the device says why: by the trainer's word, or
// by the rules'.
void describe_trainer(const trainer_link::TrainerProcessView& trainer, const CardRules& card,
                      wire::ComputingStatus& computing);

// Like the owner's, but where the rules leave a card alone, it says only that they do: why is the owner's own matter.
// No folder is named (session::failure_for_others). Unset: no trainer was ready yet.
std::optional<wire::ComputeDevice> device_for_others(const trainer_link::TrainerProcessView& trainer,
                                                     const CardRules& card);

}  // namespace starling::daemon
