#include "gui/widgets/self_test_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "gui/models/self_test_words.h"

namespace starling::widgets {
namespace {

constexpr int kWidth = 500;

}  // namespace

SelfTestDialog::SelfTestDialog(models::DaemonModel& daemon, const QString& program, QWidget* parent)
    : QDialog(parent),
      daemon_(daemon),
      test_(program, daemon.dataDir()),
      headline_(new QLabel()),
      detail_(new QLabel()),
      progress_(new QProgressBar()),
      findings_(new QLabel()),
      stop_(new QPushButton(tr("Stop"))),
      again_(new QPushButton(tr("Test again"))),
      longer_(new QPushButton(tr("Test for ten minutes"))),
      close_(new QPushButton(tr("Close"))) {
  setWindowTitle(tr("Test of this computer"));
  makeLayout();
  connect(&test_, &link::SelfTest::progressed, this, [this](const QString& line) {
    const models::TestProgress progress = models::testProgress(line);
    progress_->setRange(0, 100);
    progress_->setValue(progress.percent);
    findings_->setText(progress.words);
  });
  connect(&test_, &link::SelfTest::finished, this, &SelfTestDialog::tell);
  connect(stop_, &QPushButton::clicked, this, [this] {
    stop_->setEnabled(false);
    test_.stop();
  });
  connect(again_, &QPushButton::clicked, this, [this] { begin(link::SelfTest::kShort); });
  connect(longer_, &QPushButton::clicked, this, [this] { begin(link::SelfTest::kLong); });
  connect(close_, &QPushButton::clicked, this, &SelfTestDialog::accept);
  begin(link::SelfTest::kShort);
}

void SelfTestDialog::makeLayout() {
  QFont large = headline_->font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  large.setBold(true);
  headline_->setFont(large);
  headline_->setObjectName(QStringLiteral("test_headline"));
  detail_->setObjectName(QStringLiteral("test_detail"));
  findings_->setObjectName(QStringLiteral("findings"));
  stop_->setObjectName(QStringLiteral("stop_test"));
  close_->setObjectName(QStringLiteral("close_test"));
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("How far the test is"));
  for (QLabel* label : {headline_, detail_, findings_}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  auto* buttons = new QHBoxLayout();
  buttons->addStretch(1);
  for (QPushButton* button : {stop_, longer_, again_, close_}) {
    button->setAutoDefault(false);
    buttons->addWidget(button);
  }
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(12);
  for (QWidget* part : {static_cast<QWidget*>(headline_), static_cast<QWidget*>(detail_),
                        static_cast<QWidget*>(progress_), static_cast<QWidget*>(findings_)}) {
    layout->addWidget(part);
  }
  layout->addStretch(1);
  layout->addLayout(buttons);
  resize(kWidth, 1);
}

void SelfTestDialog::begin(std::chrono::seconds computing) {
  headline_->setText(tr("Testing this computer…"));
  detail_->setText(
      (computing == link::SelfTest::kShort ? tr("It takes about half a minute.") : tr("It takes about ten minutes.")) +
      QLatin1Char(' ') +
      tr("It computes something with a known answer again and again, and looks at memory that is free. Training may go "
         "on meanwhile."));
  findings_->setText(tr("Starting…"));
  progress_->setRange(0, 0);
  progress_->show();
  stop_->setEnabled(true);
  stop_->show();
  for (QPushButton* button : {again_, longer_, close_}) button->hide();
  fit();
  test_.start(computing);
}

void SelfTestDialog::tell(const link::TestResult& result) {
  const auto& checked = daemon_.status().checked;
  const models::TestOutcome outcome = models::testOutcome(result, checked && models::keepsOut(checked->verdict));
  headline_->setText(outcome.headline);
  detail_->setText(outcome.detail);
  QStringList lines;
  for (const link::TestFinding& finding : result.findings) lines.append(models::findingWords(finding));
  if (!result.complaint.isEmpty()) lines.append(result.complaint);
  findings_->setText(lines.join(QStringLiteral("\n\n")));
  progress_->hide();
  stop_->hide();
  const bool passed = result.verdict == link::TestVerdict::passed;
  again_->setVisible(!passed);
  longer_->setVisible(passed);
  close_->show();
  close_->setFocus();
  fit();
}

// A window knows nothing of words that take more lines where it is narrow, and would cut them off.
void SelfTestDialog::fit() { setMinimumHeight(layout()->totalHeightForWidth(width())); }

void SelfTestDialog::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  fit();
}

void SelfTestDialog::done(int result) {
  if (test_.running()) {
    hide();
    test_.stop();
    connect(&test_, &link::SelfTest::finished, this, &QObject::deleteLater);
    return;
  }
  QDialog::done(result);
  deleteLater();
}

}  // namespace starling::widgets
