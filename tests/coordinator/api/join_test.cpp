#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "shared/crypto/certificates.h"
#include "shared/crypto/secrets.h"
#include "shared/protocol/error_reply.h"
#include "shared/protocol/names.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

void refused(const Result<wire::JoinReply>& reply, ErrorCode code, const std::string& word) {
  REQUIRE_FALSE(reply.ok());
  CHECK(reply.error().code == code);
  CHECK_MESSAGE(reply.error().message.find(word) != std::string::npos, reply.error().message);
}

}  // namespace

TEST_CASE("an invite makes an account and a certificate for exactly this computer's key") {
  TestProject project;
  TestVolunteer ada(project, " Ada ");
  const auto reply = ada.join(project.invite());
  REQUIRE_MESSAGE(reply.ok(), reply.status().error().message);
  CHECK(reply->peer_id == ada.key.peer_id());
  CHECK(reply->project_name == "Test");
  CHECK(reply->manifest_public_key == project.manifest_key.public_key().to_pem());
  CHECK(crypto::read_certificate(reply->certificate_pem)->peer_id == ada.key.peer_id());
  CHECK(std::abs(reply->server_unix_ms - project.clock.wall_now().unix_ms) < 60'000);
  CHECK(project.stores().people.accounts.find_account(reply->account_id)->display_name == "Ada");
}

TEST_CASE("an older program that joins gets names that it bears, and a newer one the whole ones beside them") {
  TestProject project;
  const std::string name = "Очень длинное имя добровольца";
  TestVolunteer ada(project, name);
  const auto reply = ada.join(project.invite());
  REQUIRE_MESSAGE(reply.ok(), reply.status().error().message);
  CHECK(reply->display_name == "Очень длинное имя до…");
  CHECK(reply->display_name.size() <= wire::kShortNameBytesMax);
  CHECK(reply->whole_display_name == name);
  CHECK(reply->project_name == "Test");
  CHECK(reply->whole_project_name.empty());
}

TEST_CASE("an answer that was lost may be asked for again, and costs no second use") {
  TestProject project;
  const std::string invite = project.invite(1);
  TestVolunteer ada(project, "Ada");
  const auto first = ada.join(invite);
  const auto second = ada.join(invite);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->account_id == second->account_id);
  TestVolunteer bob(project, "Bob");
  refused(bob.join(invite), ErrorCode::permission_denied, "used up");
}

TEST_CASE("wrong, missing and expired invites are refused, and make nothing") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  refused(ada.join(std::string(64, 'a')), ErrorCode::unauthenticated, "invite");
  refused(ada.join(""), ErrorCode::unauthenticated, "needs an invite");
  refused(ada.join(project.invite(1, 0)), ErrorCode::permission_denied, "expired");
  CHECK(project.stores().people.accounts.find_host(ada.key.peer_id()).error().code == ErrorCode::not_found);
}

TEST_CASE("a name that is taken comes with a suggestion, and the invite stays good") {
  TestProject project;
  const std::string invite = project.invite(2);
  TestVolunteer ada(project, "Ada");
  REQUIRE(ada.join(invite).ok());
  TestVolunteer other(project, "ADA");
  const auto reply = other.join(invite);
  refused(reply, ErrorCode::already_exists, "'ADA ");
  TestVolunteer bob(project, "Bob");
  CHECK(bob.join(invite).ok());
}

TEST_CASE("where joining needs no invite, one address makes a bounded number of accounts") {
  TestProject project({.open_to_all = true});
  int number = 0;
  const auto join_from = [&](const std::string& address) {
    wire::JoinRequest wanted;
    wanted.display_name = "Computer " + std::to_string(++number);
    wanted.csr_pem = crypto::make_csr(crypto::PrivateKey::generate());
    gate::Request request;
    request.body = wire::encode(wanted);
    request.remote_address = address;
    return join(project.api(), request);
  };
  const int burst = static_cast<int>(kJoinLimits.burst);
  for (int i = 0; i < burst; ++i) CHECK(join_from("192.0.2.7").status == 200);
  const gate::Response refused = join_from("192.0.2.7");
  CHECK(refused.status == 429);
  CHECK(wire::decode_error_reply(refused.body)->message.find("try again in") != std::string::npos);
  const auto retry = std::find_if(refused.headers.begin(), refused.headers.end(),
                                  [](const auto& header) { return header.first == "Retry-After"; });
  REQUIRE(retry != refused.headers.end());
  CHECK(std::stoi(retry->second) >= 1);
  CHECK(std::stoi(retry->second) <= 60);
  CHECK(join_from("198.51.100.1").status == 200);
  CHECK(join_from("127.0.0.1").status == 200);
}

