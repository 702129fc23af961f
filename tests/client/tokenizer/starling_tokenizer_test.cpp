// The real starling-tokenizer, in its sandbox, asked as the daemon asks it.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <string>
#include <vector>

#include "client/trainer_link/tokenizer_process.h"
#include "shared/base/files.h"
#include "shared/run/data_options.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tokenizer_model.h"

using namespace starling;
using namespace starling::trainer_link;

namespace {

// Sanitizers reserve more memory than any limit allows, and need system calls that the sandbox refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kConfined = false;
#else
constexpr bool kConfined = true;
#endif

struct Asked {
  explicit Asked(const std::string& model, const std::string& program = STARLING_TOKENIZER)
      : tokenizer(options(model, program)) {}

  TokenizerProcessOptions options(const std::string& model, const std::string& program) const {
    REQUIRE(write_file_atomically(folder / "model", model).ok());
    TokenizerProcessOptions options;
    options.program = program;
    options.model = UniqueFd(::open((folder / "model").c_str(), O_RDONLY | O_CLOEXEC));
    if (!kConfined) options.limits = {.sandbox = false};
    return options;
  }

  testing::TempDir folder;
  TokenizerProcess tokenizer;
};

}  // namespace

TEST_CASE("a prompt becomes tokens, and tokens that go on from it the text behind it, its blank included") {
  const Asked asked(testing::tokenizer_model(60));
  const auto prompt = asked.tokenizer.tokens_of("the heron stands");
  REQUIRE_MESSAGE(prompt.ok(), prompt.error().message);
  CHECK(prompt->size() >= 3);
  std::vector<int> tokens = asked.tokenizer.tokens_of("the heron stands under grey water").value();
  tokens.insert(tokens.begin(), 3);  // marks say nothing
  const auto more = asked.tokenizer.text_of(tokens, prompt->size() + 1);
  REQUIRE_MESSAGE(more.ok(), more.error().message);
  CHECK(*more == " under grey water");
  CHECK(asked.tokenizer.text_of(tokens, tokens.size()).value().empty());
  CHECK(asked.tokenizer.text_of(tokens, 0).value() == "the heron stands under grey water");
  CHECK(asked.tokenizer.tokens_of("").value().empty());
  tokens.insert(tokens.end(), {60, -5});  // and so do words that are none of its
  CHECK(asked.tokenizer.text_of(tokens, 0).value() == "the heron stands under grey water");
}

TEST_CASE("a model that is none, is damaged, has other marks or is too long is refused, with a reason") {
  const std::string model = testing::tokenizer_model(60);
  for (const std::string& other :
       {std::string(), std::string("no model at all"), model.substr(0, model.size() / 2),
        testing::tokenizer_model(60, false), std::string(wire::kTokenizerBytesMax + 1, 'x')}) {
    const auto tokens = Asked(other).tokenizer.tokens_of("the heron");
    REQUIRE_FALSE(tokens.ok());
    CHECK(tokens.error().message.starts_with("make words of text: "));
    CHECK(tokens.error().message.size() > 30);
  }
}

TEST_CASE("flipped bytes cost an answer, or its reader, and nothing else") {
  const std::string model = testing::tokenizer_model(60);
  for (std::size_t at = 5; at < model.size(); at += model.size() / 16) {
    CAPTURE(at);
    std::string damaged = model;
    for (std::size_t i = at; i < std::min(at + 8, damaged.size()); ++i) damaged[i] = static_cast<char>(~damaged[i]);
    const auto tokens = Asked(damaged).tokenizer.tokens_of("the heron stands under grey water");
    if (!tokens.ok()) CHECK(tokens.error().message.starts_with("make words of text: "));
  }
}

TEST_CASE("what is too much is refused: words of a text, text of words") {
  const Asked asked(testing::tokenizer_model(60));
  CHECK(asked.tokenizer.tokens_of(std::string(kTextBytesMax + 1, 'x')).error().code == ErrorCode::invalid_argument);
  std::string long_text;
  while (long_text.size() + 3 <= kTextBytesMax) long_text += "q z";  // no token says as much as two of them
  CHECK(asked.tokenizer.tokens_of(long_text).error().code == ErrorCode::resource_exhausted);
  const std::vector<int> many(kTokensMax + 1, 7);
  CHECK(asked.tokenizer.text_of(many, 0).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a program that is not there, dies or hangs is told of") {
  const Asked absent("", "/nowhere/starling-tokenizer");
  CHECK(absent.tokenizer.tokens_of("a").error().message.find("/nowhere/starling-tokenizer") != std::string::npos);
  const Asked dying("", "/bin/false");
  CHECK(dying.tokenizer.tokens_of("a").error().message == "make words of text: the tokenizer ended with exit code 1");
  testing::TempDir folder;
  REQUIRE(write_file_atomically(folder / "hangs", "#!/bin/sh\nread -r line <&3; while :; do :; done\n").ok());
  std::filesystem::permissions(folder / "hangs", std::filesystem::perms::owner_all);
  TokenizerProcessOptions options;
  options.program = folder / "hangs";
  options.model = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  options.answers_within = std::chrono::milliseconds(50);
  CHECK(TokenizerProcess(std::move(options)).tokens_of("a").error().code == ErrorCode::deadline_exceeded);
}
