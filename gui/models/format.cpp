#include "gui/models/format.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <cmath>

namespace starling::models {
namespace {

struct Format {
  Q_DECLARE_TR_FUNCTIONS(Format)
};

constexpr int kDaysOfWeekday = 6;  // beyond this, a weekday could have two meanings

QDateTime local(WallTime when) { return QDateTime::fromMSecsSinceEpoch(when.unix_ms); }

}  // namespace

QString countText(std::int64_t count) { return QLocale().toString(static_cast<qlonglong>(count)); }

QString numberText(double value, int digits) { return QLocale().toString(value, 'f', digits); }

QString bytesText(double bytes) {
  const QString units[] = {Format::tr("B"), Format::tr("kB"), Format::tr("MB"), Format::tr("GB"), Format::tr("TB")};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return Format::tr("%1 %2", "number and unit").arg(numberText(bytes, unit == 0 ? 0 : 1), units[unit]);
}

QString rateText(double bytes_per_s) {
  return bytes_per_s > 0 ? Format::tr("%1 Mbit/s").arg(numberText(kMbitPerByte * bytes_per_s, 1)) : QStringLiteral("–");
}

QString creditText(double credit) {
  const double size = std::abs(credit);
  return numberText(credit, size >= 100 || size == 0 ? 0 : size >= 1 ? 2 : size >= 0.001 ? 4 : 7);
}

QString momentText(WallTime when, WallTime now) {
  const QLocale locale;
  const QDateTime moment = local(when);
  QString clock = locale.toString(moment.time(), QLocale::ShortFormat);
  const qint64 days = local(now).date().daysTo(moment.date());
  if (days == 0) return clock;
  const QString day = days > 0 && days <= kDaysOfWeekday ? locale.dayName(moment.date().dayOfWeek())
                                                         : locale.toString(moment.date(), Format::tr("d MMMM"));
  return Format::tr("%1 %2", "day and time").arg(day, clock);
}

WallTime wallNow() { return {QDateTime::currentMSecsSinceEpoch()}; }

}  // namespace starling::models
