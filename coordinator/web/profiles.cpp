#include "coordinator/web/profiles.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "coordinator/web/badges.h"
#include "coordinator/web/certificate.h"
#include "coordinator/web/certificate_pdf.h"
#include "coordinator/web/credit_page.h"
#include "coordinator/web/day_chart.h"
#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "coordinator/web/responses.h"
#include "shared/net/url.h"

namespace starling::web {
namespace {

constexpr std::string_view kPdfSuffix = ".pdf";
constexpr int kDaysShown = 30;
constexpr int kMembersShown = 200;
constexpr std::int64_t kMsPerDay = 86'400'000;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

void add_badges(std::string& html, const std::vector<Badge>& badges) {
  if (badges.empty()) return;
  html += "<ul class=\"badges\" aria-label=\"Badges\">";
  for (const Badge& badge : badges) {
    html += fmt::format("<li><b>{}</b> <small>{}</small></li>", badge.title, badge.note);
  }
  html += "</ul>\n";
}

// Adds the figures that volunteers and teams have alike.
void add_figures(std::string& html, const db::Profile& profile, WallTime now) {
  const db::Standing& standing = profile.standing;
  const auto rank = [](std::int64_t number, std::int64_t of) {
    if (number == 0) return std::string("no rank yet");
    return fmt::format("rank {}", grouped(number)) + (number <= of ? " of " + grouped(of) : std::string());
  };
  html += "<dl>\n";
  add_cell(html, "Recent average", short_number(db::decayed(standing.recent, now)),
           "credit a day; " + rank(standing.rank, profile.ranked));
  const db::Totals& total = standing.earned(db::Board::total);
  add_cell(html, "Total credit", short_number(credit_of(total)),
           rank(profile.total_rank, 0) + pending_note(profile.pending));
  add_cell(html, "Samples accepted", grouped(total.samples),
           standing.last_contribution.unix_ms > 0 ? "last " + ago(standing.last_contribution, now) : "none yet");
  add_cell(html, "Last 7 days", short_number(credit_of(standing.earned(db::Board::week))),
           fmt::format("{} in the last 24 hours", short_number(credit_of(standing.earned(db::Board::day)))));
  html += "</dl>\n";
}

std::string credit_text(const db::RunTotals& run) {
  const std::string earned = short_number(credit_of(run.earned));
  if (run.pending.credit == 0) return earned;
  return fmt::format("{} <small>({} pending)</small>", earned, short_number(credit_of(run.pending)));
}

void add_runs(std::string& html, const std::vector<db::RunTotals>& runs) {
  if (runs.empty()) return;
  html +=
      "<section aria-labelledby=\"runs\">\n<h2 id=\"runs\">Run by run</h2>\n<table class=\"plain\"><thead><tr><th "
      "scope=\"col\">Run</th><th scope=\"col\">Credit</th><th scope=\"col\">Samples</th></tr></thead><tbody>\n";
  for (const db::RunTotals& run : runs) {
    html += fmt::format("<tr><th scope=\"row\"><a href=\"/run/{}\">{}</a></th><td>{}</td><td>{}</td></tr>\n",
                        net::url_encode(run.run_id), escape(run.run_id), credit_text(run), grouped(run.earned.samples));
  }
  html += "</tbody></table>\n</section>\n";
}

void add_members(std::string& html, const db::Team& team, const std::vector<db::TeamMember>& members) {
  html += fmt::format("<section aria-labelledby=\"members\">\n<h2 id=\"members\">Members <small>{} now</small></h2>\n",
                      grouped(team.members));
  if (members.empty()) {
    html += "<p class=\"empty\">Nobody has earned anything for it yet.</p>\n</section>\n";
    return;
  }
  html +=
      "<table class=\"board\"><caption>By what they have earned for the team</caption><thead><tr><th "
      "scope=\"col\"><span "
      "aria-label=\"Rank\">#</span></th><th scope=\"col\">Name</th><th scope=\"col\">Credit</th><th scope=\"col\" "
      "class=\"s\">Samples</th></tr></thead><tbody>\n";
  int rank = 0;
  for (const db::TeamMember& member : members) {
    html += fmt::format(
        "<tr><td>{}</td><th scope=\"row\"><a class=\"name\" "
        "href=\"/volunteer/{}\"><bdi>{}</bdi></a>{}</th><td>{}</td><td "
        "class=\"s\">{}</td></tr>\n",
        ++rank, member.account_id, escape(member.display_name),
        member.is_there ? "" : " <small class=\"soft\">has left</small>", short_number(credit_of(member.earned)),
        grouped(member.earned.samples));
  }
  html += "</tbody></table>\n</section>\n";
}

// The account, if everybody may see it.
Result<std::optional<db::Account>> visible_account(const ProfileParts& parts, std::string_view number) {
  const auto id = number_of(number);
  if (!id) return std::optional<db::Account>();
  const auto account = parts.stores.people.accounts.find_account(*id);
  if (!account && account.error().code != ErrorCode::not_found) return account.error();
  const bool shown =
      account && (account->state == db::AccountState::active || account->state == db::AccountState::anonymous);
  return shown ? std::optional<db::Account>(*account) : std::nullopt;
}

// The sum that certificates state: credit that is not taken back any more for work that turns out to be wrong.
db::Totals final_of(const db::Profile& profile) {
  const db::Totals& total = profile.standing.earned(db::Board::total);
  return {total.samples - profile.pending.samples, total.credit - profile.pending.credit};
}

std::string joined_text(const db::Profile& profile, const char* what) {
  return fmt::format("{} {}", what, utc(profile.standing.joined).substr(0, 10));
}

}  // namespace

gate::Response nobody(const ProfileParts& parts, std::string_view what) {
  gate::Response response =
      response_of(kHtmlType, framed({parts.project, "Not here", "", "/leaderboard", 0, parts.now},
                                    fmt::format("<section class=\"now\"><p>There is no {} at this address. <a "
                                                "href=\"/leaderboard\">To the leaderboard</a></p></section>\n",
                                                what)));
  response.status = 404;
  return response;
}

Result<gate::Response> volunteer_response(const ProfileParts& parts, std::string_view number) {
  STARLING_ASSIGN(const auto account, visible_account(parts, number));
  if (!account) return nobody(parts, "volunteer");
  STARLING_ASSIGN(const db::Profile profile,
                  parts.stores.credit.standings.profile({db::Holder::volunteer, account->id, parts.now, kDaysShown}));
  STARLING_ASSIGN(const auto team, parts.stores.people.teams.of(account->id));
  STARLING_ASSIGN(const db::ClaimSums unconfirmed, parts.stores.credit.claims.of(account->id));
  std::string html = "<section class=\"now\">\n";
  add_badges(html, badges_of(profile, parts.now));
  add_figures(html, profile, parts.now);
  html += "<p class=\"more\">";
  if (team) {
    html += fmt::format("In the team <a href=\"/team/{}\"><bdi>{}</bdi></a>. ", team->id, escape(team->name));
  }
  html += fmt::format("<a href=\"/leaderboard?me={}\">On the leaderboard</a>", net::url_encode(account->display_name));
  if (final_of(profile).credit > 0) {
    html += fmt::format(
        " &middot; <a href=\"/certificate/{0}\">Certificate</a>, <a href=\"/certificate/{0}.pdf\">to print</a>",
        account->id);
  }
  html += "</p>\n" + unconfirmed_claims(unconfirmed) + "</section>\n" + day_chart(profile.days, kDaysShown, parts.now);
  add_runs(html, profile.runs);
  const std::string joined = joined_text(profile, "Joined");
  return page_with_charts(framed({.project = parts.project,
                                  .title = account->display_name,
                                  .subtitle = joined,
                                  .path = "/leaderboard",
                                  .now = parts.now,
                                  .charts = true},
                                 html));
}

Result<gate::Response> team_response(const ProfileParts& parts, std::string_view number) {
  const auto id = number_of(number);
  const auto team = id ? parts.stores.people.teams.find(*id) : Error{ErrorCode::not_found, ""};
  if (!team && team.error().code == ErrorCode::not_found) return nobody(parts, "team");
  if (!team) return team.error();
  STARLING_ASSIGN(const db::Profile profile,
                  parts.stores.credit.standings.profile({db::Holder::team, team->id, parts.now, kDaysShown}));
  STARLING_ASSIGN(const auto members, parts.stores.people.teams.members(team->id, kMembersShown));
  std::string html = "<section class=\"now\">\n";
  add_badges(html, badges_of(profile, parts.now));
  add_figures(html, profile, parts.now);
  html += fmt::format(
      "<p class=\"more\"><a class=\"button\" href=\"/account?team={}#team\">Join this team</a></p>\n</section>\n",
      net::url_encode(team->name));
  html += day_chart(profile.days, kDaysShown, parts.now);
  add_members(html, *team, members);
  add_runs(html, profile.runs);
  const std::string founded = fmt::format("{} by {}", joined_text(profile, "A team, founded"), team->founder);
  return page_with_charts(framed({.project = parts.project,
                                  .title = team->name,
                                  .subtitle = founded,
                                  .path = "/leaderboard",
                                  .now = parts.now,
                                  .charts = true},
                                 html));
}

Result<gate::Response> certificate_response(const ProfileParts& parts, std::string_view number) {
  const bool printed = number.ends_with(kPdfSuffix);
  if (printed) number.remove_suffix(kPdfSuffix.size());
  STARLING_ASSIGN(const auto account, visible_account(parts, number));
  if (!account) return nobody(parts, "volunteer");
  STARLING_ASSIGN(const db::Profile profile,
                  parts.stores.credit.standings.profile({db::Holder::volunteer, account->id, parts.now, kDaysShown}));
  const Certified certified{account->id, parts.now.unix_ms / kMsPerDay, final_of(profile)};
  const std::string code = certificate_code(certified, parts.secret);
  std::string svg = render_certificate({parts.project, account->display_name, certified, code,
                                        parts.web_root + "/certificate", profile.pending.credit > 0});
  if (!printed) return response_of(kSvgType, std::move(svg));
  STARLING_ASSIGN(std::string pdf,
                  pdf_of(svg, {fmt::format("Certificate of {}, {}", account->display_name, parts.project), code}));
  return response_of(kPdfType, std::move(pdf));
}

Result<gate::Response> certificate_check_response(const ProfileParts& parts, std::string_view code) {
  std::string html = "<section class=\"now narrow\">\n";
  if (!code.empty()) {
    const auto certified = read_certificate_code(code, parts.secret);
    if (certified) {
      STARLING_ASSIGN(const auto account, visible_account(parts, std::to_string(certified->account_id)));
      html += fmt::format(
          "<p class=\"box done\">This code is ours: on {}, {} had {} final credit for {} accepted samples, {} "
          "floating-point operations.</p>\n",
          utc({certified->day * kMsPerDay}).substr(0, 10),
          account
              ? fmt::format("<a href=\"/volunteer/{}\"><bdi>{}</bdi></a>", account->id, escape(account->display_name))
              : std::string("somebody whose account is gone"),
          short_number(credit_of(certified->total)), grouped(certified->total.samples),
          power_text(flop_of(certified->total)));
    } else {
      html += "<p class=\"box bad\">This project has given out no certificate with this code.</p>\n";
    }
  }
  html +=
      "<form class=\"fields\" action=\"/certificate\" method=\"get\"><p class=\"field\"><label for=\"code\">The code "
      "on the "
      "certificate</label><input id=\"code\" name=\"code\" maxlength=\"128\" autocomplete=\"off\" required></p><p "
      "class=\"send\"><button class=\"main\">Check it</button></p></form>\n</section>\n";
  return response_of(kHtmlType,
                     framed({parts.project, "Is this certificate real?", "", "/certificate", 0, parts.now}, html));
}

}  // namespace starling::web
