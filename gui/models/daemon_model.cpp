#include "gui/models/daemon_model.h"

#include <QPointer>
#include <utility>

#include "gui/link/daemon_starter.h"
#include "gui/models/daemon_words.h"
#include "gui/models/format.h"

namespace starling::models {

DaemonModel::DaemonModel(link::LinkOptions options, QString daemon_program, QObject* parent)
    : QObject(parent), link_(std::move(options)), daemon_program_(std::move(daemon_program)) {
  connect(&link_, &link::DaemonLink::stateChanged, this, [this] {
    snapshot_.link = link_.state();
    snapshot_.link_problem = link_.problem().code;
    if (snapshot_.link == link::LinkState::connected) fetchPreferences();
    if (snapshot_.link == link::LinkState::gone) emit changed();  // otherwise the new status triggers it
  });
  connect(&link_, &link::DaemonLink::statusArrived, this, [this](const wire::DaemonStatus& status) {
    snapshot_.status = status;
    emit changed();
  });
}

const wire::DaemonStatus& DaemonModel::status() const {
  static const wire::DaemonStatus none;
  return snapshot_.status ? *snapshot_.status : none;
}

Situation DaemonModel::situation() const {
  Snapshot snapshot = snapshot_;
  snapshot.now = wallNow();
  return situationOf(snapshot);
}

void DaemonModel::ask(const wire::ControlRequest& request, QObject* context, link::ReplyHandler handler) {
  link_.ask(request, [context = QPointer<QObject>(context), handler = std::move(handler)](const link::Reply& reply) {
    if (context != nullptr) handler(reply);
  });
}

void DaemonModel::tell(const wire::ControlRequest& request) {
  link_.ask(request, [this, request](const link::Reply& reply) {
    if (!reply.ok()) {
      emit refused(errorWords(reply.error()));
      return;
    }
    if (reply->preferences.has_value()) {
      snapshot_.preferences = *reply->preferences;
      emit preferencesChanged();
      emit changed();
    }
    // The situation shows the result of a pause or of its end.
    const auto* const pause = std::get_if<wire::Pause>(&request);
    const auto* const resume = std::get_if<wire::Resume>(&request);
    const bool shown = (pause != nullptr && !pause->gpu) || (resume != nullptr && !resume->gpu);
    if (!shown && !reply->text.empty()) emit said(replyWords(reply->text));
  });
}

void DaemonModel::set(const char* preference, const std::string& value) {
  tell(wire::SetPreferences{{}, {{preference, value}}});
}

void DaemonModel::fetchPreferences() { tell(wire::GetPreferences{}); }

void DaemonModel::startDaemon() {
  if (const Status started = link::startDaemon(daemon_program_, link_.dataDir()); !started.ok()) {
    emit refused(errorWords(started.error()));
  }
}

}  // namespace starling::models
