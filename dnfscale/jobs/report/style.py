"""The style of the page: for screen, phone, dark rooms and paper; and that of a chart by itself."""

_LIGHT = """
:root {
  color-scheme: light dark;
  --page: #f4f6f9; --card: #ffffff; --ink: #17202b; --soft: #566172; --rule: #dbe1e9; --track: #e3e8ef;
  --accent: #1b5cb8; --yes: #e7f0fd; --yes-rule: #a9c6ef; --yes-ink: #123f80;
  --no: #fdf1e6; --no-rule: #e3b98c; --no-ink: #7d3f08; --bad: #a3231b;
  --ideal: #1b5cb8; --random-forest: #c05a12; --xgboost: #2b7a3d; --formula-size: #7c3fa3; --one-rule: #8a6a00;
  --majority: #6b7583; --other: #00756b;
  --hit-1: #eaf1fb; --hit-2: #d5e4f8; --hit-3: #bcd4f3; --hit-4: #a3c4ee; --hit-5: #8bb4e9;
  --miss-1: #fcf1e8; --miss-2: #f9e1cd; --miss-3: #f4ccab; --miss-4: #efb78a; --miss-5: #eaa36b;
}
"""

_DARK = """
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f141b; --card: #171e28; --ink: #e7ecf3; --soft: #a3afbf; --rule: #2c3745; --track: #2a3442;
    --accent: #82b4ff; --yes: #16304f; --yes-rule: #35619a; --yes-ink: #cfe2ff;
    --no: #3b2a17; --no-rule: #85602f; --no-ink: #ffdcb0; --bad: #ff9a91;
    --ideal: #6fa8ff; --random-forest: #f0924e; --xgboost: #6cc47b; --formula-size: #c493e8; --one-rule: #d8b545;
    --majority: #97a3b3; --other: #4dbdb0;
    --hit-1: #1a2636; --hit-2: #1d324d; --hit-3: #204066; --hit-4: #234e80; --hit-5: #265c99;
    --miss-1: #2a2420; --miss-2: #402e20; --miss-3: #573820; --miss-4: #6e4320; --miss-5: #854e20;
  }
}
"""

_PAGE = """
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--page); color: var(--ink); overflow-wrap: break-word;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
}
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .4rem .8rem; z-index: 2; }
.frame { max-width: 1160px; margin: 0 auto; padding: 0 1rem; }
header.frame { padding-top: 2rem; }
main { padding-bottom: 3rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; text-wrap: balance; }
h1 { font-size: 2rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; }
h3 { font-size: 1.08rem; }
h4 { font-size: 1rem; }
p { margin: 0 0 .75rem; max-width: 68ch; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.kind { color: var(--soft); font-size: .82rem; letter-spacing: .08em; text-transform: uppercase; margin: 0 0 .25rem; }
.lead { color: var(--soft); }
.note { color: var(--soft); font-size: .9rem; }
.warning { border-left: 4px solid var(--no-rule); padding-left: .8rem; }
nav { margin: 1rem 0 0; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: 0; padding: 0; font-size: .92rem; }
section, article { scroll-margin-top: 1rem; }
.card {
  background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 1.25rem 1.4rem;
  margin: 1.25rem 0;
}
article > .card:first-of-type { margin-top: .5rem; }
article { margin-top: 2.5rem; }
article > header { margin-bottom: .25rem; }
.answer { border-top: 4px solid var(--accent); }
.predict { font-size: 1.12rem; margin-bottom: .6rem; }
.predict strong { white-space: normal; }

.terms { list-style: none; margin: 0; padding: 0; }
.terms > li, .otherwise {
  display: grid; grid-template-columns: 1.3rem minmax(0, 1fr) 13rem; gap: .2rem .8rem; align-items: center;
  padding: .5rem 0; border-top: 1px solid var(--rule);
}
.terms > li::before { content: "or"; color: var(--soft); font-size: .88rem; line-height: 2.15rem; align-self: start; }
.terms:not([start]) > li:first-child::before { content: "if"; }
.terms > li:not(:has(.evidence)) { grid-template-columns: 1.3rem minmax(0, 1fr); }
.term { line-height: 2.15rem; min-width: 0; }
.and { color: var(--soft); font-size: .85rem; padding: 0 .1rem; }
.chip {
  background: var(--yes); color: var(--yes-ink); border: 1px solid var(--yes-rule); border-radius: 7px;
  padding: .13rem .5rem; line-height: 1.4; overflow-wrap: anywhere; display: inline-block; max-width: 100%;
  vertical-align: middle;
}
.chip.no { background: var(--no); color: var(--no-ink); border-color: var(--no-rule); border-style: dashed; }
.chip .sign, .chip .value { font-weight: 650; }
.evidence { font-size: .86rem; color: var(--soft); display: block; min-width: 0; }
.share { display: block; width: 100%; height: 7px; margin-top: .2rem; }
.share .track { fill: var(--track); }
.share .fill { fill: var(--ideal); }
.reasons { list-style: none; margin: 0 0 .75rem; padding: 0 0 0 .9rem; border-left: 3px solid var(--rule); }
.reasons > li { line-height: 2.15rem; }
.reasons > li + li { border-top: 1px solid var(--rule); margin-top: .25rem; padding-top: .25rem; }
.panels .term { margin-bottom: .6rem; }
.of-label { margin: 1.4rem 0 1.6rem; }
.of-label > .note { margin-bottom: .5rem; }
.otherwise > span:first-child { grid-column: 1 / 3; }
.constant { font-size: 1.1rem; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem;
  margin: 1.1rem 0 0; }
.figures > div { border: 1px solid var(--rule); border-radius: 10px; padding: .6rem .8rem; }
.figures > div:first-child { border: 2px solid var(--accent); padding: calc(.6rem - 1px) calc(.8rem - 1px); }
.figures dt { color: var(--soft); font-size: .85rem; }
.figures dd { margin: 0; font-size: 1.4rem; font-weight: 650; font-variant-numeric: tabular-nums; line-height: 1.3; }
.say { margin-top: 1rem; }
.before { margin-bottom: .2rem; color: var(--soft); }
.words { margin: 0 0 .9rem; padding-left: 1.2rem; max-width: 72ch; }
.words li { margin: .15rem 0; }
.figures dd small { font-weight: 400; font-size: .82rem; color: var(--soft); display: block; line-height: 1.35; }

figure { margin: 0 0 .75rem; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .35rem; max-width: 75ch; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: .9rem 2rem; }
"""

