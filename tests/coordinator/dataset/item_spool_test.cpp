#include "coordinator/dataset/item_spool.h"

#include <doctest/doctest.h>

#include <cstring>

#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::dataset;

namespace {

struct Cut {
  testing::TempDir folder;
  OutFolder out = OutFolder::open(folder.path()).value();
  ItemSpool spool = ItemSpool::create(folder.path(), {{"tokens", wire::TensorType::u16, {}}}).value();
  Progress progress{[](const std::string&) {}};

  void append(int count) {
    for (int i = 0; i < count; ++i) {
      const auto token = static_cast<std::uint16_t>(i % 60'000);
      char bytes[sizeof token];
      std::memcpy(bytes, &token, sizeof token);
      REQUIRE(spool.append(0, {bytes, sizeof bytes}).ok());
    }
  }
  Result<wire::DataOptions> cut(const CutOptions& options) { return spool.cut(out, options, progress); }

  // The tokens of a file, which is checked as well.
  std::vector<int> read(const wire::Artefact& file) const {
    const std::string bytes = read_file(folder / file.sha256.hex(), 1 << 24).value();
    REQUIRE(static_cast<std::int64_t>(bytes.size()) == file.bytes);
    REQUIRE(crypto::sha256(bytes) == file.sha256);
    const auto tensors = wire::read_tensor_head(crypto::as_bytes(bytes), bytes.size());
    REQUIRE(tensors.ok());
    const wire::TensorInfo* tokens = wire::find_tensor(*tensors, "tokens");
    REQUIRE(tokens != nullptr);
    std::vector<int> out;
    for (std::uint64_t at = tokens->begin; at < tokens->end; at += 2) {
      std::uint16_t token = 0;
      std::memcpy(&token, bytes.data() + at, sizeof token);
      out.push_back(token);
    }
    return out;
  }
};

CutOptions options(std::int64_t shard_bytes, double held_out) {
  return {
      .kind = wire::DataKind::tokens, .shard_bytes = shard_bytes, .held_out_fraction = held_out, .held_out_max = 1000};
}

}  // namespace

TEST_CASE("shards together are all the items in their order, and differ by one item at most") {
  Cut cut;
  cut.append(10'007);
  const auto data = cut.cut(options(3000, 0.01));
  REQUIRE_MESSAGE(data.ok(), data.error().message);
  CHECK(data->shards.size() == 7);
  CHECK(data->validation_items == 101);
  std::vector<int> together;
  for (const wire::Shard& shard : data->shards) {
    const auto tokens = cut.read(shard.file);
    CHECK(static_cast<std::int64_t>(tokens.size()) == shard.items);
    CHECK(shard.items >= 1415);
    CHECK(shard.items <= 1416);
    together.insert(together.end(), tokens.begin(), tokens.end());
  }
  const auto held_out = cut.read(data->validation);
  together.insert(together.end(), held_out.begin(), held_out.end());
  REQUIRE(together.size() == 10'007);
  for (std::size_t i = 0; i < together.size(); ++i) CHECK(together[i] == static_cast<int>(i));
}

TEST_CASE("what is held out is bounded") {
  Cut cut;
  cut.append(10'000);
  const auto data = cut.cut(options(100'000, 0.5));
  REQUIRE(data.ok());
  CHECK(data->validation_items == 1000);
}

TEST_CASE("more shards than a manifest names are refused, with the size that is enough") {
  Cut cut;
  cut.append(10'000);
  const auto refused = cut.cut(options(10, 0.01));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("--shard-mb") != std::string::npos);
}

TEST_CASE("too few items to cut are refused") {
  Cut cut;
  cut.append(1);
  CHECK_FALSE(cut.cut(options(1000, 0.01)).ok());
}
