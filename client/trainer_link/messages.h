// What the daemon and its trainer child say to each other: one request, one reply, over a socket that
// keeps message boundaries. Where buckets of parameters are mixed, a batch has a message for each of them that has
// stepped, before its reply. Vectors never travel here; they lie in the shared region. Both ends run on
// one machine, so numbers are in its own byte order; a child of another build is told apart by kLinkVersion.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "shared/wire/training_data.h"

namespace starling::trainer_link {

constexpr std::uint16_t kLinkVersion = 8;
constexpr std::size_t kTextBytesMax = wire::kManifestBytesMax;  // manifest, words, error
constexpr std::size_t kMessageBytesMax = kTextBytesMax + 256;
constexpr int kWordsMax = static_cast<int>(kTextBytesMax / sizeof(int));  // of a prompt, and that may be asked for
constexpr int kThreadsMax = 64;

// The last two are a tokenizer's (tokenizer_process.h), the others a trainer's.
enum class Command : std::uint16_t {
  start = 1,
  train_batch,
  step,
  evaluate,
  sample_words,
  words_of_text,
  text_of_words
};
constexpr std::size_t kCommands = 7;
std::string_view to_string(Command command);

// What the child may use of the machine.
struct ChildLimits {
  int threads = 1;                 // of every matrix product, 1..kThreadsMax
  std::uint64_t memory_bytes = 0;  // private memory beyond the shared region; 0: unlimited
  int gpu_memory_percent = 0;      // of a graphics card's memory, 0..100; 0: no card is opened
  bool sandbox = true;             // off only where a debugger or sanitizer needs the system calls
  bool yield_to_others = true;     // run only on processor and disk time that nobody else wants
};

struct Request {
  Command command = Command::start;
  std::uint64_t sequence = 0;  // repeated by the reply
  ChildLimits limits;          // start
  wire::SampleRange samples;   // train_batch
  bool begins_sum = false;     // train_batch: see Trainer::begin_sum
  bool begins_ahead = false;   // train_batch: see begin_sum_ahead, of the round before; …
  bool knows_own = false;      // … the mean of the own sum lies in the region's gradient
  bool merges_step = false;    // train_batch: see merge_step; before all else
  int data_fd = -1;            // train_batch of a run with shards: the samples' shard; travels beside the bytes
  RoundIndex round = 0;        // step
  int count = 0;               // sample_words: how many; text_of_words: of the last so many, after the others
  double temperature = 0;      // sample_words
  std::string text;            // start: the manifest as JSON; words_of_text: the text; else words, packed
};

constexpr int kNoBucket = -1;

struct Reply {
  std::uint64_t sequence = 0;
  Status status;                   // of the command; the rest has a meaning only when it is ok
  int stepped_bucket = kNoBucket;  // train_batch: its number, ahead of the reply; the rest says nothing
  session::StateLayout layout;     // start
  session::BatchReport batch;      // train_batch
  session::Evaluation evaluation;  // evaluate
  std::string text;                // start: how the child is confined; text_of_words: the text; else words, packed
};

// Words as a message has them. corrupt for what is none.
std::string pack_words(std::span<const int> words);
Result<std::vector<int>> unpack_words(std::string_view packed);

std::string encode(const Request& request);
std::string encode(const Reply& reply);

// corrupt for what is no message, too long, or says a value no peer would send; unsupported for another version.
Result<Request> decode_request(std::span<const std::uint8_t> bytes);
Result<Reply> decode_reply(std::span<const std::uint8_t> bytes);

}  // namespace starling::trainer_link
