// Many volunteers of the project under test: their keys, and the certificates that its authority issued to them.
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

// Makes `count` accounts with a computer each, through the product's stores, in the database of the project in
// `directory`. Reports its progress on standard error: a hundred thousand take a minute.
Result<std::vector<Volunteer>> register_volunteers(const std::filesystem::path& directory, int count);

// Context with the volunteer's certificate for connecting.
crypto::TlsContext tls_of(const CoordinatorProcess& coordinator, const Volunteer& volunteer);

}  // namespace starling::bench
