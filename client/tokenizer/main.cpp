// starling-tokenizer: converts between text and a run's tokens for starlingd, which starts it for one answer and
// confines it. It is a program of its own for two reasons: LibTorch and SentencePiece bring protobufs that conflict in
// one process, so the trainer cannot do it; and its input comes from strangers, so the daemon must not.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/trainer_link/channel.h"
#include "client/trainer_link/child_fds.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/sandbox.h"
#include "shared/base/files.h"
#include "shared/base/version.h"
#include "shared/run/data_options.h"
#include "shared/text/tokenizer.h"

namespace {

using namespace starling;
using trainer_link::Command;
using trainer_link::Reply;
using trainer_link::Request;

Result<std::string> tokens_of(const text::Tokenizer& tokenizer, std::string_view text) {
  std::vector<int> tokens;
  STARLING_TRY(tokenizer.encode(text, tokens));
  if (tokens.size() <= trainer_link::kTokensMax) return trainer_link::pack_tokens(tokens);
  return Error{ErrorCode::resource_exhausted,
               fmt::format("they are {} words, and at most {} are possible", tokens.size(), trainer_link::kTokensMax)};
}

// Text of the last `count` tokens. SentencePiece drops the blank before a text's first word, so they are decoded as the
// end of the whole text.
Result<std::string> text_of(const text::Tokenizer& tokenizer, std::span<const int> tokens, std::size_t count) {
  if (count > tokens.size()) return Error{ErrorCode::invalid_argument, "there are fewer words"};
  STARLING_ASSIGN(const std::string before, tokenizer.decode(tokens.first(tokens.size() - count)));
  STARLING_ASSIGN(const std::string all, tokenizer.decode(tokens));
  std::string text = all.substr(std::min(before.size(), all.size()));
  if (text.size() <= trainer_link::kTextBytesMax) return text;
  return Error{ErrorCode::resource_exhausted, fmt::format("the text has {} bytes, and at most {} are possible",
                                                          text.size(), trainer_link::kTextBytesMax)};
}

Result<std::string> answer(const Request& request, std::string_view model) {
  STARLING_ASSIGN(const text::Tokenizer tokenizer, text::Tokenizer::from_model(model));
  if (request.command == Command::tokens_of_text) return tokens_of(tokenizer, request.text);
  if (request.command != Command::text_of_tokens) return Error{ErrorCode::unsupported, "a tokenizer trains nothing"};
  STARLING_ASSIGN(const std::vector<int> tokens, trainer_link::unpack_tokens(request.text));
  return text_of(tokenizer, tokens, static_cast<std::size_t>(request.count));
}

// Turns exceptions of the libraries into errors.
Result<std::string> guarded_answer(const Request& request, std::string_view model) {
  try {
    return answer(request, model);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::resource_exhausted, "the tokenizer's memory limit is reached"};
  } catch (const std::exception& problem) {
    return Error{ErrorCode::internal, problem.what()};
  }
}

Status serve() {
  STARLING_ASSIGN(const auto message, trainer_link::receive_message(trainer_link::kChannelFd));
  STARLING_ASSIGN(const Request request, trainer_link::decode_request(message));
  // The model's bytes are read while files may be opened, and parsed when none may.
  STARLING_ASSIGN(const std::string model, read_file(fmt::format("/proc/self/fd/{}", trainer_link::kTokenizerFd),
                                                     static_cast<std::size_t>(wire::kTokenizerBytesMax)));
  STARLING_TRY(trainer_link::limit_resources(request.limits.memory_bytes, false));
  if (request.limits.sandbox) STARLING_TRY(trainer_link::enter_sandbox({.landlock = request.limits.landlock}).status());
  auto text = guarded_answer(request, model);
  Reply reply;
  reply.sequence = request.sequence;
  if (text.ok()) {
    reply.text = std::move(text).value();
  } else {
    reply.status = text.error();
  }
  return trainer_link::send_message(trainer_link::kChannelFd, encode(reply));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts(std::string(kVersion).c_str());
    return 0;
  }
  return trainer_link::run_child(argc, argv, "makes tokens of text", serve);
}
