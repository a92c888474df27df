(()=>{
'use strict';
const $=(s,e=document)=>e.querySelector(s),$$=(s,e=document)=>[...e.querySelectorAll(s)];
const moves=matchMedia('(prefers-reduced-motion: reduce)');
const behavior=()=>moves.matches?'auto':'smooth';
const make=(tag,text,attributes={})=>{
  const e=document.createElement(tag);
  e.textContent=text;
  for(const name in attributes)e.setAttribute(name,attributes[name]);
  return e;
};
const fetched=async(address,signal)=>{
  const answer=await fetch(address,{signal,headers:{accept:'text/html'}});
  if(!answer.ok)throw new Error(answer.status);
  return new DOMParser().parseFromString(await answer.text(),'text/html');
};
// 12345 as "12,345원" or "$123.45": the pattern has nines where the amount stands.
const money=(units,pattern)=>{
  const [amount]=pattern.match(/9[9.,]*/),places=(amount.split('.')[1]||'').length;
  const digits=Math.abs(units).toString().padStart(places+1,'0');
  const whole=digits.slice(0,digits.length-places).replace(/\B(?=(\d{3})+$)/g,',');
  return (units<0?'-':'')+pattern.replace(amount,()=>whole+(places?'.'+digits.slice(-places):''));
};
// The language is kept in a cookie: the address need not have it.
const here=new URL(location.href);
if(here.searchParams.has('lang')){here.searchParams.delete('lang');history.replaceState(null,'',here)}
addEventListener('keydown',e=>{
  if(e.key!=='/'||e.ctrlKey||e.metaKey||e.altKey)return;
  if(/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName))return;
  e.preventDefault();$('#q').focus();$('#q').select();
});
// Search as one types, with the rules of the server: it sends the whole page, and its main part is shown.
const field=$('#q');
let asking,before;
const show=(page,address,isNew)=>{
  $('#main').replaceWith(page.querySelector('#main'));
  document.title=page.title;
  $('.tongue').href=$('.tongue',page).getAttribute('href');
  history[isNew?'pushState':'replaceState'](null,'',address);
  $$('.aisles [aria-current],.shop[aria-current]').forEach(e=>e.removeAttribute('aria-current'));
  listen();
};
const search=async()=>{
  const words=field.value.trim();
  asking?.abort();
  asking=new AbortController();
  if(!words&&before){location.assign(before);return}
  const address='/search?q='+encodeURIComponent(words);
  try{
    const page=await fetched(address,asking.signal);
    // One step back leads to the page where the search began.
    show(page,address,location.pathname!=='/search');
  }catch(error){if(error.name!=='AbortError')location.assign(address)}
};
const first=location.href,isList=()=>$('#found')||$('.some')||location.pathname==='/';
if(isList()&&!$('.item')){
  let wait;
  field.addEventListener('input',e=>{
    if(e.isComposing&&!/[\u3131-\uD7A3]$/.test(field.value))return;
    before??=location.pathname==='/search'?'/search':first;
    clearTimeout(wait);
    wait=setTimeout(search,180);
  });
  addEventListener('popstate',()=>location.reload());
}
const listen=()=>{
  const form=$('.filter');
  if(form)$('select',form).addEventListener('change',()=>form.requestSubmit());
  form?.addEventListener('submit',()=>{
    for(const input of $$('input,select',form))input.disabled=!input.value;
  });
};
addEventListener('pageshow',()=>$$('.filter [disabled]').forEach(e=>e.disabled=false));
listen();
// The gallery pages by swipe without any script; with one also by buttons, keys and small pictures.
const stage=$('#stage');
if(stage&&stage.children.length>1){
  const count=stage.children.length,back=$('#back'),next=$('#next'),at=$('#at');
  const links=$$('.strip a');
  let current=0;
  const place=()=>Math.round(stage.scrollLeft/Math.max(1,stage.clientWidth));
  const mark=n=>{
    current=n;
    at.textContent=(n+1)+' / '+count;
    back.disabled=n===0;next.disabled=n===count-1;
    links.forEach((link,k)=>{
      if(k===n)link.setAttribute('aria-current','true');else link.removeAttribute('aria-current');
    });
    const strip=$('.strip'),link=links[n];
    strip.scrollTo({left:link.offsetLeft-strip.clientWidth/2,behavior:behavior()});
  };
  const go=(n,how=behavior())=>{
    n=Math.max(0,Math.min(count-1,n));
    stage.scrollTo({left:n*stage.clientWidth,behavior:how});
    mark(n);
    const address=new URL(location.href);
    address.hash='';
    if(n)address.searchParams.set('picture',n+1);else address.searchParams.delete('picture');
    address.searchParams.delete('added');
    history.replaceState(null,'',address);
  };
  let still;
  stage.addEventListener('scroll',()=>{
    clearTimeout(still);
    still=setTimeout(()=>{if(place()!==current)mark(place())},90);
  },{passive:true});
  stage.addEventListener('keydown',e=>{
    const by={ArrowLeft:-1,ArrowRight:1,Home:-count,End:count}[e.key];
    if(!by)return;
    e.preventDefault();go(current+by);
  });
  back.addEventListener('click',()=>{go(current-1);if(back.disabled)next.focus()});
  next.addEventListener('click',()=>{go(current+1);if(next.disabled)back.focus()});
  links.forEach((link,n)=>link.addEventListener('click',e=>{e.preventDefault();go(n)}));
  addEventListener('resize',()=>{stage.scrollTo({left:current*stage.clientWidth,behavior:'auto'})});
  back.parentElement.hidden=false;at.hidden=false;
  const asked=links.findIndex(link=>link.hasAttribute('aria-current'));
  mark(Math.max(0,asked));
  if(asked>0)stage.scrollTo({left:asked*stage.clientWidth,behavior:'auto'});
}
// Quantities by buttons; totals and the budget at once.
for(const input of $$('.stepper input')){
  const step=(text,by)=>{
    const label=input.dataset[by<0?'less':'more'];
    const button=make('button',text,{type:'button','aria-label':label});
    button.addEventListener('click',()=>{
      const least=+input.min||0,most=+input.max;
      input.value=Math.max(least,Math.min(most,(parseInt(input.value,10)||0)+by));
      input.dispatchEvent(new Event('input',{bubbles:true}));
      input.dispatchEvent(new Event('change',{bubbles:true}));
    });
    return button;
  };
  input.before(step('−',-1));input.after(step('+',1));
}
const buy=$('.buy');
buy?.addEventListener('input',()=>{
  const count=parseInt($('#quantity').value,10),units=count*buy.dataset.price;
  if(count>0&&Number.isSafeInteger(units))for(const e of $$('output',buy))e.textContent=money(units,buy.dataset.money);
});
const checkout=$('.checkout');
if(checkout){
  $('.update')?.parentElement.remove();
  const left=$('#left'),budget=$('#budget');
  const sum=()=>{
    let total=0,lines=0,title='',pieces=0;
    for(const line of $$('.line',checkout)){
      if(!line.dataset.price)continue;
      const count=Math.max(0,parseInt($('[type=number]',line).value,10)||0),units=count*line.dataset.price;
      $('.sum',line).textContent=money(units,checkout.dataset.money);
      if(!count)continue;
      total+=units;
      title||=$('h3',line).textContent;
      if(lines++===0)pieces=count;
    }
    const text=money(total,checkout.dataset.money);
    $('#total').textContent=text;$('.grand').textContent=text;
    $('[name=total]').value=total;
    $('#summary').textContent=lines>1
      ?checkout.dataset.more.replace('#',()=>title).replace('%',lines-1):pieces>1?title+' × '+pieces:title;
    const places=(checkout.dataset.money.split('.')[1]||'').replace(/[^9]/g,'').length;
    const own=parseFloat(budget.value.replace(/[^\d.]/g,''))*10**places;
    const most=Math.min(own>0?own:Infinity,+budget.dataset.limit||Infinity);
    const over=total>most;
    left.textContent=most===Infinity?'':left.dataset[over?'over':'left']
      .replace('#',()=>money(Math.abs(Math.round(most-total)),checkout.dataset.money));
    left.classList.toggle('bad',over);
    if(over)budget.setAttribute('aria-invalid','true');else budget.removeAttribute('aria-invalid');
  };
  checkout.addEventListener('input',sum);
  // The basket remembers, also when nothing is ordered now.
  checkout.addEventListener('change',()=>{
    const form=new URLSearchParams(new FormData(checkout));
    form.set('do','update');
    fetch('/basket',{method:'POST',body:form,redirect:'manual',keepalive:true}).catch(()=>{});
  });
  let isSent=false;
  checkout.addEventListener('submit',e=>{
    if(!(e.submitter&&e.submitter.name==='do'&&e.submitter.value==='order'))return;
    if(isSent)e.preventDefault();
    isSent=true;
  });
  addEventListener('pageshow',()=>{isSent=false});
  sum();
}
// A screen reader announces the focused element; it does not announce a status that was on the page from
// the start.
// After the fragment of the address, which takes the focus.
addEventListener('load',()=>($('#faults')||$('#told'))?.focus());
// Orders that are under way show their progress.
const isLive=()=>$('[data-live]')?.dataset.live==='true';
if(isLive()){
  const look=async()=>{
    if(document.hidden)return;
    try{
      const page=await fetched(location.pathname+location.search.replace(/[?&]told=\w+/,''));
      const main=page.querySelector('#main'),old=$('#main');
      // Forms keep their values and their focus; only the progress is updated.
      for(const part of ['.steps','.ended','.send','.ticket>.faint']){
        const now=$$(part,old),then=$$(part,main);
        if(now.length!==then.length){old.replaceWith(main);break}
        now.forEach((e,n)=>{if(e.innerHTML!==then[n].innerHTML)e.replaceWith(then[n])});
      }
      if($('.receipt form')&&!main.querySelector('.receipt form')&&$('#main')===old)$('.receipt form').remove();
    }catch{}
    if(!isLive())clearInterval(timer);
  };
  const timer=setInterval(look,4000);
  addEventListener('visibilitychange',look);
}
})();
