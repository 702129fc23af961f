// The daemon's end of a tokenizer: text becomes the run's tokens and tokens text in a confined child process
// (client/tokenizer), one for each call, which ends with its answer. The SentencePiece model is a stranger's file, and
// whatever it does to its reader costs that call alone.
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

struct TokenizerProcessOptions {
  std::filesystem::path program;  // starling-tokenizer
  UniqueFd model;                 // the manifest's tokenizer, open for reading, its digest checked
  // SentencePiece's tables are some ten times as long as the file they are made of (wire::kTokenizerBytesMax).
  ChildLimits limits{.memory_bytes = std::uint64_t{1} << 30};
  Duration answers_within = std::chrono::seconds(60);  // of a model of a megabyte it takes some hundredths
};

// Blocks until the child has answered. From one thread, which must live as long as the call: to the kernel it is the
// child's parent. Errors of both: what the child refuses, such as a model that it cannot read; unavailable when it
// dies; deadline_exceeded.
class TokenizerProcess {
 public:
  explicit TokenizerProcess(TokenizerProcessOptions options) : options_(std::move(options)) {}

  // At most kTextBytesMax bytes; resource_exhausted when they are more than kWordsMax words.
  [[nodiscard]] Result<std::vector<int>> words_of(std::string_view text) const;
  // What `words` say from the word `first` on, as part of all of it. At most kWordsMax words.
  [[nodiscard]] Result<std::string> text_of(std::span<const int> words, std::size_t first) const;

 private:
  [[nodiscard]] Result<Reply> ask(Request request) const;

  TokenizerProcessOptions options_;
};

}  // namespace starling::trainer_link
