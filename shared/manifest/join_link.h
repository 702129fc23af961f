// The one line that a volunteer needs: starling://host:port/?ca=<fingerprint>&invite=<code>
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::manifest {

constexpr std::size_t kJoinLinkBytesMax = 512;
constexpr std::size_t kInviteBytesMax = 128;

struct JoinLink {
  std::string host;        // name, IPv4, or IPv6 without brackets
  std::uint16_t port = 0;  // always written: it has no default
  Digest ca_fingerprint;   // SHA-256 of the CA certificate's DER bytes
  std::string invite;      // [A-Za-z0-9_-]; empty for an open project

  friend bool operator==(const JoinLink&, const JoinLink&) = default;
};

// Returns the link in a text that somebody pasted: without what stands around it (blanks, line ends, quotes, <>, a full
// stop), its scheme in small letters, and "&amp;" as "&". A text without a link is returned without blanks around it.
std::string find_join_link(std::string_view text);

// Strict: accepts known fields only, each once, with nothing before or after. The message says which part is wrong.
Result<JoinLink> parse_join_link(std::string_view text);
std::string format_join_link(const JoinLink& link);

}  // namespace starling::manifest