_CHARTS = """
.chart { display: block; font: 12.5px/1 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.chart text { fill: var(--ink); }
.chart .group { font-size: 13.5px; font-weight: 650; }
.chart .figure { font-variant-numeric: tabular-nums; }
.chart .name, .chart .tick { fill: var(--soft); }
.chart .tick { font-size: 11.5px; }
.chart .mark { font-weight: 650; }
.bar { fill-opacity: .55; }
.bar.m-ideal { fill-opacity: .85; }
.grid { stroke: var(--rule); stroke-width: 1; }
.grid.zero { stroke: var(--soft); stroke-width: 1.5; }
.interval { stroke: var(--ink); stroke-width: 1.3; }
.paper { stroke: var(--ink); stroke-width: 2.5; }
.paper.halo { stroke: var(--card); stroke-width: 6; }
.reference { stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 3 3; }
.chosen { stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 2 4; }
.dot { stroke: var(--card); stroke-width: 1.5; }
.m-ideal { fill: var(--ideal); } .m-random_forest { fill: var(--random-forest); } .m-xgboost { fill: var(--xgboost); }
.m-formula_size { fill: var(--formula-size); } .m-one_rule { fill: var(--one-rule); }
.m-majority { fill: var(--majority); } .m-other { fill: var(--other); }
.path { fill: none; stroke-width: 2.2; } .band { opacity: .09; stroke: none; }
.path.r-0 { stroke: var(--ideal); } .band.r-0, .knot.r-0 { fill: var(--ideal); }
.path.r-1 { stroke: var(--random-forest); stroke-dasharray: 8 4; } .band.r-1, .knot.r-1 { fill: var(--random-forest); }
.path.r-2 { stroke: var(--xgboost); stroke-dasharray: 2 4; } .band.r-2, .knot.r-2 { fill: var(--xgboost); }
.path.r-3 { stroke: var(--formula-size); } .band.r-3, .knot.r-3 { fill: var(--formula-size); }
.knot { stroke: var(--card); stroke-width: 1; }
.m-black_box { fill: var(--formula-size); }
.cell { fill: var(--card); stroke: var(--rule); }
"""

# A cell of a table has a ground, one of a drawing a fill; hits are blue, misses orange.
_SHADES = "".join(
    f"td.{name} {{ background: var(--{name}); }}\n.cell.{name} {{ fill: var(--{name}); }}\n"
    for name in (f"{kind}-{step}" for kind in ("hit", "miss") for step in range(1, 6))
)

