#include "gui/models/daemon_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "gui/models/format.h"
#include "gui/models/phrases.h"
#include "shared/names/display_name.h"

namespace starling::models {
namespace {

// Sentences of client/session and client/daemon. A colon after one may introduce a cause or figures.
constexpr std::array kSentences = {
    QT_TRANSLATE_NOOP("Daemon", "the coordinator cannot be reached"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator answers"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the model from other volunteers"),
    QT_TRANSLATE_NOOP("Daemon", "the download is complete"),
    QT_TRANSLATE_NOOP("Daemon", "the run has not been started"),
    QT_TRANSLATE_NOOP("Daemon", "the operator starts it"),
    QT_TRANSLATE_NOOP("Daemon", "the operator paused the run"),
    QT_TRANSLATE_NOOP("Daemon", "the operator starts it again"),
    QT_TRANSLATE_NOOP("Daemon", "the run is complete"),
    QT_TRANSLATE_NOOP("Daemon", "there is a new run"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator names a donor"),
    QT_TRANSLATE_NOOP("Daemon", "waiting for a member that can hand over the model"),
    QT_TRANSLATE_NOOP("Daemon", "the model here differs from everybody else's"),
    QT_TRANSLATE_NOOP("Daemon", "the group went on without this computer"),
    QT_TRANSLATE_NOOP("Daemon", "the averaged result differed from the group's"),
    QT_TRANSLATE_NOOP("Daemon", "what was computed here cannot be averaged"),
    QT_TRANSLATE_NOOP("Daemon", "the last round's group came to no decision"),
    QT_TRANSLATE_NOOP("Daemon", "waiting for the coordinator's first answer"),
    QT_TRANSLATE_NOOP("Daemon",
                      "the coordinator names another model to begin with than the one that the project has signed, so "
                      "nothing is trained here"),
    QT_TRANSLATE_NOOP("Daemon", "tell the project's operator"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator cannot be reached, and only half of the group or less is left"),
    QT_TRANSLATE_NOOP("Daemon", "as much is computed here as a round takes"),
    QT_TRANSLATE_NOOP("Daemon", "the others average it"),
    QT_TRANSLATE_NOOP("Daemon", "all samples dealt to this computer are computed"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator deals more"),
    QT_TRANSLATE_NOOP("Daemon", "the trainer failed"),
    QT_TRANSLATE_NOOP("Daemon", "the trainer fails"),
    QT_TRANSLATE_NOOP("Daemon", "the next try, in a moment"),
    QT_TRANSLATE_NOOP("Daemon", "waiting for training data"),
    QT_TRANSLATE_NOOP("Daemon", "it has come"),
    QT_TRANSLATE_NOOP("Daemon", "preparing the run"),
    QT_TRANSLATE_NOOP("Daemon", "asking the coordinator for the run"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the training data"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the validation data"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the tokenizer's data"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the program's data"),
    QT_TRANSLATE_NOOP("Daemon", "downloading the initial data"),
    QT_TRANSLATE_NOOP("Daemon", "open the port for other volunteers"),
    QT_TRANSLATE_NOOP("Daemon", "the port is free, or the daemon is started with another --port"),
    QT_TRANSLATE_NOOP("Daemon", "the clocks are right"),
    QT_TRANSLATE_NOOP("Daemon", "there is room for it"),
    QT_TRANSLATE_NOOP("Daemon", "this computer lets it happen"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator takes this computer's certificate"),
    QT_TRANSLATE_NOOP("Daemon", "the project's operator settles it"),
    QT_TRANSLATE_NOOP("Daemon", "the project has a run"),
    QT_TRANSLATE_NOOP("Daemon", "Starling is updated"),
    QT_TRANSLATE_NOOP("Daemon", "the project sends what can be used"),
    QT_TRANSLATE_NOOP("Daemon", "that has changed"),
    QT_TRANSLATE_NOOP("Daemon", "a further try succeeds"),
    QT_TRANSLATE_NOOP("Daemon", "other computers cannot control this daemon"),
    QT_TRANSLATE_NOOP("Daemon", "the model and its data are here"),
    QT_TRANSLATE_NOOP("Daemon", "this run needs more memory than this computer has"),
    QT_TRANSLATE_NOOP("Daemon", "the project trains a smaller model"),
    QT_TRANSLATE_NOOP("Daemon", "this run needs more memory than you allow"),
    QT_TRANSLATE_NOOP("Daemon", "you allow more memory"),
    QT_TRANSLATE_NOOP("Daemon",
                      "this run's model is a program of the project's own, which runs here only if you agree"),
    QT_TRANSLATE_NOOP("Daemon", "you allow it"),
    QT_TRANSLATE_NOOP("Daemon", "leaving the project"),
    QT_TRANSLATE_NOOP("Daemon", "changing over to another project"),
    QT_TRANSLATE_NOOP("Daemon", "changing over to the project's next run"),
    QT_TRANSLATE_NOOP("Daemon", "what it left is put away"),
    QT_TRANSLATE_NOOP("Daemon", "the coordinator says"),
};

// The kind of an error; empty if the window speaks English, as the daemon does.
QString kindOf(ErrorCode code) {
  const char* kind = nullptr;
  switch (code) {
    case ErrorCode::invalid_argument:
      kind = QT_TRANSLATE_NOOP("Daemon", "What was asked for cannot be done like this.");
      break;
    case ErrorCode::not_found:
      kind = QT_TRANSLATE_NOOP("Daemon", "There is no such thing.");
      break;
    case ErrorCode::already_exists:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is there already.");
      break;
    case ErrorCode::permission_denied:
    case ErrorCode::unauthenticated:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is not allowed. An invite may be used up or out of date.");
      break;
    case ErrorCode::failed_precondition:
      kind = QT_TRANSLATE_NOOP("Daemon", "It is not possible just now.");
      break;
    case ErrorCode::resource_exhausted:
      kind = QT_TRANSLATE_NOOP("Daemon", "A limit was reached: disk, memory, or how often one may try.");
      break;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      kind = QT_TRANSLATE_NOOP("Daemon", "It cannot be reached. Check the network, and try again later.");
      break;
    case ErrorCode::unsupported:
      kind = QT_TRANSLATE_NOOP("Daemon", "This version of Starling cannot do that. Update it.");
      break;
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal:
      kind = QT_TRANSLATE_NOOP("Daemon", "Something went wrong. The log says more.");
      break;
  }
  const QString translated = QCoreApplication::translate("Daemon", kind);
  return translated == QString::fromUtf8(kind) ? QString() : translated;
}

// Sentences of shared/swarm.
constexpr Phrase kPlans[] = {
    {"alone: nothing to average with", QT_TRANSLATE_NOOP("Daemon", "Alone: nothing to average with.")},
    {"nobody's line has been measured yet", QT_TRANSLATE_NOOP("Daemon", "Nobody's line has been measured yet.")},
    {"all lines are used: the averaging takes ([0-9.]+) s",
     QT_TRANSLATE_NOOP("Daemon", "All lines are used: the averaging takes %1 s.")},
    {"the upload of (.+), ([0-9.]+) Mbit/s, bounds the averaging at ([0-9.]+) s",
     QT_TRANSLATE_NOOP("Daemon", "The upload of %1, %2 Mbit/s, bounds the averaging at %3 s.")},
    {"the download of (.+), ([0-9.]+) Mbit/s, bounds the averaging at ([0-9.]+) s",
     QT_TRANSLATE_NOOP("Daemon", "The download of %1, %2 Mbit/s, bounds the averaging at %3 s.")}};

// Reasons of client/policy, client/daemon and the trainer for leaving a graphics card alone.
constexpr Phrase kCardReasons[] = {
    {"switched off in the preferences", QT_TRANSLATE_NOOP("Daemon", "switched off in the preferences")},
    {"somebody uses the computer", QT_TRANSLATE_NOOP("Daemon", "somebody uses the computer")},
    {"no sensor tells whether somebody uses the computer",
     QT_TRANSLATE_NOOP("Daemon", "no sensor tells whether somebody uses the computer")},
    {"paused by you, until you resume it", QT_TRANSLATE_NOOP("Daemon", "paused by you, until you resume it")},
    {"snoozed by you, until (.+)", QT_TRANSLATE_NOOP("Daemon", "snoozed by you, until %1")},
    {"this LibTorch is built without CUDA", QT_TRANSLATE_NOOP("Daemon", "this LibTorch is built without CUDA")},
    {"this kernel has no Landlock to confine its driver with",
     QT_TRANSLATE_NOOP("Daemon", "this kernel has no Landlock to confine its driver with")},
    {"the run's model is a program of the project's own, and gets no card",
     QT_TRANSLATE_NOOP("Daemon", "the run's model is a program of the project's own, and gets no card")},
    {"it was not allowed yet when the trainer started",
     QT_TRANSLATE_NOOP("Daemon", "it was not allowed yet when the trainer started")},
    {"its driver finds none: (.+)", QT_TRANSLATE_NOOP("Daemon", "its driver finds none: %1")},
    {"it does not work: (.+)", QT_TRANSLATE_NOOP("Daemon", "it does not work: %1")}};

// The library that a trainer computes with, by its own word.
constexpr Phrase kBackends[] = {{"(LibTorch .+) without CUDA", QT_TRANSLATE_NOOP("Daemon", "%1 without CUDA")},
                                {"(LibTorch .+) with (CUDA .+)", QT_TRANSLATE_NOOP("Daemon", "%1 with %2")}};

// Refusals by a coordinator for a person who wants to join it, or a team, after the address that was asked.
constexpr Phrase kRefusals[] = {
    {"the name '(.+)' is taken; '(.+)' may be free",
     QT_TRANSLATE_NOOP("Daemon", "The name “%1” is taken. “%2” may be free.")},
    {"the name '(.+)' is taken; choose another one",
     QT_TRANSLATE_NOOP("Daemon", "The name “%1” is taken. Choose another one.")},
    {"this name can not be shown; it is empty", QT_TRANSLATE_NOOP("Daemon", "A name needs a letter or a digit.")},
    {"this name can not be shown; it needs a letter or a digit",
     QT_TRANSLATE_NOOP("Daemon", "A name needs a letter or a digit.")},
    {"this name can not be shown; it is too long: ([0-9]+) letters are the most",
     QT_TRANSLATE_NOOP("Daemon", "This name is too long: a name has %1 letters at most.")},
    {"this name can not be shown; it is too long: its letters and their marks take more than .*",
     QT_TRANSLATE_NOOP("Daemon", "This name is too long: its letters have too many marks.")},
    {"this name can not be shown; it is not valid UTF-8",
     QT_TRANSLATE_NOOP("Daemon", "This name is damaged: its bytes are no text.")},
    {"this name can not be shown; it has two blanks in a row",
     QT_TRANSLATE_NOOP("Daemon", "This name has two blanks in a row. Use single ones.")},
    {"this name can not be shown; it has letters that are written from right to left .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "This name has letters that are written from right to left beside others that are "
                       "not. Use one direction.")},
    {"this name can not be shown; it has the mark (.+) twice in a row",
     QT_TRANSLATE_NOOP("Daemon", "This name has the mark %1 twice in a row.")},
    {"this name can not be shown; the mark (.+) needs a letter before it",
     QT_TRANSLATE_NOOP("Daemon", "In this name, the mark %1 needs a letter before it.")},
    {"this name can not be shown; a letter has more than ([0-9]+) marks",
     QT_TRANSLATE_NOOP("Daemon", "A letter of this name has more than %1 marks.")},
    {"this name can not be shown; (.+) can not be seen.*",
     QT_TRANSLATE_NOOP("Daemon",
                       "This name has a character that cannot be seen: %1. Use letters, digits, single "
                       "blanks, dots, underscores or hyphens.")},
    {"this name can not be shown; it has (.+): use .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "This name has %1. Use letters, digits, single blanks, dots, underscores or "
                       "hyphens.")},
    {"this name can not be shown; (.*)", QT_TRANSLATE_NOOP("Daemon", "This name cannot be shown: %1.")},
    {"this name or address and this password do not belong together",
     QT_TRANSLATE_NOOP("Daemon",
                       "The name or address and the password do not belong together. Somebody else may have "
                       "an account with this name.")},
    {"a password has ([0-9]+) letters or more; .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "The password is too short: it needs %1 letters or more. Some words in a row do "
                       "well.")},
    {"this password is one letter again and again; .*",
     QT_TRANSLATE_NOOP("Daemon", "This password is one letter again and again. Choose another one.")},
    {"this password is your name or address; .*",
     QT_TRANSLATE_NOOP("Daemon", "This password is the name or the address itself. Choose another one.")},
    {"this is no e-mail address; .*",
     QT_TRANSLATE_NOOP("Daemon", "This is no e-mail address. One looks like ada@example.org.")},
    {"this project needs an invite; .*",
     QT_TRANSLATE_NOOP("Daemon", "This project takes nobody without an invite. Ask it for a join link that has one.")},
    {"this invite is not one of this project's; .*",
     QT_TRANSLATE_NOOP("Daemon", "This invite is not one of this project's. Ask it for a new join link.")},
    {"this invite has expired; .*",
     QT_TRANSLATE_NOOP("Daemon", "This invite has expired. Ask the project for a new join link.")},
    {"this invite has been used up; .*",
     QT_TRANSLATE_NOOP("Daemon", "This invite has been used up. Ask the project for a new join link.")},
    {"the account '(.+)' waits for the project's approval; .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "The account “%1” is made, and waits for the project's approval. Try again, in the "
                       "same way, when you have it.")},
    {"(?:too many attempts|many computers have joined from this address just now); try again in ([0-9]+) s.*",
     QT_TRANSLATE_NOOP("Daemon", "There were too many tries just now. Try again in %1 seconds.")},
    {"many accounts were made from this address just now; try again in ([0-9]+) min",
     QT_TRANSLATE_NOOP("Daemon", "Many accounts were made from this address just now. Try again in %1 minutes.")},
    {"this computer has been removed from the project, .*",
     QT_TRANSLATE_NOOP("Daemon", "This computer has been removed from the project, by its owner or by the project.")},
    {"there is no team '(.+)'", QT_TRANSLATE_NOOP("Daemon", "There is no team “%1”.")},
    {"there is a team '(.+)' already; .*",
     QT_TRANSLATE_NOOP("Daemon", "There is a team “%1” already. Join it, or choose another name.")},
    {"only volunteers with a name, and the project's approval, have teams",
     QT_TRANSLATE_NOOP("Daemon", "Only volunteers with a name, and the project's approval, have teams.")},
    {"the team '(.+)' is kept out of this project by its operator: (.*)",
     QT_TRANSLATE_NOOP("Daemon", "The team “%1” is kept out of this project by its operator: %2")},
    {"you asked about teams very often just now; try again in ([0-9]+) s",
     QT_TRANSLATE_NOOP("Daemon", "There were too many tries just now. Try again in %1 seconds.")},
    {"the daemon is not running", QT_TRANSLATE_NOOP("Daemon", "Starling's background program is not running.")}};

// Reasons of client/session.
constexpr Phrase kReasons[] = {
    {"the coordinator names a state of round ([0-9]+) that is not proven, so it is not loaded: (.*)\\. Tell the "
     "project's operator",
     QT_TRANSLATE_NOOP("Daemon",
                       "The coordinator names a state of round %1 that is not proven, so it is not loaded: "
                       "%2. Tell the project's operator")}};

// The coordinator's word on work that others computed otherwise. The window has a button for the test beside it.
constexpr Phrase kVerdicts[] = {
    {"others computed something else from the same samples than this computer: its credit that was not final is taken "
     "back\\. .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "From the same samples, others computed something else than this computer. Its credit that was "
                       "not final yet is taken back. The usual cause is memory or a card that is overclocked, too hot "
                       "or broken.")}};
// That word, where the computer is put out for it.
constexpr Phrase kExclusions[] = {
    {"others computed something else from the same samples than this computer, ([0-9]+) times: it has no part in "
     "rounds until 'starling doctor --self-test' finds nothing wrong\\. .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "From the same samples, others computed something else than this computer, %1 times. It has no "
                       "part in rounds until a test finds nothing wrong. The usual cause is memory or a card that is "
                       "overclocked, too hot or broken.")},
    {"others computed something else from the same samples than this computer, ([0-9]+) times: it has no part in "
     "rounds before round ([0-9]+), nor until 'starling doctor --self-test' finds nothing wrong\\. .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "From the same samples, others computed something else than this computer, %1 times. It has no "
                       "part in rounds before round %2, nor until a test finds nothing wrong. The usual cause is "
                       "memory or a card that is overclocked, too hot or broken.")},
    {"others computed something else from the same samples than this computer, ([0-9]+) times: it has no part in "
     "rounds before round ([0-9]+)\\. .*",
     QT_TRANSLATE_NOOP("Daemon",
                       "From the same samples, others computed something else than this computer, %1 times. It has no "
                       "part in rounds before round %2. The usual cause is memory or a card that is overclocked, too "
                       "hot or broken.")}};

