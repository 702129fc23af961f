#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QScopedPointer>
#include <filesystem>
#include <fstream>

#include "gui/widgets/main_window.h"
#include "gui/widgets/self_test_dialog.h"
#include "shared/base/files.h"
#include "tests/gui/support/control_names.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/false_daemon.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;
using namespace starling::widgets;
using starling::testing::wait_for;

namespace {

constexpr const char* kTold =
    "others computed something else from the same samples than this computer: its credit that was not final is taken "
    "back. Memory or a card that is overclocked, too hot or broken is the usual cause; 'starling doctor --self-test' "
    "looks for that";
constexpr const char* kOut =
    "others computed something else from the same samples than this computer, 2 times: it has no part in rounds until "
    "'starling doctor --self-test' finds nothing wrong. Memory or a card that is overclocked, too hot or broken is the "
    "usual cause";

// A window on a daemon that tells this of its checked work.
struct Told {
  explicit Told(const wire::CheckedWork& checked)
      : daemon(testing::checked_member(checked)), model(testing::Desk::options(daemon.data_dir()), {}) {
    model.open();
    REQUIRE(wait_for([&] { return model.connected(); }));
  }

  testing::FalseDaemon daemon;
  models::DaemonModel model;
};

// The dialog, on a script in the place of starling.
struct Tested : Told {
  explicit Tested(const std::string& script, const wire::CheckedWork& checked = {1, 2, 0, kOut}) : Told(checked) {
    if (!script.empty()) {
      const std::filesystem::path program = daemon.data_dir() / "starling";
      REQUIRE(write_file_atomically(program, "#!/bin/sh\n" + script).ok());
      std::filesystem::permissions(program, std::filesystem::perms::owner_all);
      path = QString::fromStdString(program.string());
    }
    dialog = new SelfTestDialog(model, path);
    dialog->show();
  }
  ~Tested() { delete dialog; }
  [[nodiscard]] QString text(const char* label) const {
    return dialog->findChild<QLabel*>(QString::fromLatin1(label))->text();
  }
  [[nodiscard]] QAbstractButton* button(const char* name) const {
    return dialog->findChild<QAbstractButton*>(QString::fromLatin1(name));
  }
  [[nodiscard]] bool ends() const {
    return wait_for([&] { return button("close_test")->isVisible(); });
  }

  QString path;
  QPointer<SelfTestDialog> dialog;
};

}  // namespace

TEST_CASE("a miss is told in the window, with a button for the test") {
  Told told({5, 1, 0, kTold});
  models::HistoryModel history(told.model);
  MainWindow window(told.model, history);
  window.show();
  auto* button = window.findChild<QAbstractButton*>(QStringLiteral("self_test"));
  REQUIRE(wait_for([&] { return button->isVisible(); }));
  CHECK(window.findChild<QLabel*>(QStringLiteral("problems"))->text().contains(QStringLiteral("credit")));
  button->click();
  CHECK(wait_for([&] { return window.findChild<SelfTestDialog*>() != nullptr; }));

  told.daemon.tell(testing::checked_member({6, 1, 0, {}}));
  CHECK(wait_for([&] { return !button->isVisible(); }));
}

TEST_CASE("a test shows how far it is, and a computer that passes takes part again") {
  Tested tested(R"(
test "$1" = --data-dir && test "$3" = --json && test "$4 $5 $6" = "doctor --self-test --progress" || exit 2
mkfifo "$2/go" || exit 2
echo 'computing: 7 times alike, 10 of 20 s' >&2
read -r _ < "$2/go"
echo '{"ok":true,"findings":[{"health":"good","about":"memory","text":"2.0 GB were written twice, and read back as they were","to_do":""}]}'
)");
  CHECK(testing::nameless_controls(*tested.dialog).isEmpty());
  REQUIRE(wait_for(
      [&] { return tested.text("findings") == QStringLiteral("Computing: alike 7 times, 10 of 20 seconds"); }));
  CHECK(tested.dialog->findChild<QProgressBar*>()->value() == 40);
  CHECK_FALSE(tested.button("close_test")->isVisible());
  std::fstream go(tested.daemon.data_dir() / "go", std::ios::in | std::ios::out);  // both: it waits for no reader
  go << "\n" << std::flush;
  REQUIRE(go.good());
  REQUIRE(tested.ends());
  CHECK(tested.text("test_headline") == QStringLiteral("Nothing wrong was found"));
  CHECK(tested.text("test_detail").contains(QStringLiteral("takes part again")));
  CHECK(tested.text("findings") == QStringLiteral("✓ Memory: 2.0 GB were written twice, and read back as they were."));
  CHECK_FALSE(tested.button("stop_test")->isVisible());
}

TEST_CASE("a computer that fails its test is told what to do") {
  Tested tested(R"(
echo '{"ok":false,"findings":[{"health":"bad","about":"processor","text":"this computer got two different results from one computation (the 3. time): heat","to_do":"undo overclocking (and so on), and ask again"}]}'
exit 4
)");
  REQUIRE(tested.ends());
  CHECK(tested.text("test_headline") == QStringLiteral("This computer computes wrong"));
  CHECK(tested.text("findings").startsWith(QStringLiteral("⚠ Processor: It got two different results")));
  CHECK(tested.text("findings").contains(QStringLiteral("memtest86+")));
}

TEST_CASE("a test without a trainer says nothing about the computer") {
  Tested tested(R"(
echo '{"ok":false,"findings":[{"health":"bad","about":"trainer","text":"nothing could be computed: no such file","to_do":""}]}'
exit 4
)");
  REQUIRE(tested.ends());
  CHECK(tested.text("test_headline") == QStringLiteral("The test could not be run"));
  CHECK(tested.text("findings").contains(QStringLiteral("no such file")));
}

TEST_CASE("without the program the dialog says so") {
  Tested tested("");
  REQUIRE(tested.ends());
  CHECK(tested.text("test_headline") == QStringLiteral("The test could not be run"));
  CHECK(tested.text("test_detail").contains(QStringLiteral("Install Starling again")));
}

TEST_CASE("a test that is stopped ends its program as Ctrl-C does") {
  Tested tested(R"(
trap 'echo stopped > "$2/ended"; exit 1' TERM
mkfifo "$2/never" && exec 3<> "$2/never" || exit 2
echo 'computing: 1 times alike, 0 of 20 s' >&2
read -r _ <&3
)");
  REQUIRE(wait_for([&] { return tested.text("findings").startsWith(QStringLiteral("Computing")); }));
  SUBCASE("with its button") {
    tested.button("stop_test")->click();
    REQUIRE(tested.ends());
    CHECK(tested.text("test_headline") == QStringLiteral("The test was stopped"));
  }
  SUBCASE("by closing the dialog") {
    tested.dialog->close();
    CHECK_FALSE(tested.dialog->isVisible());
    CHECK(wait_for([&] { return tested.dialog == nullptr; }));
  }
  SUBCASE("by ending the window's program") { delete tested.dialog; }
  CHECK(std::filesystem::exists(tested.daemon.data_dir() / "ended"));
}
