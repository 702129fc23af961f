// Many volunteers' keys and certificates, as the coordinator under test issued them.
#pragma once

#include <string>
#include <vector>

#include "shared/crypto/keys.h"
#include "shared/crypto/tls.h"
#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"

namespace starling::bench {

struct Volunteer {
  crypto::PrivateKey key;
  std::string certificate_pem;
};

// Joins `count` volunteers through the coordinator's API, several at a time.
Result<std::vector<Volunteer>> join_volunteers(EventLoop& loop, const CoordinatorProcess& coordinator, int count);

// What a volunteer shows when it connects.
crypto::TlsContext tls_of(const CoordinatorProcess& coordinator, const Volunteer& volunteer);

}  // namespace starling::bench
