#include "coordinator/dataset/held_out_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "shared/base/permutation.h"

using namespace starling;
using dataset::HeldOutSearch;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes text_of(std::uint64_t seed, std::size_t size) {
  Bytes text(size);
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<std::uint8_t>('a' + mix64(seed << 32 | i) % 26);
  return text;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

wire::DataParts text_parts(const Bytes& text) { return wire::find_data_parts({}, text, text.size(), 1).value(); }

template <typename Take>
void in_pieces(const Bytes& bytes, std::size_t cut, const Take& take) {
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    REQUIRE(take(std::span(bytes).subspan(at, std::min(cut, bytes.size() - at))).ok());
  }
}

double share_of(const Bytes& held_out, const Bytes& train, std::size_t cut = 1000) {
  HeldOutSearch search(text_parts(held_out));
  in_pieces(held_out, cut, [&](auto bytes) { return search.add_held_out(bytes); });
  search.begin_training_file(text_parts(train));
  in_pieces(train, cut, [&](auto bytes) { return search.look_through(bytes); });
  return search.share_found();
}

// A file of tokens of this type, or of samples.
struct Tensors {
  wire::RunManifest manifest;
  Bytes file;
  wire::DataParts parts;
};

Tensors tokens_of(wire::TensorType type, const std::vector<int>& tokens) {
  Tensors made;
  made.manifest.data.kind = wire::DataKind::tokens;
  made.manifest.model.vocabulary = 1000;
  std::vector<wire::TensorInfo> tensors = {{"tokens", type, {static_cast<std::int64_t>(tokens.size())}}};
  const std::string head = wire::encode_tensor_head(tensors);
  made.file.assign(head.begin(), head.end());
  for (const int token : tokens) {
    for (std::size_t byte = 0; byte < wire::bytes_of(type); ++byte) {
      made.file.push_back(static_cast<std::uint8_t>(token >> (8 * byte)));
    }
  }
  made.parts = wire::find_data_parts(made.manifest, made.file, made.file.size(), 1).value();
  return made;
}

Tensors samples_of(const Bytes& values) {
  Tensors made;
  made.manifest.data.kind = wire::DataKind::labelled;
  made.manifest.model.architecture = wire::Architecture::mlp;
  made.manifest.model.inputs = 10;
  const auto count = static_cast<std::int64_t>(values.size()) / 10;
  std::vector<wire::TensorInfo> tensors = {{"inputs", wire::TensorType::u8, {count, 10}},
                                           {"labels", wire::TensorType::i32, {count}}};
  const std::string head = wire::encode_tensor_head(tensors);
  made.file = joined(joined(Bytes(head.begin(), head.end()), values), Bytes(static_cast<std::size_t>(4 * count)));
  made.parts = wire::find_data_parts(made.manifest, made.file, made.file.size(), 1).value();
  return made;
}

double share_of(const Tensors& held_out, const Tensors& train) {
  HeldOutSearch search(held_out.parts);
  in_pieces(held_out.file, 77, [&](auto bytes) { return search.add_held_out(bytes); });
  search.begin_training_file(train.parts);
  in_pieces(train.file, 77, [&](auto bytes) { return search.look_through(bytes); });
  return search.share_found();
}

}  // namespace

TEST_CASE("held-out text is found in the training text wherever it stands there, all of it or a part") {
  const Bytes train = text_of(1, 50'000);
  CHECK(share_of(train, train) == 1.0);
  for (const std::size_t cut : {1, 63, 64, 65, 4096}) {
    const Bytes middle(train.begin() + 12'345, train.begin() + 20'011);
    CHECK(share_of(middle, train, cut) == 1.0);
  }
  const Bytes half(train.begin() + 1000, train.begin() + 1000 + 6400);
  CHECK(share_of(joined(half, text_of(2, 6400)), train) == doctest::Approx(0.5));
  CHECK(share_of(text_of(3, 30'000), train) == 0.0);
  CHECK(share_of({'n', 'o', ' ', 'm', 'o', 'r', 'e'}, train) == 0.0);
  CHECK(share_of(Bytes(train.begin() + 5, train.begin() + 25), train) == 1.0);
}

TEST_CASE("the place is told, and one training file does not run into the next") {
  const Bytes text = text_of(1, 20'000);
  const Bytes held_out(text.begin() + 7000, text.begin() + 8000);
  HeldOutSearch search(text_parts(held_out));
  REQUIRE(search.add_held_out(held_out).ok());
  const Bytes first(text.begin(), text.begin() + 7500), second(text.begin() + 7500, text.end());
  for (const Bytes* file : {&second, &first}) {
    search.begin_training_file(text_parts(*file));
    REQUIRE(search.look_through(*file).ok());
  }
  CHECK(search.share_found() == doctest::Approx(14.0 / 15));  // the stretch that is cut in two is in neither
  CHECK(search.first_found() == 12);                          // at 7512, the ninth stretch's begin
}

TEST_CASE("tokens are compared whatever their type, and samples by their values") {
  std::vector<int> tokens, others;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    tokens.push_back(static_cast<int>(mix64(i) % 1000));
    others.push_back(static_cast<int>(mix64(~i) % 1000));
  }
  const std::vector<int> part(tokens.begin() + 100, tokens.begin() + 400);
  CHECK(share_of(tokens_of(wire::TensorType::i32, part), tokens_of(wire::TensorType::u16, tokens)) == 1.0);
  CHECK(share_of(tokens_of(wire::TensorType::i32, part), tokens_of(wire::TensorType::u16, others)) == 0.0);

  const Bytes values = text_of(4, 1000);
  const Bytes some(values.begin() + 300, values.begin() + 500);
  CHECK(share_of(samples_of(some), samples_of(values)) == 1.0);
  CHECK(share_of(samples_of(joined(some, text_of(5, 600))), samples_of(values)) == doctest::Approx(0.25));
  const Bytes shifted(values.begin() + 305, values.begin() + 505);  // no sample's values
  CHECK(share_of(samples_of(shifted), samples_of(values)) == 0.0);
}
