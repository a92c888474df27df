/// What the basket and the orders look like.
enum StoreOrderStyle {
  static let css = """
    .checkout{display:grid;gap:2rem}
    .line{display:grid;grid-template-columns:5rem minmax(0,1fr);gap:.5rem 1rem;align-items:center;padding:1rem 0;
    border-bottom:1px solid var(--rule)}
    .line:first-child{border-top:1px solid var(--rule)}
    .line .pic{border-radius:12px;width:5rem;align-self:start}
    .line h3{font-weight:550}
    .line h3 a{color:inherit;text-decoration:none}
    .line h3 a:hover{color:var(--accent);text-decoration:underline}
    .each{color:var(--was);font-size:.9375rem;font-variant-numeric:tabular-nums}
    .many{grid-column:2;display:flex;gap:.75rem;align-items:center}
    .sum{margin-left:auto;font-weight:700;font-variant-numeric:tabular-nums;white-space:nowrap}
    .update{margin-top:1rem}
    .sheet{align-self:start;padding:1.5rem;border-radius:20px;background:var(--card);border:1px solid var(--rule);
    box-shadow:var(--lift)}
    .sheet h2{font-size:1.25rem}
    .sums{display:flex;gap:1rem;justify-content:space-between;align-items:baseline;margin:1rem 0 1.25rem;padding-bottom:1rem;
    border-bottom:1px solid var(--rule);font-variant-numeric:tabular-nums}
    .sums span{overflow-wrap:anywhere;min-width:0}
    .sums b{font-size:1.375rem;white-space:nowrap}
    .field{margin-top:1rem}
    .field label{display:block;margin-bottom:.25rem;font-size:.875rem;font-weight:600}
    .field label .faint{font-weight:400}
    .field input,.field textarea{width:100%;min-height:3rem}
    .field textarea{resize:vertical;min-height:4.5rem;display:block}
    .left{min-height:1.5rem;margin-top:.25rem;font-size:.875rem;color:var(--good);font-variant-numeric:tabular-nums}
    .wide{width:100%;margin-top:.75rem;font-variant-numeric:tabular-nums}
    .wide+.small{margin-top:.75rem}
    .tickets{display:grid;gap:1rem}
    .ticket{position:relative;padding:1.25rem 1.5rem;border:1px solid var(--rule);border-radius:18px;background:var(--card);
    box-shadow:var(--shade)}
    .ticket:hover{border-color:var(--accent)}
    .ticket .top{display:flex;gap:1rem;align-items:baseline;justify-content:space-between}
    .ticket h2{font-size:1.0625rem;min-width:0}
    .ticket h2 a{color:inherit;text-decoration:none}
    .ticket h2 a::after{content:"";position:absolute;inset:0;border-radius:18px}
    .ticket h2 a:focus-visible{outline:0}
    .ticket h2 a:focus-visible::after{outline:3px solid var(--accent);outline-offset:2px}
    .ticket .top b{white-space:nowrap;font-size:1.0625rem;font-variant-numeric:tabular-nums}
    .ticket>.faint{margin-top:.125rem;font-size:.875rem;overflow-wrap:anywhere}
    .way{display:inline-flex;align-items:center;gap:.375rem;white-space:nowrap;font-weight:600;color:var(--ink)}
    .way::before{content:"";
    width:.5rem;height:.5rem;border-radius:50%;background:var(--line)}
    .way.delivered{color:var(--good)}.way.delivered::before{background:var(--good)}
    .way.queued,.way.sending{color:var(--warn)}.way.queued::before,.way.sending::before{background:var(--warn);border-radius:2px}
    .way.ambiguous{color:var(--bad)}
    .way.ambiguous::before,.way.dead::before{background:var(--bad);border-radius:0;transform:rotate(45deg)}
    .cancelled .way{color:var(--faint)}.cancelled .way::before{background:var(--faint)}
    .steps{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));margin-top:1.25rem;font-size:.8125rem;color:var(--faint)}
    .steps li{position:relative;padding-top:1.25rem;text-align:center;line-height:1.35}
    .steps li::before{content:"";position:absolute;top:.1875rem;left:50%;z-index:1;width:.75rem;height:.75rem;margin-left:-.375rem;
    border-radius:50%;background:var(--card);border:2px solid var(--line)}
    .steps li+li::after{content:"";
    position:absolute;top:.5rem;left:-50%;width:100%;height:2px;background:var(--rule)}
    .steps .done,.steps .now{color:var(--ink)}
    .steps .done::before{background:var(--good);border-color:var(--good)}
    .steps .done+li::after{background:var(--good)!important}
    .steps .now{font-weight:700}
    .steps .now::before{background:var(--card);border-color:var(--accent);border-width:4px}
    .steps time{display:block;color:var(--faint);font-weight:400;font-size:.75rem;font-variant-numeric:tabular-nums}
    .ended{margin-top:1rem;font-weight:600;color:var(--faint)}
    .receipt{max-width:44rem;margin:.75rem auto 0;padding:clamp(1.25rem,4vw,2.5rem);border:1px solid var(--rule);
    border-radius:24px;background:var(--card);box-shadow:var(--lift)}
    .crumbs+.note{margin:1rem auto 0;max-width:44rem}
    .receipt h1{font-size:1.5rem}
    .receipt header p{margin-top:.375rem;font-size:.875rem;overflow-wrap:anywhere}
    .receipt code{font-size:.8125rem}
    .receipt .steps{margin:1.75rem 0 1.5rem}
    .send{padding:.75rem 1rem;border-radius:12px;background:var(--paper);font-size:.9375rem}
    .send .way{margin-right:.5rem}
    table{width:100%;margin:1.5rem 0;border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9375rem}
    th,td{padding:.625rem .75rem .625rem 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
    tr>:last-child{padding-right:0}
    thead th{color:var(--faint);font-size:.8125rem;font-weight:600}
    tbody th{font-weight:500}tbody th a{color:inherit}
    tfoot th,tfoot td{border:0;padding-top:.875rem}tfoot b{font-size:1.25rem}
    .r{text-align:right;white-space:nowrap}
    .said{margin-bottom:1.5rem;padding:.75rem 1rem;border-left:3px solid var(--rule);white-space:pre-line;overflow-wrap:anywhere}
    @media(min-width:60rem){.checkout{grid-template-columns:minmax(0,1fr) 23rem;gap:3rem}.sheet{position:sticky;top:5.5rem}
    .line{grid-template-columns:6rem minmax(0,1fr) auto}.line .pic{width:6rem}.many{grid-column:3}.sum{min-width:6rem;
    text-align:right}}
    @media(max-width:39.99rem){.many{gap:.25rem}.ticket{padding:1rem 1.125rem}.receipt thead{display:none}.receipt :is(table,tbody,tfoot){display:block}
    .receipt tfoot tr{display:flex;justify-content:space-between}.line.gone{grid-template-columns:5rem minmax(0,1fr) auto}.line.gone .many{grid-column:3}.receipt tbody tr{display:grid;
    grid-template-columns:1fr auto auto;border-bottom:1px solid var(--rule);padding:.5rem 0}.receipt tbody th{grid-column:1/-1}
    .receipt tbody td,.receipt tbody th{border:0;padding:.125rem .75rem .125rem 0}.receipt tbody td:first-of-type{text-align:left}
    .receipt tbody td:nth-of-type(2)::before{content:"× "}.receipt tbody td:last-child{padding-right:0}}
    @media print{.receipt,.ticket,.sheet{border:0;box-shadow:none;padding:0}.ticket{break-inside:avoid;padding:.5rem 0}}
    """
}
