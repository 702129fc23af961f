#include "gui/widgets/preferences_page.h"

#include <QComboBox>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "gui/widgets/preference_controls.h"

namespace starling::widgets {
namespace {

constexpr int kFormWidthMax = 720;

}  // namespace

QList<PresetWords> presetWords() {
  return {
      {"gentle", PreferencesPage::tr("Gentle"),
       PreferencesPage::tr(
           "You should not notice it: at most half of the processor while you work, the graphics card "
           "only when you are away, nothing on battery, on a metered connection such as a phone's, or during "
           "full screen.")},
      {"balanced", PreferencesPage::tr("Balanced"),
       PreferencesPage::tr("Three quarters of the processor while you work and all of it when you are away; nothing on "
                           "battery, on a metered connection such as a phone's, or during full screen.")},
      {"dedicated", PreferencesPage::tr("Dedicated"),
       PreferencesPage::tr("For a computer that has little else to do: all of it, all the time, on battery too; "
                           "nothing on a metered connection such as a phone's.")}};
}

PreferencesPage::PreferencesPage(models::DaemonModel& daemon, QWidget* parent)
    : QScrollArea(parent), daemon_(daemon), groups_(new QVBoxLayout()), preset_(new QComboBox()) {
  auto* content = new QWidget();
  content->setMaximumWidth(kFormWidthMax);
  content->setLayout(groups_);
  groups_->addWidget(makePreset());
  addWhen();
  addHowMuch();
  addNetwork();
  addOthers();
  groups_->addStretch(1);
  setWidget(content);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  connect(&daemon_, &models::DaemonModel::preferencesChanged, this, &PreferencesPage::showPreset);
}

QWidget* PreferencesPage::makePreset() {
  for (const PresetWords& preset : presetWords()) preset_->addItem(preset.title, QString::fromLatin1(preset.name));
  preset_->addItem(tr("Custom"), QStringLiteral("custom"));
  preset_->setAccessibleName(tr("Preset"));
  preset_->setObjectName(QStringLiteral("preset"));
  connect(preset_, &QComboBox::activated, this, [this] {
    const std::string preset = preset_->currentData().toString().toStdString();
    if (preset != "custom") daemon_.tell(wire::SetPreferences{preset});
    showPreset();
  });
  auto* row = new QWidget();
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(tr("Preset:")));
  layout->addWidget(preset_);
  layout->addStretch(1);
  return row;
}

void PreferencesPage::addGroup(const QString& title, const QList<QWidget*>& controls) {
  auto* group = new QGroupBox(title);
  auto* layout = new QVBoxLayout(group);
  for (QWidget* control : controls) layout->addWidget(control);
  // Inserted before the stretch at the end, once there is one.
  const bool has_stretch = groups_->count() > 0 && groups_->itemAt(groups_->count() - 1)->spacerItem() != nullptr;
  groups_->insertWidget(groups_->count() - (has_stretch ? 1 : 0), group);
}

void PreferencesPage::addWhen() {
  models::DaemonModel& d = daemon_;
  addGroup(tr("When to train"),
           {makeMode(d, "compute", tr("Train")), makeMode(d, "gpu", tr("Use the graphics card")),
            makeSwitch(d, "while_in_use", tr("Train while somebody uses the computer")),
            makeSwitch(d, "gpu_while_in_use", tr("Use the graphics card then too")),
            makeNumber(d, "idle_minutes", tr("It is not in use after so long without input")),
            makeSwitch(d, "on_battery", tr("Train on battery")),
            makeNumber(d, "battery_min_percent", tr("… but only above this charge")),
            makeSwitch(d, "during_fullscreen", tr("Train while a program fills the screen")),
            makeWords(d, "exclusive_programs", tr("Never beside these programs, by name, with commas between:"),
                      tr("blender, steam")),
            makeSchedule(d, "compute_schedule_on", "compute_schedule", tr("Train only in these hours of the week"))});
}

void PreferencesPage::addHowMuch() {
  models::DaemonModel& d = daemon_;
  addGroup(tr("How much of this computer"),
           {makeNumber(d, "threads_in_use_percent", tr("Share of the processor while it is in use")),
            makeNumber(d, "threads_idle_percent", tr("Share of the processor otherwise")),
            makeLimit(d, "threads_max", tr("Never more processor threads than"), {4}),
            makeNumber(d, "memory_in_use_percent", tr("Share of the memory while it is in use")),
            makeNumber(d, "memory_idle_percent", tr("Share of the memory otherwise")),
            makeLimit(d, "cells_max_gb", tr("Of it, for parts of large models, at most"), {4, 1}),
            makeNumber(d, "gpu_memory_percent", tr("Share of the graphics card's memory")),
            makeLimit(d, "temperature_max_c", tr("Pause when it is hotter than"), {85}),
            makeNumber(d, "disk_max_gb", tr("Disk space for models and data")),
            makeNumber(d, "disk_free_min_gb", tr("Disk space that is always left free"))});
}

void PreferencesPage::addNetwork() {
  models::DaemonModel& d = daemon_;
  addGroup(tr("Network"), {makeMode(d, "network", tr("Use the network")),
                           makeSwitch(d, "on_metered", tr("Use a metered connection, such as a phone's")),
                           makeLimit(d, "upload_max_mbit_s", tr("Send at most"), {10, 1}),
                           makeLimit(d, "download_max_mbit_s", tr("Receive at most"), {10, 1}),
                           makeLimit(d, "data_max_gb_per_month", tr("In a month, both ways, at most"), {50, 1}),
                           makeNumber(d, "data_month_first_day", tr("A month of data begins on day")),
                           makeSwitch(d, "port_mapping", tr("Ask the router to let calls of other volunteers through")),
                           makeLimit(d, "relay_max_mbit_s",
                                     tr("Pass on what computers behind routers say to each other, at most"), {10, 1}),
                           makeSchedule(d, "network_schedule_on", "network_schedule",
                                        tr("Use the network only in these hours of the week"))});
  addGroup(tr("Newer versions of Starling"),
           {makeSwitch(d, "update_check", tr("Look for them once a day")),
            makeSwitch(d, "update_install", tr("Install them between two rounds, unless the system does that"))});
}

void PreferencesPage::addOthers() {
  QList<QWidget*> controls;
  for (const wire::PreferenceInfo& info : wire::preference_infos()) {
    const QString name = QString::fromUtf8(info.name.data(), static_cast<qsizetype>(info.name.size()));
    if (groups_->parentWidget()->findChild<QWidget*>(name) == nullptr) controls.append(makeControl(daemon_, info));
  }
  if (!controls.isEmpty()) addGroup(tr("More"), controls);
}

void PreferencesPage::showEvent(QShowEvent* event) {
  QScrollArea::showEvent(event);
  daemon_.fetchPreferences();  // the command line may have changed them
  showPreset();
}

void PreferencesPage::showPreset() {
  const std::string_view name = wire::preset_of(daemon_.preferences());
  preset_->setCurrentIndex(preset_->findData(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))));
}

}  // namespace starling::widgets
