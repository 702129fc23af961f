#include "coordinator/dataset/prepare.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "coordinator/dataset/image.h"
#include "coordinator/dataset/listing.h"
#include "coordinator/dataset/out_folder.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/text/tokenizer.h"
#include "shared/wire/safetensors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tokenizer_model.h"

using namespace starling;
using namespace starling::dataset;

namespace {

// Writes sentences with enough different words to learn a vocabulary from.
std::filesystem::path write_text(const std::filesystem::path& file, int lines) {
  static const char* const kWords[] = {"the",   "quick", "brown",  "fox",   "jumps", "over", "lazy",  "dogs",
                                       "while", "seven", "herons", "watch", "from",  "a",    "reedy", "shore"};
  std::ofstream out(file);
  for (int line = 0; line < lines; ++line) {
    for (int word = 0; word < 12; ++word) out << kWords[(line * 7 + word * (1 + line % 5)) % 16] << ' ';
    out << line << '\n';
  }
  return file;
}

struct Tensors {
  std::string bytes;
  std::vector<wire::TensorInfo> heads;
  [[nodiscard]] std::string_view of(const char* name) const {
    const wire::TensorInfo* head = wire::find_tensor(heads, name);
    REQUIRE(head != nullptr);
    return std::string_view(bytes).substr(head->begin, head->end - head->begin);
  }
};

Tensors load(const std::filesystem::path& folder, const wire::Artefact& file) {
  Tensors out{read_file(folder / file.sha256.hex(), 1 << 26).value(), {}};
  CHECK(crypto::sha256(out.bytes) == file.sha256);
  out.heads = wire::read_tensor_head(crypto::as_bytes(out.bytes), out.bytes.size()).value();
  return out;
}

void write_image(const std::filesystem::path& file, int width, int height, unsigned char red, unsigned char blue) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), {red, 0, blue});
  const bool png = file.extension() == ".png";
  REQUIRE((png ? stbi_write_png(file.c_str(), width, height, 3, pixels.data(), width * 3)
               : stbi_write_jpg(file.c_str(), width, height, 3, pixels.data(), 95)) != 0);
}

const auto kQuiet = [](const std::string&) {};

}  // namespace

TEST_CASE("text becomes a vocabulary, shards of tokens that say it again, and a listing") {
  const testing::TempDir folder;
  Progress progress(kQuiet);
  TextOptions options;
  options.files = {write_text(folder / "a.txt", 3000), write_text(folder / "b.txt", 200)};
  options.vocabulary = 120;
  options.cut = {.out = folder / "out", .shard_mb = 1, .held_out = 0.05};
  const auto prepared = prepare_text(options, progress);
  REQUIRE_MESSAGE(prepared.ok(), prepared.error().message);
  CHECK(prepared->choices == 120);
  CHECK(prepared->data.kind == wire::DataKind::tokens);
  const auto listing = wire::decode_listing(read_file(folder / "out" / kListingName, 1 << 16).value());
  REQUIRE(listing.ok());
  CHECK(wire::encode_listing(*listing) == wire::encode_listing(prepared->data));
  const std::string model = read_file(folder / "out" / kTokenizerName, wire::kTokenizerBytesMax).value();
  CHECK(listing->tokenizer == wire::Artefact{crypto::sha256(model), static_cast<std::int64_t>(model.size())});

  const Tensors shard = load(folder / "out", listing->shards.front().file);
  const std::string_view tokens = shard.of("tokens");
  CHECK(static_cast<std::int64_t>(tokens.size()) == 2 * listing->shards.front().items);
  const auto tokenizer = text::Tokenizer::from_model(model);
  REQUIRE(tokenizer.ok());
  CHECK(tokenizer->piece(2) == "[CLS]");
  std::vector<int> first;
  REQUIRE(tokenizer->encode("the herons from the seven", first).ok());
  CHECK(first.size() >= 5);
  const auto bytes = tokenizer->word_bytes();
  int said = 0;
  for (const int token : first) said += bytes[static_cast<std::size_t>(token)];
  CHECK(said == 26);  // a blank before the first word, too
  CHECK(tokenizer->word_starts()[static_cast<std::size_t>(first[0])] == 1);
  CHECK(shard.of("word_starts").size() == 120);
  CHECK(shard.of("word_bytes").size() == 120);
  for (int mark = 0; mark < 5; ++mark) CHECK(bytes[static_cast<std::size_t>(mark)] == (mark == 1 ? 1 : 0));

  SUBCASE("with the tokenizer of another preparation, the same text gives the same shards") {
    options.tokenizer = folder / "out" / kTokenizerName;
    options.cut.out = folder / "again";
    const auto again = prepare_text(options, progress);
    REQUIRE(again.ok());
    CHECK(wire::encode_listing(again->data) == wire::encode_listing(prepared->data));
  }
}

