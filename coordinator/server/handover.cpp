#include "coordinator/server/handover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "coordinator/api/responses.h"
#include "coordinator/server/arguments.h"
#include "shared/crypto/secrets.h"

namespace starling::server {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
constexpr Duration kComeBack = std::chrono::seconds(1);
constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kMark = "handed-on|";
constexpr char kSeparator = '|';

// Routes for programs and for pages whose answer is in the leader's memory.
constexpr std::array kPrograms = {"/v1/heartbeat", "/v1/checkpoint", "/v1/run", "/v1/status"};
constexpr std::array kPages = {"/", "/v1/leaderboard", "/credit", "/status", "/status.json", "/swarm.json"};

gate::Response come_later() {
  return api::come_later({ErrorCode::unavailable, "the project is choosing another coordinator to lead it; try again"},
                         kComeBack);
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

// Queries of these routes need no encoding; a parameter that does is not one of theirs.
std::string target_of(const gate::Request& request) {
  std::string target = request.path;
  char before = '?';
  for (const auto& [name, value] : request.query) {
    if (!is_plain(name) || !is_plain(value)) continue;
    target += fmt::format("{}{}={}", before, name, value);
    before = '&';
  }
  return target;
}

// The reply, without the headers that the gate adds itself.
gate::Response handed_back(net::HttpResponse reply) {
  gate::Response response;
  response.status = reply.status;
  response.content_type = std::move(reply.content_type);
  response.body = std::move(reply.body);
  constexpr std::array kOwn = {"content-type", "content-length", "connection", "keep-alive", "date"};
  for (auto& [name, value] : reply.headers) {
    if (std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) {
      response.headers.emplace_back(std::move(name), std::move(value));
    }
  }
  return response;
}

std::string proof(const std::string& secret, std::string_view claim) {
  return crypto::keyed_digest(secret, fmt::format("{}{}", kMark, claim)).hex();
}

bool equal(const std::string& a, std::string_view b) {
  const auto bytes = [](std::string_view text) {
    return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  return crypto::constant_time_equal(bytes(a), bytes(b));
}

bool is_handed_on(const gate::Request& request) {
  const std::string_view header = request.header("Authorization");
  return header.starts_with(kScheme) && header.substr(kScheme.size()).starts_with(kMark);
}

}  // namespace

void Handover::divert(gate::Router& router) {
  const auto divert = [&](const char* path, Without without) {
    router.wrap(path, [this, without](const gate::Request& request, const gate::Handler& own) {
      return answer(request, own, without);
    });
  };
  for (const char* path : kPrograms) divert(path, Without::come_later);
  for (const char* path : kPages) divert(path, Without::own_answer);
}

gate::Response Handover::answer(const gate::Request& request, const gate::Handler& own, Without without) {
  if (is_handed_on(request)) {
    const auto original = received(request);
    if (!original) return api::error_response(original.error());
    // Not handed on again: two processes that take each other for the leader would go on for ever.
    return leadership_.leads() ? own(*original) : come_later();
  }
  if (leadership_.leads()) return own(request);
  if (const std::string leader = leadership_.leader(); !leader.empty()) {
    auto asked = ask(request, leader);
    if (asked) return std::move(*asked);
  }
  return without == Without::own_answer ? own(request) : come_later();
}

Result<gate::Response> Handover::ask(const gate::Request& request, const std::string& leader) {
  auto client = client_for(leader);
  if (client == nullptr) return Error{ErrorCode::unavailable, "the leader's address can not be read"};
  client->set_token(token_for(request));
  auto reply =
      request.method == "POST" ? client->post_json(target_of(request), request.body) : client->get(target_of(request));
  if (!reply) return reply.error();
  {
    MutexLock lock(mutex_);
    idle_.push_back({leader, std::move(client)});
  }
  return handed_back(std::move(*reply));
}

std::unique_ptr<net::HttpClient> Handover::client_for(const std::string& leader) {
  {
    MutexLock lock(mutex_);
    std::erase_if(idle_, [&](const Idle& idle) { return idle.address != leader; });
    if (!idle_.empty()) {
      auto client = std::move(idle_.back().client);
      idle_.pop_back();
      return client;
    }
  }
  const auto endpoint = parse_endpoint(leader);
  if (!endpoint) return nullptr;
  return std::make_unique<net::HttpClient>(*endpoint, tls_, net::HttpOptions{.deadline = kPatience});
}

std::string Handover::token_for(const gate::Request& request) const {
  const std::string claim =
      fmt::format("{}{}{}", request.peer ? request.peer->hex() : "", kSeparator, request.remote_address);
  return fmt::format("{}{}{}{}", kMark, claim, kSeparator, proof(secret_, claim));
}

Result<gate::Request> Handover::received(const gate::Request& request) const {
  const Error refusal{ErrorCode::unauthenticated, "this was not handed on by a coordinator of this project"};
  const std::string_view token = request.header("Authorization").substr(kScheme.size() + kMark.size());
  const std::size_t last = token.rfind(kSeparator);
  const std::size_t first = token.find(kSeparator);
  if (last == std::string_view::npos || first == last) return refusal;
  const std::string_view claim = token.substr(0, last);
  if (!equal(proof(secret_, claim), token.substr(last + 1))) return refusal;
  gate::Request original = request;
  const std::string_view peer = claim.substr(0, first);
  original.peer.reset();
  if (!peer.empty()) {
    const auto id = PeerId::from_hex(peer);
    if (!id) return refusal;
    original.peer = *id;
  }
  original.remote_address = std::string(claim.substr(first + 1));
  return original;
}

}  // namespace starling::server
