#include "shared/manifest/join_link.h"

#include <algorithm>
#include <utility>

#include "shared/wire/web_address.h"

namespace starling::manifest {
namespace {

constexpr std::string_view kScheme = "starling://";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

Error bad(std::string_view why) {
  return {ErrorCode::invalid_argument,
          "read join link: " + std::string(why) +
              " (a link looks like starling://host:port/?ca=<64 hex digits>&invite=<code>)"};
}

bool only_of(std::string_view text, std::string_view allowed, std::string_view also) {
  for (const char c : text) {
    const bool known = allowed.find(c) != std::string_view::npos || also.find(c) != std::string_view::npos ||
                       kDigits.find(c) != std::string_view::npos;
    if (!known) return false;
  }
  return true;
}

Status parse_field(std::string_view field, JoinLink& link, bool& has_ca, bool& has_invite) {
  const std::size_t equals = field.find('=');
  const std::string_view name = field.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : field.substr(equals + 1);
  if (name == "ca") {
    auto digest = Digest::from_hex(value);
    if (has_ca || !digest.ok()) return bad("'ca' must be there once, with 64 hex digits");
    link.ca_fingerprint = *digest;
    has_ca = true;
    return {};
  }
  if (name == "invite") {
    const bool fits = !value.empty() && value.size() <= kInviteBytesMax && only_of(value, kLetters, "-_");
    if (has_invite || !fits) return bad("'invite' must be there at most once, of letters, digits, '-' and '_'");
    link.invite = value;
    has_invite = true;
    return {};
  }
  return bad("it has a field that this version does not know");
}

bool equal_without_case(char one, char other) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return small(one) == small(other);
}

}  // namespace

std::string find_join_link(std::string_view text) {
  const auto scheme = std::search(text.begin(), text.end(), kScheme.begin(), kScheme.end(), equal_without_case);
  if (scheme == text.end()) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
  }
  std::string_view rest = text.substr(static_cast<std::size_t>(scheme - text.begin()) + kScheme.size());
  std::string link(kScheme);
  constexpr std::string_view kAmpersand = "&amp;";
  while (!rest.empty() && only_of(rest.substr(0, 1), kLetters, "-_.:/?=&%[]")) {
    link += rest.front();
    rest.remove_prefix(rest.starts_with(kAmpersand) ? kAmpersand.size() : 1);
  }
  while (link.ends_with('.') || link.ends_with(':')) link.pop_back();
  return link;
}

Result<JoinLink> parse_join_link(std::string_view text) {
  if (text.size() > kJoinLinkBytesMax) return bad("it is too long");
  if (!text.starts_with(kScheme)) return bad("it does not begin with starling://");
  text.remove_prefix(kScheme.size());
  const std::size_t query = text.find("/?");
  if (query == std::string_view::npos) return bad("'/?' is missing");
  JoinLink link;
  auto at = wire::parse_host_and_port(text.substr(0, query));
  if (!at.ok()) return bad(at.error().message);
  link.host = std::move(at->host);
  link.port = at->port;
  bool has_ca = false;
  bool has_invite = false;
  std::string_view rest = text.substr(query + 2);
  while (true) {
    const std::size_t end = rest.find('&');
    STARLING_TRY(parse_field(rest.substr(0, end), link, has_ca, has_invite));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!has_ca) return bad("'ca' is missing");
  return link;
}

std::string format_join_link(const JoinLink& link) {
  std::string text(kScheme);
  text += wire::format_host_and_port(link.host, link.port) + "/?ca=" + link.ca_fingerprint.hex();
  if (!link.invite.empty()) text += "&invite=" + link.invite;
  return text;
}

}  // namespace starling::manifest
