#include "client/storage/checkpoint_store.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

constexpr std::size_t kParameters = 500;
constexpr std::size_t kFloats = 3 * kParameters;

CheckpointStore store_in(const TempDir& folder, const RunId& run = "run-a") {
  return {folder / "c", run, kParameters, 2};
}

std::vector<float> state_of(RoundIndex round) { return std::vector<float>(kFloats, static_cast<float>(round) + 0.5F); }

Status save(CheckpointStore& store, RoundIndex round, const RunId& run = "run-a") {
  CheckpointInfo info{run, round, {}};
  info.state_digest.bytes.fill(static_cast<std::uint8_t>(round));
  return store.save(info, state_of(round));
}

RoundIndex loaded_round(CheckpointStore& store) {
  std::vector<float> state(kFloats);
  const auto loaded = store.load_newest(state);
  if (!loaded.ok()) return -1;
  CHECK(state == state_of(loaded->round));
  CHECK(loaded->state_digest.bytes[0] == static_cast<std::uint8_t>(loaded->round));
  return loaded->round;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::filesystem::path file_of(const TempDir& folder, RoundIndex round) {
  return folder / "c" / ("run-a-" + std::to_string(round) + ".safetensors");
}

}  // namespace

TEST_CASE("a state comes back with as many optimizer vectors as the optimizer keeps, and to no other optimizer") {
  for (const int vectors : {0, 1, 3}) {
    const TempDir folder;
    CheckpointStore store(folder / "c", "run-a", kParameters, vectors);
    const std::vector<float> state((1 + static_cast<std::size_t>(vectors)) * kParameters, 2.5F);
    REQUIRE(store.save({"run-a", 7, {}}, state).ok());
    std::vector<float> back(state.size());
    REQUIRE(store.load_newest(back).ok());
    CHECK(back == state);
    std::vector<float> other(kFloats);
    CHECK_FALSE(store_in(folder).load_newest(other).ok());
  }
}

TEST_CASE("the newest state comes back, and two files are kept") {
  const TempDir folder;
  CheckpointStore store = store_in(folder);
  CHECK(loaded_round(store) == -1);
  for (const RoundIndex round : {1, 2, 9, 10}) REQUIRE(save(store, round).ok());
  CHECK(loaded_round(store) == 10);
  CHECK(names_in(folder / "c") == std::set<std::string>{"run-a-10.safetensors", "run-a-9.safetensors"});
}

TEST_CASE("runs share a folder without mixing") {
  const TempDir folder;
  CheckpointStore a = store_in(folder);
  CheckpointStore b = store_in(folder, "run-a-1");
  REQUIRE(save(a, 3).ok());
  REQUIRE(save(b, 7, "run-a-1").ok());
  CHECK(loaded_round(a) == 3);
  CHECK(loaded_round(b) == 7);
}

TEST_CASE("a file cut at any place is set aside by name, and the older one is used") {
  for (const std::size_t length : {0, 4, 8, 100, 500, 6'000}) {
    const TempDir folder;
    CheckpointStore store = store_in(folder);
    REQUIRE(save(store, 1).ok());
    REQUIRE(save(store, 2).ok());
    std::filesystem::resize_file(file_of(folder, 2), length);
    std::vector<float> state(kFloats);
    const auto loaded = store.load_newest(state);
    REQUIRE(loaded.ok());
    CHECK(loaded->round == 1);
    CHECK(state == state_of(1));
    REQUIRE(store.problems().size() == 1);
    CHECK(store.problems()[0].find("run-a-2.safetensors") != std::string::npos);
    CHECK(std::filesystem::exists(file_of(folder, 2).string() + ".corrupt"));
  }
}

TEST_CASE("bytes behind the end, a wild header length and a flipped header are refused") {
  for (const int damage : {0, 1, 2}) {
    const TempDir folder;
    CheckpointStore store = store_in(folder);
    REQUIRE(save(store, 1).ok());
    {
      std::fstream file(file_of(folder, 1), std::ios::in | std::ios::out | std::ios::binary);
      if (damage == 0) file.seekp(0, std::ios::end);
      if (damage == 1) file.seekp(5);
      if (damage == 2) file.seekp(20);
      file.put('\x7f');
    }
    std::vector<float> state(kFloats);
    const auto loaded = store.load_newest(state);
    REQUIRE_FALSE(loaded.ok());
    CHECK(loaded.error().code == ErrorCode::not_found);
    REQUIRE(store.problems().size() == 1);
    CHECK(store.problems()[0].find("run-a-1.safetensors") != std::string::npos);
    CHECK(names_in(folder / "c") == std::set<std::string>{"run-a-1.safetensors.corrupt"});
  }
}

TEST_CASE("a file whose content was found wrong is set aside, again and again, and none is lost") {
  const TempDir folder;
  CheckpointStore store = store_in(folder);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(save(store, 1).ok());
    REQUIRE(save(store, 2).ok());
    REQUIRE(store.set_newest_aside("its digest is wrong").ok());
    CHECK(loaded_round(store) == 1);
  }
  CHECK(names_in(folder / "c").size() == 4);
  CHECK(store.problems().size() == 3);
}

TEST_CASE("going back to an earlier round leaves no later file to come back to") {
  const TempDir folder;
  CheckpointStore store = store_in(folder);
  REQUIRE(save(store, 10).ok());
  REQUIRE(save(store, 20).ok());
  REQUIRE(save(store, 15).ok());
  CHECK(loaded_round(store) == 15);
  CHECK(names_in(folder / "c") == std::set<std::string>{"run-a-15.safetensors", "run-a-10.safetensors"});
}

TEST_CASE("a full disk is reported, and the older files stay") {
  const TempDir folder;
  CheckpointStore store = store_in(folder);
  REQUIRE(save(store, 1).ok());
  {
    const storage::testing::FileLimit full(3'000);
    const Status refused = save(store, 2);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::resource_exhausted);
  }
  CHECK(names_in(folder / "c") == std::set<std::string>{"run-a-1.safetensors"});
  CHECK(loaded_round(store) == 1);
}

TEST_CASE("what a crash left half written is removed") {
  const TempDir folder;
  std::filesystem::create_directories(folder / "c");
  std::ofstream(folder / "c" / "run-a-5.safetensors.tmp-17-0") << "half";
  std::ofstream(folder / "c" / "notes.txt") << "not ours";
  CheckpointStore store = store_in(folder);
  CHECK(names_in(folder / "c") == std::set<std::string>{"notes.txt"});
  CHECK(loaded_round(store) == -1);
}
