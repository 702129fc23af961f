#include "gui/app/languages.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

namespace starling::app {

void applyLanguage(const QString& language) {
  static QTranslator qt_words;  // texts of Qt's own buttons
  static QTranslator our_words;
  const QLocale locale = language == QLatin1String("system") ? QLocale::system() : QLocale(language);
  QLocale::setDefault(locale);
  QCoreApplication::removeTranslator(&qt_words);
  QCoreApplication::removeTranslator(&our_words);
  if (qt_words.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                    QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
    QCoreApplication::installTranslator(&qt_words);
  }
  const QString folder = QStringLiteral(":/languages");
  if (our_words.load(locale, QStringLiteral("starling"), QStringLiteral("_"), folder) ||
      our_words.load(QStringLiteral("starling_en"), folder)) {
    QCoreApplication::installTranslator(&our_words);
  }
}

}  // namespace starling::app
