#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "coordinator/dataset/examples.h"
#include "coordinator/dataset/item_spool.h"
#include "coordinator/dataset/prepare.h"
#include "coordinator/dataset/text_check.h"
#include "coordinator/dataset/text_reader.h"
#include "coordinator/dataset/unknown_tally.h"
#include "coordinator/dataset/vocabulary.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/run/model_layout.h"
#include "shared/text/tokenizer.h"

namespace starling::dataset {
namespace {

constexpr int kEndOfText = 3;  // the token between two files
constexpr int kMask = 4;
constexpr std::int64_t kMegabyte = 1'000'000;

Result<std::string> model_for(const TextOptions& options, TextReader& text, Progress& progress) {
  if (!options.tokenizer.empty()) return read_file(options.tokenizer, wire::kTokenizerBytesMax);
  progress.begin(fmt::format("learning a vocabulary of {} tokens", options.vocabulary), 0, "");
  return learn_vocabulary(text, {.tokens = options.vocabulary, .threads = options.threads});
}

Result<text::Tokenizer> open_tokenizer(const TextOptions& options, const std::string& model) {
  auto tokenizer = text::Tokenizer::from_model(model);
  if (tokenizer.ok() || options.tokenizer.empty()) return tokenizer;
  return tokenizer.error().prefixed(fmt::format("'{}'", options.tokenizer.string()));
}

template <typename Number>
Status append_as(ItemSpool& spool, const std::vector<int>& tokens) {
  std::string rows(tokens.size() * sizeof(Number), '\0');
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto number = static_cast<Number>(tokens[i]);
    std::memcpy(rows.data() + i * sizeof number, &number, sizeof number);
  }
  return spool.append(0, rows);
}

// Whether all tokens fit 16 bits.
bool is_narrow(const text::Tokenizer& tokenizer) {
  return tokenizer.vocabulary() <= std::numeric_limits<std::uint16_t>::max() + 1;
}

Result<UnknownTally> tokenize(TextReader& reader, const text::Tokenizer& tokenizer, ItemSpool& spool,
                              Progress& progress) {
  UnknownTally unknown;
  reader.rewind();
  progress.begin("making tokens of text", reader.bytes_total() / kMegabyte, "MB");
  const bool narrow = is_narrow(tokenizer);
  std::vector<int> tokens;
  const auto keep = [&] {
    return narrow ? append_as<std::uint16_t>(spool, tokens) : append_as<std::int32_t>(spool, tokens);
  };
  while (reader.next()) {
    if (reader.passed_end_of_file()) {
      tokens.assign(1, kEndOfText);
      STARLING_TRY(keep());
    }
    STARLING_TRY(tokenizer.encode(reader.piece(), tokens));
    STARLING_TRY(keep());
    unknown.add(tokenizer, reader.piece(), tokens);
    progress.advance_to(reader.bytes_read() / kMegabyte);
  }
  STARLING_TRY(reader.status());
  return unknown;
}

Status check_unknown(const UnknownTally& unknown, double most) {
  if (unknown.share() <= most) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("make tokens of text: {}. More than {} is nearly always a mistake, such as a text in another "
                  "language or encoding than the one that the vocabulary was learned from; --unknown-max {:.0f} "
                  "takes it as it is",
                  unknown.told(), percent_of(most), std::min(100.0, std::ceil(unknown.share() * 100)))};
}

}  // namespace

Result<Prepared> prepare_text(const TextOptions& options, Progress& progress) {
  Prepared prepared;
  STARLING_ASSIGN(TextReader reader, TextReader::open(options.files));
  STARLING_ASSIGN(OutFolder out, OutFolder::open(options.cut.out));
  STARLING_ASSIGN(prepared.notes, check_texts(options.files, options.invalid_max, progress));
  STARLING_ASSIGN(const std::string model, model_for(options, reader, progress));
  STARLING_ASSIGN(const text::Tokenizer tokenizer, open_tokenizer(options, model));
  STARLING_TRY(write_file_atomically(out.path() / kTokenizerName, model));
  const wire::TensorInfo row{"tokens", is_narrow(tokenizer) ? wire::TensorType::u16 : wire::TensorType::i32, {}};
  STARLING_ASSIGN(ItemSpool spool, ItemSpool::create(out.path(), {row}));
  STARLING_ASSIGN(const UnknownTally unknown, tokenize(reader, tokenizer, spool, progress));
  STARLING_TRY(check_unknown(unknown, options.unknown_max));
  if (unknown.tokens() == 0)
    return Error{ErrorCode::invalid_argument, "make tokens of text: it has nothing but blanks"};
  const CutOptions cut{.kind = wire::DataKind::tokens,
                       .shard_bytes = static_cast<std::int64_t>(options.cut.shard_mb * kMegabyte),
                       .held_out_fraction = options.cut.held_out,
                       .held_out_max = kHeldOutTokensMax,
                       .common = {{"word_starts", tokenizer.word_starts()}, {"word_bytes", tokenizer.word_bytes()}}};
  STARLING_ASSIGN(prepared.data, spool.cut(out, cut, progress));
  prepared.data.tokenizer = {crypto::sha256(model), static_cast<std::int64_t>(model.size())};
  prepared.train_items = spool.items() - prepared.data.validation_items;
  prepared.choices = tokenizer.vocabulary();
  prepared.notes.insert(prepared.notes.begin(), unknown.told());
  if (!tokenizer.has_mask()) {
    prepared.notes.push_back(
        fmt::format("token 4 is '{}' and no mask: an albert cannot learn from these tokens", tokenizer.piece(kMask)));
  }
  STARLING_TRY(out.finish(prepared.data));
  return prepared;
}

}  // namespace starling::dataset
