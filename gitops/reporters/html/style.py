"""How a page looks, light and dark, on a screen and on paper; nothing is loaded from elsewhere."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #fafaf9; --card: #ffffff; --ink: #1c1b1a; --soft: #5f5c58; --line: #dddad5;
  --good: #1a7f46; --warn: #8f5d00; --bad: #b3261e; --track: #ecebe8;
  --s0: #2f6db5; --s1: #b8651b; --s2: #2f7d5b; --s3: #7a4fa3; --s4: #6b6a67; --s5: #a8326d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #161514; --card: #1f1e1c; --ink: #eceae6; --soft: #a9a5a0; --line: #3a3835;
    --good: #5cc98b; --warn: #e2b04a; --bad: #ff8a80; --track: #2c2a28;
    --s0: #6ea8ea; --s1: #eb9f5c; --s2: #63bd92; --s3: #b894dd; --s4: #a09d98; --s5: #e57fb1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 68rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.6rem 0 .4rem; }
h4 { font-size: .93rem; font-weight: 600; margin: 1.1rem 0 .3rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; }
a { color: inherit; }
code, .mono { font: .92em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
li, li code { overflow-wrap: anywhere; } code { overflow-wrap: break-word; }
.wide + .wide { margin-top: .7rem; }
td svg.bar { margin-top: .35em; min-width: 6rem; } .bars td svg.bar { margin-top: 0; }
.small { font-size: .88rem; }
.soft { color: var(--soft); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.1rem 1.25rem; margin: 1.25rem 0;
}
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .28rem .75rem .28rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 400; }
tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bars td, .bars th { padding-top: .12rem; padding-bottom: .12rem; vertical-align: middle; }
.bars tbody tr + tr > * { border-top: 0; }
.bars tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); padding-top: .35rem; }
.bars tbody tr:last-child > * { padding-bottom: .35rem; }
.bars th.label { width: 24%; overflow-wrap: anywhere; }
.bars .series { width: 34%; color: var(--soft); overflow-wrap: anywhere; }
.bars td.plot { width: 26%; min-width: 8rem; }
svg.bar { display: block; width: 100%; height: .8rem; }
svg.bar .track { fill: var(--track); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .s4 { fill: var(--s4); } .s5 { fill: var(--s5); }
.sbad { fill: var(--bad); } .swarn { fill: var(--warn); } .ssoft { fill: var(--s4); }
ul { margin: .3rem 0; padding-left: 1.2rem; }
li { margin: .2rem 0; }
footer { color: var(--soft); font-size: .9rem; }
.findings { list-style: none; padding-left: 0; } .findings li { margin: .5rem 0; }
@media (max-width: 40rem) {
  body { padding: 1rem .6rem 2rem; } .card { padding: .8rem .7rem; } h1 { font-size: 1.3rem; }
  th, td { padding-right: .4rem; overflow-wrap: anywhere; } thead th { overflow-wrap: normal; }
  table { font-size: .86rem; } .number { white-space: normal; overflow-wrap: normal; }
  tbody code { overflow-wrap: anywhere; }
  .stack, .stack tbody, .stack tr, .stack td:last-child { display: block; }
  .stack thead { display: none; } .stack tr { padding: .3rem 0; }
  .stack th, .stack td { display: inline; border: 0; padding: 0 .4rem 0 0; }
  .bars th.label, .bars .series { width: auto; } .bars th.label { min-width: 6.5rem; }
  .roomy { display: none; }
}
@media print { body { max-width: none; } .card { break-inside: avoid; } }
"""
