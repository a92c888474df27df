/// The store's style beyond ``SharedStyle``.
enum StorefrontStyle {
  static let css = [
    SharedStyle.css, colours, frame, StorefrontListStyle.css, StorefrontItemStyle.css,
    StorefrontOrderStyle.css,
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
    .wide.wide{display:block;padding:.6875rem 1rem}
    .bare{min-height:2.75rem;width:2.75rem;padding:0;background:none;color:var(--faint)}
    .bare:hover{color:var(--bad);filter:none}
    .bare svg{width:1.25rem;height:1.25rem}
    .note{margin:0 0 1.25rem;padding:.75rem 1rem;border-left:4px solid var(--warn);background:var(--card);
    border-radius:0 10px 10px 0;font-size:.9375rem;box-shadow:var(--shade)}
    .note.good{border-color:var(--good)}.note.bad{border-color:var(--bad)}
    .note a{font-weight:600;white-space:nowrap}
    #faults:focus,#told:focus{outline:0}
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

/// The style of lists of items.
enum StorefrontListStyle {
  static let css = """
    .deal{position:relative;display:grid;grid-template-columns:minmax(0,1fr) minmax(0,26rem);gap:2rem;align-items:center;
    margin:0 0 3rem;padding-left:clamp(1.5rem,5vw,4.5rem);background:var(--tint);border-radius:24px;overflow:hidden}
    .deal .words{padding:2rem 0}
    .deal h2{font-size:clamp(1.625rem,1rem + 2.6vw,2.75rem);line-height:1.2;margin-top:.5rem;letter-spacing:-.03em}
    .deal h2 a{color:inherit;text-decoration:none}
    .deal h2 a::after{content:"";position:absolute;inset:0;border-radius:24px}
    .deal h2 a:focus-visible{outline:0}
    .deal h2 a:focus-visible::after{outline:3px solid var(--accent);outline-offset:-4px}
    .deal .t{margin-top:.75rem;font-size:1.0625rem;max-width:30rem}
    .deal .p{margin-top:1.25rem;font-size:1.25rem}
    .deal .p b{font-size:1.75rem}.deal .p .off{font-size:1.75rem}
    .deal .button{margin-top:1.5rem}
    .deal:hover .button{filter:brightness(1.08)}
    .deal img{width:100%;height:100%;min-height:20rem;object-fit:cover;aspect-ratio:1}
    .shelf{margin-bottom:3.5rem}
    .shelf>header{display:flex;gap:1rem;align-items:end;justify-content:space-between;margin-bottom:1.25rem}
    .shelf h2{font-size:clamp(1.375rem,1.2rem + .7vw,1.75rem);line-height:1.25}
    .shelf header p{color:var(--faint);margin-top:.125rem}
    .all{flex:none;padding:.5rem 0;font-size:.9375rem;font-weight:600;text-decoration:none}
    .all::after{content:" →"}
    .all:hover{text-decoration:underline}
    .cards{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1.75rem 1rem}
    .card{position:relative;display:flex;flex-direction:column;min-width:0}
    .pic{position:relative;aspect-ratio:1;border-radius:var(--round);overflow:hidden;background:var(--hole)}
    .pic img{display:block;width:100%;height:100%;object-fit:cover}
    .none{display:grid;place-items:center;width:100%;height:100%;padding:.5rem;color:var(--faint);font-size:.8125rem;
    text-align:center;line-height:1.35}
    .over{position:absolute;inset:auto 0 0;padding:.375rem;background:rgb(20 23 27/.86);color:#fff;
    text-align:center;font-size:.875rem;font-weight:600}
    .gone .pic img{filter:grayscale(.75) opacity(.6)}
    .card h3{margin-top:.75rem;font-size:1rem;font-weight:550;line-height:1.4;display:-webkit-box;-webkit-line-clamp:2;
    -webkit-box-orient:vertical;overflow:hidden}
    .card h3 a{color:inherit;text-decoration:none}
    .card h3 a::after{content:"";
    position:absolute;inset:0;border-radius:var(--round)}
    .card h3 a:focus-visible{outline:0}
    .card:focus-within:has(:focus-visible){outline:3px solid var(--accent);outline-offset:4px;border-radius:var(--round)}
    .card:hover h3 a{text-decoration:underline;text-decoration-thickness:1px}
    @media(prefers-reduced-motion:no-preference){.card:hover .pic img{transform:scale(1.035)}}
    .t{color:var(--faint)}
    .card .t{margin-top:.125rem;font-size:.875rem;line-height:1.45;display:-webkit-box;-webkit-line-clamp:1;
    -webkit-box-orient:vertical;overflow:hidden;overflow-wrap:anywhere}
    .p{display:flex;flex-wrap:wrap;gap:0 .375rem;align-items:baseline;font-variant-numeric:tabular-nums}
    .card .p{margin-top:.375rem}
    .p b{color:var(--ink);font-size:1.0625rem;font-weight:750}
    .off{color:var(--price);font-style:normal;font-weight:750;font-size:1.0625rem}
    .p s,.was s{color:var(--was);font-size:.875rem}
    .badges{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.5rem}
    .badges em{padding:.125rem .5rem;border-radius:6px;background:var(--tint);color:var(--accent);font-style:normal;
    font-size:.75rem;line-height:1.4;font-weight:650;max-width:100%;overflow:hidden;text-overflow:ellipsis;
    white-space:nowrap}
    .badges .quiet{background:var(--hole);color:var(--ink)}
    .tools{display:flex;flex-wrap:wrap;gap:.75rem 1.5rem;align-items:center;justify-content:space-between}
    .tools nav{min-width:0;max-width:100%}
    .chips{display:flex;gap:.5rem;overflow-x:auto;scrollbar-width:none;padding:3px;margin:-3px}
    .chips a{display:inline-flex;align-items:center;gap:.375rem;min-height:2.5rem;padding:0 .875rem;
    border:1px solid var(--line);border-radius:999px;background:var(--card);color:var(--ink);font-size:.875rem;
    text-decoration:none;white-space:nowrap}
    .chips a:hover{border-color:var(--accent);color:var(--accent)}
    .chips .n{color:var(--faint);font-variant-numeric:tabular-nums}
    .chips a[aria-current]{background:var(--ink);border-color:var(--ink);color:var(--paper)}
    .chips a[aria-current] .n{color:inherit}
    .filter{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
    .filter fieldset{display:flex;gap:.375rem;align-items:center;margin:0;padding:0;border:0;min-width:0}
    .filter input{width:6.25rem}
    .filter input,.filter select,.field input,.field textarea,.stepper input{min-height:2.5rem;padding:.375rem .75rem;
    font:inherit;font-size:.9375rem;color:var(--ink);background:var(--card);border:1px solid var(--line);
    border-radius:10px}
    .filter button{min-height:2.5rem;padding:0 1rem;font-size:.9375rem}
    .fold,.unfold{display:none}
    [aria-invalid]{border-color:var(--bad)!important;box-shadow:0 0 0 1px var(--bad)}
    .found{margin:1.125rem 0 1rem;color:var(--faint);font-size:.9375rem;font-variant-numeric:tabular-nums}
    .found:focus{outline:0}
    .found a{margin-left:.5rem}
    .note+.found,.tools+.note{margin-top:1rem}
    .pages{margin-top:3rem}
    .pages ul{display:flex;flex-wrap:wrap;gap:.25rem;justify-content:center}
    .pages a,.pages span{display:grid;place-items:center;min-width:2.75rem;height:2.75rem;padding:0 .625rem;
    border-radius:10px;color:var(--ink);text-decoration:none;font-variant-numeric:tabular-nums}
    .pages a:hover{background:var(--hole)}
    .pages a[aria-current]{background:var(--press);color:var(--onpress);font-weight:650}
    .pages .step a{font-weight:600;color:var(--accent)}
    @media(min-width:40rem){.cards{grid-template-columns:repeat(3,minmax(0,1fr));gap:2.25rem 1.25rem}
    .some>:nth-child(n+7){display:none}}
    @media(min-width:64rem){.cards{grid-template-columns:repeat(4,minmax(0,1fr));gap:2.75rem 1.5rem}
    .some>:nth-child(n+7){display:flex}}
    @media(max-width:39.99rem){.some>:nth-child(n+7){display:none}.card h3{font-size:.9375rem}
    .deal{grid-template-columns:1fr;gap:0;padding:0;margin-bottom:2.5rem;border-radius:20px}.deal img{order:-1;min-height:0;
    aspect-ratio:4/3}.deal .words{padding:1.25rem 1.25rem 1.5rem}.deal .button{display:none}.deal .p{margin-top:.75rem}
    .fold{display:block;position:absolute;opacity:0;pointer-events:none}.unfold{display:inline-flex;align-items:center;min-height:2.5rem;
    padding:0 1rem;border:1px solid var(--line);border-radius:10px;background:var(--card);font-size:.9375rem;cursor:pointer}
    .unfold::after{content:"▾";margin-left:.5rem}.fold:checked+.unfold::after{content:"▴"}
    .fold:focus-visible+.unfold{outline:3px solid var(--accent);outline-offset:2px}.fold:not(:checked)~.filter{display:none}
    .filter{width:100%}.filter fieldset{flex:1 1 100%}.filter input{flex:1;width:auto;min-width:0}.filter select{flex:1}
    .tools nav{width:100%}.shelf{margin-bottom:2.75rem}}
    @media print{.cards{grid-template-columns:repeat(4,1fr);gap:.75rem}.card{break-inside:avoid}.some>*{display:flex!important}
    .deal{display:none}.badges em{border:1px solid}.shelf>header{break-after:avoid}.all{display:none}}
    """
}

/// The style of an item's page.
enum StorefrontItemStyle {
  static let css = """
    .item{display:grid;grid-template-columns:minmax(0,1fr);gap:1.5rem;margin:.75rem 0 4rem}
    .gallery{min-width:0}
    .stage{position:relative}
    .stage ul{display:flex;overflow-x:auto;overscroll-behavior-x:contain;scroll-snap-type:x mandatory;scrollbar-width:none;
    border-radius:20px;background:var(--hole)}
    .stage ul::-webkit-scrollbar{display:none}
    .stage li{flex:0 0 100%;scroll-snap-align:start;scroll-snap-stop:always;scroll-margin-top:6rem}
    .stage img{display:block;width:100%;height:auto;aspect-ratio:1;object-fit:cover}
    .stage a:focus-visible{outline-offset:-4px}
    .turn button{position:absolute;top:50%;left:.75rem;width:2.75rem;height:2.75rem;min-height:0;margin-top:-1.375rem;padding:0;
    border-radius:50%;background:rgb(20 23 27/.72);color:#fff}
    .turn #next{left:auto;right:.75rem}
    .turn button:disabled{opacity:0}
    .turn button:focus-visible{outline-color:#fff;box-shadow:0 0 0 6px rgb(20 23 27/.72);border-radius:50%}
    .at{position:absolute;right:.75rem;bottom:.75rem;padding:.125rem .625rem;border-radius:999px;background:rgb(20 23 27/.72);
    color:#fff;font-size:.8125rem;font-variant-numeric:tabular-nums}
    .strip{display:flex;gap:.5rem;margin-top:.75rem;padding:3px;overflow-x:auto;scrollbar-width:none}
    .strip a{display:block;border-radius:10px;outline-offset:1px}
    .strip img{display:block;width:4rem;height:4rem;object-fit:cover;border-radius:10px;background:var(--hole)}
    .strip a[aria-current]{box-shadow:0 0 0 2px var(--paper),0 0 0 4px var(--accent)}
    .about h1{margin-top:.625rem}
    .about .t{margin-top:.5rem;font-size:1.0625rem}
    .about .badges{margin:0}
    .price{margin:1.25rem 0;font-variant-numeric:tabular-nums}
    .price .was s{font-size:1rem}
    .price .p{gap:0 .5rem}
    .price .l{gap:.5rem .75rem;margin-top:.75rem;font-size:.875rem}.price .l svg{width:8rem;height:2.5rem}
    .price .p b,.price .off{font-size:1.75rem;line-height:1.25;letter-spacing:-.02em}
    .facts{margin:0;border-top:1px solid var(--rule)}
    .facts div{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:1rem;padding:.75rem 0;border-bottom:1px solid var(--rule);
    font-size:.9375rem}
    .facts dt{color:var(--faint)}.facts dd{margin:0;overflow-wrap:anywhere}
    .facts+.note,.price+.note{margin-top:1.25rem}
    .buy{margin-top:1.5rem}
    .buy .row{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;margin-top:.75rem}
    .buy .row>button{flex:1;padding:0 .75rem}
    .buy .row>output{display:none;font-size:1.125rem;font-weight:750;font-variant-numeric:tabular-nums}
    .total{margin-left:auto;color:var(--faint);font-variant-numeric:tabular-nums}
    .total output{color:var(--ink);font-size:1.375rem;font-weight:750;margin-left:.375rem;white-space:nowrap}
    .stepper{display:inline-flex;align-items:center;border:1px solid var(--line);border-radius:10px;background:var(--card)}
    .stepper input{width:4.5rem;min-height:2.75rem;border:0;background:none;text-align:center;font-variant-numeric:tabular-nums}
    .stepper:has(button) input{width:3.25rem;padding:0;appearance:textfield;-moz-appearance:textfield}
    .stepper:has(button) input::-webkit-inner-spin-button{appearance:none;margin:0}
    .stepper button{width:2.75rem;min-height:2.75rem;padding:0;background:none;color:var(--ink);font-size:1.25rem;font-weight:400}
    .stepper button:hover{color:var(--accent);filter:none}
    .stepper button:disabled{color:var(--line);cursor:default}
    .sold{margin-top:1.5rem;padding:.875rem;border-radius:12px;background:var(--hole);text-align:center;font-weight:600}
    .story{max-width:47rem;margin:0 auto 4rem}
    .story h2{margin-bottom:1.25rem;padding-bottom:.75rem;border-bottom:2px solid var(--ink)}
    .story .long{margin-bottom:1.5rem;white-space:pre-line;font-size:1.0625rem;line-height:1.7;overflow-wrap:anywhere}
    .story img{display:block;width:100%;height:auto;background:var(--hole)}
    @media(max-width:39.99rem){body:has(.buy){padding-bottom:5rem}.buy .reach{position:fixed;inset:auto 0 0;z-index:9;margin:0;
    padding:.625rem 1rem calc(.625rem + env(safe-area-inset-bottom));gap:.5rem;background:var(--paper);
    border-top:1px solid var(--rule)}.buy .reach>output{display:block}.buy .reach>button{flex:1 1 6.75rem;padding:0 .5rem;
    font-size:.9375rem}.facts div{grid-template-columns:5.5rem minmax(0,1fr)}}
    @media(max-width:22rem){body:has(.buy){padding-bottom:7rem}.buy .reach>output{flex:1 0 100%}}
    @media(min-width:56rem){.item{grid-template-columns:minmax(0,31rem) minmax(0,1fr);gap:clamp(2rem,5vw,4.5rem)}
    .gallery{position:sticky;top:5.5rem;align-self:start}.about{padding-top:.5rem}
    .price .p b,.price .off{font-size:2.125rem}}
    @media(min-width:40rem) and (max-width:55.99rem){.gallery{max-width:34rem;width:100%;margin:0 auto}}
    @media print{.stage ul{display:grid;grid-template-columns:repeat(3,1fr);overflow:visible;gap:.5rem}.item{display:block}
    .gallery{position:static}.at{display:none}.story img{max-width:60%;break-inside:avoid}.shelf:has(#more){display:none}}
    """
}

/// The style of the basket and the orders.
enum StorefrontOrderStyle {
  static let css = """
    .checkout{display:grid;grid-template-columns:minmax(0,1fr);gap:2rem}
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
    .sums{display:flex;flex-wrap:wrap;gap:0 1rem;justify-content:space-between;align-items:baseline;margin:1rem 0 1.25rem;padding-bottom:1rem;
    border-bottom:1px solid var(--rule);font-variant-numeric:tabular-nums}
    .sums span{overflow-wrap:anywhere;min-width:0}
    .sums b{font-size:1.375rem;white-space:nowrap;margin-left:auto}
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
    @media(max-width:39.99rem){.line{position:relative}.line .what{padding-right:2.5rem}.many{grid-column:1/-1;flex-wrap:wrap}
    .many .bare{position:absolute;top:.375rem;right:-.75rem}.sheet{padding:1.25rem}.ticket{padding:1rem 1.125rem}.receipt thead{display:none}.receipt :is(table,tbody,tfoot){display:block}
    .receipt tfoot tr{display:flex;justify-content:space-between}.receipt tbody tr{display:grid;
    grid-template-columns:1fr auto auto;border-bottom:1px solid var(--rule);padding:.5rem 0}.receipt tbody th{grid-column:1/-1}
    .receipt tbody td,.receipt tbody th{border:0;padding:.125rem .75rem .125rem 0}.receipt tbody td:first-of-type{text-align:left}
    .receipt tbody td:nth-of-type(2)::before{content:"× "}.receipt tbody td:last-child{padding-right:0}}
    @media print{.receipt,.ticket,.sheet{border:0;box-shadow:none;padding:0}.ticket{break-inside:avoid;padding:.5rem 0}}
    """
}
