#include "coordinator/web/page.h"

namespace starling::web {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#f5f6fa;--card:#fff;--ink:#1b1d29;--soft:#5b6072;--line:#e3e5ee;--edge:#80859b;--track:#e6e8f1;--own:#eef0ff;
--accent:#4f46e5;--accent2:#0d9488;--good:#0f766e;--goodbg:#d7f3ee;--warn:#92400e;--warnbg:#fdecc8;--bad:#b42318;--badbg:#fde4e1;--shadow:0 1px 2px #1b1d2914,0 4px 16px #1b1d290d}
@media (prefers-color-scheme:dark){:root{--bg:#12131a;--card:#1b1d27;--ink:#eceef6;--soft:#a2a8bd;--line:#2c2f3e;--edge:#70768d;--track:#2b2e3d;--own:#26284a;
--accent:#a5a0ff;--accent2:#2dd4bf;--good:#5eead4;--goodbg:#123b38;--warn:#fcd34d;--warnbg:#42330f;--bad:#fca5a5;--badbg:#451d1d;--shadow:none}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
-webkit-text-size-adjust:100%}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;background:#fff;color:#1b1d29;padding:.4rem .8rem;border-radius:8px;z-index:1}
main,footer{max-width:68rem;margin:0 auto;padding:0 1.25rem}
header{background:linear-gradient(100deg,#312e81,#4338ca 45%,#0f766e);color:#fff}
header>div{max-width:68rem;margin:0 auto;padding:1rem 1.25rem 4.5rem}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 2rem;margin-bottom:1.5rem}
.top a{color:#fff;text-decoration:none}
.home{font-weight:650;overflow-wrap:anywhere}
.top ul{display:flex;flex-wrap:wrap;gap:.15rem .35rem;list-style:none;margin:0 -.7rem;padding:0}
.top li a{display:block;padding:.35rem .7rem;border-radius:99px;font-size:.94rem}
.top li a:hover{background:#ffffff1f}
.top li a[aria-current]{background:#fff;color:#312e81;font-weight:600}
.notice{background:var(--warnbg);color:var(--warn);border-bottom:1px solid var(--line)}
.notice p{max-width:68rem;margin:0 auto;padding:.7rem 1.25rem;overflow-wrap:anywhere}
h1{margin:0;font-size:clamp(1.6rem,1.2rem + 2vw,2.4rem);line-height:1.15;letter-spacing:-.02em;overflow-wrap:anywhere}
header p{margin:.5rem 0 0;color:#f0f1ff;overflow-wrap:anywhere}
h2{margin:0 0 1rem;font-size:1.05rem;letter-spacing:-.005em}
h3{margin:1.4rem 0 .2rem;font-size:1rem}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;box-shadow:var(--shadow);padding:1.25rem 1.4rem;margin-bottom:1.25rem;min-width:0}
section.now{margin-top:-2.75rem}
section>p:first-child{margin-top:0}
section>p:last-child,section>:last-child p:last-child{margin-bottom:0}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 1.25rem;align-items:start}
.line{display:flex;flex-wrap:wrap;align-items:baseline;gap:.35rem .9rem;margin-bottom:.75rem}
.line h2{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums}
h2 small{font-weight:400;color:var(--soft);font-size:.95rem}
.state{padding:.1rem .65rem;border-radius:99px;font-size:.82rem;font-weight:600;background:var(--warnbg);color:var(--warn);white-space:nowrap}
.state.running{background:var(--goodbg);color:var(--good)}
.push{margin-left:auto;color:var(--soft);font-variant-numeric:tabular-nums}
progress{appearance:none;-webkit-appearance:none;display:block;width:100%;height:.8rem;border:0;border-radius:99px;background:var(--track);overflow:hidden}
progress::-webkit-progress-bar{background:var(--track)}
progress::-webkit-progress-value{background:linear-gradient(90deg,var(--accent),var(--accent2));border-radius:99px}
progress::-moz-progress-bar{background:var(--accent);border-radius:99px}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1.1rem 1.25rem;margin:1.4rem 0 0}
h2+dl{margin-top:0}
dt{color:var(--soft);font-size:.86rem}
dd{margin:0;font-size:1.5rem;font-weight:650;line-height:1.25;letter-spacing:-.015em;font-variant-numeric:tabular-nums}
dd small{display:block;font-size:.84rem;font-weight:400;letter-spacing:0;color:var(--soft)}
.what{color:var(--soft);font-size:.88rem}
h2+.what{margin:-.75rem 0 1rem}
.chart{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.4rem .6rem}
.chart svg{display:block;width:100%;height:clamp(9rem,22vw,15rem);overflow:visible}
.ys{display:flex;flex-direction:column;justify-content:space-between;margin:-.65rem 0;text-align:right}
.ys,.xs{color:var(--soft);font-size:.8rem;line-height:1.3rem;font-variant-numeric:tabular-nums}
.xs{grid-column:2;display:flex;justify-content:space-between}
.chart.live{display:block;position:relative}
.chart.live>svg,.chart.live>.ys,.chart.live>.xs{display:none}
.plot{height:calc(clamp(9rem,22vw,15rem) + 1.7rem);border-radius:8px;cursor:crosshair;overflow:hidden}
.plot canvas{touch-action:pan-y}
.dygraph-axis-label{color:var(--soft);line-height:normal;overflow:hidden;font-variant-numeric:tabular-nums}
.reading{position:absolute;top:0;right:8px;background:var(--card);border-radius:6px;padding:0 .4rem;font-size:.88rem;font-weight:600;pointer-events:none}
.everything{position:absolute;bottom:2.2rem;right:12px;font-size:.82rem;padding:.15rem .6rem}
.curve{fill:none;stroke:var(--accent);stroke-width:2.5;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}
.area{fill:var(--accent);opacity:.1}
.bar{fill:var(--accent);opacity:.85}
.badges{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:0 0 .4rem;padding:0}
.badges li{border:1px solid var(--line);border-radius:12px;padding:.35rem .85rem;background:var(--own)}
.badges small{color:var(--soft)}
.whose ul{margin-bottom:.5rem}
.badges+dl{margin-top:1rem}
dl+.more{margin-top:1.1rem}
a.name{color:inherit;text-decoration-color:var(--line);text-underline-offset:.2em}
a.name:hover{text-decoration-color:currentcolor}
.grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
details{margin-top:.75rem;font-size:.88rem}
summary{cursor:pointer;color:var(--soft)}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:.88rem;padding-bottom:.5rem}
th{font-weight:500;text-align:right}
thead th{font-size:.84rem;color:var(--soft);padding:.35rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap}
td,tbody th{text-align:right;padding:.55rem .6rem;border-bottom:1px solid var(--line)}
tbody tr:last-child>*{border-bottom:0}
tr>:first-child{width:2.2rem;padding-left:0;text-align:left;color:var(--soft)}
tr>:nth-child(2){text-align:left;overflow-wrap:anywhere;width:100%}
tbody tr>:nth-child(2){font-weight:600}
tr>:last-child{padding-right:0}
tr.first>:first-child{color:var(--accent);font-weight:700}
tr.own>*{background:var(--own)}
tr.own>:first-child{padding-left:.6rem}tr.own>:last-child{padding-right:.6rem}
tr.own>:first-child{border-radius:8px 0 0 8px}tr.own>:last-child{border-radius:0 8px 8px 0}
thead th a{color:inherit;text-decoration:none}
thead th a:hover{text-decoration:underline}
th.on{color:var(--ink)}
th.on::after{content:" \25BE"}
td.on{font-weight:600}
.tag{font-size:.75rem;font-weight:600;background:var(--accent);color:var(--card);border-radius:99px;padding:.05rem .5rem;margin-left:.3rem}
.of{font-weight:400;font-size:.84rem;color:var(--soft);margin-left:.3rem}
.pin{font-weight:400;font-size:.84rem;margin-left:.3rem;white-space:nowrap}
.when{color:var(--soft);white-space:nowrap}
td{white-space:nowrap}.note,td:nth-child(2){white-space:normal}
.plain{width:auto;min-width:16rem}
.plain.wide{width:100%}
.plain tr>:first-child{width:auto;text-align:left;padding-right:1.5rem}
.plain tr>:nth-child(2){font-weight:400;text-align:right;width:auto}
.plain.wide tr>:first-child{color:var(--ink);width:9rem}
.plain.wide tr>:nth-child(2){text-align:left;width:7rem}
.digest{display:block;overflow-wrap:anywhere}
.plain.wide.told tr>:nth-child(2){width:9.5rem;overflow-wrap:normal}
.note{text-align:left;color:var(--soft)}
.empty{margin:.5rem 0;color:var(--soft)}
.more{margin:.75rem 0 0}
.tabs ul{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:0 0 1rem;padding:0}
.tabs a{display:block;padding:.3rem .85rem;border-radius:99px;border:1px solid var(--line);color:var(--ink);text-decoration:none;font-size:.94rem}
.tabs a:hover{border-color:var(--accent)}
.tabs a[aria-current]{background:var(--accent);border-color:var(--accent);color:var(--card);font-weight:600}
form{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .6rem;margin-bottom:1.1rem}
label{color:var(--soft);font-size:.94rem}
input,button,select,textarea{font:inherit;border-radius:8px;border:1px solid var(--edge);padding:.35rem .7rem;background:var(--bg);color:var(--ink)}
input{flex:0 1 18rem;min-width:8rem}
button{cursor:pointer;font-weight:600}
button:hover{border-color:var(--accent)}
.pages{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;justify-content:center;padding-top:1rem}
.joining{display:flex;flex-wrap:wrap;gap:.7rem;align-items:center}
.qr{flex:none;width:8.5rem;height:8.5rem;border-radius:8px}
.button{background:var(--accent);color:var(--card);font-weight:600;text-decoration:none;border-radius:10px;padding:.5rem 1.1rem}
code{font:.88em/1.45 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.link{display:block;flex:1 1 16rem;background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem;overflow-wrap:anywhere}
article{border-top:1px solid var(--line);margin-top:1rem}
h2+article{border-top:0;margin-top:0}
article h3{margin-top:.8rem;overflow-wrap:anywhere}
h2+article h3{margin-top:0}
article p{margin:.35rem 0;overflow-wrap:anywhere;white-space:pre-line}
.prose p{max-width:44rem}
.prose h2:not(:first-child){margin-top:1.8rem}
.prose h2{margin-bottom:.4rem}
.formula{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.6rem .9rem}
sup{line-height:0}
a{color:var(--accent)}
form.fields{display:block;margin:0 0 .6rem}
.narrow{max-width:34rem}
.field{margin:0 0 .9rem}
.field label{display:block;margin-bottom:.2rem;color:var(--ink);font-size:.94rem}
.field input,.field select,.field textarea{display:block;width:100%}
.field small,.list small{display:block;color:var(--soft);font-size:.84rem;margin-top:.2rem}
.soft{color:var(--soft)}
.check{display:flex;gap:.6rem;align-items:flex-start}
.field.check input{flex:none;width:auto;min-width:0;margin:.3rem 0 0}
.field.check label{margin:0}
form.one{display:inline-flex;margin:0}
.send{margin:0}
button.main{background:var(--accent);color:var(--card);border-color:var(--accent);padding:.5rem 1.1rem}
button.danger{color:var(--bad);border-color:var(--bad)}
.box{border-radius:8px;padding:.6rem .9rem;margin:0 0 1rem}
.box.done{background:var(--goodbg);color:var(--good)}
.box.bad{background:var(--badbg);color:var(--bad)}
.list{list-style:none;margin:0;padding:0}
.list li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.2rem 1rem;padding:.6rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.list li:last-child{border:0}
.list details{margin:0}.list details[open]{grid-column:1/-1}
.code{font:600 1.9rem/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.08em;margin:.3rem 0}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,textarea:focus-visible,summary:focus-visible,.plot:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:6px}
header a:focus-visible{outline-color:#fff}
footer{color:var(--soft);font-size:.86rem;padding-bottom:2.5rem}
footer p{margin:.3rem 0}
@media (max-width:56rem){.two{grid-template-columns:minmax(0,1fr)}.board .when{display:none}}
@media (max-width:48rem){.board .k:not(.on){display:none}}
@media (max-width:40rem){section{padding:1.1rem 1rem;border-radius:12px}.push{margin-left:0;width:100%}
main,footer,header>div{padding-left:.85rem;padding-right:.85rem}
dd{font-size:1.3rem}td,th{padding-left:.35rem;padding-right:.35rem;font-size:.94rem}
dl{grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr))}
tr>:first-child{width:1.7rem}input{flex:1 1 8rem}label{flex-basis:100%}.board .s,.brief tr>:nth-child(4){display:none}.plain{min-width:0;width:100%}
.plain.wide thead{display:none}.plain.wide,.plain.wide tbody,.plain.wide tr{display:block}.plain.wide tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
.plain.wide tr:last-child{border:0}.plain.wide tr>*{display:inline-block;border:0;padding:.1rem .5rem .1rem 0}
.plain.wide tr>:first-child{width:auto;font-weight:600}.plain.wide .note{display:block}
.top li a{padding:.3rem .6rem}.top ul{margin:0 -.6rem}}
)css";

}  // namespace

std::string_view page_style() { return kStyle; }

}  // namespace starling::web