// "1.5 of 3.0 MB"
QString figures(const QString& tail) {
  constexpr Phrase kFigures[] = {{"([0-9.]+) of ([0-9.]+) MB", QT_TRANSLATE_NOOP("Daemon", "%1 of %2 MB")}};
  return phraseOf(tail, kFigures).value_or(tail);
}

bool isSentence(const std::string& words) {
  return std::find(kSentences.begin(), kSentences.end(), words) != kSentences.end();
}

}  // namespace

QString daemonWords(const std::string& sentence) {
  for (const std::span<const Phrase> phrases :
       {std::span<const Phrase>(kReasons), std::span<const Phrase>(kVerdicts), std::span<const Phrase>(kExclusions)}) {
    if (const auto known = phraseOf(QString::fromStdString(sentence), phrases)) return *known;
  }
  const std::size_t colon = sentence.find(": ");
  const std::string head = sentence.substr(0, colon);
  if (!isSentence(head)) return capitalized(QString::fromStdString(sentence));
  const QString known = capitalized(QCoreApplication::translate("Daemon", head.c_str()));
  if (colon == std::string::npos) return known;
  const std::string tail = sentence.substr(colon + 2);
  return known + QStringLiteral(": ") +
         (isSentence(tail) ? QCoreApplication::translate("Daemon", tail.c_str())
                           : figures(QString::fromStdString(tail)));
}

