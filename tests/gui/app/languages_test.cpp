#include "gui/app/languages.h"

#include <doctest/doctest.h>

#include <QCoreApplication>
#include <QFile>
#include <QXmlStreamReader>

#include "gui/models/situation.h"
#include "gui/widgets/main_window.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;

namespace {

struct Count {
  int messages = 0;
  int unfinished = 0;
};

Count count_messages(const QString& path) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  QXmlStreamReader xml(&file);
  Count count;
  while (!xml.atEnd()) {
    xml.readNext();
    if (!xml.isStartElement() || xml.name() != QLatin1String("translation")) continue;
    ++count.messages;
    if (xml.attributes().hasAttribute(QLatin1String("type"))) ++count.unfinished;
  }
  CHECK_FALSE(xml.hasError());
  return count;
}

}  // namespace

TEST_CASE("every word of the window has a Russian translation") {
  const Count russian = count_messages(QStringLiteral(STARLING_TRANSLATIONS "/starling_ru.ts"));
  CHECK(russian.messages > 200);
  CHECK(russian.unfinished == 0);
}

TEST_CASE("English counts in singular and plural, Russian in its three forms") {
  testing::need_qt();
  models::Snapshot snapshot;
  snapshot.link = link::LinkState::connected;
  snapshot.status.emplace();
  snapshot.status->project = "Birds";
  snapshot.status->phase = "training";
  const auto detail = [&](int swarm) {
    snapshot.status->swarm_size = swarm;
    return models::situationOf(snapshot).detail;
  };
  app::applyLanguage(QStringLiteral("en"));
  CHECK(detail(2) == QStringLiteral("This computer trains its neural network together with 1 other."));
  CHECK(detail(3) == QStringLiteral("This computer trains its neural network together with 2 others."));
  app::applyLanguage(QStringLiteral("ru"));
  CHECK(detail(2).endsWith(QStringLiteral("1 компьютером.")));
  CHECK(detail(3).endsWith(QStringLiteral("2 компьютерами.")));
  CHECK(detail(6).endsWith(QStringLiteral("5 компьютерами.")));
  CHECK(widgets::MainWindow::tr("Overview") == QStringLiteral("Обзор"));
  app::applyLanguage(QStringLiteral("en"));
  CHECK(widgets::MainWindow::tr("Overview") == QStringLiteral("Overview"));
}
