#include "gui/widgets/first_run_wizard.h"

#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>

#include "tests/gui/support/control_names.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;
using namespace starling::widgets;
using starling::testing::wait_for;

TEST_CASE("the link is found in whatever was pasted") {
  CHECK(findJoinLink(QStringLiteral("Join us: starling://a.org:7700/?ca=00&invite=x and train")) ==
        QStringLiteral("starling://a.org:7700/?ca=00&invite=x"));
  CHECK(findJoinLink(QStringLiteral("https://a.org/")).isEmpty());
}

TEST_CASE("a link that came before the daemon is looked up when that is there") {
  testing::need_qt();
  testing::RealDaemon daemon;
  models::DaemonModel model(testing::Desk::options(daemon.data_dir()), {});
  FirstRunWizard wizard(model);
  wizard.show();
  model.open();
  const auto shows = [&](const QString& words) {
    return wait_for([&] {
      for (const QLabel* label : wizard.currentPage()->findChildren<QLabel*>()) {
        if (label->text().contains(words)) return true;
      }
      return false;
    });
  };
  wizard.useLink(QStringLiteral("starling://127.0.0.1:1/?ca=%1").arg(QString(64, QLatin1Char('0'))));
  CHECK(shows(QStringLiteral("That did not work: Starling's background program is not running")));
  daemon.start();
  CHECK(shows(QStringLiteral("127.0.0.1")));  // the address that the daemon could not reach
}

TEST_CASE("a link that leads nowhere is told on the first page, which cannot be left") {
  testing::Desk desk;
  FirstRunWizard wizard(desk.model());
  wizard.show();
  CHECK_FALSE(wizard.button(QWizard::NextButton)->isEnabled());
  const auto shows = [&](const QString& words) {
    return wait_for([&] {
      for (const QLabel* label : wizard.currentPage()->findChildren<QLabel*>()) {
        if (label->text().contains(words)) return true;
      }
      return false;
    });
  };
  wizard.useLink(QStringLiteral("https://example.org"));
  CHECK(shows(QStringLiteral("begins with starling://")));
  wizard.useLink(QStringLiteral("starling://127.0.0.1:1/?ca=%1").arg(QString(64, QLatin1Char('0'))));
  CHECK(shows(QStringLiteral("That did not work")));
  CHECK(wizard.windowTitle() == QStringLiteral("Join a project"));  // the name is known once the project has answered
  CHECK_FALSE(wizard.button(QWizard::NextButton)->isEnabled());
  CHECK(testing::nameless_controls(wizard).isEmpty());
}
