// Signatures of members under what they report: the key of the host's certificate signs.
#pragma once

#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/round_report.h"

namespace starling::manifest {

// Sets the report's signature.
void sign_report(const RunId& run_id, const crypto::PrivateKey& key, wire::RoundReport& report);
// Returns ok if `reporter` has signed exactly this report of this run. invalid_argument, with the round and the reason:
// it is not signed, the key is another computer's, or the signature belongs to another report.
Status check_report_signature(const RunId& run_id, const PeerId& reporter, const wire::RoundReport& report);

// crypto::verify_peer_signature of a report's signature.
Status check_signature(const PeerId& signer, const PeerSignature& signature, std::string_view text);

}  // namespace starling::manifest
