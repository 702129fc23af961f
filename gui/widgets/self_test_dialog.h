// The test of this computer: how far it is, what it found, and what follows from that.
#pragma once

#include <QDialog>

#include "gui/link/self_test.h"
#include "gui/models/daemon_model.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace starling::widgets {

class SelfTestDialog : public QDialog {
  Q_OBJECT

 public:
  // `program`: the path of starling. Tests at once, and deletes itself when it is closed and the program has ended.
  SelfTestDialog(models::DaemonModel& daemon, const QString& program, QWidget* parent = nullptr);

  void done(int result) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void begin(std::chrono::seconds computing);
  void tell(const link::TestResult& result);
  void makeLayout();
  void fit();

  models::DaemonModel& daemon_;
  link::SelfTest test_;
  QLabel* headline_;
  QLabel* detail_;
  QProgressBar* progress_;
  QLabel* findings_;
  QPushButton* stop_;
  QPushButton* again_;
  QPushButton* longer_;
  QPushButton* close_;
};

}  // namespace starling::widgets
