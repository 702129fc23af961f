// Hands requests that only the leader can answer on to it, from the other processes that serve the project.
//
// They speak TLS as a volunteer's daemon does: the leader shows the coordinator's certificate, issued by the project's
// own authority. The original sender and address go along in a token that only holders of the coordinator's secret can
// make.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/gate/router.h"
#include "coordinator/server/leadership.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"
#include "shared/net/http_client.h"

namespace starling::server {

class Handover {
 public:
  // `tls` is a TlsContext::coordinator_client; `secret` comes from accounts::own_secret(). `leadership` must outlive
  // this object.
  Handover(const Leadership& leadership, crypto::TlsContext tls, std::string secret)
      : leadership_(leadership), tls_(std::move(tls)), secret_(std::move(secret)) {}

  // From now on those of the router's routes that need the served run ask the leader, wherever it is. While there is
  // none, programs are told to come back in a second, and pages are made from the database. The router must not be used
  // after this object.
  void divert(gate::Router& router);

 private:
  enum class Without : std::uint8_t { come_later, own_answer };  // the answer without a leader
  struct Idle {
    std::string address;
    std::unique_ptr<net::HttpClient> client;
  };

  gate::Response answer(const gate::Request& request, const gate::Handler& own, Without without);
  Result<gate::Response> ask(const gate::Request& request, const std::string& leader);
  std::unique_ptr<net::HttpClient> client_for(const std::string& leader);
  [[nodiscard]] std::string token_for(const gate::Request& request) const;
  // The request as it reached the process that handed it on; unauthenticated when none did.
  [[nodiscard]] Result<gate::Request> received(const gate::Request& request) const;

  const Leadership& leadership_;
  const crypto::TlsContext tls_;
  const std::string secret_;
  Mutex mutex_;
  std::vector<Idle> idle_ GUARDED_BY(mutex_);  // at most one for each worker of the gate
};

}  // namespace starling::server
