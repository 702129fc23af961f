// The fields of the word on a member's work, for replies to heartbeats and for a daemon's status.
#pragma once

#include "shared/protocol/checked_work.h"
#include "shared/protocol/limits.h"
#include "shared/wire/fields.h"

namespace starling::wire {

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CheckedWork>& checked) {
  constexpr Whole kChecks{0, kMessageCountMax};
  visit("times", checked.times, kChecks);
  visit("missed", checked.missed, kChecks, kLeftOutIfUnset);
  visit("pending", checked.pending, kChecks, kLeftOutIfUnset);
  visit("verdict", checked.verdict, Text{kVerdictBytesMax}, kLeftOutIfUnset);
}

}  // namespace starling::wire
