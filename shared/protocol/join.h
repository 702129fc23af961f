// How a host becomes a member of a project, and keeps its certificate fresh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/limits.h"

namespace starling::wire {

// A computer's request to take part, with a key that it has just made.
struct JoinRequest {
  int protocol = kProtocolVersion;
  std::string client_version;
  std::string invite;        // token of the join link; empty where the project is open
  std::string display_name;  // shown on the leaderboard
  std::string csr_pem;       // PKCS#10 with the host's Ed25519 key
  // With a password: the account's of this name, or a new one's. If an e-mail address stands in place of a name, the
  // account is the one with that address.
  std::string password = {};
  std::string email = {};  // a new account's; may be empty
  // The computer's own secret for this project: its key alone does not bring a certificate. Empty: a computer that
  // joined before there were such secrets has none.
  std::string device_token = {};
};
// The computer's identity in the project, which it keeps.
struct JoinReply {
  AccountId account_id = 0;
  PeerId peer_id;
  std::string project_name;         // shortened to kShortNameBytesMax where that is less
  std::string certificate_pem;      // this host's, short-lived
  std::string manifest_public_key;  // PEM; pinned by the client from now on
  std::int64_t server_unix_ms = 0;  // lets the client notice a wrong clock
  std::string display_name = {};    // the account's, shortened likewise; it may be another than was asked for
  // The names that are shortened above; unset: they are whole there.
  std::string whole_project_name = {};
  std::string whole_display_name = {};
};

// A request for a new certificate of the same key. It needs no client certificate, which may have expired.
struct RenewRequest {
  std::string csr_pem;
  std::string device_token = {};  // the one that it joined with
};
// The new certificate, and the coordinator's time.
struct RenewReply {
  std::string certificate_pem;
  std::int64_t server_unix_ms = 0;
};

std::string encode(const JoinRequest& message);
std::string encode(const JoinReply& message);
std::string encode(const RenewRequest& message);
std::string encode(const RenewReply& message);

// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<JoinRequest> decode_join_request(std::string_view json);
Result<JoinReply> decode_join_reply(std::string_view json);
Result<RenewRequest> decode_renew_request(std::string_view json);
Result<RenewReply> decode_renew_reply(std::string_view json);

}  // namespace starling::wire
