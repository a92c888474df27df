/// The report's style beyond ``SharedStyle``.
enum ReportStyle {
  static let css = SharedStyle.css + "\n" + items + "\n" + tables

  private static let items = """
    .skip{position:absolute;left:1rem;top:-4rem;padding:.5rem 1rem;background:var(--card);
    color:var(--ink);border-radius:0 0 8px 8px;z-index:9}
    .skip:focus{top:0}
    .top{padding:2.5rem 0 1.75rem}
    .top .kind{color:var(--faint);font-size:.875rem;margin-bottom:.25rem}
    .top .lede{margin-top:.5rem;color:var(--faint);max-width:44rem}
    .tiles{display:grid;grid-template-columns:repeat(5,1fr);gap:.75rem;
    margin-top:1.5rem}
    .tiles a{display:block;height:100%;padding:.75rem 1rem;background:var(--card);
    border:1px solid var(--rule);border-radius:12px;box-shadow:var(--shade);color:inherit;
    text-decoration:none}
    .tiles a:hover{border-color:var(--accent)}
    .tiles b{display:block;font-size:1.375rem;line-height:1.3;font-variant-numeric:tabular-nums}
    .tiles span{display:block;color:var(--faint);font-size:.8125rem;line-height:1.4}
    .tiles .w{font-variant-numeric:tabular-nums}
    .tiles .good b{color:var(--good)}.tiles .warn b{color:var(--warn)}
    .tiles .bad b{color:var(--bad)}
    .find{position:sticky;top:0;z-index:5;background:var(--paper);
    border-bottom:1px solid var(--rule);padding:.625rem 0}
    .find .wrap{display:flex;gap:.5rem .75rem;align-items:center}
    .find form{flex:1 1 16rem;max-width:26rem}
    .find input{width:100%;font:inherit;color:var(--ink);
    background:var(--card);border:1px solid var(--faint);border-radius:10px;padding:.5rem .75rem}
    .find input:focus-visible{outline-offset:0;border-radius:10px}
    .find input::placeholder{color:var(--faint);opacity:1}
    .find nav{display:flex;gap:.375rem;overflow-x:auto;padding:3px;scrollbar-width:none}
    .find nav a{white-space:nowrap;padding:.375rem .75rem;border-radius:999px;color:var(--ink);
    text-decoration:none;font-size:.875rem}
    .find nav a:hover{background:var(--tint);color:var(--accent)}
    .find [role=status]{color:var(--faint);font-size:.875rem;white-space:nowrap;
    font-variant-numeric:tabular-nums}
    .find [role=status]:empty{display:none}
    .part{padding:2.25rem 0 .5rem}
    .part>header{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:baseline;
    margin-bottom:1rem}
    .part>header p{color:var(--faint)}
    .part>header .n{margin-left:auto;font-size:.875rem;font-variant-numeric:tabular-nums}
    .note{margin:0 0 1rem;padding:.625rem .875rem;border-left:3px solid var(--warn);
    background:var(--card);border-radius:0 8px 8px 0;font-size:.9375rem}
    .empty{padding:1.75rem 1rem;text-align:center;color:var(--faint);
    border:1px dashed var(--rule);border-radius:12px}
    .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));
    gap:.875rem}
    .c{position:relative;display:flex;gap:.875rem;padding:.75rem;background:var(--card);
    border:1px solid var(--rule);border-radius:14px;box-shadow:var(--shade);min-width:0;
    scroll-margin-top:5rem}
    @media screen{.cards:has(>:nth-child(60))>.c{content-visibility:auto;contain-intrinsic-size:auto 122px}}
    .c:hover{border-color:var(--accent)}
    .c:target{border-color:var(--accent)}
    .c img,.none{flex:none;width:96px;height:96px;border-radius:10px;background:var(--hole);
    object-fit:cover}
    .none{display:grid;place-items:center;color:var(--faint);font-size:.75rem;text-align:center;
    line-height:1.3;padding:.5rem}
    .c div{min-width:0;flex:1;display:flex;flex-direction:column}
    .c h3 a{color:inherit;text-decoration:none}
    .c h3 a::after{content:"";position:absolute;inset:0;border-radius:14px}
    .c h3 a:focus-visible{outline:0}
    .c h3 a:focus-visible::after{outline:3px solid var(--accent);outline-offset:1px}
    .c:hover h3 a{text-decoration:underline;text-decoration-thickness:1px}
    .c .t{color:var(--faint);font-size:.875rem;line-height:1.4;margin-top:.125rem;
    display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
    .c .p{margin-top:auto;padding-top:.375rem;display:flex;flex-wrap:wrap;gap:.125rem .5rem;
    align-items:center;font-variant-numeric:tabular-nums}
    .p b{font-size:1.125rem;line-height:1.3;color:var(--accent)}
    .p b.only{color:var(--ink)}
    .p s{color:var(--faint);font-size:.875rem}
    .p i{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
    white-space:nowrap}
    .p em{display:inline-block;font-style:normal;padding:.0625rem .5rem;border-radius:999px;background:var(--tint);
    color:var(--accent);font-size:.75rem;line-height:1.5;font-weight:600;white-space:nowrap;
    max-width:100%;overflow:hidden;text-overflow:ellipsis}
    .c .l small{display:none}.sheet .l{font-size:.875rem}.sheet .l svg{width:8rem;height:2.5rem}
    .p .quiet{background:var(--hole);color:var(--ink)}
    .foot{margin-top:3rem;padding:1.5rem 0 3rem;border-top:1px solid var(--rule);
    color:var(--faint);font-size:.875rem}
    [hidden]{display:none!important}
    dialog{width:min(40rem,calc(100vw - 1.5rem));max-height:calc(100dvh - 1.5rem);padding:0;
    border:1px solid var(--rule);border-radius:18px;background:var(--card);color:var(--ink);
    box-shadow:0 20px 60px rgb(0 0 0/.3)}
    dialog::backdrop{background:rgb(20 23 27/.55)}
    .sheet{padding:1.25rem}
    .sheet .hd{display:flex;gap:1rem;align-items:flex-start}
    .sheet .hd>div{flex:1;min-width:0}
    .sheet img,.sheet .none{width:96px;height:96px;border-radius:10px;background:var(--hole);
    object-fit:cover;display:block}
    .sheet .none{display:grid}
    .sheet h2{font-size:1.25rem}
    .sheet .p{display:flex;flex-wrap:wrap;gap:.25rem .625rem;align-items:baseline;margin:.375rem 0;
    font-variant-numeric:tabular-nums}
    .sheet .p b{font-size:1.375rem}.sheet .p s{font-size:1rem}
    .sheet h3{margin:1.25rem 0 .5rem;font-size:.875rem;color:var(--faint);font-weight:600}
    .sheet .g{display:grid;grid-template-columns:repeat(auto-fill,96px);gap:.5rem}
    .sheet dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1rem 0 0;
    font-size:.9375rem}
    .sheet dt{color:var(--faint)}.sheet dd{margin:0;overflow-wrap:anywhere}
    .sheet .d{margin-top:.75rem;white-space:pre-line;max-width:62ch}
    .bn{display:flex;gap:.375rem;position:sticky;top:0;justify-content:flex-end;
    padding:.625rem .75rem;background:var(--card);border-bottom:1px solid var(--rule);z-index:1}
    button{font:inherit;font-size:.9375rem;color:var(--ink);background:var(--card);
    border:1px solid var(--rule);border-radius:9px;padding:.375rem .75rem;cursor:pointer}
    button:hover:enabled{border-color:var(--accent);color:var(--accent)}
    button:disabled{opacity:.45;cursor:default}
    .bn .x{margin-left:auto}
    """

