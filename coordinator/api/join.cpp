// A volunteer's first visit, and the renewal of its certificate.
#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "coordinator/accounts/credentials.h"
#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"
#include "shared/crypto/secrets.h"
#include "shared/names/display_name.h"
#include "shared/protocol/join.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/names.h"

namespace starling::api {
namespace {

// Returns the stored form of a device token; nothing for none.
std::optional<Digest> token_of(const std::string& device_token) {
  return device_token.empty() ? std::nullopt : std::optional<Digest>(crypto::hash_token(device_token));
}

Result<db::JoinRequest> check_join(const Api& api, const wire::JoinRequest& wanted) {
  if (wanted.protocol != wire::kProtocolVersion) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("this project speaks protocol {}, the client {}; {} must be updated", wire::kProtocolVersion,
                    wanted.protocol, wanted.protocol < wire::kProtocolVersion ? "the client" : "the project")};
  }
  db::JoinRequest request;
  auto peer = crypto::read_csr(wanted.csr_pem);
  if (!peer) return peer.error().prefixed("certificate request");
  request.peer_id = *peer;
  request.token_hash = token_of(wanted.device_token);
  request.now = api.clock.wall_now();
  request.hosts_max = api.accounts.parts().policy.hosts_max;
  return request;
}

// Returns the account that name or address and password open; 0 when nobody logs in by this name yet. Names are public,
// so this reveals nothing.
Result<AccountId> account_by_password(const Api& api, const wire::JoinRequest& wanted, const std::string& address) {
  const bool by_address = wanted.display_name.find('@') != std::string::npos;
  const auto named = api.stores.people.logins.find(wanted.display_name);
  if (!by_address && !named && named.error().code == ErrorCode::not_found) return AccountId{0};
  STARLING_ASSIGN(const db::Login login,
                  api.accounts.guard().check(wanted.display_name, wanted.password, {address, ""}));
  return login.account_id;
}

// Returns the account that this computer is to belong to, made now if need be.
Result<AccountId> account_for(const Api& api, const wire::JoinRequest& wanted, const std::string& address) {
  STARLING_ASSIGN(const AccountId known, account_by_password(api, wanted, address));
  if (known != 0) return known;
  STARLING_ASSIGN(
      const accounts::SignedIn made,
      api.accounts.sign_up({wanted.display_name, wanted.email, wanted.password, wanted.invite}, {address, ""}));
  return made.account_id;
}

Status choose_account(const Api& api, const wire::JoinRequest& wanted, const std::string& address,
                      db::JoinRequest& request) {
  if (api.hosts.account_of(request.peer_id)) return {};  // it has one: a lost answer is asked for again
  if (!wanted.password.empty()) {
    STARLING_ASSIGN(request.account_id, account_for(api, wanted, address));
    return {};
  }
  const accounts::Policy& policy = api.accounts.parts().policy;
  const auto code = accounts::read_code(wanted.invite);
  if (code) {
    request.invite = crypto::hash_token(*code);
    return {};
  }
  if (!wanted.invite.empty()) {
    request.invite = crypto::hash_token(wanted.invite);
  } else if (!policy.open_to_all) {
    return Error{ErrorCode::unauthenticated,
                 "this project needs an invite; ask it for a join link that has one (in a shell a link "
                 "stands in quotes: without them it ends at the first &)"};
  }
  if (wanted.display_name.empty() && policy.anonymous) {
    request.state = db::AccountState::anonymous;
    return {};
  }
  if (policy.approval) request.state = db::AccountState::waiting;
  STARLING_ASSIGN(request.display_name, names::check_display_name(wanted.display_name));
  return {};
}

// The visit is noted too: the deny-list needs to know until when a computer may hold a certificate.
Result<std::string> issue(const Api& api, const PeerId& peer, const std::string& csr_pem, WallTime now) {
  STARLING_TRY(api.stores.people.accounts.touch_host(peer, now));
  return api.authority.issue(csr_pem, {.now = now});
}

// Older programs refuse a reply with a longer name.
void name(std::string& shortened, std::string& whole, const std::string& full) {
  shortened = names::shortened_name(full, wire::kShortNameBytesMax);
  if (shortened != full) whole = full;
}

