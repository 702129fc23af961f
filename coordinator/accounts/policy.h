// The operator's rules for joining.
#pragma once

#include <cstdint>

namespace starling::accounts {

// The most computers of an account: usually, and by the operator's will.
constexpr std::int64_t kHostsPerAccount = 8;
constexpr std::int64_t kHostsPerAccountMax = 100'000;

// The rules for joining the project.
struct Policy {
  bool open_to_all = false;    // no invite is needed
  bool approval = false;       // new accounts wait for the operator's approval
  bool anonymous = false;      // accounts without a name are allowed
  std::int64_t hosts_max = 0;  // the most computers of an account without a limit of its own; 0: any number
};

}  // namespace starling::accounts