TEST_CASE("a failed preparation says why and leaves an empty folder") {
  const testing::TempDir folder;
  Progress progress(kQuiet);
  TextOptions options;
  options.files = {write_text(folder / "a.txt", 10)};
  options.vocabulary = 30'000;
  options.cut.out = folder / "out";
  const auto too_little = prepare_text(options, progress);
  REQUIRE_FALSE(too_little.ok());
  CHECK(too_little.error().message.find("vocabulary of 30000") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder / "out"));
  options.tokenizer = folder / "a.txt";
  const auto no_model = prepare_text(options, progress);
  REQUIRE_FALSE(no_model.ok());
  CHECK(no_model.error().message.find("tokenizer") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder / "out"));
}

TEST_CASE("text in letters that the vocabulary lacks is refused, unless the operator asks for it") {
  const testing::TempDir folder;
  Progress progress(kQuiet);
  TextOptions options;
  options.files = {write_text(folder / "a.txt", 3000)};
  options.tokenizer = folder / "tokenizer";
  std::ofstream(options.tokenizer, std::ios::binary) << testing::tokenizer_model(60, true, "<sep>");
  options.cut = {.out = folder / "out", .shard_mb = 1, .held_out = 0.05};
  const auto refused = prepare_text(options, progress);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("' (U+00") != std::string::npos);
  CHECK(refused.error().message.find("--unknown-max") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder / "out"));
  options.unknown_max = 1;
  const auto taken = prepare_text(options, progress);
  REQUIRE_MESSAGE(taken.ok(), taken.error().message);
  REQUIRE(taken->notes.size() == 2);
  CHECK(taken->notes[0].find("of the tokens are unknown") != std::string::npos);
  CHECK(taken->notes[1].find("'<sep>'") != std::string::npos);
}

TEST_CASE("what is no text, and text that is empty, leave an empty folder and a reason") {
  const testing::TempDir folder;
  Progress progress(kQuiet);
  TextOptions options;
  options.cut = {.out = folder / "out", .shard_mb = 1, .held_out = 0.05};
  std::ofstream(folder / "model", std::ios::binary) << testing::tokenizer_model(60);
  std::ofstream(folder / "packed", std::ios::binary) << "\x1f\x8b\x08 and so on";
  std::ofstream(folder / "blank", std::ios::binary) << "\n \n\t\n\u3000\n";
  for (const char* const file : {"packed", "blank"}) {
    for (const bool learn : {false, true}) {
      options.files = {folder / file};
      options.vocabulary = learn ? 64 : 0;
      options.tokenizer = learn ? std::filesystem::path() : folder / "model";
      const auto refused = prepare_text(options, progress);
      REQUIRE_FALSE(refused.ok());
      CHECK_MESSAGE(refused.error().message.find(file == std::string("packed") ? "gzip" : "nothing but blanks") !=
                        std::string::npos,
                    refused.error().message);
      CHECK(std::filesystem::is_empty(folder / "out"));
    }
  }
}

