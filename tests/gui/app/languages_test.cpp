#include "gui/app/languages.h"

#include <doctest/doctest.h>

#include <QScrollArea>
#include <QTabWidget>

#include "gui/models/situation.h"
#include "gui/widgets/main_window.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;

namespace {

constexpr int kNarrow = 400;
constexpr int kScrollBar = 20;

}  // namespace

TEST_CASE("in both languages every page fits into a narrow window") {
  testing::Desk desk;
  models::HistoryModel history(desk.model());
  for (const char* language : {"en", "ru"}) {
    app::applyLanguage(QString::fromLatin1(language));
    widgets::MainWindow window(desk.model(), history);
    const auto* tabs = window.findChild<QTabWidget*>();
    for (int tab = 0; tab < tabs->count(); ++tab) {
      CAPTURE(language);
      CAPTURE(tabs->tabText(tab).toStdString());
      auto* area = qobject_cast<QScrollArea*>(tabs->widget(tab));
      const QWidget* page = area != nullptr ? area->widget() : tabs->widget(tab);
      CHECK(page->minimumSizeHint().width() <= kNarrow - kScrollBar);
    }
  }
  app::applyLanguage(QStringLiteral("en"));
}

TEST_CASE("English counts in singular and plural, Russian in its three forms") {
  testing::need_qt();
  models::Snapshot snapshot;
  snapshot.link = link::LinkState::connected;
  snapshot.status.emplace();
  snapshot.status->membership.project = "Birds";
  snapshot.status->phase = wire::DaemonPhase::paused;
  snapshot.status->rules.code = "in_use";
  const auto detail = [&](int minutes) {
    snapshot.preferences.when.idle_minutes = minutes;
    return models::situationOf(snapshot).detail;
  };
  app::applyLanguage(QStringLiteral("en"));
  CHECK(detail(1) == QStringLiteral("Goes on when nobody has used it for 1 minute."));
  CHECK(detail(2) == QStringLiteral("Goes on when nobody has used it for 2 minutes."));
  app::applyLanguage(QStringLiteral("ru"));
  CHECK(detail(1).endsWith(QStringLiteral("1 минуту.")));
  CHECK(detail(2).endsWith(QStringLiteral("2 минуты.")));
  CHECK(detail(5).endsWith(QStringLiteral("5 минут.")));
  CHECK(widgets::MainWindow::tr("Overview") == QStringLiteral("Обзор"));
  app::applyLanguage(QStringLiteral("en"));
  CHECK(widgets::MainWindow::tr("Overview") == QStringLiteral("Overview"));
}
