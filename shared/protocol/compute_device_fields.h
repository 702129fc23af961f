// The fields of a compute device, for heartbeats and for a daemon's status. Readers bear words and numbers that are new
// to them, so that a newer trainer's device is no reason to refuse a message.
#pragma once

#include "shared/protocol/compute_device.h"
#include "shared/protocol/limits.h"
#include "shared/wire/fields.h"

namespace starling::wire {

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ComputeDevice>& device) {
  visit("kind", device.kind, Text{kDeviceWordBytesMax});
  visit("count", device.count, Whole{1, kDevicesMax}, left_out_if(1));
  visit("name", device.name, Text{kDeviceNameBytesMax}, kLeftOutIfUnset);
  visit("memory_bytes", device.memory_bytes, Whole{0, kMessageCountMax}, kLeftOutIfUnset);
  visit("memory_max_bytes", device.memory_max_bytes, Whole{0, kMessageCountMax}, kLeftOutIfUnset);
  visit("backend", device.backend, Text{kBackendBytesMax}, kLeftOutIfUnset);
  visit("precision", device.precision, Text{kDeviceWordBytesMax}, kLeftOutIfUnset);
  visit("platform", device.platform, Text{kDeviceWordBytesMax}, kLeftOutIfUnset);
  visit("card_unused", device.card_unused, Text{kCardUnusedBytesMax}, kLeftOutIfUnset);
}

}  // namespace starling::wire
