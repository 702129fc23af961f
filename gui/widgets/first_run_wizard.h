// From a join link to the first accepted sample: link, what you give, you, limits, ready, first steps.
// Nothing is trained before the volunteer has said so on the fifth page.
#pragma once

#include <QWizard>
#include <memory>

#include "gui/models/daemon_model.h"

namespace starling::widgets {

// What the pages have gathered.
struct FirstRun {
  std::string link;
  wire::ProjectPreview preview;
  std::string name;
  std::string password;  // of an account; empty: none
  std::string email;     // of a new account
  std::string preset = "gentle";
};

class FirstRunWizard : public QWizard {
  Q_OBJECT

 public:
  explicit FirstRunWizard(models::DaemonModel& daemon, QWidget* parent = nullptr);

  // As if it had been pasted.
  void useLink(const QString& link);
  // Back to the name and what goes with it.
  void changeWho();
  // On the page before the last; the application knows what they do.
  void addReadyOption(QWidget* option);

 private:
  // In the window's title: the project, once it has answered, and the page.
  void tellWhere();

  std::shared_ptr<FirstRun> choice_;
};

// The join link in a text that somebody pasted or a QR code holds; empty when there is none.
QString findJoinLink(const QString& text);

}  // namespace starling::widgets
