#include "gui/widgets/preference_controls.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <cmath>
#include <functional>

#include "gui/models/format.h"
#include "gui/widgets/week_grid.h"
#include "shared/base/verify.h"

namespace starling::widgets {
namespace {

using models::DaemonModel;

constexpr int kSwitchMargin = 3;  // equals the room around numbers

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Preferences)
};

std::string valueOf(const DaemonModel& daemon, const char* preference) {
  auto found = wire::preference_text(daemon.preferences(), preference);
  return found.ok() ? *found : std::string();
}

bool isYes(const DaemonModel& daemon, const char* preference) { return valueOf(daemon, preference) == "yes"; }

// Calls `show` now and whenever the preferences change; changes by `show` are not sent back to the daemon.
void follow(DaemonModel& daemon, QWidget* control, const std::function<void()>& show) {
  const auto quietly = [control, show] {
    const QSignalBlocker blocker(control);
    show();
  };
  QObject::connect(&daemon, &DaemonModel::preferencesChanged, control, quietly);
  quietly();
}

QString unitWord(wire::PreferenceUnit unit) {
  switch (unit) {
    case wire::PreferenceUnit::none:
      return {};
    case wire::PreferenceUnit::minutes:
      return Words::tr("min");
    case wire::PreferenceUnit::percent:
      return Words::tr("%");
    case wire::PreferenceUnit::degrees_celsius:
      return Words::tr("°C");
    case wire::PreferenceUnit::gigabytes:
      return Words::tr("GB");
    case wire::PreferenceUnit::megabits_per_second:
      return Words::tr("Mbit/s");
  }
  return {};
}

// A box that offers only what the daemon accepts: where the least number has more decimals, the next one that has not.
QDoubleSpinBox* makeBox(const char* preference, int decimals, const QString& name) {
  const std::optional<wire::PreferenceRange> range = wire::preference_range(preference);
  VERIFY(range.has_value());
  const double steps = std::pow(10.0, decimals);
  auto* box = new QDoubleSpinBox();
  box->setDecimals(decimals);
  box->setRange(std::ceil(range->min * steps) / steps, range->max);
  const QString unit = unitWord(range->unit);
  box->setSuffix(unit.isEmpty() ? QString() : QLatin1Char(' ') + unit);
  box->setAccessibleName(name);
  box->setKeyboardTracking(false);  // sends the number only when it is complete
  return box;
}

// The label of a switch, which wraps where the window is narrow.
class SwitchWords : public QLabel {
 public:
  SwitchWords(const QString& words, QCheckBox* box) : QLabel(words), box_(box) { setWordWrap(true); }

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) box_->click();
  }

 private:
  QCheckBox* box_;
};

// A row that begins with a switch and its label.
QWidget* makeRow(QCheckBox* box, const QString& label) {
  box->setAccessibleName(label);
  auto* row = new QWidget();
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, kSwitchMargin, 0, kSwitchMargin);
  layout->addWidget(box);
  layout->addWidget(new SwitchWords(label, box), 1);
  return row;
}

std::string numberText(double value, int decimals) { return QString::number(value, 'f', decimals).toStdString(); }

// A label before a control.
QWidget* beside(const QString& label, QWidget* control) {
  auto* row = new QWidget();
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* words = new QLabel(label);
  words->setWordWrap(true);
  words->setBuddy(control);
  layout->addWidget(words, 1);
  layout->addWidget(control);
  return row;
}

}  // namespace

QWidget* makeSwitch(DaemonModel& daemon, const char* preference, const QString& label) {
  auto* box = new QCheckBox();
  box->setObjectName(QString::fromLatin1(preference));
  follow(daemon, box, [&daemon, box, preference] { box->setChecked(isYes(daemon, preference)); });
  QObject::connect(box, &QCheckBox::toggled, &daemon,
                   [&daemon, preference](bool on) { daemon.set(preference, on ? "yes" : "no"); });
  return makeRow(box, label);
}

QWidget* makeNumber(DaemonModel& daemon, const char* preference, const QString& label) {
  QDoubleSpinBox* box = makeBox(preference, 0, label);
  box->setObjectName(QString::fromLatin1(preference));
  follow(daemon, box,
         [&daemon, box, preference] { box->setValue(QString::fromStdString(valueOf(daemon, preference)).toDouble()); });
  QObject::connect(box, &QDoubleSpinBox::valueChanged, &daemon,
                   [&daemon, preference](double value) { daemon.set(preference, numberText(value, 0)); });
  return beside(label, box);
}

