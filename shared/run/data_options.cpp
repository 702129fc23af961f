#include "shared/run/data_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/permutation.h"
#include "shared/run/manifest_fields.h"
#include "shared/wire/web_address.h"

namespace starling::wire {
namespace {

constexpr RoundIndex kShardRoundsMax = 1'000'000;

void check_mirror(Checker& check, const std::string& field, const std::string& mirror) {
  const Result<WebAddress> address = parse_web_address(mirror);
  const std::string wanted = "the address of a folder, such as https://mirror.example.org/shards/";
  check.that(mirror.size() <= kMirrorBytesMax, field, fmt::format("{} bytes long", mirror.size()),
             fmt::format("at most {}", kMirrorBytesMax));
  check.that(
      address.ok() && address->path.ends_with('/'), field, fmt::format("'{}'", mirror),
      address.ok() ? wanted + ", with a slash at its end" : fmt::format("{} ({})", wanted, address.error().message));
}

// `least`: items that a shard has at least.
void check_shards(Checker& check, const DataOptions& data, std::int64_t least) {
  check.that(data.kind != DataKind::bytes, "data.shards", "a list of files", "left out where data.kind is 'bytes'");
  check.that(data.shards.size() <= kShardsMax, "data.shards", fmt::format("a list of {} files", data.shards.size()),
             fmt::format("at most {}: make them larger", kShardsMax));
  check.that(data.train == Artefact(), "data.train", "a file", "left out where there are shards");
  check.within("data.train_items", data.train_items, 0, 0);
  check.within("data.validation.bytes", data.validation.bytes, 1, kHeldOutBytesMax);
  check.that(data.mirrors.size() <= kMirrorsMax, "data.mirrors", fmt::format("a list of {}", data.mirrors.size()),
             fmt::format("at most {}", kMirrorsMax));
  check.that(data.mirror_ca.size() <= kMirrorCaBytesMax, "data.mirror_ca",
             fmt::format("{} bytes long", data.mirror_ca.size()), fmt::format("at most {}", kMirrorCaBytesMax));
  check.that(data.mirror_ca.empty() || !data.mirrors.empty(), "data.mirror_ca", "a certificate",
             "empty where there are no mirrors");
  check.within("data.shard_rounds", data.shard_rounds, 1, kShardRoundsMax);
  for (std::size_t i = 0; i < data.shards.size() && check.status().ok(); ++i) {
    const std::string field = fmt::format("data.shards[{}]", i);
    check_artefact(check, field, data.shards[i].file);
    check.within(field + ".items", data.shards[i].items, least, kArtefactBytesMax);
  }
  for (std::size_t i = 0; i < data.mirrors.size() && check.status().ok(); ++i) {
    check_mirror(check, fmt::format("data.mirrors[{}]", i), data.mirrors[i]);
  }
}

}  // namespace

void check_data_files(Checker& check, const DataOptions& data, std::int64_t least) {
  const bool bytes = data.kind == DataKind::bytes;
  const auto checks = [&](std::string_view field, const Artefact& artefact, std::int64_t items) {
    check_artefact(check, field, artefact);
    check.within(fmt::format("{}{}", field, bytes ? ".bytes" : "_items"), bytes ? artefact.bytes : items, least,
                 kArtefactBytesMax);
    if (bytes) check.within(fmt::format("{}_items", field), items, 0, 0);
  };
  if (data.shards.empty()) {
    checks("data.train", data.train, data.train_items);
  } else {
    check_shards(check, data, least);
  }
  checks("data.validation", data.validation, data.validation_items);
  if (data.tokenizer != Artefact()) {
    check.that(data.kind == DataKind::tokens, "data.tokenizer", "a file", "left out where data.kind is not 'tokens'");
    check_artefact(check, "data.tokenizer", data.tokenizer);
    check.within("data.tokenizer.bytes", data.tokenizer.bytes, 1, kTokenizerBytesMax);
  }
}

std::string encode_listing(const DataOptions& data) {
  JsonWriter writer;
  writer.open("", '{');
  write_fields(writer, "data", data);
  writer.close('}');
  return std::move(writer.str());
}

Result<DataOptions> decode_listing(std::string_view json) {
  const auto read = [](JsonReader& reader, DataOptions& data) {
    reader.object("data", [&data](JsonReader& fields) { read_fields(fields, data); });
  };
  STARLING_ASSIGN(DataOptions data, decode_json<DataOptions>(json, "listing of shards", kListingBytesMax, read));
  Checker check;
  check.that(!data.shards.empty(), "data.shards", "missing", "a list of files");
  check_data_files(check, data, 1);
  STARLING_TRY(check.status());
  return data;
}

std::int64_t data_bytes_held(const DataOptions& data) {
  std::int64_t largest = 0;
  std::int64_t second = 0;
  for (const Shard& shard : data.shards) {
    second = std::max(second, std::min(largest, shard.file.bytes));
    largest = std::max(largest, shard.file.bytes);
  }
  return data.train.bytes + largest + second + data.validation.bytes;
}

LanePlace lane_place(const DataOptions& data, std::uint64_t seed, int peers_max, RoundIndex round, int lane) {
  if (data.shards.empty()) return {0, lane, peers_max};
  const auto shards = static_cast<int>(data.shards.size());
  const auto stretch = static_cast<std::uint64_t>(round / data.shard_rounds);
  const SeededPermutation dealt(mix64(seed ^ mix64(stretch)), data.shards.size());
  const auto place = static_cast<std::uint64_t>(lane % shards);
  return {static_cast<std::size_t>(dealt.at(place)), lane / shards, (peers_max + shards - 1) / shards};
}

}  // namespace starling::wire
