#include "client/session/failure_text.h"

#include <algorithm>

#include "shared/protocol/heartbeat.h"

namespace starling::session {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The place behind a path that begins at `from`: its quotation mark, or what no path in a message goes on with.
std::size_t end_of_path(std::string_view text, std::size_t from) {
  const char before = from == 0 ? ' ' : text[from - 1];
  const std::size_t end =
      before == '\'' || before == '"' ? text.find(before, from) : text.find_first_of(" '\",;:()", from);
  return end == std::string_view::npos ? text.size() : end;
}

// True at the first slash of a path, which is none inside a word ("I/O") or an address ("https://").
bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/') return false;
  return at == 0 || std::string_view(" '\"(=").find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

std::string failure_for_others(std::string_view why) {
  if (const std::size_t behind = why.rfind(kLastTime); behind != std::string_view::npos) {
    why = why.substr(behind + kLastTime.size());
  }
  std::string text;
  for (std::size_t at = 0; at < why.size();) {
    if (!begins_path(why, at)) {
      text += is_control(why[at]) ? ' ' : why[at];
      ++at;
      continue;
    }
    const std::size_t end = end_of_path(why, at);
    const std::string_view path = why.substr(at, end - at);
    at += path.rfind('/') + 1;
  }
  std::size_t length = std::min(text.size(), wire::kTrainerFailureBytesMax);
  while (length > 0 && length < text.size() && is_continuation(text[length])) --length;
  text.resize(length);
  return text;
}

}  // namespace starling::session
