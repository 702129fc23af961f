#include "shared/reach/relay_protocol.h"

#include <algorithm>

namespace starling::reach {

std::string encode(const RelayRequest& request) {
  std::string bytes(1, static_cast<char>(request.kind));
  bytes.append(request.peer.bytes.begin(), request.peer.bytes.end());
  return bytes;
}

Result<RelayRequest> decode_relay_request(std::span<const char> bytes) {
  if (bytes.size() != kRelayRequestBytes) return Error{ErrorCode::corrupt, "relay request: its length is wrong"};
  RelayRequest request;
  request.kind = static_cast<RelayRequestKind>(bytes[0]);
  std::copy(bytes.begin() + 1, bytes.end(), request.peer.bytes.begin());
  const bool known = request.kind == RelayRequestKind::post || request.kind == RelayRequestKind::call;
  if (!known || (request.kind == RelayRequestKind::post) != request.peer.is_zero()) {
    return Error{ErrorCode::corrupt, "relay request: it asks for nothing that a relay does"};
  }
  return request;
}

Status judge_answer(std::uint8_t answer) {
  switch (static_cast<RelayAnswer>(answer)) {
    case RelayAnswer::accepted:
      return {};
    case RelayAnswer::not_allowed:
      return Error{ErrorCode::permission_denied, "the relay does not know that it should relay for this"};
    case RelayAnswer::busy:
      return Error{ErrorCode::resource_exhausted, "the relay has no room for more"};
    case RelayAnswer::nobody_came:
      return Error{ErrorCode::unavailable, "the other end did not come to the relay"};
  }
  return Error{ErrorCode::corrupt, "the relay answers with something else"};
}

}  // namespace starling::reach
