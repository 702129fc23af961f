#include "gui/models/phrases.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include "gui/models/format.h"

namespace starling::models {
namespace {

// A figure as the window's language writes it; any other text unchanged.
QString localized(const QString& part) {
  bool is_number = false;
  const double value = part.toDouble(&is_number);
  const auto point = part.indexOf(QLatin1Char('.'));
  return is_number && point >= 0 ? numberText(value, static_cast<int>(part.size() - point - 1)) : part;
}

}  // namespace

std::optional<QString> phraseOf(const QString& said, std::span<const Phrase> phrases, const QString& before) {
  for (const Phrase& phrase : phrases) {
    const QRegularExpression whole(QRegularExpression::anchoredPattern(before + QString::fromUtf8(phrase.said)));
    const QRegularExpressionMatch match = whole.match(said);
    if (!match.hasMatch()) continue;
    QString known = QCoreApplication::translate("Daemon", phrase.words);
    for (int part = 1; part <= match.lastCapturedIndex(); ++part) known = known.arg(localized(match.captured(part)));
    return known;
  }
  return std::nullopt;
}

QString capitalized(QString sentence) {
  if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
  return sentence;
}

}  // namespace starling::models
