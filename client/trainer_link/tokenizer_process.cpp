#include "client/trainer_link/tokenizer_process.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "client/trainer_link/channel.h"
#include "client/trainer_link/child_fds.h"
#include "client/trainer_link/child_process.h"
#include "shared/base/verify.h"

namespace starling::trainer_link {
namespace {

// A process that closed its channel is ending; its exit status follows within moments.
constexpr Duration kEndGrace = std::chrono::seconds(1);

// Whether the channel becomes readable, or closed, in time. The child's error output is kept meanwhile.
Status await_answer(int channel, ChildProcess& child, Duration within) {
  const SystemClock clock;
  const TimePoint deadline = clock.now() + within;
  pollfd watched[2] = {{channel, POLLIN, 0}, {child.error_output(), POLLIN, 0}};
  for (TimePoint now = clock.now(); now < deadline; now = clock.now()) {
    const int ready = ::poll(watched, 2, static_cast<int>(to_ms(deadline - now) + 1));
    if (ready < 0 && errno != EINTR) return Error{ErrorCode::io, "the tokenizer's channel cannot be watched"};
    if (ready > 0 && watched[1].revents != 0 && !child.drain_error_output()) watched[1].fd = -1;
    if (ready > 0 && watched[0].revents != 0) return {};
  }
  return Error{ErrorCode::deadline_exceeded,
               fmt::format("the tokenizer gave no answer within {:.1f} s", to_seconds(within))};
}

Error death_of(ChildProcess& child) {
  child.wait_for_end(kEndGrace);
  child.end();
  child.drain_error_output();
  std::string output = child.last_output();
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return {ErrorCode::unavailable,
          fmt::format("the tokenizer {}{}{}", child.epitaph(), output.empty() ? "" : ", after saying: ", output)};
}

}  // namespace

Result<Reply> TokenizerProcess::ask(Request request) const {
  request.limits = options_.limits;
  STARLING_ASSIGN(auto ends, make_channel());
  STARLING_ASSIGN(ChildProcess child, ChildProcess::spawn({
                                          .program = options_.program,
                                          .arguments = {kParentOption, std::to_string(::getpid())},
                                          .environment = {"LC_ALL=C"},
                                          .fds = {ends.second.get(), options_.model.get()},
                                      }));
  ends.second.reset();  // so that the child's end closes the channel
  const std::string_view does = to_string(request.command);
  if (!send_message(ends.first.get(), encode(request)).ok()) return death_of(child).prefixed(does);
  if (Status there = await_answer(ends.first.get(), child, options_.answers_within); !there.ok()) {
    return there.error().prefixed(does);
  }
  const auto message = receive_message(ends.first.get());
  if (!message.ok()) return death_of(child).prefixed(does);
  auto reply = decode_reply(*message);
  if (!reply.ok()) return reply.error().prefixed(does);
  if (!reply->status.ok()) return reply->status.error().prefixed(does);
  return reply;
}

Result<std::vector<int>> TokenizerProcess::tokens_of(std::string_view text) const {
  if (text.size() > kTextBytesMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("make words of text: at most {} bytes", kTextBytesMax)};
  }
  Request request;
  request.command = Command::tokens_of_text;
  request.text = text;
  STARLING_ASSIGN(const Reply reply, ask(std::move(request)));
  return unpack_tokens(reply.text);
}

Result<std::string> TokenizerProcess::text_of(std::span<const int> tokens, std::size_t first) const {
  VERIFY(first <= tokens.size());
  if (tokens.size() > kTokensMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("make text of words: at most {}", kTokensMax)};
  }
  Request request;
  request.command = Command::text_of_tokens;
  request.text = pack_tokens(tokens);
  request.count = static_cast<int>(tokens.size() - first);
  STARLING_ASSIGN(Reply reply, ask(std::move(request)));
  return std::move(reply.text);
}

}  // namespace starling::trainer_link
