// The names that the tests of the session use: peers, digests, and the time at which they begin.
#pragma once

#include <chrono>
#include <cstdint>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::session {

constexpr TimePoint kStart{std::chrono::seconds(1000)};

inline PeerId peer(std::uint8_t n) {
  PeerId id;
  id.bytes.fill(n);
  return id;
}

inline Digest digest(std::uint8_t n) {
  Digest d;
  d.bytes.fill(n);
  return d;
}

}  // namespace starling::session