TEST_CASE("folders of images become labelled planes of bytes, in an order that mixes the classes") {
  const testing::TempDir folder;
  for (const char* of_class : {"blue", "red"}) {
    std::filesystem::create_directories(folder / "images" / of_class);
    for (int i = 0; i < 20; ++i) {
      const bool red = of_class == std::string("red");
      const std::string name = std::to_string(i) + (i % 2 == 0 ? ".png" : ".JPG");
      const auto file = folder / "images" / of_class / (i % 2 == 0 ? name : std::to_string(i) + ".jpg");
      write_image(file, 30 + i, 24, red ? 250 : 0, red ? 0 : 250);
    }
  }
  std::ofstream(folder / "images" / "red" / "notes.txt") << "no image";
  Progress progress(kQuiet);
  ImageOptions options;
  options.folder = folder / "images";
  options.side = 8;
  options.cut = {.out = folder / "out", .shard_mb = 1, .held_out = 0.1};
  const auto prepared = prepare_images(options, progress);
  REQUIRE_MESSAGE(prepared.ok(), prepared.error().message);
  CHECK(prepared->choices == 2);
  CHECK(prepared->notes.size() == 1);  // about notes.txt
  const auto names = class_names_of(read_file(folder / "out" / kListingName, 1 << 16).value());
  REQUIRE(names.ok());
  CHECK(*names == std::vector<std::string>{"blue", "red"});
  CHECK(prepared->train_items == 36);
  CHECK(prepared->data.validation_items == 4);
  const Tensors shard = load(folder / "out", prepared->data.shards.front().file);
  const std::string_view values = shard.of("inputs");
  const std::string_view labels = shard.of("labels");
  REQUIRE(values.size() == 36U * 3 * 8 * 8);
  std::set<int> early;
  for (std::size_t i = 0; i < 36; ++i) {
    const int label = labels[4 * i];  // little-endian
    const auto red = static_cast<unsigned char>(values[i * 192 + 27]);
    const auto blue = static_cast<unsigned char>(values[i * 192 + 128 + 27]);
    CHECK((label == 1) == (red > 200));
    CHECK((label == 0) == (blue > 200));
    if (i < 10) early.insert(label);
  }
  CHECK(early.size() == 2);
}

TEST_CASE("images that are none are refused all at once, and folders without classes, by their names") {
  const testing::TempDir folder;
  Progress progress(kQuiet);
  ImageOptions options;
  options.folder = folder.path();
  options.cut.out = folder / "out";
  CHECK_FALSE(prepare_images(options, progress).ok());
  for (const char* of_class : {"a", "b"}) {
    std::filesystem::create_directories(folder / "images" / of_class);
    for (int i = 0; i < 12; ++i) write_image(folder / "images" / of_class / fmt::format("{}.png", i), 30, 24, 250, 0);
    std::ofstream(folder / "images" / of_class / "broken.png") << "\x89PNG no more";
  }
  std::ofstream(folder / "images" / "a" / "empty.jpg") << "";
  std::ofstream(folder / "images" / "b" / "renamed.jpg") << "RIFF....WEBPVP8 and so on";
  options.folder = folder / "images";
  const auto broken = prepare_images(options, progress);
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().code == ErrorCode::corrupt);
  for (const char* const told :
       {"4 of 28", "a/broken.png", "b/broken.png", "a/empty.jpg': it is empty", "b/renamed.jpg': it is a WebP"}) {
    CHECK_MESSAGE(broken.error().message.find(told) != std::string::npos, broken.error().message);
  }
  CHECK(std::filesystem::is_empty(folder / "out"));
}

TEST_CASE("a small file that says it is a huge picture is not unpacked") {
  // The head of an image of 16384 by 4097, grey, up to the beginning of its pixels.
  constexpr std::string_view kHead("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x40\0\0\0\x10\x01\x08\0\0\0\0CRC.\0\0\0\0IDAT",
                                   41);
  const testing::TempDir folder;
  std::ofstream(folder / "huge.png") << kHead;
  const auto image = read_image(folder / "huge.png", 3, 8);
  REQUIRE_FALSE(image.ok());
  CHECK(image.error().message.find("16384 by 4097 pixels") != std::string::npos);
}

TEST_CASE("a grey picture of a coloured one, and the other way round") {
  const testing::TempDir folder;
  write_image(folder / "a.png", 16, 12, 255, 255);
  const auto grey = read_image(folder / "a.png", 1, 4);
  REQUIRE(grey.ok());
  CHECK(grey->size() == 16);
  CHECK(read_image(folder / "a.png", 3, 4)->size() == 48);
}
