#include "gui/models/daemon_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <utility>

namespace starling::models {
namespace {

// Of client/session and client/daemon. A sentence may go on behind a colon with a cause or with figures.
constexpr std::array kSentences = {
    QT_TRANSLATE_NOOP("Daemon", "the coordinator cannot be reached"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator answers"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the model from other volunteers"),
    QT_TRANSLATE_NOOP("Daemon", "the download is complete"),
    QT_TRANSLATE_NOOP("Daemon", "the run has not been started"),
    QT_TRANSLATE_NOOP("Daemon", "the operator starts it"),
    QT_TRANSLATE_NOOP("Daemon", "the operator paused the run"),
    QT_TRANSLATE_NOOP("Daemon", "the operator starts it again"),
    QT_TRANSLATE_NOOP("Daemon", "the run is complete"),
    QT_TRANSLATE_NOOP("Daemon", "there is a new run"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator names a donor"),
    QT_TRANSLATE_NOOP("Daemon", "waiting for a member that can hand over the model"),
    QT_TRANSLATE_NOOP("Daemon", "the model here differs from everybody else's"),
    QT_TRANSLATE_NOOP("Daemon", "the group went on without this computer"),
    QT_TRANSLATE_NOOP("Daemon", "the trainer failed"),
    QT_TRANSLATE_NOOP("Daemon", "the next try, in a moment"),
    QT_TRANSLATE_NOOP("Daemon", "preparing the run"),
    QT_TRANSLATE_NOOP("Daemon", "asking the coordinator for the run"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the training data"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the validation data"),
    QT_TRANSLATE_NOOP("Daemon", "the model and its data are here"),
    QT_TRANSLATE_NOOP("Daemon", "leaving the project"),
    QT_TRANSLATE_NOOP("Daemon", "changing over to another project"),
    QT_TRANSLATE_NOOP("Daemon", "what it left is put away"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator says"),
};

// Empty where the window speaks English, as the daemon does.
QString kindOf(ErrorCode code) {
  const char* kind = nullptr;
  switch (code) {
    case ErrorCode::invalid_argument:
      kind = QT_TRANSLATE_NOOP("Daemon", "What was asked for cannot be done like this.");
      break;
    case ErrorCode::not_found:
      kind = QT_TRANSLATE_NOOP("Daemon", "There is no such thing.");
      break;
    case ErrorCode::already_exists:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is there already.");
      break;
    case ErrorCode::permission_denied:
    case ErrorCode::unauthenticated:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is not allowed. An invite may be used up or out of date.");
      break;
    case ErrorCode::failed_precondition:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is not possible just now.");
      break;
    case ErrorCode::resource_exhausted:
      kind = QT_TRANSLATE_NOOP("Daemon", "A limit was reached: disk, memory, or how often one may try.");
      break;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      kind = QT_TRANSLATE_NOOP("Daemon", "It cannot be reached. Check the network, and try again later.");
      break;
    case ErrorCode::unsupported:
      kind = QT_TRANSLATE_NOOP("Daemon", "This version of Starling cannot do that. Update it.");
      break;
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal:
      kind = QT_TRANSLATE_NOOP("Daemon", "Something went wrong. The log says more.");
      break;
  }
  const QString translated = QCoreApplication::translate("Daemon", kind);
  return translated == QString::fromUtf8(kind) ? QString() : translated;
}

QString capitalized(QString sentence) {
  if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
  return sentence;
}

// "1.5 of 3.0 MB"
QString figures(const QString& tail) {
  static const QRegularExpression megabytes(QStringLiteral("^([0-9.]+) of ([0-9.]+) MB$"));
  const QRegularExpressionMatch match = megabytes.match(tail);
  if (!match.hasMatch()) return tail;
  return QCoreApplication::translate("Daemon", "%1 of %2 MB").arg(match.captured(1), match.captured(2));
}

}  // namespace

QString daemonWords(const std::string& sentence) {
  const std::size_t colon = sentence.find(": ");
  const std::string head = sentence.substr(0, colon);
  if (std::find(kSentences.begin(), kSentences.end(), head) == kSentences.end()) {
    return capitalized(QString::fromStdString(sentence));
  }
  QString known = capitalized(QCoreApplication::translate("Daemon", head.c_str()));
  if (colon == std::string::npos) return known;
  return known + QStringLiteral(": ") + figures(QString::fromStdString(sentence.substr(colon + 2)));
}

QString planWords(const std::string& sentence) {
  // The words of shared/swarm, with what stands for a name or a figure in brackets.
  constexpr std::pair<const char*, const char*> kPlans[] = {
      {"alone: nothing to average with", QT_TRANSLATE_NOOP("Daemon", "Alone: nothing to average with.")},
      {"nobody's line has been measured yet", QT_TRANSLATE_NOOP("Daemon", "Nobody's line has been measured yet.")},
      {"all lines are used: the averaging takes ([0-9.]+) s",
       QT_TRANSLATE_NOOP("Daemon", "All lines are used: the averaging takes %1 s.")},
      {"the upload of (.+), ([0-9.]+) Mbit/s, bounds the averaging at ([0-9.]+) s",
       QT_TRANSLATE_NOOP("Daemon", "The upload of %1, %2 Mbit/s, bounds the averaging at %3 s.")},
      {"the download of (.+), ([0-9.]+) Mbit/s, bounds the averaging at ([0-9.]+) s",
       QT_TRANSLATE_NOOP("Daemon", "The download of %1, %2 Mbit/s, bounds the averaging at %3 s.")}};
  const QString said = QString::fromStdString(sentence);
  for (const auto& [pattern, words] : kPlans) {
    const QRegularExpression whole(QRegularExpression::anchoredPattern(QString::fromUtf8(pattern)));
    const QRegularExpressionMatch match = whole.match(said);
    if (!match.hasMatch()) continue;
    QString known = QCoreApplication::translate("Daemon", words);
    for (int part = 1; part <= match.lastCapturedIndex(); ++part) known = known.arg(match.captured(part));
    return known;
  }
  return capitalized(said);
}

QString replyWords(const std::string& sentence) {
  const char* done = QT_TRANSLATE_NOOP("Daemon", "Done");
  const QString translated = QCoreApplication::translate("Daemon", done);
  const QString words = QString::fromStdString(sentence);
  return translated == QString::fromUtf8(done) ? words : QStringLiteral("%1: %2").arg(translated, words);
}

QString errorWords(const Error& error) {
  const QString message = QString::fromStdString(error.message);
  const QString kind = kindOf(error.code);
  // In English the daemon's own sentence says it best.
  return kind.isEmpty() ? message : QStringLiteral("%1 (%2)").arg(kind, message);
}

}  // namespace starling::models