TEST_CASE("with a password a computer joins a new account, and further computers the same one without an invite") {
  TestProject project;
  TestVolunteer desk(project, "Ada");
  const std::string password = "correct horse battery";
  refused(desk.join("", password), ErrorCode::unauthenticated, "invite");
  const auto first = desk.join(project.invite(), password);
  REQUIRE_MESSAGE(first.ok(), first.status().error().message);
  TestVolunteer attic(project, "ada");
  refused(attic.join("", "a wrong password"), ErrorCode::unauthenticated, "do not belong together");
  const auto second = attic.join("", password);
  REQUIRE(second.ok());
  CHECK(second->account_id == first->account_id);
  CHECK(second->display_name == "Ada");
  CHECK(project.stores().people.accounts.hosts_of(first->account_id)->size() == 2);
  refused(TestVolunteer(project, "nobody@example.org").join("", password), ErrorCode::unauthenticated,
          "belong together");
}

TEST_CASE("a code from the account page links a computer, whatever name it gives and however it is typed") {
  TestProject project;
  TestVolunteer desk(project, "Ada");
  const auto first = desk.join(project.invite());
  REQUIRE(first.ok());
  std::string code = project.accounts().link_code(first->account_id).value();
  code.erase(4, 1);
  for (char& c : code) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  TestVolunteer attic(project, "Attic");
  const auto second = attic.join(code);
  REQUIRE_MESSAGE(second.ok(), second.status().error().message);
  CHECK(second->account_id == first->account_id);
  CHECK(second->display_name == "Ada");
  CHECK_FALSE(TestVolunteer(project, "Eve").join(code).ok());
}

TEST_CASE("where the operator approves accounts, a computer joins once its account is approved") {
  TestProject project({.open_to_all = true, .approval = true});
  TestVolunteer ada(project, "Ada");
  refused(ada.join(""), ErrorCode::permission_denied, "waits for the project's approval");
  const auto waiting = project.stores().people.keeper.list(db::AccountState::waiting, 10, 0);
  REQUIRE(waiting->size() == 1);
  REQUIRE(project.stores().people.keeper.set_state(waiting->front().id, db::AccountState::active).ok());
  CHECK(ada.join("").ok());
}

TEST_CASE("where the operator allows it, computers without a name share one account") {
  TestProject project({.open_to_all = true, .anonymous = true});
  TestVolunteer one(project, "");
  TestVolunteer two(project, "");
  const auto first = one.join("");
  REQUIRE_MESSAGE(first.ok(), first.status().error().message);
  CHECK(two.join("")->account_id == first->account_id);
  CHECK(first->display_name == "(anonymous)");
  TestProject named({.open_to_all = true});
  CHECK_FALSE(TestVolunteer(named, "").join("").ok());
}

TEST_CASE("a request that is no request for a certificate is refused") {
  TestProject project;
  wire::JoinRequest request;
  request.invite = project.invite();
  request.display_name = "Ada";
  request.csr_pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
  net::HttpClient client = project.stranger();
  const auto response = client.post_json("/v1/join", wire::encode(request));
  CHECK(response->status == 400);
  CHECK(client.post_json("/v1/join", "{")->status == 400);
  request.protocol = wire::kProtocolVersion + 1;
  const auto newer = client.post_json("/v1/join", wire::encode(request));
  CHECK(newer->status == 400);
  CHECK(newer->body.find("project must be updated") != std::string::npos);
}

TEST_CASE("a certificate is renewed for a member, and for nobody else") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  REQUIRE(ada.join(project.invite()).ok());
  net::HttpClient client = project.stranger();
  const auto renew = [&](const crypto::PrivateKey& key) {
    return client.post_json("/v1/renew", wire::encode(wire::RenewRequest{crypto::make_csr(key)})).value();
  };
  const auto renewed = renew(ada.key);
  REQUIRE(renewed.status == 200);
  CHECK(crypto::read_certificate(wire::decode_renew_reply(renewed.body)->certificate_pem)->peer_id ==
        ada.key.peer_id());
  CHECK(renew(crypto::PrivateKey::generate()).status == 401);
  REQUIRE(project.stores().people.accounts.set_revoked(ada.key.peer_id(), true, db::Revoker::project).ok());
  project.look();
  CHECK(renew(ada.key).status == 403);
}

