#include "shared/crypto/lean_library.h"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace starling::crypto {
namespace {

// Selects an operation's algorithms by name; an algorithm may have further names.
struct Wanted {
  int operation = 0;
  std::vector<std::string_view> names{};
  std::string_view properties{};  // required end of the algorithms' property definitions
};

// A provider returns its algorithms in lists, each ended by an entry without names.
using Algorithms = std::vector<OSSL_ALGORITHM>;

// OpenSSL's default provider in its default context, and shorter lists of some operations' algorithms. Other operations
// keep all of theirs.
struct Lean {
  OSSL_PROVIDER* whole = nullptr;
  std::map<int, Algorithms> lists;
  bool complete = true;  // all wanted algorithms were found

  Lean();
  void take(const Wanted& wanted);
};

Lean::Lean() : whole(OSSL_PROVIDER_try_load(nullptr, "default", 1)) {
  complete = whole != nullptr;
  if (!complete) return;
  take({OSSL_OP_KEYMGMT, {"X25519", "ED25519", "EC", "RSA"}});
  take({OSSL_OP_DECODER, {"ED25519"}, "input=der,structure=SubjectPublicKeyInfo"});
  take({OSSL_OP_ENCODER});
  take({OSSL_OP_CIPHER, {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"}});
  take({OSSL_OP_DIGEST, {"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"}});
}

void Lean::take(const Wanted& wanted) {
  Algorithms& list = lists[wanted.operation];
  int no_cache = 0;
  const OSSL_ALGORITHM* all = OSSL_PROVIDER_query_operation(whole, wanted.operation, &no_cache);
  for (; all != nullptr && all->algorithm_names != nullptr; ++all) {
    const std::string_view names = all->algorithm_names;
    const std::string_view first = names.substr(0, names.find(':'));
    const bool named = std::find(wanted.names.begin(), wanted.names.end(), first) != wanted.names.end();
    if (named && std::string_view(all->property_definition).ends_with(wanted.properties)) list.push_back(*all);
  }
  complete = complete && list.size() == wanted.names.size();
  list.push_back({nullptr, nullptr, nullptr, nullptr});
}

// Never freed: OpenSSL's own clean-up at the program's end may still call it.
const Lean& lean() {
  static const auto* const made = new Lean;
  return *made;
}

const OSSL_ALGORITHM* query(void* /*context*/, int operation, int* no_cache) {
  const auto found = lean().lists.find(operation);
  if (found == lean().lists.end()) return OSSL_PROVIDER_query_operation(lean().whole, operation, no_cache);
  *no_cache = 0;
  return found->second.data();
}

// Passes on the default provider's capabilities, such as the key exchanges of TLS.
int capabilities(void* /*context*/, const char* capability, OSSL_CALLBACK* take, void* argument) {
  return OSSL_PROVIDER_get_capabilities(lean().whole, capability, take, argument);
}

template <typename Function>
OSSL_DISPATCH entry(int number, Function* function) {
  return {number, reinterpret_cast<void (*)()>(function)};
}

// A provider that passes on another one's algorithms must also have that one's context.
int begin(const OSSL_CORE_HANDLE* /*core*/, const OSSL_DISPATCH* /*of_core*/, const OSSL_DISPATCH** functions,
          void** context) {
  static const std::array<OSSL_DISPATCH, 3> kOurs = {entry(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
                                                     entry(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, capabilities),
                                                     OSSL_DISPATCH{0, nullptr}};
  *functions = kOurs.data();
  *context = OSSL_PROVIDER_get0_provider_ctx(lean().whole);
  return 1;
}

OSSL_LIB_CTX* make_library() {
  constexpr const char* kName = "starling-lean";
  if (!lean().complete) return nullptr;
  OSSL_LIB_CTX* library = OSSL_LIB_CTX_new();
  const bool made = library != nullptr && OSSL_PROVIDER_add_builtin(library, kName, begin) == 1 &&
                    OSSL_PROVIDER_load(library, kName) != nullptr;
  ERR_clear_error();
  if (made) return library;
  OSSL_LIB_CTX_free(library);
  return nullptr;
}

}  // namespace

OSSL_LIB_CTX* lean_library() {
  static OSSL_LIB_CTX* const library = make_library();
  return library;
}

}  // namespace starling::crypto
