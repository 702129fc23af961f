#include "gui/widgets/you_page.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "shared/protocol/limits.h"

namespace starling::widgets {
namespace {

constexpr int kIndent = 22;  // below the text of a check box

QLabel* makeNote(const QString& text) {
  auto* note = new QLabel(text);
  note->setWordWrap(true);
  note->setForegroundRole(QPalette::PlaceholderText);
  return note;
}

bool fits(const QString& text, std::size_t bytes_max) {
  const QByteArray bytes = text.toUtf8();
  return !bytes.isEmpty() && static_cast<std::size_t>(bytes.size()) <= bytes_max;
}

}  // namespace

YouPage::YouPage(std::shared_ptr<FirstRun> choice)
    : choice_(std::move(choice)),
      name_(new QLineEdit()),
      name_problem_(new QLabel()),
      with_account_(new QCheckBox(tr("I have an account there, or want one to log in to"))),
      password_(new QLineEdit()),
      email_(new QLineEdit()) {
  setTitle(tr("You"));
  setSubTitle(tr("The name under which your contribution is counted. It need not be your own."));
  name_->setObjectName(QStringLiteral("name"));
  name_->setPlaceholderText(tr("Name on the leaderboard"));
  name_->setAccessibleName(tr("Name on the leaderboard"));
  // An existing account can be named by its e-mail address, too.
  name_->setMaxLength(static_cast<int>(wire::kEmailBytesMax));
  auto* caption = new QLabel(tr("Name on the leaderboard:"));
  caption->setBuddy(name_);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(caption);
  layout->addWidget(name_);
  layout->addWidget(makeNote(tr("Everybody can see it on the project's leaderboard.")));
  name_problem_->setObjectName(QStringLiteral("name_problem"));
  name_problem_->setWordWrap(true);
  name_problem_->hide();
  layout->addWidget(name_problem_);
  layout->addSpacing(12);
  layout->addWidget(with_account_);
  QWidget* account = makeAccount();
  account->hide();
  layout->addWidget(account);
  layout->addStretch(1);
  setFocusProxy(name_);
  connect(with_account_, &QCheckBox::toggled, this, [this, account](bool on) {
    account->setVisible(on);
    if (on) password_->setFocus();
    emit completeChanged();
  });
  connect(name_, &QLineEdit::textChanged, name_problem_, &QLabel::hide);
  for (QLineEdit* line : {name_, password_, email_}) {
    connect(line, &QLineEdit::textChanged, this, &YouPage::completeChanged);
  }
}

QWidget* YouPage::makeAccount() {
  with_account_->setObjectName(QStringLiteral("with_account"));
  password_->setObjectName(QStringLiteral("password"));
  password_->setAccessibleName(tr("Password"));
  password_->setEchoMode(QLineEdit::Password);
  password_->setMaxLength(static_cast<int>(wire::kPasswordBytesMax));
  email_->setObjectName(QStringLiteral("email"));
  email_->setAccessibleName(tr("E-mail address, for a new account"));
  email_->setPlaceholderText(tr("may be left empty"));
  email_->setMaxLength(static_cast<int>(wire::kEmailBytesMax));
  auto* account = new QWidget();
  auto* form = new QFormLayout(account);
  form->setContentsMargins(kIndent, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->addRow(tr("Password:"), password_);
  form->addRow(tr("E-mail address:"), email_);
  form->addRow(
      makeNote(tr("If the name above is that of your account, its password adds this computer to it. If nobody "
                  "has the name yet, an account is made with this password; the address is for the day on "
                  "which you forget it, and only the project sees it.")));
  return account;
}

bool YouPage::isComplete() const {
  const QString name = name_->text().trimmed();
  if (!with_account_->isChecked()) return !name.isEmpty();
  const QString email = email_->text().trimmed();
  return fits(name, wire::kEmailBytesMax) && fits(password_->text(), wire::kPasswordBytesMax) &&
         (email.isEmpty() || (email.contains(QLatin1Char('@')) && fits(email, wire::kEmailBytesMax)));
}

bool YouPage::validatePage() {
  const bool with_account = with_account_->isChecked();
  // With a password it may name an account that is there, by its address or by a name of earlier rules: the project
  // judges it.
  const QString problem = with_account ? QString() : models::nameProblem(name_->text());
  name_problem_->setText(problem);
  name_problem_->setVisible(!problem.isEmpty());
  if (!problem.isEmpty()) return false;
  choice_->name = name_->text().trimmed().toStdString();
  choice_->password = with_account ? password_->text().toStdString() : std::string();
  choice_->email = with_account ? email_->text().trimmed().toStdString() : std::string();
  return true;
}

}  // namespace starling::widgets
