// What encryption alone costs: links' records (client/transport/record_cipher.h) sealed and opened without leaving the
// cache, on all processors at once, since two that share a core share what it has for AES, too.
#pragma once

namespace starling::bench {

// CPU seconds for sealing or opening a GB, measured for a tenth of a second.
double cipher_s_per_gb();

}  // namespace starling::bench
