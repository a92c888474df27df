import Web

/// The page's looks: what all pages share, and the colours and shapes of plots.
enum PageStyle {
  static let css = SharedStyle.css + "\n" + plots

  private static let plots = """
    :root{--cold:#1f6fb2;--warm:#b85c00;--revalidate:#1d7f4e}
    @media(prefers-color-scheme:dark){:root{--cold:#6db3f2;--warm:#f0a35e;--revalidate:#6fcf97}}
    main{max-width:80rem;margin:0 auto;padding:1.5rem 1rem 3rem}
    h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem}
    h2{font-size:1.15rem;margin:2rem 0 .5rem}
    p{margin:.25rem 0 .75rem;max-width:46rem}
    .tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0;padding:0;list-style:none}
    .tiles li{flex:1 1 9rem;background:var(--card);border:1px solid var(--rule);\
    border-radius:.5rem;padding:.6rem .8rem}
    .tiles b{display:block;font-size:1.35rem;line-height:1.25;font-variant-numeric:tabular-nums}
    .tiles span{color:var(--faint);font-size:.85rem}
    .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}
    figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;\
    padding:.75rem;break-inside:avoid;min-width:0}
    figcaption{font-weight:600;margin-bottom:.4rem}
    svg{display:block;width:100%;height:auto}
    .scroll{overflow-x:auto}
    svg text{fill:var(--faint);font-size:11.5px;font-variant-numeric:tabular-nums}
    svg .end{text-anchor:end}
    svg .middle{text-anchor:middle}
    svg .label{fill:var(--ink)}
    svg .grid{stroke:var(--rule);stroke-width:1}
    svg .axis,svg .tick{stroke:var(--faint);stroke-width:1}
    polyline{fill:none;stroke-width:2;stroke-linejoin:round}
    polyline.dashed{stroke-dasharray:5 4}
    .band{opacity:.15;stroke:none}
    polyline.cold{stroke:var(--cold)}polyline.warm{stroke:var(--warm)}
    polyline.revalidate{stroke:var(--revalidate)}
    circle.cold,polygon.cold{fill:var(--cold)}circle.warm,polygon.warm{fill:var(--warm)}
    circle.revalidate,polygon.revalidate{fill:var(--revalidate)}
    .legend{display:flex;flex-wrap:wrap;gap:.15rem 1rem;margin:.4rem 0 0;padding:0;\
    list-style:none;font-size:.85rem;color:var(--faint)}
    .legend i{display:inline-block;width:1.4rem;border-top:3px solid;margin-right:.4rem;\
    vertical-align:middle}
    .legend i.dashed{border-top-style:dashed}
    i.cold{color:var(--cold)}i.warm{color:var(--warm)}i.revalidate{color:var(--revalidate)}
    table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem;\
    background:var(--card)}
    th,td{padding:.3rem .5rem;border-bottom:1px solid var(--rule);text-align:right;\
    white-space:nowrap}
    th{color:var(--faint);font-weight:600}
    th:first-child,td:first-child{text-align:left}
    .bad{color:var(--bad);font-weight:600}
    @media print{:root{\
    --cold:#1f6fb2;--warm:#b85c00;--revalidate:#1d7f4e}
    main{max-width:none;padding:0}.scroll{overflow:visible}
    table{font-size:8pt}th,td{padding:.2rem .3rem}h2{break-after:avoid}}
    """
}
