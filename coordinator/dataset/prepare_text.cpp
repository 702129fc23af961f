#include <fmt/core.h>

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "coordinator/dataset/item_spool.h"
#include "coordinator/dataset/prepare.h"
#include "coordinator/dataset/text_reader.h"
#include "coordinator/dataset/vocabulary.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/run/model_layout.h"
#include "shared/text/tokenizer.h"

namespace starling::dataset {
namespace {

constexpr int kEndOfText = 3;  // the token between two files
constexpr std::int64_t kMegabyte = 1'000'000;

Result<std::string> model_for(const TextOptions& options, TextReader& text, Progress& progress) {
  if (!options.tokenizer.empty()) return read_file(options.tokenizer, wire::kTokenizerBytesMax);
  progress.begin(fmt::format("learning a vocabulary of {} tokens", options.vocabulary), 0, "");
  return learn_vocabulary(text, options.vocabulary, options.threads);
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

Status tokenize(TextReader& reader, const text::Tokenizer& tokenizer, bool narrow, ItemSpool& spool,
                Progress& progress) {
  reader.rewind();
  progress.begin("making tokens of text", reader.bytes_total() / kMegabyte, "MB");
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
    progress.advance_to(reader.bytes_read() / kMegabyte);
  }
  return reader.status();
}

}  // namespace

Result<Prepared> prepare_text(const TextOptions& options, Progress& progress) {
  STARLING_ASSIGN(TextReader reader, TextReader::open(options.files));
  STARLING_ASSIGN(OutFolder out, OutFolder::open(options.cut.out));
  STARLING_ASSIGN(const std::string model, model_for(options, reader, progress));
  STARLING_ASSIGN(const text::Tokenizer tokenizer, text::Tokenizer::from_model(model));
  STARLING_TRY(write_file_atomically(out.path() / kTokenizerName, model));
  const bool narrow = tokenizer.vocabulary() <= std::numeric_limits<std::uint16_t>::max() + 1;
  const wire::TensorInfo row{"tokens", narrow ? wire::TensorType::u16 : wire::TensorType::i32, {}};
  STARLING_ASSIGN(ItemSpool spool, ItemSpool::create(out.path(), {row}));
  STARLING_TRY(tokenize(reader, tokenizer, narrow, spool, progress));
  const CutOptions cut{.kind = wire::DataKind::tokens,
                       .shard_bytes = static_cast<std::int64_t>(options.cut.shard_mb * kMegabyte),
                       .held_out_fraction = options.cut.held_out,
                       .held_out_max = kHeldOutTokensMax,
                       .common = {{"word_starts", tokenizer.word_starts()}, {"word_bytes", tokenizer.word_bytes()}}};
  Prepared prepared;
  STARLING_ASSIGN(prepared.data, spool.cut(out, cut, progress));
  prepared.data.tokenizer = {crypto::sha256(model), static_cast<std::int64_t>(model.size())};
  prepared.train_items = spool.items() - prepared.data.validation_items;
  prepared.choices = tokenizer.vocabulary();
  STARLING_TRY(out.finish(prepared.data));
  return prepared;
}

}  // namespace starling::dataset
