// The daemon's end of a tokenizer: a confined child process (client/tokenizer) converts text to the run's tokens and
// back. There is one child for each call, which ends with its answer. The SentencePiece model is a stranger's file; any
// harm that it does to its reader affects that call alone.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/trainer_link/messages.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

// The child's program and model, and bounds of its memory and time.
struct TokenizerProcessOptions {
  std::filesystem::path program;  // starling-tokenizer
  UniqueFd model;                 // the manifest's tokenizer, open for reading, its digest checked
  // SentencePiece's tables are about ten times as long as their file (wire::kTokenizerBytesMax).
  ChildLimits limits{.memory_bytes = std::uint64_t{1} << 30};
  Duration answers_within = std::chrono::seconds(60);  // a model of a megabyte takes some hundredths of a second
};

// Calls block until the child has answered. They come from one thread, which must live as long as the call: to the
// kernel it is the child's parent. Both calls return the child's refusals, such as for an unreadable model; unavailable
// when it dies; deadline_exceeded.
class TokenizerProcess {
 public:
  explicit TokenizerProcess(TokenizerProcessOptions options) : options_(std::move(options)) {}

  // `text` has at most kTextBytesMax bytes; resource_exhausted when it gives more than kTokensMax tokens.
  [[nodiscard]] Result<std::vector<int>> tokens_of(std::string_view text) const;
  // Text of the tokens from `first` on, decoded as part of the whole. At most kTokensMax tokens.
  [[nodiscard]] Result<std::string> text_of(std::span<const int> tokens, std::size_t first) const;

 private:
  [[nodiscard]] Result<Reply> ask(Request request) const;

  TokenizerProcessOptions options_;
};

}  // namespace starling::trainer_link
