// Calls to experts that other volunteers hold (shared/wire/calls.h), as PeerNetwork makes and takes them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/calls.h"
#include "shared/wire/codec.h"

namespace starling::transport {

// The end of a call: the holder's answer, its refusal, or the reason why neither came.
struct CallOutcome {
  std::optional<wire::Answer> answer{};
  std::vector<float> values{};  // the answer's
  std::optional<wire::Refusal> refusal{};
  std::string failure{};
};

// One call to a holder.
struct OutgoingCall {
  PeerId holder;
  Hash128 id;  // random: nobody can answer for another
  wire::Call call;
  wire::Codec codec = wire::Codec::int8;  // the values' on their way, and the answer's
  std::size_t width = 0;                  // floats of a row
  std::span<const float> values{};        // wire::call_floats() of them; valid while PeerNetwork::call() runs
  // Called once, on the net thread, unless the call was called off before.
  std::function<void(CallOutcome)> done{};
};

// An answer to a caller.
struct OutgoingAnswer {
  PeerId caller;
  Hash128 id;
  wire::Answer answer{};
  wire::Codec codec = wire::Codec::int8;
  std::span<const float> values{};  // wire::answer_floats() of them; valid while PeerNetwork::answer() runs
};

// The part that answers calls at this computer. Called on the net thread; must be short.
class CallTaker {
 public:
  virtual ~CallTaker() = default;
  // Floats of a row.
  [[nodiscard]] virtual std::size_t width() const = 0;
  // Whether the call is taken: nothing, or the refusal to send. Memory for its values is set aside only then. An error
  // is a breach of the protocol, and cuts the link.
  virtual Result<std::optional<wire::Refusal>> admit(const PeerId& caller, const Hash128& id,
                                                     const wire::Call& call) = 0;
  // All values of a call that was taken have come, in this codec. An error cuts the link.
  virtual Status received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) = 0;
  // The caller has no use for the answer any more.
  virtual void called_off(const PeerId& caller, const Hash128& id) = 0;
  virtual Status weighed(const PeerId& caller, const wire::Weights& weights) = 0;
  // The link with the caller has ended, and there is no other.
  virtual void gone(const PeerId& caller) = 0;
};

}  // namespace starling::transport
