#include "coordinator/web/credit_page.h"

#include <fmt/core.h>

#include "coordinator/web/html.h"
#include "coordinator/web/leaderboard_page.h"
#include "coordinator/web/page.h"

namespace starling::web {
namespace {

constexpr std::string_view kRule = R"html(<section class="now prose">
<h2>The rule</h2>
<p class="formula">credit = samples accepted &times; FLOPs a sample &times; 200 / (86,400 &times; 10<sup>9</sup>)</p>
<p>200 credits are what a computer of one GFLOPS does in a day; one credit is 4.32 &times; 10<sup>11</sup> floating-point
operations. The rule is the same for every computer, fast or slow, with or without a graphics card. Nothing that a
computer claims about its own speed counts.</p>
<p><b>FLOPs a sample</b> stands in the run's description, which the project signs and every volunteer's program checks:
forward and backward pass of the model over one sample.</p>
<p><b>Samples accepted</b> are those that the other members of an averaging group reduced. Each member reports how much of
whose data went into the average; what its group does not confirm is not credited, and the volunteer's page says how much
that was.</p>
)html";

constexpr std::string_view kDetails = R"html(<section class="prose">
<h2>When it counts</h2>
<p>A round is credited as soon as its group has reported and the ledger is on the disk; no nightly job, no waiting list.
You may leave at any second: what was accepted stays yours. A contribution counts once, whatever is sent twice.</p>
<h2 id="pending">Pending credit</h2>
<p>Some runs have some of the work computed again by others. Their credit counts on every board at once, but it is
<i>pending</i> for a number of rounds that the run's description says. A computer whose work turns out to be wrong loses what
is still pending; everything else becomes final, also when nobody had the time to check it. Certificates, and the totals in
files for statistics sites, are of final credit only.</p>
<h2>The recent average</h2>
<p>Credit a day, of which half is forgotten every 7 days. 100 credits every day show as 50 after a week, 75 after two, 94
after four; a week without training halves it. It is what the leaderboard is ordered by, so that newcomers are seen.</p>
<p class="formula">after a time <i>t</i> with credit <i>c</i>: average &larr; average &times; 2<sup>&minus;t / 7 days</sup> +
(1 &minus; 2<sup>&minus;t / 7 days</sup>) &times; c&nbsp;/&nbsp;t</p>
<h2>Corrections</h2>
<p>The ledger is only ever added to. When credit turns out to be wrong, the operator adds lines that take it back, with a
reason; totals and averages become what they would have been.</p>
<h2>It adds up</h2>
<p>The sum over all volunteers is the sum over all ledger lines, and each line is its samples times the run's constant. The
operator can check that at any time with <code>starling-coordinator credit check</code>, and that final and pending credit add
up to it.</p>
)html";

void add_example(std::string& html, const ShownRun& run) {
  const double a_sample = core::credit_earned(run.flops_per_sample, 1);
  const auto hundred = static_cast<std::int64_t>(a_sample > 0 ? 100 / a_sample + 0.5 : 0);
  html += "<h3>In this run</h3>\n<table class=\"plain\"><tbody>";
  html += fmt::format("<tr><th scope=\"row\">FLOPs a sample</th><td>{:.4g}</td></tr>", run.flops_per_sample);
  html += fmt::format("<tr><th scope=\"row\">Credit a sample</th><td>{:.4g}</td></tr>", a_sample);
  html += fmt::format("<tr><th scope=\"row\">100 credits</th><td>{}</td></tr></tbody></table>\n",
                      plural(hundred, "sample"));
}

}  // namespace

std::string render_credit_page(const CreditPageData& data) {
  std::string html(kRule);
  if (data.run) add_example(html, *data.run);
  html += "</section>\n";
  html += kDetails;
  html += fmt::format(
      "<p>Now: {} with {} credit{} for {} samples.</p>\n<h2>Elsewhere</h2>\n<p><a href=\"/certificate\">Is a "
      "certificate "
      "real?</a> &middot; <a href=\"/stats/\">Files for statistics sites</a>, and what is in them</p>\n</section>\n",
      plural(data.volunteers, "volunteer"), short_number(credit_of(data.totals)),
      data.pending.credit > 0 ? fmt::format(", {} of it pending,", short_number(credit_of(data.pending))) : "",
      grouped(data.totals.samples));
  return framed({data.project, "How credit is counted", "", "/credit", 0, data.now}, html);
}

std::string pending_note(const db::Totals& pending) {
  if (pending.credit == 0) return "";
  return fmt::format("; {} <a href=\"/credit#pending\">pending</a>", short_number(credit_of(pending)));
}

std::string unconfirmed_claims(const db::ClaimSums& sums) {
  if (sums.claims == 0) return "";
  return fmt::format(
      "<p class=\"what\">Not confirmed, and <a href=\"/credit\">not credited</a>: {} in {} of the last 90 days.</p>\n",
      plural(sums.samples, "sample"), plural(sums.claims, "round"));
}

std::string checked_work(const db::CheckSums& sums) {
  if (sums.checked() == 0) return "";
  const auto times = [](std::int64_t count) { return count == 1 ? std::string("once") : grouped(count) + " times"; };
  if (sums.missed == 0) {
    return fmt::format("<p class=\"what\">Their work was checked {}, all right.</p>\n", times(sums.checked()));
  }
  return fmt::format(
      "<p class=\"box bad\">Their work was checked {} and found wrong {}; credit that was <a "
      "href=\"/credit#pending\">pending</a> is taken back then. The usual cause is memory or a graphics card that runs "
      "too fast or too hot: <i>Test this computer</i> in Starling's window, or <code>starling doctor "
      "--self-test</code>, "
      "looks for that.</p>\n",
      times(sums.checked()), times(sums.missed));
}

}  // namespace starling::web
