(()=>{
const $=s=>document.querySelector(s);
const {words,data}=JSON.parse($('#data').textContent),items=data.items;
const cards=[...document.querySelectorAll('.c')];
const shelves=[...document.querySelectorAll('.shelf')];
const input=$('#q'),status=$('#n'),sheet=$('#sheet'),body=$('#sheet-body');

// Search: as `larder list --search` compares, initial consonants of Korean included.
const point=String.fromCodePoint,initials='ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ';
const narrow=c=>{
  const n=c.codePointAt(0);
  if(n>=0xFFA1&&n<=0xFFBE)return point(n-0xFFA1+0x3131);
  return n>=0xFF01&&n<=0xFF9F&&n!==0xFF5F&&n!==0xFF60?c.normalize('NFKC'):c;
};
const fold=text=>[...text].map(c=>narrow(c).toUpperCase().toLowerCase()).join('')
  .normalize('NFC').replace(/\p{White_Space}+/gu,' ').replace(/^ | $/g,'');
let texts;
const pattern=query=>new RegExp([...query].map(c=>{
  const n=initials.indexOf(c);
  if(n>=0)return '['+c+point(0x1100+n)+point(0xAC00+n*588)+'-'+point(0xAC00+n*588+587)+']';
  return c.replace(/[\\^$.*+?()[\]{}|\/]/g,'\\$&');
}).join(''),'u');
let shown=0;
const search=()=>{
  const query=fold(input.value);
  // Folded, no text has a line feed: nothing is found across the end of a field.
  texts??=cards.map((card,n)=>[...card.querySelectorAll('h3,.t,em:not(.quiet)')]
    .map(e=>fold(e.textContent)).concat(fold(items[n][0])).join('\n'));
  const wanted=query?pattern(query):null;
  let count=0;
  cards.forEach((card,n)=>{
    const fits=!wanted||wanted.test(texts[n]);
    if(card.hidden===fits)card.hidden=!fits;
    if(fits)count++;
  });
  for(const shelf of shelves){
    const has=!wanted||shelf.querySelector('.c:not([hidden])');
    if(shelf.hidden===!!has)shelf.hidden=!has;
  }
  for(const part of document.querySelectorAll('.about'))part.hidden=!!wanted;
  $('#none').hidden=!wanted||count>0;
  status.textContent=wanted?words.found.replace('#',count.toLocaleString(words.language)):'';
};
const later=()=>{cancelAnimationFrame(shown);shown=requestAnimationFrame(search)};
input.addEventListener('input',later);
input.closest('form').addEventListener('submit',e=>e.preventDefault());
addEventListener('keydown',e=>{
  if(sheet.open&&e.key==='ArrowLeft')step(-1);
  if(sheet.open&&e.key==='ArrowRight')step(1);
  if(e.key==='/'&&!sheet.open&&!/INPUT|TEXTAREA/.test(document.activeElement.tagName)){
    e.preventDefault();input.focus();
  }
  if(e.key==='Escape'&&document.activeElement===input&&input.value){input.value='';search()}
});

// The sheet of an item, which the address names: #i12.
const make=(tag,name,text)=>{
  const e=document.createElement(tag);
  if(name)e.className=name;
  if(text!==undefined)e.textContent=text;
  return e;
};
const picture=(n,label)=>{
  const source=n<0?null:data.pictures[n];
  let e;
  if(source){
    e=make('img');e.src=data.before+source+data.after;e.alt=label;e.loading='lazy';
  }else{
    e=make('span','none',words.noPicture);
  }
  const url=n<0||!data.urls?null:data.urls[n];
  if(!url)return e;
  const a=make('a');
  a.href=url;a.rel='noreferrer noopener';a.target='_blank';a.title=words.original;a.append(e);
  return a;
};
const visible=()=>cards.map((card,n)=>card.hidden?-1:n).filter(n=>n>=0);
let current=-1;
const fill=n=>{
  const [id,facts,text,groups]=items[n],card=cards[n];
  const head=make('div','hd'),side=make('div'),title=make('h2','',
    card.querySelector('h3').textContent);
  title.id='sheet-title';
  const speech=card.closest('[lang]').lang;
  head.append(card.firstElementChild.cloneNode(true),side);
  side.append(title);
  for(const part of card.querySelectorAll('.p,.l'))side.append(part.cloneNode(true));
  const parts=[head];
  const line=text||card.querySelector('.t')?.textContent;
  if(line)parts.push(make('p','d',line));
  for(const part of parts)part.lang=speech;
  const dl=make('dl'),fact=(name,value)=>{
    const dd=make('dd','',value);
    dd.lang=speech;
    dl.append(make('dt','',name),dd);
  };
  fact(words.id,id);
  fact(words.section,card.closest('.shelf').querySelector('h2').textContent);
  for(let k=0;k<facts.length;k+=2)fact(data.texts[facts[k]],data.texts[facts[k+1]]);
  parts.push(dl);
  groups.forEach((pictures,role)=>{
    const count=pictures.length??pictures,name=words.roles[role];
    if(!count)return;
    parts.push(make('h3','',name+' ('+count+')'));
    if(!pictures.length)return;
    const grid=make('div','g');
    pictures.forEach((p,k)=>grid.append(picture(p,name+' '+(k+1))));
    parts.push(grid);
  });
  body.replaceChildren(...parts);
  const order=visible(),place=order.indexOf(n);
  $('#back').disabled=place<=0;
  $('#next').disabled=place<0||place===order.length-1;
  current=n;
};
const step=by=>{
  const order=visible(),n=order[order.indexOf(current)+by];
  if(n===undefined)return;
  history.replaceState(null,'','#i'+n);
  fill(n);
  sheet.scrollTop=0;
  for(const [b,o] of [['#back','#next'],['#next','#back']])
    if(document.activeElement===$(b)&&$(b).disabled)$(o).focus();
};
const route=()=>{
  const match=/^#i(\d+)$/.exec(location.hash),n=match?+match[1]:-1;
  if(n<0||n>=items.length){if(sheet.open)sheet.close();return}
  fill(n);
  if(!sheet.open)sheet.showModal();
  sheet.scrollTop=0;
};
addEventListener('hashchange',route);
sheet.addEventListener('close',()=>{
  const link=cards[current]?.querySelector('h3 a');
  if(/^#i\d+$/.test(location.hash))
    history.replaceState(null,'',location.pathname+location.search);
  link?.focus({preventScroll:true});
});
sheet.addEventListener('click',e=>{if(e.target===sheet)sheet.close()});
for(const card of cards)card.querySelector('a').addEventListener('click',e=>{
  if(location.hash===e.currentTarget.hash){e.preventDefault();route()}
});
$('#close').addEventListener('click',()=>sheet.close());
$('#back').addEventListener('click',()=>step(-1));
$('#next').addEventListener('click',()=>step(1));
$('#find').hidden=false;
if(input.value)search();
route();
})();
