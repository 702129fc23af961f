// The socket between daemon and trainer: whole messages, bounded. Whoever must not wait for ever polls it first.
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

// unavailable when the other end is gone. A descriptor may go along: the other end gets one of its own.
Status send_message(int fd, std::string_view message, int attached = -1);

// The next message, waiting for it as long as it takes. not_found when the other end closed in order,
// corrupt when the message is longer than kMessageBytesMax. `attached`, where it is given, becomes the descriptor that
// came along, or none; else none is taken.
Result<std::vector<std::uint8_t>> receive_message(int fd, UniqueFd* attached = nullptr);

}  // namespace starling::trainer_link
