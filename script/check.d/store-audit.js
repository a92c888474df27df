// The accessibility errors of a page; an empty list if there are none. (WCAG 2.2: 1.1.1, 1.3.1, 1.4.3, 1.4.6, 2.5.8, 3.1.1, 4.1.2)
const wrong = [];
const shown = e => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
const tell = (what, e) => wrong.push(what + ': ' + e.outerHTML.replace(/\s+/g, ' ').slice(0, 110));
const text = e => [...e.childNodes].map(n => n.nodeType === 3 ? n.data : n.nodeType !== 1 || n.ariaHidden === 'true' ? '' : n.tagName === 'IMG' ? n.alt : text(n)).join('').trim();
const name = e => e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id)?.textContent || '').join('') || [...(e.labels || [])].map(text).join('') || (e.tagName === 'IMG' ? e.alt : text(e));

if (!document.documentElement.lang) wrong.push('the page names no language');
if (!document.title) wrong.push('the page has no title');
if (document.querySelectorAll('h1').length !== 1) wrong.push(document.querySelectorAll('h1').length + ' headings of the first rank');
if (document.querySelectorAll('main').length !== 1) wrong.push('not one main part');
for (const e of document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,[role=img],[tabindex="0"]')) if (shown(e) && !name(e)) tell('without a name', e);
for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) tell('a picture without alt', e);
for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('width') || !e.hasAttribute('height')) tell('a picture without its size', e);
for (const e of document.querySelectorAll('nav,section,form[role=search],fieldset')) if (shown(e) && !name(e) && e.tagName !== 'FORM') tell('a region without a name', e);
const ids = {};
for (const e of document.querySelectorAll('[id]')) if (ids[e.id]) tell('an id twice', e); else ids[e.id] = e;
for (const e of document.querySelectorAll('[for],[aria-labelledby],[aria-describedby]')) for (const id of (e.getAttribute('for') || e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby')).split(' ')) if (!document.getElementById(id)) tell('names what is not there', e);
let rank = 0;
for (const e of document.querySelectorAll('h1,h2,h3,h4')) {
  const own = +e.tagName[1];
  if (own > rank + 1 && rank) tell('a rank of headings left out', e);
  rank = own;
}
for (const e of document.querySelectorAll('a[href],button,input:not([type=hidden]),select')) {
  const r = e.getBoundingClientRect();
  if (shown(e) && r.width && !e.closest('.vh,.skip,p,h2,h3,dd,th,.foot') && (r.width < 24 || r.height < 24)) tell('too small to hit, ' + Math.round(r.width) + '×' + Math.round(r.height), e);
}

const colour = css => {
  const [r, g, b, a = 1] = css.match(/[\d.]+/g).map(Number);
  return [r, g, b, a];
};
const over = (top, under) => top.slice(0, 3).map((c, n) => c * top[3] + under[n] * (1 - top[3])).concat(1);
const luminance = c => [.2126, .7152, .0722].reduce((sum, weight, n) => {
  const part = c[n] / 255;
  return sum + weight * (part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
}, 0);
const ratio = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + .05) / (low + .05);
};
const ground = e => {
  const stack = [];
  for (let at = e; at; at = at.parentElement) {
    const c = colour(getComputedStyle(at).backgroundColor);
    if (c[3]) stack.push(c);
    if (c[3] === 1) break;
  }
  return stack.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !shown(e) || e.closest('.vh,option,script') || e.closest(':disabled')) continue;
  const style = getComputedStyle(e);
  if (style.clipPath !== 'none') continue;
  const back = ground(e), front = over(colour(style.color), back), found = ratio(front, back);
  // Prices and the total must be especially legible.
  const least = e.closest('.p b,.p s,.was s,.off,.sum,.sums b,.total output,.ticket .top b,tfoot b') ? 7 : 4.5;
  if (found < least) tell('contrast ' + found.toFixed(2) + ' below ' + least, e);
}
for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea')) {
  if (!shown(e) || e.closest('.stepper')) continue;
  const style = getComputedStyle(e);
  if (ratio(over(colour(style.borderTopColor), ground(e.parentElement)), ground(e.parentElement)) < 3) tell('an edge that hardly shows', e);
}
return wrong.slice(0, 12);
