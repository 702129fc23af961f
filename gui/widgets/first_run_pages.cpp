#include "gui/widgets/first_run_pages.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>
#include <QStyleOptionFrame>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/widgets/preferences_page.h"

namespace starling::widgets {
namespace {

constexpr std::chrono::milliseconds kTypingPause{300};
// Digits of the fingerprint to show, for comparison with the link that the project publishes.
constexpr int kKeyDigits = 16;
constexpr int kTextMargin = 2;  // pixels around a line's text, as in Qt

QString stateText(const std::string& state) {
  if (state == "running") return LinkPage::tr("running");
  if (state == "paused") return LinkPage::tr("paused by its operator");
  if (state == "complete") return LinkPage::tr("complete");
  return LinkPage::tr("not started yet");
}

QString describe(const wire::ProjectPreview& preview) {
  const QString line = QStringLiteral("<br>");
  QString text = LinkPage::tr("<b>%1</b> at %2")
                     .arg(models::text(preview.project).toHtmlEscaped(), models::text(preview.address).toHtmlEscaped());
  if (preview.has_run) {
    text +=
        line +
        LinkPage::tr("Run: %1 (%2)").arg(models::text(preview.run_title).toHtmlEscaped(), stateText(preview.run_state));
    text += line + LinkPage::tr("%n volunteer(s) so far", nullptr, static_cast<int>(preview.volunteers)) +
            QStringLiteral(", ") +
            LinkPage::tr("%n computer(s) in it now", nullptr, static_cast<int>(preview.swarm_size));
  } else {
    text += line + LinkPage::tr("It has no run yet; you can join and wait for it.");
  }
  return text + line + line +
         LinkPage::tr(
             "Is it the real one? Then the link on the project's own web page has the same letters and digits "
             "as yours behind “ca=”: <b>%1…</b>")
             .arg(models::text(preview.fingerprint.substr(0, kKeyDigits)));
}

// An input for links, which are longer than any window: without the focus it hides the middle, not the end.
class LinkLine : public QLineEdit {
 public:
  LinkLine() = default;

