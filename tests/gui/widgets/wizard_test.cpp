#include "gui/widgets/first_run_wizard.h"

#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <memory>

#include "gui/widgets/you_page.h"
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

TEST_CASE("a name that no project would show is refused on its page, with the reason") {
  testing::need_qt();
  const auto choice = std::make_shared<FirstRun>();
  YouPage page(choice);
  page.show();
  auto* const name = page.findChild<QLineEdit*>(QStringLiteral("name"));
  auto* const problem = page.findChild<QLabel*>(QStringLiteral("name_problem"));
  CHECK_FALSE(page.isComplete());
  name->setText(QStringLiteral("Ada <3"));
  CHECK(page.isComplete());
  CHECK_FALSE(page.validatePage());
  CHECK(problem->isVisible());
  CHECK(problem->text().startsWith(QStringLiteral("This name has '<'")));
  name->setText(QString::fromUtf8(" தமிழ் "));
  CHECK_FALSE(problem->isVisible());
  CHECK(page.validatePage());
  CHECK(choice->name == "தமிழ்");
  page.findChild<QCheckBox*>(QStringLiteral("with_account"))->setChecked(true);
  for (const char* of_account_there : {"ada@example.org", "Ada <3"}) {  // the latter by rules of before
    name->setText(QString::fromUtf8(of_account_there));
    CHECK(page.validatePage());
    CHECK(choice->name == of_account_there);
  }
}
