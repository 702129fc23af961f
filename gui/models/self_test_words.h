// The words of `starling doctor --self-test`, in the window's language and without its jargon.
#pragma once

#include <QString>

#include "gui/link/self_test.h"

namespace starling::models {

// How far a test is: the sentence to show, and the share of the whole, in percent.
struct TestProgress {
  QString words;
  int percent = 0;
};

TestProgress testProgress(const QString& line);

// A finding as a line of text with its sign, and the advice below it if there is one.
QString findingWords(const link::TestFinding& finding);

// The result of a test: a headline, and the consequences.
struct TestOutcome {
  QString headline;
  QString detail;
};

// kept_out: the project has put this computer out until it passes.
TestOutcome testOutcome(const link::TestResult& result, bool kept_out);

}  // namespace starling::models
