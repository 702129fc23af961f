// What only the leader can answer, handed on to it by the other processes that serve the project.
//
// They speak TLS as a volunteer's daemon does: the leader shows the coordinator's certificate, of the project's own
// authority. Who asked, and from where, goes along in a token that only holders of the coordinator's secret can make.
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
  // `tls` as of TlsContext::coordinator_client; `secret` as of accounts::own_secret(). `leadership` must outlive it.
  Handover(const Leadership& leadership, crypto::TlsContext tls, std::string secret)
      : leadership_(leadership), tls_(std::move(tls)), secret_(std::move(secret)) {}

  // From now on the router's routes that need the run which is being served ask the leader, wherever that is. While
  // there is none, programs are told to come back in a second, and pages are made of what the database knows.
  // The router must not be used after this object.
  void divert(gate::Router& router);

 private:
  enum class Without : std::uint8_t { come_later, own_answer };  // a leader
  struct Idle {
    std::string address;
    std::unique_ptr<net::HttpClient> client;
  };

  gate::Response answer(const gate::Request& request, const gate::Handler& own, Without without);
  Result<gate::Response> ask(const gate::Request& request, const std::string& leader);
  std::unique_ptr<net::HttpClient> client_for(const std::string& leader);
  [[nodiscard]] std::string token_for(const gate::Request& request) const;
  // The request as it came to the process that handed it on; unauthenticated when none did.
  [[nodiscard]] Result<gate::Request> received(const gate::Request& request) const;

  const Leadership& leadership_;
  const crypto::TlsContext tls_;
  const std::string secret_;
  Mutex mutex_;
  std::vector<Idle> idle_ GUARDED_BY(mutex_);  // at most one for each worker of the gate
};

}  // namespace starling::server
