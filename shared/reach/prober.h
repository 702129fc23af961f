// Dials volunteers to see whether others could: greeting and handshake as for a relay, in which the volunteer proves
// its identity, and nothing more. Has a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"

namespace starling::reach {

class Prober {
 public:
  static constexpr std::size_t kTestsMax = 256;  // under way at once
  static constexpr Duration kPatience = std::chrono::seconds(5);

  struct Target {
    PeerId peer;
    std::string host;  // IP literal
    int port = 0;
  };
  using Done = std::function<void(bool reached)>;

  // `tls` is a TlsContext::peer; `clock` outlives the prober.
  static Result<std::unique_ptr<Prober>> create(crypto::TlsContext tls, const Clock& clock);
  ~Prober();  // `done` is not called afterwards

  // `done` is called once, on the prober's thread. Returns false, without calling `done`, when too many tests are under
  // way or the target is no address. From any thread.
  bool test(const Target& target, Done done);

 private:
  class Impl;
  explicit Prober(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::reach
