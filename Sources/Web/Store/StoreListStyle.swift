/// What lists of items look like.
enum StoreListStyle {
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
    .filter{width:100%}.filter fieldset{flex:1 1 100%}.filter input{flex:1;width:auto;min-width:0}.filter select{flex:1}
    .tools nav{width:100%}.shelf{margin-bottom:2.75rem}}
    @media print{.cards{grid-template-columns:repeat(4,1fr);gap:.75rem}.card{break-inside:avoid}.some>*{display:flex!important}
    .deal{display:none}.badges em{border:1px solid}.shelf>header{break-after:avoid}.all{display:none}}
    """
}
