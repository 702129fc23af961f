#include "gui/models/self_test_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>

#include "gui/models/phrases.h"

namespace starling::models {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(SelfTest)
};

constexpr int kComputingPercent = 80;  // the share of computing; the rest is memory's

// Lines and findings of client/cli/doctor_self_test.cpp.
constexpr Phrase kProgress[] = {{"computing: ([0-9]+) times alike, ([0-9]+) of ([0-9]+) s",
                                 QT_TRANSLATE_NOOP("Daemon", "Computing: alike %1 times, %2 of %3 seconds")},
                                {"memory: ([0-9]+) % of ([0-9.]+) GB written and read",
                                 QT_TRANSLATE_NOOP("Daemon", "Memory: %1 % of %2 GB written and read")}};
constexpr Phrase kFindings[] = {
    {"it computed one thing ([0-9]+) times in ([0-9]+) s, always alike, and what others find.*",
     QT_TRANSLATE_NOOP("Daemon", "It computed one thing %1 times in %2 seconds: always alike, and what others find.")},
    {"this computer found no number where others find one: .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "It found no number where others find one. Memory or the processor may be overclocked, too hot "
                       "or broken.")},
    {"this computer found something else than others do .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "It found something else than others do. Memory or the processor may be overclocked, too hot "
                       "or broken.")},
    {"this computer got two different results from one computation .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "It got two different results from one computation. Memory or the processor may be "
                       "overclocked, too hot or broken.")},
    {"the test was stopped before its end", QT_TRANSLATE_NOOP("Daemon", "Stopped before the end.")},
    {"none is free to be looked at", QT_TRANSLATE_NOOP("Daemon", "None is free just now, so it was not tested.")},
    {"([0-9.]+) GB could not be had: (.*)",
     QT_TRANSLATE_NOOP("Daemon", "%1 GB could not be had, so it was not tested: %2")},
    {"([0-9.]+) GB were written twice, and read back as they were",
     QT_TRANSLATE_NOOP("Daemon", "%1 GB were written twice, and read back as they were.")},
    {"([0-9]+) of the words written to ([0-9.]+) GB were read back otherwise: .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "%2 GB were written, and %1 places read back otherwise: memory that is broken or "
                       "overclocked.")},
    {"a card is not looked at by this test", QT_TRANSLATE_NOOP("Daemon", "This test leaves it out.")},
    {"nothing could be computed: (.*)", QT_TRANSLATE_NOOP("Daemon", "Nothing could be computed: %1")}};
constexpr Phrase kAdvice[] = {
    {"undo overclocking .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "Undo overclocking (memory profiles such as XMP and EXPO, too), clean the cooler, test the "
                       "memory with memtest86+, and test again. Until then, do not train here.")},
    {"let it end", ""}};
constexpr Phrase kParts[] = {{"processor", QT_TRANSLATE_NOOP("Daemon", "Processor")},
                             {"memory", QT_TRANSLATE_NOOP("Daemon", "Memory")},
                             {"graphics", QT_TRANSLATE_NOOP("Daemon", "Graphics card")},
                             {"trainer", QT_TRANSLATE_NOOP("Daemon", "The program that computes")}};

QString known(const QString& said, std::span<const Phrase> phrases) {
  return phraseOf(said, phrases).value_or(capitalized(said));
}

TestOutcome whenNotRun(const link::TestResult& result) {
  return {Words::tr("The test could not be run"),
          result.findings.isEmpty() && result.complaint.isEmpty()
              ? Words::tr("The program “starling” is not beside this one. Install Starling again.")
              : Words::tr("Nothing is known about this computer yet. If it happens again, install Starling again.")};
}

}  // namespace

TestProgress testProgress(const QString& line) {
  static const QRegularExpression computing(QStringLiteral(", ([0-9]+) of ([0-9]+) s$"));
  static const QRegularExpression memory(QStringLiteral("^memory: ([0-9]+) %"));
  TestProgress progress{known(line, kProgress), 0};
  if (const auto match = computing.match(line); match.hasMatch()) {
    progress.percent = kComputingPercent * match.captured(1).toInt() / std::max(1, match.captured(2).toInt());
  } else if (const auto share = memory.match(line); share.hasMatch()) {
    progress.percent = kComputingPercent + (100 - kComputingPercent) * share.captured(1).toInt() / 100;
  }
  return progress;
}

QString findingWords(const link::TestFinding& finding) {
  const QString sign = finding.health == QLatin1String("good")  ? QStringLiteral("✓ ")
                       : finding.health == QLatin1String("bad") ? QStringLiteral("⚠ ")
                                                                : QStringLiteral("– ");
  QString words = sign + QStringLiteral("%1: %2").arg(known(finding.about, kParts), known(finding.text, kFindings));
  const QString advice = finding.to_do.isEmpty() ? QString() : known(finding.to_do, kAdvice);
  if (!advice.isEmpty()) words += QLatin1Char('\n') + advice;
  return words;
}

TestOutcome testOutcome(const link::TestResult& result, bool kept_out) {
  switch (result.verdict) {
    case link::TestVerdict::passed:
      return {Words::tr("Nothing wrong was found"),
              kept_out ? Words::tr("The project is told, and this computer takes part again within a moment.")
                       : Words::tr("Some faults show only when everything is warm: a test of ten minutes finds more.")};
    case link::TestVerdict::failed:
      return {Words::tr("This computer computes wrong"),
              Words::tr("Its work cannot be used until that is repaired: others find it wrong, and it is not credited. "
                        "Repair it as below, and test again.")};
    case link::TestVerdict::stopped:
      return {Words::tr("The test was stopped"), Words::tr("Only a test that ran to its end counts.")};
    case link::TestVerdict::not_run:
      break;
  }
  return whenNotRun(result);
}

}  // namespace starling::models
