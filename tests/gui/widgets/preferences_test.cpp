#include "gui/widgets/preferences_page.h"

#include <doctest/doctest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <cmath>

#include "gui/widgets/preference_controls.h"
#include "gui/widgets/week_grid.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;
using namespace starling::widgets;
using starling::testing::wait_for;

namespace {

struct Opened {
  Opened() { page.show(); }
  template <typename Control>
  [[nodiscard]] Control* control(std::string_view name) const {
    return page.findChild<Control*>(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
  }
  [[nodiscard]] const wire::Preferences& now() { return model.preferences(); }

  testing::Desk desk;
  models::DaemonModel& model = desk.model();
  PreferencesPage page{model};
};

void press(QWidget* widget, Qt::Key key) {
  QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
  QCoreApplication::sendEvent(widget, &event);
}

}  // namespace

TEST_CASE("there is a control for every setting that the daemon knows") {
  Opened opened;
  for (const wire::PreferenceInfo& info : wire::preference_infos()) {
    CAPTURE(info.name);
    CHECK(opened.control<QWidget>(info.name) != nullptr);
  }
}

TEST_CASE("a setting without words of its own in the window gets the control of its kind") {
  Opened opened;
  QWidget parent;
  for (const wire::PreferenceInfo& info : wire::preference_infos()) makeControl(opened.model, info)->setParent(&parent);
  parent.findChild<QCheckBox*>(QStringLiteral("on_battery"))->click();
  CHECK(wait_for([&] { return opened.now().when.on_battery; }));
  parent.findChild<QDoubleSpinBox*>(QStringLiteral("idle_minutes"))->setValue(7);
  CHECK(wait_for([&] { return opened.now().when.idle_minutes == 7; }));
  auto* relay = parent.findChild<QDoubleSpinBox*>(QStringLiteral("relay_max_mbit_s"));
  relay->parentWidget()->findChild<QCheckBox*>()->click();
  CHECK(wait_for([&] { return opened.now().traffic.relay_max_mbit_s == 0.1; }));
  CHECK(parent.findChild<QComboBox*>(QStringLiteral("gpu"))->count() == 3);
  CHECK(parent.findChild<QLineEdit*>(QStringLiteral("exclusive_programs")) != nullptr);
}

TEST_CASE("each kind of control changes the daemon's setting, and follows it") {
  Opened opened;
  opened.control<QCheckBox>("on_battery")->click();
  CHECK(wait_for([&] { return opened.now().when.on_battery; }));
  opened.control<QDoubleSpinBox>("idle_minutes")->setValue(7);
  CHECK(wait_for([&] { return opened.now().when.idle_minutes == 7; }));
  auto* mode = opened.control<QComboBox>("network");
  mode->setCurrentIndex(mode->findData(QStringLiteral("never")));
  CHECK(wait_for([&] { return opened.now().network == wire::UseMode::never; }));
  auto* programs = opened.control<QLineEdit>("exclusive_programs");
  programs->setText(QStringLiteral("blender, steam"));
  emit programs->editingFinished();
  CHECK(wait_for([&] { return opened.now().when.exclusive_programs.size() == 2; }));

  opened.model.set("idle_minutes", "9");
  CHECK(wait_for([&] { return opened.control<QDoubleSpinBox>("idle_minutes")->value() == 9; }));
}

TEST_CASE("a limit is switched on with a sensible number, and off again") {
  Opened opened;
  auto* number = opened.control<QDoubleSpinBox>("data_max_gb_per_month");
  auto* on = number->parentWidget()->findChild<QCheckBox*>();
  CHECK_FALSE(number->isEnabled());
  on->click();
  CHECK(wait_for([&] { return opened.now().traffic.data_max_gb_per_month == 50.0; }));
  CHECK(wait_for([&] { return number->isEnabled(); }));
  on->click();
  CHECK(wait_for([&] { return !opened.now().traffic.data_max_gb_per_month.has_value(); }));
}

TEST_CASE("a preset is chosen by name, and a single change makes it custom") {
  Opened opened;
  auto* preset = opened.control<QComboBox>("preset");
  CHECK(preset->currentData().toString() == QStringLiteral("gentle"));
  preset->setCurrentIndex(preset->findData(QStringLiteral("dedicated")));
  emit preset->activated(preset->currentIndex());
  CHECK(wait_for([&] { return opened.now().limits.threads_in_use_percent == 100; }));
  opened.model.set("on_battery", "no");
  CHECK(wait_for([&] { return preset->currentData().toString() == QStringLiteral("custom"); }));
}

TEST_CASE("hours of the week are switched with the keyboard alone") {
  Opened opened;
  opened.control<QCheckBox>("compute_schedule_on")->click();
  auto* grid = opened.control<WeekGrid>("compute_schedule");
  CHECK(wait_for([&] { return grid->isVisible(); }));
  press(grid, Qt::Key_Down);   // Tuesday
  press(grid, Qt::Key_Right);  // 1 o'clock
  press(grid, Qt::Key_Space);
  CHECK(wait_for([&] { return !opened.now().hours.compute_schedule[25]; }));
  CHECK(opened.now().hours.compute_schedule.count() == wire::kWeekHours - 1);
  CHECK(grid->accessibleDescription().contains(QStringLiteral("1 o'clock: not allowed")));
}

TEST_CASE("the window offers no number that the daemon refuses, and all that a control can show") {
  Opened opened;
  int ranged = 0;
  for (const wire::PreferenceInfo& info : wire::preference_infos()) {
    const auto range = wire::preference_range(info.name);
    if (!range) continue;
    ++ranged;
    CAPTURE(info.name);
    const auto* box = opened.control<QDoubleSpinBox>(info.name);
    REQUIRE(box != nullptr);
    CHECK(box->minimum() >= range->min);
    CHECK(box->minimum() - range->min < std::pow(10.0, -box->decimals()));
    CHECK(box->maximum() == range->max);
    CHECK(box->suffix().isEmpty() == (range->unit == wire::PreferenceUnit::none));
    wire::Preferences preferences;
    for (const double value : {box->minimum(), box->maximum()}) {
      const std::string text = QString::number(value, 'f', box->decimals()).toStdString();
      CHECK(wire::set_preference(preferences, info.name, text).ok());
    }
  }
  CHECK(ranged == 17);
}
