// Many volunteers of the project under test: their keys, and the certificates that its authority issued them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/crypto/keys.h"
#include "shared/crypto/tls.h"
#include "tests/bench/coordinator_process.h"

namespace starling::bench {

struct Volunteer {
  crypto::PrivateKey key;
  std::string certificate_pem;
};

// Makes `count` accounts with a computer each, by the product's stores, straight into the database of the project in
// `directory`. Tells on standard error how far it is: a hundred thousand take a minute.
Result<std::vector<Volunteer>> register_volunteers(const std::filesystem::path& directory, int count);

// What a volunteer shows when it connects.
crypto::TlsContext tls_of(const CoordinatorProcess& coordinator, const Volunteer& volunteer);

}  // namespace starling::bench