TEST_CASE("who has a computer's key but not its device token gets no certificate") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  ada.device_token = crypto::make_token();
  REQUIRE(ada.join(project.invite()).ok());
  CHECK_MESSAGE(ada.join("").ok(), "a lost answer is asked for again with the same token");
  net::HttpClient client = project.stranger();
  const auto renew = [&](const std::string& token) {
    return client.post_json("/v1/renew", wire::encode(wire::RenewRequest{crypto::make_csr(ada.key), token})).value();
  };
  CHECK(renew(ada.device_token).status == 200);
  for (const std::string& wrong : {std::string(), crypto::make_token()}) {
    const auto copy = renew(wrong);
    CHECK(copy.status == 403);
    CHECK_MESSAGE(wire::decode_error_reply(copy.body)->message.find("device token") != std::string::npos, copy.body);
    TestVolunteer thief(project, "Ada");
    thief.key = ada.key;
    thief.device_token = wrong;
    refused(thief.join(project.invite()), ErrorCode::permission_denied, "device token");
  }
  CHECK(project.stores().people.accounts.find_host(ada.key.peer_id())->token_hash ==
        crypto::hash_token(ada.device_token));
  REQUIRE(project.stores().people.accounts.set_revoked(ada.key.peer_id(), true, db::Revoker::project).ok());
  project.look();
  CHECK(renew(ada.device_token).status == 403);
  refused(ada.join(project.invite()), ErrorCode::permission_denied, "removed");
}

TEST_CASE("an account has a limit of computers, which its invites do not lift") {
  TestProject project({.open_to_all = false, .hosts_max = 2});
  TestVolunteer first(project, "Ada");
  const auto joined = first.join(project.invite());
  REQUIRE(joined.ok());
  const auto link = [&] { return project.accounts().link_code(joined->account_id).value(); };
  TestVolunteer second(project, "Ada");
  REQUIRE(second.join(link()).ok());
  TestVolunteer third(project, "Ada");
  refused(third.join(link()), ErrorCode::permission_denied, "2 are the most here");
  REQUIRE(project.stores().people.accounts.set_revoked(second.key.peer_id(), true, db::Revoker::owner).ok());
  CHECK(third.join(link()).ok());
}

TEST_CASE("a computer that joined without a device token gets one when it joins again") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  REQUIRE(ada.join(project.invite()).ok());
  const auto kept = [&] { return project.stores().people.accounts.find_host(ada.key.peer_id())->token_hash; };
  CHECK_FALSE(kept().has_value());
  ada.device_token = crypto::make_token();
  REQUIRE(ada.join("").ok());
  CHECK(kept() == crypto::hash_token(ada.device_token));
  ada.device_token.clear();
  refused(ada.join(""), ErrorCode::permission_denied, "device token");
}

TEST_CASE("a computer that is revoked, let in again or whose account is deleted notices at its next heartbeat") {
  TestProject project;
  TestVolunteer ada(project, "Ada");
  TestVolunteer ben(project, "Ben");
  const auto joined = ada.join(project.invite());
  REQUIRE(joined.ok());
  REQUIRE(ben.join(project.invite()).ok());
  project.look();
  CHECK(ada.post("/v1/heartbeat", "{}") == 400);  // admitted, but not understood
  REQUIRE(project.stores().people.accounts.set_revoked(ada.key.peer_id(), true, db::Revoker::project).ok());
  project.look();
  CHECK(ada.post("/v1/heartbeat", "{}") == 403);
  CHECK(ben.post("/v1/heartbeat", "{}") == 400);
  REQUIRE(project.stores().people.accounts.set_revoked(ada.key.peer_id(), false, db::Revoker::project).ok());
  project.look();
  CHECK(ada.post("/v1/heartbeat", "{}") == 400);
  REQUIRE(project.stores().people.keeper.erase(joined->account_id, project.clock.wall_now()).ok());
  project.look();
  CHECK(ada.post("/v1/heartbeat", "{}") == 403);
}

}  // namespace starling::api::testing