_TABLES_AND_FOLDS = """
.legend { list-style: none; margin: 0 0 .5rem; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem;
  font-size: .88rem; color: var(--soft); }
.legend li { display: flex; align-items: center; gap: .4rem; min-width: 0; overflow-wrap: anywhere; }

.scroll { overflow-x: auto; margin: 0 0 .75rem; border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .5rem .7rem; color: var(--soft); font-size: .88rem; }
caption > span { display: inline-block; position: sticky; left: .7rem; max-width: min(68ch, calc(100vw - 5rem)); }
th, td { padding: .35rem .7rem; text-align: right; border-top: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; }
thead th { vertical-align: bottom; }
td { white-space: nowrap; }
th.text, td.text { text-align: left; white-space: normal; overflow-wrap: break-word; max-width: 36rem; }
td.long { min-width: 18rem; }
.facts thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.facts th.text { font-weight: 400; color: var(--soft); width: 50%; }
td.theirs, th.theirs { color: var(--soft); font-style: italic; }
tbody th { white-space: nowrap; }
.scroll th:first-child { position: sticky; left: 0; background: var(--card); background-clip: padding-box; z-index: 1; }
.wide { font-size: .82rem; }
.wide th, .wide td { padding-left: .36rem; padding-right: .36rem; }
.scroll:has(.shaded) { width: fit-content; max-width: 100%; }
.shaded { width: auto; }
.shaded th { position: relative; }
.shaded td.nought { color: var(--soft); }
.shaded td { min-width: 2.6rem; border-left: 1px solid var(--rule); vertical-align: middle; }
.number { color: var(--soft); font-weight: 400; font-variant-numeric: tabular-nums; padding-right: .2rem; }
tbody th.wrap { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
.bars td.share-cell { width: 45%; min-width: 7rem; vertical-align: middle; }
.bars .share { margin: 0; height: 10px; }

details { margin: 0 0 .6rem; }
summary { cursor: pointer; color: var(--accent); padding: .3rem 0; }
summary .plain { color: var(--ink); }
summary .soft { color: var(--soft); }
.folds > details { border-top: 1px solid var(--rule); margin: 0; padding: .15rem 0; }
.folds .terms { margin: .1rem 0 .6rem 1.1rem; }
.folds .term { font-size: .93rem; }
.more { background: none; }
.more > summary { font-weight: 600; padding: .6rem .1rem; }
.failures { border-left: 5px solid var(--bad); }
.failures dt { font-weight: 650; }
.failures dd { margin: 0 0 .6rem; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--soft); }
footer { color: var(--soft); font-size: .85rem; padding-bottom: 2.5rem; }

@media (max-width: 620px) {
  body { font-size: 15.5px; }
  h1 { font-size: 1.6rem; }
  .frame { padding: 0 .7rem; }
  .card { padding: 1rem .9rem; border-radius: 10px; }
  .terms > li, .otherwise { grid-template-columns: 1.3rem minmax(0, 1fr); gap: .2rem .5rem; }
  .terms .evidence { grid-column: 2; }
  .otherwise .evidence { grid-column: 1 / -1; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures dd { font-size: 1.2rem; }
  .folds .terms { margin-left: 0; }
  th, td { padding-left: .5rem; padding-right: .5rem; }
  .scroll th:first-child { max-width: 45vw; }
  tbody th, tbody th.wrap { white-space: normal; overflow-wrap: break-word; min-width: 0; }
  .shaded td { min-width: 2.2rem; }
  .glance thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .glance, .glance tbody, .glance caption { display: block; }
  .glance tr { display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: .45rem .6rem; }
  .glance tr { border-top: 1px solid var(--rule); }
  .glance th, .glance td { padding: 0; border: 0; min-width: 0; white-space: normal; text-align: left; }
  .glance th:first-child, .glance td.long { flex: 1 0 100%; max-width: 100%; }
  .glance td:empty { display: none; }
  .glance td:not(.long)::before { content: attr(data-name) " "; color: var(--soft); font-size: .85em; }
}
@media (max-width: 350px) { .chart { font-size: 10.5px; } }
"""

_PRINT = """
@media print {
  :root { color-scheme: light; }
  body { background: #fff; font-size: 10.5pt; }
  .frame { max-width: none; padding: 0; }
  nav, .skip { display: none; }
  .card { border-color: #bbb; padding: .8rem; margin: .8rem 0; }
  figure, tr, .terms > li, .figures { break-inside: avoid; }
  h2, h3, summary, .legend, caption { break-after: avoid; }
  article { break-before: page; margin-top: 0; }
  /* Of several runs, what each fold came to stays folded; the report of one run prints it. */
  details:not(.more .folds details)::details-content { content-visibility: visible; block-size: auto; opacity: 1; }
  details > summary { list-style: none; color: var(--ink); }
  .terms > li, .otherwise { padding: .25rem 0; }
  .term, .terms > li::before { line-height: 1.75rem; }
  .panels { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .scroll { overflow: visible; border: 0; }
  table { font-size: 8pt; }
  th, td { padding: .2rem .3rem; }
  td { white-space: normal; }
  td.text { overflow-wrap: anywhere; }
  td.long { min-width: 0; }
  .scroll th:first-child { position: static; background: none; }
  .chip, .bar, .dot, .knot, .band, .share rect, .shaded td {
    print-color-adjust: exact; -webkit-print-color-adjust: exact;
  }
}
"""

STYLE = _LIGHT + _DARK + _PAGE + _CHARTS + _TABLES_AND_FOLDS + _SHADES + _PRINT
"""Of the page."""
FIGURE_STYLE = _LIGHT.replace("light dark", "light") + _CHARTS + _SHADES
"""Of a chart in a file of its own, which is light whatever it is shown on."""
