// The training data of a run: a file that every volunteer has whole, or shards; a volunteer has only the shards that
// its samples are cut from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/model_options.h"

namespace starling::wire {

constexpr std::size_t kShardsMax = 384;  // their names fill two thirds of a manifest
constexpr std::size_t kMirrorsMax = 16;
constexpr std::size_t kMirrorBytesMax = 256;
constexpr std::size_t kMirrorCaBytesMax = 4096;
// Limit for the held-out file where the rest is shards: everybody has all of it.
constexpr std::int64_t kHeldOutBytesMax = std::int64_t{64} << 20;

// Limit for the tokenizer. The largest ones that are in use, of 256 k tokens, have 5 MB.
constexpr std::int64_t kTokenizerBytesMax = std::int64_t{16} << 20;

// A piece of the training data: a file of the run's kind of data. Samples never reach from one into the next.
struct Shard {
  Artefact file;
  std::int64_t items = 0;  // tokens or labelled samples in it
};

// The data that samples are cut from. Text consists of tokens; where the kind is bytes, a token is a byte.
//   bytes     a file is text; every byte is a token
//   tokens    a safetensors file with `tokens`, U16 or I32 [items]; and `word_starts`, U8 [vocabulary], where tokens
//             are masked: whether a token begins a new word
//   labelled  a safetensors file with `inputs`, U8 (0 to 255) or F32 [items, …], and `labels`, I32 [items]
enum class DataKind : std::uint8_t { bytes, tokens, labelled };
inline constexpr std::array<std::string_view, 3> kDataKindWords{"bytes", "tokens", "labelled"};
inline std::span<const std::string_view> words_of(DataKind /*kind*/) { return kDataKindWords; }

// epochs: each sample once in an epoch, however volunteers come and go (epochs.h). independent: every round draws from
// all samples, again and again.
enum class Sampling : std::uint8_t { epochs, independent };
inline constexpr std::array<std::string_view, 2> kSamplingWords{"epochs", "independent"};
inline std::span<const std::string_view> words_of(Sampling /*sampling*/) { return kSamplingWords; }

struct DataOptions {
  DataKind kind = DataKind::bytes;
  Artefact train;                // none where there are shards
  Artefact validation;           // held out
  std::int64_t train_items = 0;  // tokens or labelled samples; 0 where the kind is bytes, or there are shards
  std::int64_t validation_items = 0;
  Artefact tokenizer;  // the SentencePiece model that made the tokens; none where the run does not publish it
  Sampling sampling = Sampling::epochs;

  std::vector<Shard> shards;  // files of tokens or of labelled samples; bytes have none
  // https://host/folder/ with a file for each shard, named by its digest in hexadecimal digits; none: the coordinator
  // serves them
  std::vector<std::string> mirrors;
  std::string mirror_ca;         // PEM; the one authority that certified the mirrors; empty: the public ones
  RoundIndex shard_rounds = 16;  // number of rounds after which everybody goes on to another shard
};

constexpr std::size_t kListingBytesMax = 64 * 1024;
// The file that names prepared shards, for the operator who makes a manifest of them: {"data":{…}} as in the manifest.
std::string encode_listing(const DataOptions& data);
// Returns data whose values are in range, as far as they do not depend on the model. corrupt or invalid_argument.
Result<DataOptions> decode_listing(std::string_view json);

// Bytes that every volunteer's disk must hold at least: with shards, the two that it reads now and next.
std::int64_t data_bytes_held(const DataOptions& data);

// The place of a lane's samples of a round, and the lane's number among those that share it.
struct LanePlace {
  std::size_t shard = 0;  // 0 where there are none
  int lane = 0;           // below lanes
  int lanes = 1;
};

// Shards are dealt again every shard_rounds: lane by lane, in an order drawn from the seed, so that all of them are
// read equally often and a lane knows its next shard in time to fetch it.
LanePlace lane_place(const DataOptions& data, std::uint64_t seed, int peers_max, RoundIndex round, int lane);

}  // namespace starling::wire
