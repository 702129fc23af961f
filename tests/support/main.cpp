#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <set>
#include <string>

#include "tests/support/skip.h"

namespace {

constexpr int kSkipped = 77;  // exit status that starling_test() in cmake/starling.cmake knows
// The words of doctest for an exception within a subcase, which is told again with its own words.
constexpr const char* kTranslatedLater = "exception thrown in subcase";

struct Tally {
  std::set<std::string> skipped;  // reasons, each with its mark
  bool failed = false;
};
Tally& tally() {
  static Tally all;
  return all;
}

// Hears of every test case, and tells those that skip() has ended from those that failed.
class SkipListener : public doctest::IReporter {
 public:
  explicit SkipListener(const doctest::ContextOptions& /*options*/) {}
  void report_query(const doctest::QueryData& /*query*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
  void test_case_start(const doctest::TestCaseData& /*test*/) override { other_exceptions_ = false; }
  void test_case_reenter(const doctest::TestCaseData& /*test*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    const bool by_exception_alone = (stats.failure_flags & ~doctest::TestCaseFailureReason::Exception) == 0;
    tally().failed = tally().failed || other_exceptions_ || !by_exception_alone;
  }
  void test_case_exception(const doctest::TestCaseException& thrown) override {
    const std::string what = thrown.error_string.c_str();
    if (what.rfind(starling::testing::kSkipMark, 0) == 0) {
      tally().skipped.insert(what);
    } else if (what.rfind(kTranslatedLater, 0) != 0) {
      other_exceptions_ = true;
    }
  }
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*assertion*/) override {}
  void log_message(const doctest::MessageData& /*message*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*test*/) override {}

 private:
  bool other_exceptions_ = false;
};

REGISTER_LISTENER("skips", 1, SkipListener);

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (context.shouldExit() || tally().failed || tally().skipped.empty()) return status;
  for (const std::string& reason : tally().skipped) std::printf("%s\n", reason.c_str());
  return kSkipped;
}
