/// The common style of all pages of larder: colours of both schemes, type, focus, paper.
package enum SharedStyle {
  /// Colours by purpose, each with a contrast of at least 4.5 to 1 between text and background
  /// (WCAG 2.2, 1.4.3), and the page's background.
  package static let css = """
    :root{color-scheme:light dark;--paper:#faf8f5;--card:#fff;--ink:#1d2126;--faint:#5a636d;
    --rule:#e3dfd8;--accent:#a8380f;--tint:#fbeae2;--good:#1a6b42;--warn:#865400;--bad:#b3261e;
    --hole:#efece6;--shade:0 1px 2px rgb(29 33 38/.06)}
    @media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1c2026;--ink:#ece9e4;
    --faint:#a3adb7;--rule:#313840;--accent:#ff9c73;--tint:#3b271e;--good:#6fcf97;--warn:#f0b95e;
    --bad:#ff8a80;--hole:#262c33;--shade:none}}
    *,::before,::after{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:5rem}
    body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 -apple-system,
    BlinkMacSystemFont,"Segoe UI",Roboto,"Apple SD Gothic Neo","Malgun Gothic","Noto Sans KR",
    "Noto Sans CJK KR",NanumBarunGothic,NanumGothic,system-ui,sans-serif}
    :lang(ko){word-break:keep-all}
    h1,h2,h3,p{margin:0;overflow-wrap:anywhere}
    h1{font-size:1.875rem;line-height:1.2;letter-spacing:-.01em}
    h2{font-size:1.375rem;line-height:1.3;letter-spacing:-.005em}
    h3{font-size:1rem;line-height:1.4}
    ul,ol{margin:0;padding:0;list-style:none}
    a{color:var(--accent);text-underline-offset:.18em}
    :focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
    .wrap{max-width:80rem;margin:0 auto;padding:0 1rem}
    .vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
    white-space:nowrap}
    .faint{color:var(--faint)}
    .l{display:flex;flex-wrap:wrap;gap:.125rem .5rem;align-items:center;margin-top:.375rem;color:var(--faint);font-size:.75rem;line-height:1.35;
    font-variant-numeric:tabular-nums}
    .l span{flex:1 1 7rem;text-wrap:balance}.l small{display:block;font-size:inherit}.l svg{flex:none;width:3.5rem;height:1.125rem;overflow:visible}
    .l path{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:square;stroke-linejoin:miter;
    vector-effect:non-scaling-stroke}
    .l circle{fill:var(--accent);stroke:var(--card);stroke-width:2}
    @media(min-width:48rem){.wrap{padding:0 2rem}}
    @media print{:root{--paper:#fff;--card:#fff;--ink:#000;--faint:#444;--rule:#bbb;
    --accent:#8a2d0b;--tint:#fff;--good:#145434;--warn:#6b4300;--bad:#8c1d17;--hole:#eee;
    --shade:none}body{font-size:10pt}h1,h2,h3,header{break-after:avoid}}
    """
}
