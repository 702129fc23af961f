#include "coordinator/web/leaderboard_page.h"

namespace starling::web {

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark;--bg:#f5f6fa;--card:#fff;--ink:#1b1d29;--soft:#5b6072;--line:#e3e5ee;--track:#e6e8f1;
--accent:#4f46e5;--accent2:#0d9488;--good:#0f766e;--goodbg:#d7f3ee;--warn:#92400e;--warnbg:#fdecc8;--shadow:0 1px 2px #1b1d2914,0 4px 16px #1b1d290d}
@media (prefers-color-scheme:dark){:root{--bg:#12131a;--card:#1b1d27;--ink:#eceef6;--soft:#a2a8bd;--line:#2c2f3e;--track:#2b2e3d;
--accent:#a5a0ff;--accent2:#2dd4bf;--good:#5eead4;--goodbg:#123b38;--warn:#fcd34d;--warnbg:#42330f;--shadow:none}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
-webkit-text-size-adjust:100%}
main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{background:linear-gradient(100deg,#312e81,#4338ca 45%,#0f766e);color:#fff}
header>div{max-width:60rem;margin:0 auto;padding:2.25rem 1.25rem 4.5rem}
h1{margin:0;font-size:clamp(1.6rem,1.2rem + 2vw,2.4rem);line-height:1.15;letter-spacing:-.02em;overflow-wrap:anywhere}
header p{margin:.5rem 0 0;color:#e4e6ff;overflow-wrap:anywhere}
h2{margin:0 0 1rem;font-size:1.05rem;letter-spacing:-.005em}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;box-shadow:var(--shadow);padding:1.25rem 1.4rem;margin-bottom:1.25rem}
section.now{margin-top:-2.75rem}
.line{display:flex;flex-wrap:wrap;align-items:baseline;gap:.35rem .9rem;margin-bottom:.75rem}
.line h2{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}
.state{padding:.1rem .65rem;border-radius:99px;font-size:.82rem;font-weight:600;background:var(--warnbg);color:var(--warn)}
.state.running{background:var(--goodbg);color:var(--good)}
.push{margin-left:auto;color:var(--soft);font-variant-numeric:tabular-nums}
progress{appearance:none;-webkit-appearance:none;display:block;width:100%;height:.8rem;border:0;border-radius:99px;background:var(--track);overflow:hidden}
progress::-webkit-progress-bar{background:var(--track)}
progress::-webkit-progress-value{background:linear-gradient(90deg,var(--accent),var(--accent2));border-radius:99px}
progress::-moz-progress-bar{background:var(--accent);border-radius:99px}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:1.1rem 1.25rem;margin:1.4rem 0 0}
dt{color:var(--soft);font-size:.86rem}
dd{margin:0;font-size:1.5rem;font-weight:650;line-height:1.25;letter-spacing:-.015em;font-variant-numeric:tabular-nums}
dd small{display:block;font-size:.84rem;font-weight:400;letter-spacing:0;color:var(--soft)}
svg{display:block;width:100%;height:auto}
.curve{fill:none;stroke:var(--accent);stroke-width:2.5;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}
.area{fill:var(--accent);opacity:.1}
.grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.ends{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem .8rem;color:var(--soft);font-size:.84rem;margin-top:.5rem;font-variant-numeric:tabular-nums}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:650;font-size:1.05rem;padding-bottom:.75rem}
th{font-size:.84rem;font-weight:500;color:var(--soft);text-align:right;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
td{text-align:right;padding:.6rem;border-bottom:1px solid var(--line)}
tr:last-child td{border-bottom:0}
th:nth-child(1),td:nth-child(1){width:2.2rem;padding-left:0;text-align:left;color:var(--soft)}
th:nth-child(2),td:nth-child(2){text-align:left;overflow-wrap:anywhere}
td:nth-child(2){font-weight:600}
th:last-child,td:last-child{padding-right:0}
tr.first td:nth-child(1){color:var(--accent);font-weight:700}
.share{width:7rem}
.share rect{fill:var(--track)}
.share rect+rect{fill:var(--accent)}
.when{color:var(--soft);white-space:nowrap}
.empty{margin:0;color:var(--soft)}
nav{display:flex;gap:1rem;justify-content:center;padding-top:1rem}
a{color:var(--accent)}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
footer{color:var(--soft);font-size:.86rem;padding-bottom:2.5rem}
footer p{margin:.3rem 0}
@media (max-width:40rem){.share,.when{display:none}section{padding:1.1rem 1rem;border-radius:12px}.push{margin-left:0;width:100%}
dd{font-size:1.3rem}td,th{padding-left:.35rem;padding-right:.35rem}th:nth-child(4),td:nth-child(4){padding-right:0}
.ends .what{order:1;width:100%}dl{grid-template-columns:repeat(auto-fit,minmax(7rem,1fr))}td{font-size:.94rem}
th:nth-child(1),td:nth-child(1){width:1.7rem}header>div{padding-top:1.6rem}}
)css";
}

}  // namespace starling::web
