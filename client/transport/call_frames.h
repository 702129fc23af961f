// The frames in which calls and their answers travel: a head, then values in chunks, each encoded by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/transport/call_types.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// A frame about a call, ready to be sent.
struct CallFrame {
  wire::FrameHeader header;
  std::shared_ptr<const std::vector<std::uint8_t>> payload;
};
// The frames of a call, and of an answer. From any thread: encoding takes time.
std::vector<CallFrame> frames_of(const OutgoingCall& call);
std::vector<CallFrame> frames_of(const OutgoingAnswer& answer);

// A call's id as it stands in its frames.
GroupId group_of(const Hash128& id);
Hash128 id_of(const GroupId& group);

}  // namespace starling::transport
