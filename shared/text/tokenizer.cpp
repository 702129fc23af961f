#include "shared/text/tokenizer.h"

#include <fmt/core.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::text {
namespace {

constexpr std::string_view kWordStart = "\u2581";  // SentencePiece's mark for a blank
constexpr int kMask = 4;

// Why bytes that SentencePiece does not take are no model; its own reason names places in its source.
std::string_view why_no_model(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  if (bytes.front() == '{') {
    return "it is a JSON file, such as a tokenizer.json of Hugging Face's tokenizers; only models of SentencePiece "
           "(tokenizer.model, spiece.model) are read";
  }
  return "it is no model of SentencePiece, or it is damaged";
}

}  // namespace

struct Tokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&& other) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_model(std::string_view model) {
  auto impl = std::make_unique<Impl>();
  const auto loaded = impl->processor.LoadFromSerializedProto({model.data(), model.size()});
  if (!loaded.ok())
    return Error{ErrorCode::invalid_argument, fmt::format("read the tokenizer: {}", why_no_model(model))};
  const auto& processor = impl->processor;
  const bool has_marks = processor.GetPieceSize() > wire::kReservedTokens && processor.pad_id() == 0 &&
                         processor.unk_id() == 1 && processor.bos_id() == 2 && processor.eos_id() == 3 &&
                         processor.IsControl(kMask);
  if (has_marks) return Tokenizer(std::move(impl));
  return Error{ErrorCode::invalid_argument,
               "read the tokenizer: its tokens 0 to 4 are not padding, unknown, begin, end and mask: train it with "
               "--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 --control_symbols=[MASK]"};
}

int Tokenizer::vocabulary() const { return impl_->processor.GetPieceSize(); }

std::string Tokenizer::piece(int token) const {
  VERIFY(token >= 0 && token < vocabulary());
  return impl_->processor.IdToPiece(token);
}

bool Tokenizer::has_mask() const {
  std::string spelling = piece(kMask);
  std::transform(spelling.begin(), spelling.end(), spelling.begin(), [](unsigned char c) { return std::tolower(c); });
  return spelling.find("mask") != std::string::npos;
}

Status Tokenizer::encode(std::string_view text, std::vector<int>& tokens) const {
  const auto encoded = impl_->processor.Encode({text.data(), text.size()}, &tokens);
  if (encoded.ok()) return {};
  return Error{ErrorCode::internal, "make tokens of text: SentencePiece failed with this tokenizer"};
}

std::vector<std::string> Tokenizer::unknown_parts(std::string_view text) const {
  std::vector<std::string> parts;
  const auto encoded = impl_->processor.EncodeAsImmutableProto({text.data(), text.size()});
  for (const auto& token : encoded.pieces()) {
    if (static_cast<int>(token.id()) == impl_->processor.unk_id()) parts.push_back(token.surface());
  }
  return parts;
}

Result<std::string> Tokenizer::decode(std::span<const int> tokens) const {
  std::vector<int> known;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(known),
               [this](int token) { return token >= 0 && token < vocabulary(); });
  std::string text;
  const auto decoded = impl_->processor.Decode(known, &text);
  if (decoded.ok()) return text;
  return Error{ErrorCode::internal, "make text of tokens: SentencePiece failed with this tokenizer"};
}

std::vector<std::uint8_t> Tokenizer::word_starts() const {
  std::vector<std::uint8_t> starts(static_cast<std::size_t>(vocabulary()), 1);
  for (int token = wire::kReservedTokens; token < vocabulary(); ++token) {
    starts[static_cast<std::size_t>(token)] = impl_->processor.IdToPiece(token).starts_with(kWordStart) ? 1 : 0;
  }
  return starts;
}

std::vector<std::uint8_t> Tokenizer::word_bytes() const {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(vocabulary()), 0);
  for (int token = 1; token < vocabulary(); ++token) {
    std::size_t length = 1;  // length of the unknown token, and of a token that stands for a byte
    if (token >= wire::kReservedTokens && !impl_->processor.IsByte(token)) {
      const std::string& piece = impl_->processor.IdToPiece(token);
      length = piece.size();
      for (std::size_t at = piece.find(kWordStart); at != std::string::npos; at = piece.find(kWordStart, at + 1)) {
        length -= kWordStart.size() - 1;  // a blank is one byte of text
      }
    } else if (token >= 2 && token < wire::kReservedTokens) {
      length = 0;
    }
    bytes[static_cast<std::size_t>(token)] = static_cast<std::uint8_t>(std::min<std::size_t>(length, 255));
  }
  return bytes;
}

}  // namespace starling::text
