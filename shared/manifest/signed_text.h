// Text with an Ed25519 signature, as one JSON object {"key_id",FIELD,"signature"} and perhaps "key_certificate". The
// text is one JSON string, so that its bytes arrive unchanged. Each kind of text has its own context, which is signed
// in front of it, so that no signature is valid for two kinds. For this folder's .cpp files.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::manifest {

struct SignedText {
  std::string text;                  // the exact bytes that were signed
  crypto::Signature signature;       // over the context and the text
  Digest key_id;                     // SHA-256 of the signing key's SubjectPublicKeyInfo
  std::string key_certificate = {};  // carried along, and not checked here
};

// Format of one kind of signed text.
struct TextKind {
  std::string_view name;     // for errors: "signed manifest"
  std::string_view context;  // signed in front of the text
  std::string_view field;    // the text's name in the envelope
  std::size_t bytes_max;     // bound of the text
};

SignedText sign_text(const TextKind& kind, std::string text, const crypto::PrivateKey& key);
// permission_denied when another key signed it, corrupt when the signature does not fit.
Status verify_text(const TextKind& kind, const SignedText& envelope, const crypto::PublicKey& key);
std::string encode_text(const TextKind& kind, const SignedText& envelope);
Result<SignedText> decode_text(const TextKind& kind, std::string_view json);

}  // namespace starling::manifest
