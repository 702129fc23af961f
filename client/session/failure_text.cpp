#include "client/session/failure_text.h"

#include <algorithm>

#include "shared/base/plain_text.h"
#include "shared/base/short_text.h"
#include "shared/protocol/heartbeat.h"

namespace starling::session {
namespace {

constexpr std::size_t kLookedAtBytesMax = 4096;        // others are told much less of a failure
constexpr std::size_t kPathBeginBytesMax = 256;        // "~" and the name of a user
constexpr std::string_view kEndsClause = ",;:.)]}>'";  // before a blank or the end

// Bytes that words and paths go on with.
bool goes_on(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || static_cast<unsigned char>(c) >= 0x80 || std::string_view("/._-~").find(c) != std::string_view::npos;
}

// True at "/", "./", "../" and "~ada/", where a path begins; not in a word ("I/O") or an address ("https://").
bool begins_path(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::string_view rest = text.substr(at);
  if (!before.empty() && goes_on(before.back())) return false;
  if (rest.starts_with("//") && before.ends_with(':')) return before.ends_with("file:");
  const std::size_t slash = rest.substr(0, kPathBeginBytesMax).find_first_of("/ '\"");
  if (slash == std::string_view::npos || rest[slash] != '/') return false;
  const std::string_view name = rest.substr(0, slash);
  if (name.empty()) return !rest.starts_with("/ ");
  return name == "." || name == ".." || name.front() == '~';
}

// The place behind the last slash that stands inside a word other than "I/O"; 0: there is none.
std::size_t behind_last_slash(std::string_view text) {
  constexpr std::string_view kNoPath = "I/O";
  for (std::size_t at = text.rfind('/'); at != std::string_view::npos; at = at == 0 ? at : text.rfind('/', at - 1)) {
    const bool no_path =
        at > 0 && text.substr(at - 1, kNoPath.size()) == kNoPath && (at == 1 || !goes_on(text[at - 2]));
    if (!no_path) return at + 1;
    if (at == 0) break;
  }
  return 0;
}

// The end of a path in quotation marks, which may stand in a name, too: behind the right one comes no further folder.
std::size_t end_of_quoted(std::string_view text, std::size_t from, char quote) {
  for (std::size_t end = text.find(quote, from); end != std::string_view::npos;) {
    const std::size_t next = text.find(quote, end + 1);
    const std::string_view behind = text.substr(end + 1, next == std::string_view::npos ? next : next - end - 1);
    const bool in_word = !behind.empty() && goes_on(behind.front());
    const bool is_within = in_word || (next != std::string_view::npos && behind_last_slash(behind) > 0);
    if (!is_within) return end;
    end = next;
  }
  return text.size();
}

// The end of the words that a path without quotation marks may go on with: folders have blanks in their names.
std::size_t end_of_clause(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    const bool before_blank = at + 1 == text.size() || text[at + 1] == ' ';
    if (text[at] == '"' || (before_blank && kEndsClause.find(text[at]) != std::string_view::npos)) return at;
    if (text[at] != ' ') continue;
    const std::string_view word = text.substr(at + 1, text.find(' ', at + 1) - at - 1);
    if (begins_path(text, at + 1) || word.find("://") != std::string_view::npos) return at;
    if (word.starts_with('(') && text.substr(at, text.find(')', at) - at + 2).find(")/") == std::string_view::npos) {
      return at;
    }
  }
  return text.size();
}

// The place where the last name of a path begins.
std::size_t behind_folders(std::string_view text, std::size_t from) {
  const char before = from == 0 ? ' ' : text[from - 1];
  const bool quoted = before == '\'' || before == '"';
  const std::size_t end = quoted ? end_of_quoted(text, from, before) : end_of_clause(text, from);
  return from + behind_last_slash(text.substr(from, end - from));
}

}  // namespace

std::string failure_for_others(std::string_view why) {
  if (const std::size_t behind = why.rfind(kLastTime); behind != std::string_view::npos) {
    why = why.substr(behind + kLastTime.size());
  }
  const std::string whole = plain_line(why);
  const std::string_view line = cut_text(whole, kLookedAtBytesMax);
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t name = begins_path(line, at) ? behind_folders(line, at) : at;
    if (name == at) text += line[at++];
    at = std::max(at, name);
  }
  return std::string(cut_text(text, wire::kTrainerFailureBytesMax));
}

}  // namespace starling::session
