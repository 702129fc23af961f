#include "coordinator/server/people.h"

#include <fmt/core.h>

#include "coordinator/accounts/credentials.h"
#include "coordinator/mail/smtp_outbox.h"
#include "shared/base/files.h"
#include "shared/manifest/join_link.h"

namespace starling::server {
namespace {

accounts::Policy policy_of(const ProjectConfig& config) {
  return {config.open_to_all, config.approval, config.anonymous, config.hosts_per_account};
}

// A mail relay on this very machine may do without TLS.
bool is_local(const std::string& url) {
  return url.starts_with("smtp://127.0.0.1") || url.starts_with("smtp://[::1]") || url.starts_with("smtp://localhost");
}

Result<std::unique_ptr<accounts::Outbox>> open_outbox(const Project& project, const ServeOptions& options) {
  if (options.smtp.empty()) return std::unique_ptr<accounts::Outbox>(new accounts::NoOutbox());
  if (!options.smtp.starts_with("smtp://") && !options.smtp.starts_with("smtps://")) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("--smtp '{}': a mail relay is named as smtp://relay.example.org:587, or smtps:// for TLS "
                             "from the first byte",
                             options.smtp)};
  }
  mail::SmtpOptions relay;
  relay.url = options.smtp;
  relay.user = options.smtp_user;
  relay.tls = !is_local(options.smtp);
  auto from = accounts::check_email(options.mail_from);
  if (!from || from->empty()) {
    return Error{ErrorCode::invalid_argument, "--smtp needs --mail-from, the address that mail comes from"};
  }
  relay.from = *from;
  if (!relay.user.empty()) {
    constexpr std::size_t kPasswordBytesMax = 1024;
    auto password = read_file(project.files.at("smtp.password"), kPasswordBytesMax);
    if (!password) return password.error().prefixed("--smtp-user");
    relay.password = password->substr(0, password->find('\n'));
  }
  return std::unique_ptr<accounts::Outbox>(new mail::SmtpOutbox(std::move(relay)));
}

}  // namespace

People::People(const PeopleParts& parts, const std::string& secret, std::unique_ptr<accounts::Outbox> letters)
    : outbox(std::move(letters)),
      bans(parts.stores.operation.bans, parts.clock),
      denied(parts.stores.people.accounts, bans, parts.clock),
      accounts({parts.project.config.name, web_root(parts.project.config), policy_of(parts.project.config),
                parts.stores, bans, *outbox, parts.clock, secret}),
      site({accounts, [&project = parts.project](const std::string& code) { return link_with(project, code); },
            &parts.maintenance}) {}

Result<std::unique_ptr<People>> open_people(const PeopleParts& parts) {
  STARLING_ASSIGN(auto outbox, open_outbox(parts.project, parts.options));
  STARLING_ASSIGN(const std::string secret, accounts::own_secret(parts.stores.operation.settings));
  auto people = std::make_unique<People>(parts, secret, std::move(outbox));
  STARLING_TRY(people->bans.refresh());
  STARLING_TRY(people->denied.refresh());
  return people;
}

std::string link_with(const Project& project, const std::string& invite) {
  const net::Endpoint& at = project.config.public_at;
  return manifest::format_join_link({at.host, at.port, project.authority.fingerprint(), invite});
}

}  // namespace starling::server