QWidget* makeLimit(DaemonModel& daemon, const char* preference, const QString& label, const LimitForm& form) {
  auto* on = new QCheckBox();
  QDoubleSpinBox* box = makeBox(preference, form.decimals, label);
  box->setObjectName(QString::fromLatin1(preference));
  box->setValue(form.initial);
  follow(daemon, box, [&daemon, on, box, preference] {
    bool is_number = false;
    const double value = QString::fromStdString(valueOf(daemon, preference)).toDouble(&is_number);
    const QSignalBlocker blocker(on);
    on->setChecked(is_number);
    box->setEnabled(is_number);
    if (is_number) box->setValue(value);
  });
  QObject::connect(on, &QCheckBox::toggled, &daemon, [&daemon, box, preference, form](bool limited) {
    daemon.set(preference, limited ? numberText(box->value(), form.decimals) : "none");
  });
  QObject::connect(box, &QDoubleSpinBox::valueChanged, &daemon, [&daemon, preference, form](double value) {
    daemon.set(preference, numberText(value, form.decimals));
  });
  QWidget* row = makeRow(on, label);
  row->layout()->addWidget(box);
  row->layout()->setContentsMargins(0, 0, 0, 0);
  return row;
}

QWidget* makeMode(DaemonModel& daemon, const char* preference, const QString& label) {
  auto* box = new QComboBox();
  box->setObjectName(QString::fromLatin1(preference));
  box->setAccessibleName(label);
  box->addItem(Words::tr("Always"), QStringLiteral("always"));
  box->addItem(Words::tr("By the rules"), QStringLiteral("rules"));
  box->addItem(Words::tr("Never"), QStringLiteral("never"));
  follow(daemon, box, [&daemon, box, preference] {
    box->setCurrentIndex(box->findData(QString::fromStdString(valueOf(daemon, preference))));
  });
  QObject::connect(box, &QComboBox::currentIndexChanged, &daemon,
                   [&daemon, box, preference] { daemon.set(preference, box->currentData().toString().toStdString()); });
  return beside(label, box);
}

QWidget* makeWords(DaemonModel& daemon, const char* preference, const QString& label, const QString& example) {
  auto* line = new QLineEdit();
  line->setObjectName(QString::fromLatin1(preference));
  line->setAccessibleName(label);
  line->setPlaceholderText(example);
  follow(daemon, line, [&daemon, line, preference] {
    const QString value = QString::fromStdString(valueOf(daemon, preference));
    if (!line->hasFocus()) line->setText(value == QStringLiteral("none") ? QString() : value);
  });
  QObject::connect(line, &QLineEdit::editingFinished, &daemon, [&daemon, line, preference] {
    const std::string value = line->text().trimmed().toStdString();
    const std::string told = value.empty() ? "none" : value;
    if (told != valueOf(daemon, preference)) daemon.set(preference, told);
  });
  auto* box = new QWidget();
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* words = new QLabel(label);
  words->setWordWrap(true);
  words->setBuddy(line);
  layout->addWidget(words);
  layout->addWidget(line);
  return box;
}

QWidget* makeSchedule(DaemonModel& daemon, const char* on_preference, const char* hours_preference,
                      const QString& label) {
  auto* grid = new WeekGrid();
  grid->setObjectName(QString::fromLatin1(hours_preference));
  grid->setAccessibleName(label);
  follow(daemon, grid, [&daemon, grid, on_preference, hours_preference] {
    if (const auto hours = wire::parse_week_hours(valueOf(daemon, hours_preference)); hours.ok())
      grid->setHours(*hours);
    grid->setVisible(isYes(daemon, on_preference));
  });
  QObject::connect(grid, &WeekGrid::edited, &daemon,
                   [&daemon, grid, hours_preference] { daemon.set(hours_preference, wire::to_text(grid->hours())); });
  auto* box = new QWidget();
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(makeSwitch(daemon, on_preference, label));
  layout->addWidget(grid);
  return box;
}

// The value when nothing was chosen tells the kind of a setting.
QWidget* makeControl(models::DaemonModel& daemon, const wire::PreferenceInfo& info) {
  const char* name = info.name.data();  // a literal
  const QString label = QString::fromUtf8(info.help.data(), static_cast<qsizetype>(info.help.size()));
  const std::string unset = *wire::preference_text({}, info.name);
  if (const auto range = wire::preference_range(info.name)) {
    if (unset == "none") return makeLimit(daemon, name, label, {range->min, range->min < 1 ? 1 : 0});
    return makeNumber(daemon, name, label);
  }
  if (unset == "yes" || unset == "no") return makeSwitch(daemon, name, label);
  if (unset == wire::to_string(wire::UseMode::rules)) return makeMode(daemon, name, label);
  return makeWords(daemon, name, label, {});
}

}  // namespace starling::widgets