bool keepsOut(const std::string& verdict) { return phraseOf(QString::fromStdString(verdict), kExclusions).has_value(); }

QString planWords(const std::string& sentence) {
  const QString said = QString::fromStdString(sentence);
  return phraseOf(said, kPlans).value_or(capitalized(said));
}

QString deviceWords(const wire::ComputingStatus& computing) {
  if (!computing.device) {
    return QCoreApplication::translate("Daemon", "What computes is known once the trainer has started.");
  }
  const auto& device = *computing.device;
  QStringList parts{text(device.name.empty() ? device.kind : device.name)};
  if (device.count > 1) parts.front() = QStringLiteral("%1 × %2").arg(countText(device.count), parts.front());
  const auto own = static_cast<double>(device.memory_bytes);
  const auto most = static_cast<double>(device.memory_max_bytes);
  if (own > 0 && most > 0) {
    const char* words = device.count > 1 ? QT_TRANSLATE_NOOP("Daemon", "at most %1 of %2 of memory each")
                                         : QT_TRANSLATE_NOOP("Daemon", "at most %1 of %2 of memory");
    parts << QCoreApplication::translate("Daemon", words).arg(bytesText(most), bytesText(own));
  } else if (own > 0 || most > 0) {
    parts << QCoreApplication::translate("Daemon", "%1 of memory").arg(bytesText(std::max(own, most)));
  }
  if (!device.precision.empty()) parts << text(device.precision);
  const QString backend = text(device.backend);
  if (!backend.isEmpty()) parts << phraseOf(backend, kBackends).value_or(backend);
  return QCoreApplication::translate("Daemon", "Computes on %1").arg(parts.join(QStringLiteral(", ")));
}

QString cardWords(const std::string& sentence) {
  const QString said = text(sentence);
  return phraseOf(said, kCardReasons).value_or(said);
}

QString replyWords(const std::string& sentence) {
  const char* done = QT_TRANSLATE_NOOP("Daemon", "Done");
  const QString translated = QCoreApplication::translate("Daemon", done);
  const QString words = QString::fromStdString(sentence);
  return translated == QString::fromUtf8(done) ? words : QStringLiteral("%1: %2").arg(translated, words);
}

QString nameProblem(const QString& name) {
  const auto checked = names::check_display_name(name.toStdString());
  return checked ? QString() : errorWords(checked.error());
}

QString errorWords(const Error& error) {
  const QString message = QString::fromStdString(error.message);
  if (const auto known = phraseOf(message, kRefusals, QStringLiteral("(?:.*: )?"))) return *known;
  const QString kind = kindOf(error.code);
  // In English the daemon's own sentence is the best.
  return kind.isEmpty() ? message : QStringLiteral("%1 (%2)").arg(kind, message);
}

}  // namespace starling::models
