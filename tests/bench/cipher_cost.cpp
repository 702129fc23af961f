#include "tests/bench/cipher_cost.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

#include "client/transport/record_cipher.h"
#include "shared/base/verify.h"
#include "tests/bench/bench.h"

namespace starling::bench {
namespace {

using transport::RecordCipher;
using transport::RecordType;

constexpr std::uint16_t kAes128Gcm = 0x1301;  // TLS_AES_128_GCM_SHA256 (RFC 8446, appendix B.4)
constexpr auto kTime = std::chrono::milliseconds(100);

struct Done {
  double bytes = 0;
  double cpu_seconds = 0;
};

Done seal_and_open() {
  const std::vector<std::uint8_t> secret(32, 7);
  RecordCipher seals(kAes128Gcm, secret, RecordCipher::Direction::seals);
  RecordCipher opens(kAes128Gcm, secret, RecordCipher::Direction::opens);
  std::vector<std::uint8_t> plaintext(RecordCipher::kPlaintextMax, 1);
  std::vector<std::uint8_t> record(RecordCipher::kRecordMax);
  Done done;
  const auto end = std::chrono::steady_clock::now() + kTime;
  const double before = thread_cpu_seconds();
  while (std::chrono::steady_clock::now() < end) {
    seals.seal(RecordType::data, plaintext, record);
    VERIFY(opens.open(record, plaintext).ok());
    done.bytes += 2.0 * static_cast<double>(plaintext.size());
  }
  done.cpu_seconds = thread_cpu_seconds() - before;
  return done;
}

}  // namespace

double cipher_s_per_gb() {
  std::vector<std::future<Done>> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.push_back(std::async(std::launch::async, seal_and_open));
  }
  Done all;
  for (auto& thread : threads) {
    const Done one = thread.get();
    all.bytes += one.bytes;
    all.cpu_seconds += one.cpu_seconds;
  }
  return all.cpu_seconds / (all.bytes / 1e9);
}

}  // namespace starling::bench
