/// What the store looks like beyond ``SharedStyle``.
enum StoreStyle {
  static let css = [
    SharedStyle.css, colours, frame, StoreListStyle.css, StoreItemStyle.css, StoreOrderStyle.css,
  ]
  .joined(separator: "\n")

  /// A bowl with its lid.
  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" \
    fill="#a8380f"/><path d="M6 15h20c0 7-4.4 10.5-10 10.5S6 22 6 15zM9.5 12.5c.6-3.6 3.2-5.5 \
    6.5-5.5s5.9 1.9 6.5 5.5z" fill="#fff"/></svg>
    """

  /// Prices stand out 7 to 1 from every ground. (WCAG 2.2, 1.4.6)
  static let colours = """
    :root{--price:#7d2604;--was:#474e57;--press:#8f2f0b;--onpress:#fff;--line:#8b8378;--lift:0 1px 2px rgb(29 33 38/.05),
    0 8px 24px rgb(29 33 38/.07);--round:16px}
    @media(prefers-color-scheme:dark){:root{--price:#ffb798;--was:#bcc5ce;--press:#ff9c73;--onpress:#1f1008;
    --line:#7b8793;--lift:0 8px 24px rgb(0 0 0/.35)}}
    @media print{:root{--price:#5a1b02;--was:#333;--press:#000;--onpress:#fff;--line:#666;--lift:none}}
    """

  static let frame = """
    body{display:flex;flex-direction:column;min-height:100vh;min-height:100dvh}
    main.wrap{flex:1;width:100%;padding-top:1.75rem;padding-bottom:4rem}
    main:focus{outline:0}
    h1{font-size:clamp(1.5rem,1.2rem + 1.4vw,2.125rem);letter-spacing:-.02em}
    h2{letter-spacing:-.015em}
    .wrap{max-width:78rem}
    .small{font-size:.8125rem}
    svg{width:1.5rem;height:1.5rem;fill:none;stroke:currentColor;stroke-width:1.6;stroke-linecap:round;
    stroke-linejoin:round}
    [hidden]{display:none!important}
    .skip{position:absolute;left:1rem;top:-4rem;padding:.625rem 1rem;background:var(--card);
    color:var(--ink);border-radius:0 0 10px 10px;z-index:20}
    .skip:focus{top:0}
    .bar{position:sticky;top:0;z-index:10;background:var(--paper);border-bottom:1px solid var(--rule)}
    .bar .wrap{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:.625rem 1.5rem;align-items:center;
    padding-top:.625rem;padding-bottom:.625rem}
    .shop{font-size:1.25rem;font-weight:800;letter-spacing:-.03em;color:var(--accent);text-decoration:none;
    overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:.25rem 0}
    .find{position:relative;max-width:30rem;width:100%;justify-self:center}
    .find svg{position:absolute;left:.875rem;top:50%;width:1.125rem;height:1.125rem;margin-top:-.5625rem;
    color:var(--faint);pointer-events:none}
    .find input{width:100%;height:2.75rem;padding:0 1rem 0 2.5rem;font:inherit;color:var(--ink);
    background:var(--card);border:1px solid var(--line);border-radius:999px}
    .find input:focus-visible{outline-offset:0;border-radius:999px}
    .find input::placeholder,.filter input::placeholder{color:var(--faint);opacity:1}
    .find button.vh{top:0;right:0;min-height:0;padding:0}
    .find button.vh:focus{top:.25rem;right:.25rem;width:auto;height:2.25rem;padding:0 1rem;clip-path:none;border-radius:999px}
    .links{display:flex;gap:.25rem;align-items:center}
    .links a{position:relative;display:flex;align-items:center;gap:.375rem;min-height:2.75rem;padding:0 .625rem;
    border-radius:10px;color:var(--ink);font-size:.875rem;text-decoration:none;white-space:nowrap}
    .links a:hover{background:var(--hole)}
    .links a[aria-current]{color:var(--accent);font-weight:600}
    .links .tongue{color:var(--faint)}
    .count{min-width:1.25rem;height:1.25rem;padding:0 .375rem;border-radius:999px;background:var(--press);
    color:var(--onpress);font-size:.75rem;line-height:1.25rem;text-align:center;font-variant-numeric:tabular-nums}
    .aisles{background:var(--paper);border-bottom:1px solid var(--rule)}
    .aisles ul{display:flex;gap:1.5rem;overflow-x:auto;scrollbar-width:none}
    .aisles a{display:block;padding:.75rem 0 .6875rem;border-bottom:3px solid transparent;color:var(--ink);
    text-decoration:none;white-space:nowrap;font-weight:500}
    .aisles a:hover{color:var(--accent)}
    .aisles a[aria-current]{border-color:var(--accent);color:var(--accent);font-weight:700}
    .aisles a:focus-visible{outline-offset:-3px}
    .head{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:end;margin:.75rem 0 1.25rem}
    .head p{color:var(--faint);margin-top:.25rem}
    .foot{border-top:1px solid var(--rule);padding:1.5rem 0 2.5rem;color:var(--faint);font-size:.8125rem}
    button,.button{display:inline-flex;align-items:center;justify-content:center;gap:.5rem;min-height:3rem;
    padding:0 1.5rem;border:1px solid transparent;border-radius:12px;background:var(--press);color:var(--onpress);
    font:inherit;font-weight:650;text-decoration:none;cursor:pointer}
    button:hover,.button:hover{filter:brightness(1.08)}
    button:active,.button:active{transform:translateY(1px)}
    .quiet:is(button,.button){background:var(--card);border-color:var(--line);color:var(--ink)}
    .quiet:is(button,.button):hover{border-color:var(--accent);color:var(--accent);filter:none}
    .danger.quiet{color:var(--bad)}
    .bare{min-height:2.75rem;width:2.75rem;padding:0;background:none;color:var(--faint)}
    .bare:hover{color:var(--bad);filter:none}
    .bare svg{width:1.25rem;height:1.25rem}
    .note{margin:0 0 1.25rem;padding:.75rem 1rem;border-left:4px solid var(--warn);background:var(--card);
    border-radius:0 10px 10px 0;font-size:.9375rem;box-shadow:var(--shade)}
    .note.good{border-color:var(--good)}.note.bad{border-color:var(--bad)}
    .note a{font-weight:600;white-space:nowrap}
    #faults:focus{outline:0}
    .note ul{list-style:disc;padding-left:1.25rem}
    .bad:not(.note){color:var(--bad)}
    .blank{padding:4rem 1rem;text-align:center;color:var(--faint)}
    .blank svg{width:3.5rem;height:3.5rem;stroke-width:1.2}
    .blank p{margin-top:.75rem}
    .notice{max-width:34rem;margin:8vh auto;text-align:center}
    .notice>p{margin-top:.875rem;color:var(--faint)}
    .eyebrow{font-size:.875rem;font-weight:700;color:var(--accent)!important;letter-spacing:.01em}
    .crumbs ol{display:flex;flex-wrap:wrap;gap:.25rem .5rem;font-size:.875rem;color:var(--faint)}
    .crumbs li+li::before{content:"›";margin-right:.5rem}
    .crumbs a{color:inherit;text-decoration:none;display:inline-block;padding:.375rem 0}
    .crumbs a:hover{color:var(--accent);text-decoration:underline}
    @media(max-width:47.99rem){.bar .wrap{grid-template-columns:minmax(0,1fr) auto;gap:.375rem .5rem}
    .find{grid-column:1/-1;grid-row:2;max-width:none}.links a{padding:0 .5rem}
    .links a:not(.tongue)>span:not(.vh){position:absolute;width:1px;height:1px;overflow:hidden;
    clip-path:inset(50%);white-space:nowrap}
    .links .count{position:absolute;top:.125rem;right:-.125rem;font-size:.6875rem;min-width:1.125rem;height:1.125rem;
    line-height:1.125rem;padding:0 .25rem}
    main.wrap{padding-top:1rem}.aisles ul{gap:1.25rem}.bar{position:static}}
    @media(prefers-reduced-motion:no-preference){a,button,.card .pic img{transition:color .15s,background-color .15s,
    border-color .15s,filter .15s,transform .3s}}
    @media print{.bar,.aisles,.skip,.foot,.tools,.pages,.buy,.crumbs,.turn,.strip,.notice .button,
    .receipt form{display:none!important}main.wrap{padding:0}}
    """
}