 protected:
  void paintEvent(QPaintEvent* event) override {
    const int margin = 2 * style()->pixelMetric(QStyle::PM_DefaultFrameWidth) + kTextMargin;
    const QRect inside = rect().adjusted(margin, 0, -margin, 0);
    const QString short_text = fontMetrics().elidedText(text(), Qt::ElideMiddle, inside.width());
    if (hasFocus() || short_text == text()) return QLineEdit::paintEvent(event);
    QPainter painter(this);
    QStyleOptionFrame frame;
    initStyleOption(&frame);
    style()->drawPrimitive(QStyle::PE_PanelLineEdit, &frame, &painter, this);
    style()->drawItemText(&painter, inside, static_cast<int>(Qt::AlignVCenter), palette(), isEnabled(), short_text,
                          QPalette::Text);
  }
};

QString noLinkYet() {
  return LinkPage::tr("No link yet? Ask the project: many have a button “Join this project” on their web page.");
}

QLabel* makeText(const QString& text = {}) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

LinkPage::LinkPage(models::DaemonModel& daemon, std::shared_ptr<FirstRun> choice)
    : daemon_(daemon), choice_(std::move(choice)), link_(new LinkLine()), answer_(makeText(noLinkYet())) {
  setTitle(tr("Which project?"));
  setSubTitle(
      tr("Starling computes for a community's neural network, in the time that this computer has to spare. Paste the "
         "join link that the project gave you, or what its QR code says."));
  link_->setPlaceholderText(QStringLiteral("starling://…"));
  link_->setObjectName(QStringLiteral("link"));
  link_->setAccessibleName(tr("Join link"));
  answer_->setTextFormat(Qt::RichText);
  auto* paste = new QPushButton(tr("Paste"));
  paste->setObjectName(QStringLiteral("paste"));
  auto* row = new QHBoxLayout();
  row->addWidget(link_, 1);
  row->addWidget(paste);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addSpacing(12);
  layout->addWidget(answer_);
  layout->addStretch(1);
  setFocusProxy(link_);
  typed_.setSingleShot(true);
  typed_.setInterval(kTypingPause);
  connect(paste, &QPushButton::clicked, this, [this] { useLink(QGuiApplication::clipboard()->text()); });
  connect(link_, &QLineEdit::textEdited, this, [this] { pasted_ = false; });
  connect(&typed_, &QTimer::timeout, this, &LinkPage::lookUp);
  // The daemon may still be starting when a link opens this window.
  connect(&daemon_, &models::DaemonModel::changed, this, [this] {
    if (without_daemon_ && daemon_.connected()) lookUp();
  });
  connect(link_, &QLineEdit::textChanged, this, [this] {
    found_ = false;
    emit completeChanged();
    typed_.start();
  });
}

void LinkPage::useLink(const QString& text) {
  const QString link = findJoinLink(text);
  link_->setText(link.isEmpty() ? text.trimmed() : link);
  pasted_ = true;
}

void LinkPage::lookUp() {
  choice_->link = findJoinLink(link_->text()).toStdString();
  if (choice_->link.empty()) {
    ++look_ups_;
    answer_->setText(link_->text().isEmpty() ? noLinkYet() : tr("A join link begins with starling://"));
    return;
  }
  answer_->setText(tr("Asking the project…"));
  without_daemon_ = !daemon_.connected();
  daemon_.ask(wire::PreviewProject{choice_->link}, this, [this, look_up = ++look_ups_](const link::Reply& reply) {
    if (look_up == look_ups_) show(reply);  // otherwise a later look-up has replaced this one
  });
}

void LinkPage::show(const link::Reply& reply) {
  found_ = reply.ok() && reply->preview.has_value();
  if (found_) {
    choice_->preview = *reply->preview;
    answer_->setText(describe(choice_->preview));
  } else {
    answer_->setText(
        tr("That did not work: %1").arg((reply.ok() ? QString() : models::errorWords(reply.error())).toHtmlEscaped()));
  }
  emit completeChanged();
  if (!found_ || !pasted_ || wizard() == nullptr) return;
  link_->setCursorPosition(0);  // the beginning names the project's address
  wizard()->button(QWizard::NextButton)->setFocus();
}

GivePage::GivePage(std::shared_ptr<FirstRun> choice)
    : choice_(std::move(choice)), facts_(makeText()), agreed_(new QCheckBox(tr("I agree to give this"))) {
  setTitle(tr("What you give"));
  setSubTitle(tr("You can pause, change your limits or leave at any second; your credit stays."));
  facts_->setTextFormat(Qt::RichText);
  agreed_->setObjectName(QStringLiteral("agreed"));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(facts_);
  layout->addStretch(1);
  layout->addWidget(agreed_);
  setFocusProxy(agreed_);
  connect(agreed_, &QCheckBox::toggled, this, &GivePage::completeChanged);
}

void GivePage::initializePage() {
  const wire::ProjectPreview& p = choice_->preview;
  const auto bytes = [](std::int64_t count) { return models::bytesText(static_cast<double>(count)); };
  QStringList facts = {
      tr("<b>Time</b> of this computer's processor, and of its graphics card if it has one, that your own programs "
         "leave, within the limits you choose on the next pages. It costs electricity, and makes heat and fan noise.")};
  if (p.has_run) {
    facts.append(tr("<b>Network:</b> %1 once for data; then up to %2 each way for every round of averaging.")
                     .arg(bytes(p.data_bytes), bytes(p.bytes_per_round)));
    facts.append(tr("<b>Disk:</b> about %1.").arg(bytes(p.disk_bytes)));
    facts.append(tr("<b>What is trained:</b> “%1”, a model of %2 million parameters.")
                     .arg(models::text(p.run_title).toHtmlEscaped(),
                          models::numberText(static_cast<double>(p.parameters) / 1e6, 2)));
  }
  facts.append(
      tr("<b>Public:</b> the name you choose next, and how many samples you contributed. Other volunteers' programs "
         "see this computer's network address; no page shows it."));
  facts.append(
      tr("<b>For the project alone:</b> this computer's speed, and which processor or graphics card trains, with its "
         "memory."));
  facts.append(
      tr("<b>Never:</b> your files. Starling itself computes, shut off from your data and from the network; a program "
         "from the project runs only if you have allowed that very program, shut off in the same way."));
  facts.append(tr(
      "<b>To stop:</b> the button Pause in Starling's window; for good, “Leave this project…” in the menu ☰ there."));
  facts_->setText(QStringLiteral("<ul style='margin-left:-20px'><li>") +
                  facts.join(QStringLiteral("</li><li style='margin-top:6px'>")) + QStringLiteral("</li></ul>"));
}

bool GivePage::isComplete() const { return agreed_->isChecked(); }

LimitsPage::LimitsPage(std::shared_ptr<FirstRun> choice)
    : choice_(std::move(choice)), presets_(new QButtonGroup(this)) {
  setTitle(tr("How much"));
  setSubTitle(tr("Every limit can be changed later, one by one, in the preferences."));
  auto* layout = new QVBoxLayout(this);
  const QList<PresetWords> words = presetWords();
  for (int i = 0; i < words.size(); ++i) {
    auto* button = new QRadioButton(words[i].title);
    QFont bold = button->font();
    bold.setBold(true);
    button->setFont(bold);
    button->setChecked(i == 0);
    button->setAccessibleDescription(words[i].meaning);
    presets_->addButton(button, i);
    QLabel* meaning = makeText(words[i].meaning);
    meaning->setIndent(24);
    layout->addWidget(button);
    layout->addWidget(meaning);
    layout->addSpacing(8);
  }
  layout->addStretch(1);
  setFocusProxy(presets_->button(0));
}

bool LimitsPage::validatePage() {
  choice_->preset = presetWords()[presets_->checkedId()].name;
  return true;
}

ReadyPage::ReadyPage(std::shared_ptr<FirstRun> choice)
    : choice_(std::move(choice)), summary_(makeText()), options_(new QVBoxLayout()) {
  setTitle(tr("Ready"));
  setSubTitle(tr("Nothing has been sent yet. It begins with the button below."));
  setCommitPage(true);
  setButtonText(QWizard::CommitButton, tr("Start training"));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(summary_);
  layout->addSpacing(12);
  layout->addLayout(options_);
  layout->addStretch(1);
}

void ReadyPage::addOption(QWidget* option) { options_->addWidget(option); }

void ReadyPage::initializePage() {
  QString preset;
  for (const PresetWords& words : presetWords()) {
    if (choice_->preset == words.name) preset = words.title;
  }
  summary_->setText(tr("This computer joins %1 as %2, with the limits “%3”.")
                        .arg(models::text(choice_->preview.project), models::text(choice_->name), preset));
}

}  // namespace starling::widgets
