#include "coordinator/dataset/image_folders.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "coordinator/dataset/listing.h"
#include "shared/base/plain_text.h"
#include "shared/crypto/digest.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::dataset;

namespace {

void put(const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "bytes";
}

bool tells(const ImageFolders& found, std::string_view part) {
  return std::any_of(found.notes.begin(), found.notes.end(),
                     [part](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("classes are folders with pictures, in the order of their names") {
  const testing::TempDir folder;
  for (const char* file : {"cat/1.png", "cat/2.JPG", "cat/3.jpe", "ape/1.jpeg", "ape/2.jfif"}) put(folder / file);
  const auto found = find_images(folder.path());
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  REQUIRE(found->classes.size() == 2);
  CHECK(found->classes[0].name == "ape");
  CHECK(found->classes[0].images == 2);
  CHECK(found->classes[1].name == "cat");
  CHECK(found->classes[1].images == 3);
  CHECK(found->images.size() == 5);
  CHECK(found->images.front().label == 0);
  CHECK(found->images.back().label == 1);
  CHECK(found->notes.empty());
}

TEST_CASE("hidden folders and files move no label") {
  const testing::TempDir folder;
  for (const char* file : {"cat/1.png", "dog/1.png", "dog/._1.jpg", ".ipynb_checkpoints/1.jpg", ".DS_Store"})
    put(folder / file);
  const auto found = find_images(folder.path());
  REQUIRE(found.ok());
  CHECK(found->classes.size() == 2);
  CHECK(found->images.size() == 2);
  CHECK(found->images.front().label == 0);
  CHECK(tells(*found, "begin with a dot: 3 ('.DS_Store', '.ipynb_checkpoints', 'dog/._1.jpg')"));
}

TEST_CASE("what is passed over is counted and named") {
  const testing::TempDir folder;
  for (const char* file : {"cat/1.png", "dog/1.png", "dog/a.webp", "dog/b.WEBP", "dog/c.tiff", "dog/README",
                           "bird/1.webp", "cat/more/1.jpg", "cat/more/deep/2.jpg", "cat/more/._2.jpg", "stray.png"}) {
    put(folder / file);
  }
  const auto found = find_images(folder.path());
  REQUIRE(found.ok());
  CHECK(found->images.size() == 2);
  CHECK(tells(*found, ".webp: 3 ('bird/1.webp', 'dog/a.webp', 'dog/b.WEBP')"));
  CHECK(tells(*found, ".tiff: 1"));
  CHECK(tells(*found, "no ending: 1 ('dog/README')"));
  CHECK(tells(*found, "no class: 1 ('bird')"));
  CHECK(tells(*found, "'cat/more' with 2 pictures"));
  CHECK(tells(*found, "beside the classes' folders: 1 ('stray.png')"));
}

TEST_CASE("fewer than two classes are refused with what was passed over") {
  const testing::TempDir folder;
  put(folder / "cat/1.png");
  put(folder / "dog/1.heic");
  const auto refused = find_images(folder.path());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("'dog/1.heic'") != std::string::npos);
}

TEST_CASE("names that a listing cannot hold are refused") {
  const testing::TempDir folder;
  put(folder / "cat/1.png");
  put(folder / "d\xff/1.png");
  CHECK_FALSE(find_images(folder.path()).ok());
  for (const std::string name : {"dog\x1b[2J", "dog\u009b2J", "dog\u202e", "dog\u2028"}) {
    CAPTURE(name);
    const std::vector<ImageClass> controls = {{"cat", 1}, {name, 1}};
    const Status refused = check_class_names(controls);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("'dog") != std::string::npos);
    CHECK(is_plain_line(refused.error().message));
  }
  const std::vector<ImageClass> many(200, {std::string(100, 'x'), 1});
  CHECK_FALSE(check_class_names(many).ok());
  const std::vector<ImageClass> good(1000, {"n01440764", 1});
  CHECK(check_class_names(good).ok());
}

TEST_CASE("a listing has the names of the classes, and readers of shards pass over them") {
  wire::DataOptions data;
  data.kind = wire::DataKind::labelled;
  for (std::size_t i = 0; i < wire::kShardsMax; ++i) {
    data.shards.push_back({{crypto::sha256("content"), wire::kHeldOutBytesMax}, 1'000'000'000});
  }
  data.validation = {crypto::sha256("content"), 1000};
  data.validation_items = 10;
  std::vector<ImageClass> classes(1000, {"n01440764", 1});
  classes[1].name = "m\u00f6we \"klein\"";
  const std::string listing = encode_listing(data, classes);
  CHECK(listing.size() < wire::kListingBytesMax);
  const auto shards = wire::decode_listing(listing);
  REQUIRE_MESSAGE(shards.ok(), shards.error().message);
  CHECK(wire::encode_listing(*shards) == wire::encode_listing(data));
  const auto names = class_names_of(listing);
  REQUIRE_MESSAGE(names.ok(), names.error().message);
  REQUIRE(names->size() == 1000);
  CHECK((*names)[1] == "m\u00f6we \"klein\"");
  CHECK(encode_listing(data, {}) == wire::encode_listing(data));
  CHECK(class_names_of(wire::encode_listing(data))->empty());
}

TEST_CASE("a listing of before, with a name that is refused today, is read with the name that is shown") {
  const std::vector<ImageClass> before = {{"cat", 1}, {"dog\u202egod", 1}};
  CHECK_FALSE(check_class_names(before).ok());
  const auto names = class_names_of(encode_listing({}, before));
  REQUIRE_MESSAGE(names.ok(), names.error().message);
  CHECK(*names == std::vector<std::string>{"cat", plain_line(before[1].name)});
  CHECK((*names)[1] != before[1].name);
}