Result<wire::JoinReply> join_project(const Api& api, const wire::JoinRequest& wanted, const std::string& address) {
  STARLING_ASSIGN(db::JoinRequest request, check_join(api, wanted));
  STARLING_TRY(choose_account(api, wanted, address, request));
  STARLING_TRY(
      api.accounts.parts().bans.admit(api.hosts.account_of(request.peer_id).value_or(0), request.peer_id, address));
  const Result<AccountId> account = api.stores.people.accounts.join(request);
  if (!account && account.error().code == ErrorCode::already_exists) {
    return Error{ErrorCode::already_exists,
                 fmt::format("the name '{}' is taken; '{}' may be free", request.display_name,
                             names::numbered_name(request.display_name, request.peer_id.bytes[0] % 100))};
  }
  if (!account) return told(account.error());
  const Result<db::Account> joined = api.stores.people.accounts.find_account(*account);
  if (!joined) return told(joined.error());
  STARLING_TRY(accounts::check_state(*joined));
  wire::JoinReply reply;
  reply.account_id = *account;
  reply.peer_id = request.peer_id;
  name(reply.project_name, reply.whole_project_name, api.project_name);
  name(reply.display_name, reply.whole_display_name, joined->display_name);
  STARLING_ASSIGN(reply.certificate_pem, issue(api, request.peer_id, wanted.csr_pem, request.now));
  reply.manifest_public_key = api.manifest_public_key_pem;
  reply.server_unix_ms = request.now.unix_ms;
  return reply;
}

// The request's signature proves the key, so an expired certificate is no obstacle. A caller that has only the key gets
// none.
Result<wire::RenewReply> renew_certificate(const Api& api, const wire::RenewRequest& wanted,
                                           const std::string& address) {
  auto peer = crypto::read_csr(wanted.csr_pem);
  if (!peer) return peer.error().prefixed("certificate request");
  const Result<AccountId> account = api.hosts.admit(*peer);
  if (!account) return told(account.error());
  STARLING_TRY(api.accounts.parts().bans.admit(*account, *peer, address));
  const Result<db::Host> host = api.stores.people.accounts.find_host(*peer);
  if (!host) return told(host.error());
  STARLING_TRY(db::check_device_token(host->token_hash, token_of(wanted.device_token)));
  wire::RenewReply reply;
  reply.server_unix_ms = api.clock.wall_now().unix_ms;
  STARLING_ASSIGN(reply.certificate_pem, issue(api, *peer, wanted.csr_pem, {reply.server_unix_ms}));
  return reply;
}

// Without invites nothing else bounds the number of accounts that one caller makes, or of codes it tries. Zero: it may
// go on.
Duration wait_to_join(const Api& api, const wire::JoinRequest& wanted, const std::string& address) {
  const bool invited = !wanted.invite.empty() && !accounts::read_code(wanted.invite);
  const bool refused = wanted.invite.empty() && wanted.password.empty() && !api.accounts.parts().policy.open_to_all;
  const bool limited = !invited && !refused;
  const std::string from = accounts::limit_key(address);
  return limited && !from.empty() ? api.joins.take(from, api.clock.now()) : Duration{};
}

}  // namespace

gate::Response join(const Api& api, const gate::Request& request) {
  if (const auto maintenance = api.maintenance.shown()) {
    return come_later({ErrorCode::unavailable, operations::notice_of(*maintenance)},
                      operations::come_again(*maintenance, api.clock.wall_now()));
  }
  const auto wanted = wire::decode_join_request(request.body);
  if (!wanted) return error_response(wanted.error());
  if (const Duration wait = wait_to_join(api, *wanted, request.remote_address); wait > Duration{}) {
    return too_many_requests(
        {ErrorCode::resource_exhausted,
         fmt::format("many computers have joined from this address just now; try again in {:.0f} s",
                     std::ceil(to_seconds(wait)))},
        wait);
  }
  const auto reply = join_project(api, *wanted, request.remote_address);
  return reply ? json_response(wire::encode(*reply)) : error_response(reply.error());
}

gate::Response renew(const Api& api, const gate::Request& request) {
  const auto wanted = wire::decode_renew_request(request.body);
  if (!wanted) return error_response(wanted.error());
  const auto reply = renew_certificate(api, *wanted, request.remote_address);
  return reply ? json_response(wire::encode(*reply)) : error_response(reply.error());
}

}  // namespace starling::api
