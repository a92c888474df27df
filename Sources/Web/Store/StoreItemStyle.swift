/// What an item's page looks like.
enum StoreItemStyle {
  static let css = """
    .item{display:grid;gap:1.5rem;margin:.75rem 0 4rem}
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
    .price .p b,.price .off{font-size:1.75rem;line-height:1.25;letter-spacing:-.02em}
    .facts{margin:0;border-top:1px solid var(--rule)}
    .facts div{display:grid;grid-template-columns:7rem 1fr;gap:1rem;padding:.75rem 0;border-bottom:1px solid var(--rule);
    font-size:.9375rem}
    .facts dt{color:var(--faint)}.facts dd{margin:0;overflow-wrap:anywhere}
    .facts+.note,.price+.note{margin-top:1.25rem}
    .buy{margin-top:1.5rem}
    .buy .row{display:flex;gap:.75rem;align-items:center;margin-top:.75rem}
    .buy .row>button{flex:1;padding:0 .75rem}
    .total{margin-left:auto;color:var(--faint);white-space:nowrap;font-variant-numeric:tabular-nums}
    .total output{color:var(--ink);font-size:1.375rem;font-weight:750;margin-left:.375rem}
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
    @media(min-width:56rem){.item{grid-template-columns:minmax(0,31rem) minmax(0,1fr);gap:clamp(2rem,5vw,4.5rem)}
    .gallery{position:sticky;top:5.5rem;align-self:start}.about{padding-top:.5rem}
    .price .p b,.price .off{font-size:2.125rem}}
    @media(min-width:40rem) and (max-width:55.99rem){.gallery{max-width:34rem;width:100%;margin:0 auto}}
    @media print{.stage ul{display:grid;grid-template-columns:repeat(3,1fr);overflow:visible;gap:.5rem}.item{display:block}
    .gallery{position:static}.at{display:none}.story img{max-width:60%;break-inside:avoid}.shelf:has(#more){display:none}}
    """
}
