// From a join link to the first accepted sample: link, what you give, you, limits, ready, first steps. Nothing is
// trained before the volunteer has agreed on the fifth page.
#pragma once

#include <QWizard>
#include <memory>

#include "gui/models/daemon_model.h"

namespace starling::widgets {

// The input gathered by the pages.
struct FirstRun {
  std::string link;
  wire::ProjectPreview preview;
  std::string name;
  std::string password;  // the account's; empty: no account
  std::string email;     // a new account's
  std::string preset = "gentle";
};

class FirstRunWizard : public QWizard {
  Q_OBJECT

 public:
  explicit FirstRunWizard(models::DaemonModel& daemon, QWidget* parent = nullptr);

  // Works as if the link had been pasted.
  void useLink(const QString& link);
  // Goes back to the page with the name.
  void changeWho();
  // Adds an option to the page before the last; the application knows its effect.
  void addReadyOption(QWidget* option);

 private:
  // Shows the project, once it has answered, and the page in the window's title.
  void tellWhere();

  std::shared_ptr<FirstRun> choice_;
};

// The join link in a pasted text or a QR code's content; empty if there is none.
QString findJoinLink(const QString& text);

}  // namespace starling::widgets
