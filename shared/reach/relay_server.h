// A relay with a port and a thread of its own, for the operator.
#pragma once

#include <memory>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"
#include "shared/reach/relay_types.h"

namespace starling::reach {

class RelayServer {
 public:
  struct Parts {
    crypto::TlsContext tls;  // a TlsContext::peer
    const Clock& clock;
    RelayRules& rules;  // called on the server's thread
  };
  // `clock` and `rules` outlive the server. `host` is an IP literal; port 0 takes any free one.
  static Result<std::unique_ptr<RelayServer>> create(const std::string& host, int port, Parts parts,
                                                     RelayLimits limits = {});
  ~RelayServer();

  [[nodiscard]] int port() const;
  [[nodiscard]] RelayStats stats() const;  // waits for the server's thread

 private:
  class Impl;
  explicit RelayServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::reach
