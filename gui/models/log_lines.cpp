#include "gui/models/log_lines.h"

#include <QCoreApplication>
#include <QRegularExpression>

namespace starling::models {
namespace {

struct Log {
  Q_DECLARE_TR_FUNCTIONS(Log)
};

LogLevel levelOf(QChar letter) {
  if (letter == QLatin1Char('W')) return LogLevel::warning;
  return letter == QLatin1Char('E') || letter == QLatin1Char('C') ? LogLevel::error : LogLevel::info;
}

}  // namespace

QList<LogLine> parseLog(const std::string& text) {
  static const QRegularExpression pattern(
      QStringLiteral("^(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d)\\.\\d+ ([A-Z]) (.*)$"));
  QList<LogLine> lines;
  for (const QString& line : QString::fromStdString(text).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
    const QRegularExpressionMatch match = pattern.match(line);
    if (match.hasMatch()) {
      lines.append({match.captured(1), levelOf(match.captured(2).at(0)), match.captured(3)});
    } else if (!lines.isEmpty()) {
      lines.last().words += QLatin1Char('\n') + line;
    }
  }
  return lines;
}

QString levelName(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return Log::tr("Information");
    case LogLevel::warning:
      return Log::tr("Warning");
    case LogLevel::error:
      return Log::tr("Error");
  }
  return {};
}

}  // namespace starling::models
