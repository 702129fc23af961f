// All of the volunteer's settings; changes take effect at once. This computer's file is the only authority.
#pragma once

#include <QScrollArea>

#include "gui/models/daemon_model.h"

class QComboBox;
class QVBoxLayout;

namespace starling::widgets {

class PreferencesPage : public QScrollArea {
  Q_OBJECT

 public:
  explicit PreferencesPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

  // Adds settings of the window itself, which the application owns.
  void addGroup(const QString& title, const QList<QWidget*>& controls);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makePreset();
  void addWhen();
  void addHowMuch();
  void addNetwork();
  // Adds those that no other group has, with the texts of the command line.
  void addOthers();
  void showPreset();

  models::DaemonModel& daemon_;
  QVBoxLayout* groups_;
  QComboBox* preset_;
};

// The texts of the three presets: name on the command line, title, and meaning.
struct PresetWords {
  const char* name;
  QString title;
  QString meaning;
};
QList<PresetWords> presetWords();

}  // namespace starling::widgets
