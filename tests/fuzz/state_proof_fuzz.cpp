#include "shared/manifest/signed_report.h"
#include "shared/manifest/signed_statement.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

template <typename Message>
void check(Result<Message> (*decode)(std::string_view), std::string_view json) {
  const auto message = decode(json);
  if (!message.ok()) return;
  const std::string text = wire::encode(*message);
  const auto again = decode(text);
  VERIFY(again.ok() && wire::encode(*again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const crypto::PublicKey key = crypto::PrivateKey::generate().public_key();
  const std::string_view json = testing::text_of(data, size);
  check(wire::decode_state_link, json);
  check(wire::decode_state_statement, json);
  VERIFY(!manifest::verify_statement(json, key).ok());  // this key has signed nothing
  if (const auto link = wire::decode_state_link(json); link.ok()) {
    // More than half of the accounts, whatever the signatures are worth.
    const auto any = [](const PeerId&, const PeerSignature&, std::string_view) { return Status(); };
    if (wire::check_votes("run", *link, any).ok()) VERIFY(!link->votes.empty());
    (void)wire::check_votes("run", *link, manifest::check_signature).ok();
  }
  const auto proof = wire::decode_state_proof(json);
  if (!proof.ok()) return 0;
  VERIFY(wire::encode(*proof).size() > 0 && proof->links.size() <= wire::kStateLinksMax);
  VERIFY(!manifest::verify_proof(*proof, "run", key).ok());
  return 0;
}
