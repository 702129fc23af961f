#include "gui/models/situation.h"

#include <QCoreApplication>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/models/rule_words.h"

namespace starling::models {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Situation)
};

Situation withoutDaemon(const Snapshot& snapshot) {
  Situation s;
  if (snapshot.link == link::LinkState::connecting) {
    s.headline = Words::tr("Looking for Starling's background program…");
    return s;
  }
  s.remedy = Remedy::start_daemon;
  s.action = Words::tr("Start it");
  switch (snapshot.link_problem) {
    case ErrorCode::deadline_exceeded:
      s.headline = Words::tr("Starling's background program does not answer");
      s.detail = Words::tr("It may be busy, or hang. This window goes on trying.");
      s.remedy = Remedy::none;
      s.action.clear();
      return s;
    case ErrorCode::permission_denied:
      s.headline = Words::tr("Starling runs as another user of this computer");
      s.detail = Words::tr("Only that user can control it.");
      s.remedy = Remedy::none;
      s.action.clear();
      return s;
    default:
      s.headline = Words::tr("Starling is not running");
      s.detail = Words::tr("Nothing is trained until it is started. Your project and your credit are kept.");
      return s;
  }
}

// Nothing where nobody has checked the work yet.
QString checkedWords(const std::optional<wire::CheckedWork>& checked) {
  const std::int64_t times = checked ? checked->times + checked->missed : 0;
  if (times == 0) return {};
  const QString found = checked->missed == 0
                            ? Words::tr("it was right", "a computer's work, found by others")
                            : Words::tr("it was wrong %n time(s)", nullptr, static_cast<int>(checked->missed));
  return QLatin1Char(' ') +
         Words::tr("Others have checked its work %n time(s): %1.", nullptr, static_cast<int>(times)).arg(found);
}

Situation inTraining(const wire::DaemonStatus& status) {
  Situation s;
  s.face = Face::training;
  s.headline = (status.membership.coordinator_away ? Words::tr("Training goes on; %1 cannot be reached")
                                                   : Words::tr("Training for %1"))
                   .arg(text(status.membership.project));
  if (status.rules.pause_after_round) {
    s.detail = Words::tr("This round is finished first, then it pauses.");
    s.remedy = Remedy::request;
    s.request = wire::Resume{};
    s.action = Words::tr("Do not pause");
  } else if (status.membership.coordinator_away) {
    s.detail = Words::tr("The project's coordinator does not answer. What is trained is told later; nothing is lost.");
  } else if (status.swarm.size > 1) {
    s.detail = Words::tr("This computer is one of %1 that train its neural network together.").arg(status.swarm.size);
  } else {
    s.detail = Words::tr("This computer is the only one just now; others can join at any time.");
  }
  if (status.rules.threads > 0) {
    s.detail += QLatin1Char(' ') + Words::tr("It uses up to %n processor thread(s) that nothing else needs.", nullptr,
                                             status.rules.threads);
  }
  s.detail += checkedWords(status.checked);
  return s;
}

// The situation while joining, preparing, downloading, or waiting for others.
Situation onTheWay(const wire::DaemonStatus& status) {
  Situation s;
  s.headline = daemonWords(status.reason);
  if (!status.ends_when.empty()) {
    s.detail = Words::tr("Until: %1.", "what ends it, a clause").arg(daemonWords(status.ends_when).toLower());
  }
  const bool away = status.membership.coordinator_away || status.reason.find("cannot be reached") != std::string::npos;
  s.face = away ? Face::disconnected : Face::waiting;
  if (!status.rules.action.empty()) {  // training stops until the owner acts
    s.face = Face::attention;
    if (status.rules.action_command.rfind("prefs set", 0) == 0) {
      s.remedy = Remedy::open_preferences;
      s.action = Words::tr("Change the limit…");
    } else if (status.rules.action_command.rfind("projects allow", 0) == 0) {
      s.remedy = Remedy::request;
      s.request = wire::AllowProject{status.membership.project};
      s.action = Words::tr("I trust this project: allow it");
    }
    return s;
  }
  // The daemon keeps trying by itself; the log has the details.
  if (away || status.reason.find(": ") != std::string::npos) {
    s.remedy = Remedy::open_log;
    s.action = Words::tr("Show the log");
  }
  return s;
}

// The run requires more than this version supports.
Situation tooOld(const wire::UpdateStatus& update) {
  Situation s;
  s.face = Face::attention;
  s.headline = Words::tr("This project needs Starling %1 or newer").arg(text(update.required));
  if (update.state == "downloading" || update.state == "ready") {
    s.face = Face::waiting;
    s.detail = Words::tr("It is being installed.");
  } else if (update.can_install) {
    s.detail = Words::tr("Nothing is trained until then.");
    s.remedy = Remedy::request;
    s.request = wire::LookForUpdate{true};
    s.action = Words::tr("Update now");
  } else {
    s.detail = Words::tr("Update it the way Starling was installed.");
  }
  return s;
}

// Whatever it computes meanwhile, no round takes it. The problem below says why, and has the button for the test.
Situation keptOut(const wire::DaemonStatus& status) {
  Situation s;
  s.face = Face::attention;
  s.headline = Words::tr("Kept out of the rounds of %1 for now").arg(text(status.membership.project));
  s.detail = Words::tr("What this computer computes meanwhile is not used.");
  return s;
}

}  // namespace

Situation situationOf(const Snapshot& snapshot) {
  if (snapshot.link != link::LinkState::connected || !snapshot.status) return withoutDaemon(snapshot);
  const wire::DaemonStatus& status = *snapshot.status;
  if (status.membership.project.empty()) {
    return {
        Face::attention,
        Words::tr("No project yet"),
        Words::tr(
            "Paste the link a project gave you, and this computer helps to train its model. Without a link, ask the "
            "project: many have a button “Join this project” on their web page."),
        Remedy::join,
        Words::tr("Join a project…"),
        {}};
  }
  Situation s = status.phase == wire::DaemonPhase::paused ? pausedByRules(status, snapshot.preferences, snapshot.now)
                : status.checked && keepsOut(status.checked->verdict) ? keptOut(status)
                : wire::has_round_under_way(status.phase)             ? inTraining(status)
                : !status.update.required.empty()                     ? tooOld(status.update)
                                                                      : onTheWay(status);
  // A problem of this computer, or a message of the coordinator for its owner: the window lists it.
  if (!status.problems.empty() && s.face != Face::paused) s.face = Face::attention;
  return s;
}

QString faceName(Face face) {
  switch (face) {
    case Face::training:
      return Words::tr("Training");
    case Face::paused:
      return Words::tr("Paused by you");
    case Face::waiting:
      return Words::tr("Waiting");
    case Face::attention:
      return Words::tr("Needs attention");
    case Face::disconnected:
      return Words::tr("Disconnected");
  }
  return {};
}

}  // namespace starling::models