  private static let tables = """
    .panel{background:var(--card);border:1px solid var(--rule);border-radius:14px;
    box-shadow:var(--shade);padding:1rem 1.125rem;margin-bottom:1rem;min-width:0}
    .panel>h3{margin-bottom:.375rem}
    .panel>p+p{margin-top:.25rem}
    .todo{margin-top:.375rem}
    .scroll{overflow-x:auto}
    .late{direction:rtl}.late svg{direction:ltr;margin-right:auto}
    table{border-collapse:collapse;width:100%;font-size:.9375rem;font-variant-numeric:tabular-nums}
    th,td{text-align:left;padding:.4375rem 1.25rem .4375rem 0;border-bottom:1px solid var(--rule);
    vertical-align:top}
    tr:last-child>td,tr:last-child>th{border-bottom:0}
    thead th,.q{color:var(--faint);font-weight:600;font-size:.8125rem}
    tbody th{font-weight:500}
    .r{text-align:right;white-space:nowrap}
    .w{white-space:nowrap}
    .url{overflow-wrap:anywhere;font-size:.875rem}
    .list li{padding:.4375rem 0;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
    .list li:last-child{border-bottom:0}
    .list .from{color:var(--faint);text-decoration:line-through}
    .two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}
    .two{margin-bottom:1rem}.two .panel{margin-bottom:0}
    .is{display:inline-flex;align-items:center;gap:.375rem;white-space:nowrap}
    .is::before{content:"";width:.625rem;height:.625rem;border-radius:50%;
    background:var(--faint)}
    .is.good::before{background:var(--good)}
    .is.warn::before{background:var(--warn);border-radius:2px}
    .is.bad::before{background:var(--bad);border-radius:0;transform:rotate(45deg) scale(.9)}
    svg{display:block;max-width:100%}
    svg text{fill:var(--faint);font-size:11px}.cal text{font-size:9px}
    td svg{margin-top:.4375rem}
    .m rect{fill:var(--hole)}.m rect+rect{fill:var(--faint)}
    .plot{width:100%;height:auto}
    .plot .good,.cal .good{fill:var(--good)}.plot .warn,.cal .warn{fill:var(--warn)}
    .plot .bad,.cal .bad{fill:var(--bad)}.plot line{stroke:var(--rule)}
    .cal .no{fill:var(--hole)}.cal{min-width:30rem;width:100%;max-width:36rem}
    .key .is::before{width:.75rem;height:.75rem;border-radius:3px;transform:none}
    .key .warn::before{height:.4375rem}.key .bad::before{height:.1875rem;border-radius:1px}
    .key .no::before{background:var(--hole)}
    time{white-space:nowrap}
    .key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin-top:.75rem;font-size:.8125rem;
    color:var(--faint)}
    .more{margin-top:.5rem;color:var(--faint);font-size:.875rem}
    @media(max-width:40rem){html{scroll-padding-top:7.5rem}.find .wrap{flex-wrap:wrap}.find form{max-width:none}
    .tiles li:last-child:nth-child(odd){grid-column:1/-1}
    .find nav{order:3;width:100%}.top{padding:1.75rem 0 1.25rem}h1{font-size:1.625rem}
    .tiles{grid-template-columns:1fr 1fr}.part{padding-top:1.75rem}.hide{display:none}
    .plot text{font-size:16px}.plot{overflow:visible}.panel>h3:has(+.plot){margin-bottom:1rem}
    .cal{min-width:0}.cal text{font-size:14px}
    #run-list thead{display:none}#run-list :is(table,tbody){display:block}
    #run-list tr{display:grid;grid-template-columns:1fr 1fr;gap:.125rem 1rem;padding:.625rem 0;
    border-bottom:1px solid var(--rule)}#run-list tr:last-child{border:0}
    #run-list :is(td,th){padding:0;border:0;text-align:left}#run-list tbody th{grid-column:1/-1}
    #run-list [data-name]::before{content:attr(data-name);margin-right:.25rem;color:var(--faint);font-size:.8125rem}}
    .names{columns:17rem;column-gap:2rem}.names li{break-inside:avoid}
    .row{color:var(--faint)}
    @media(min-width:48rem){.fact{display:flex;gap:1.25rem;align-items:baseline}
    .who{flex:0 0 15rem}.what{flex:1;min-width:0}}
    @media print{.is::before,.m rect,.cal rect,.plot rect{print-color-adjust:exact;
    -webkit-print-color-adjust:exact}.p em{border:1px solid}
    .find,.skip,dialog{display:none!important}.c,.panel{box-shadow:none;
    break-inside:avoid}.cards{grid-template-columns:1fr 1fr}
    .part>header{break-after:avoid}.top{padding-top:0}.scroll{overflow:visible}}
    """
}
