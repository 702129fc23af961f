// The cost of encryption alone: links' records (client/transport/record_cipher.h) are sealed and opened without leaving
// the cache, on all processors at once, because two that share a core also share its AES units.
#pragma once

namespace starling::bench {

// CPU seconds for sealing or opening a GB, measured for a tenth of a second.
double cipher_s_per_gb();

}  // namespace starling::bench
