// The socket between daemon and trainer: whole messages, bounded. A caller that must not wait without limit polls it
// first.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

// A connected pair that keeps message boundaries; both ends close on exec.
Result<std::pair<UniqueFd, UniqueFd>> make_channel();

// unavailable when the other end is gone. `attached` is a descriptor to send along: the other end gets a copy of it.
Status send_message(int fd, std::string_view message, int attached = -1);

// Waits without limit for the next message. not_found when the other end closed in order, corrupt when the message is
// longer than kMessageBytesMax. `attached`, if given, becomes the descriptor that came along, or none; without it, none
// is accepted.
Result<std::vector<std::uint8_t>> receive_message(int fd, UniqueFd* attached = nullptr);

}  // namespace starling::trainer_link
