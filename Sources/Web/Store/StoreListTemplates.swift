/// Pages that list items.
enum StoreListTemplates {
  static let home = """
    {{% CONTENT_TYPE: PAGE}}<h1 class="vh">{{shop}}</h1>
    {{#hasDeal}}<section class="deal" aria-labelledby="deal">
    <div class="words"><p class="eyebrow">{{deal.lede}}</p>
    <h2 id="deal"{{{speech}}}><a href="{{deal.address}}">{{deal.title}}</a></h2>
    {{#deal.hasText}}<p class="t"{{{speech}}}>{{deal.text}}</p>{{/deal.hasText}}
    <p class="p"><i class="off"><span class="vh">[[off|할인율]] </span>{{deal.off}}%</i> \
    <b><span class="vh">{{deal.saleWord}} </span>{{deal.price}}</b> \
    <s><span class="vh">{{deal.normalWord}} </span>{{deal.normal}}</s></p>
    <p class="button" aria-hidden="true">[[Have a look|자세히 보기]]</p></div>
    <img src="{{deal.picture}}" alt="" width="720" height="720"></section>{{/hasDeal}}
    {{#shelves}}
    <section class="shelf" aria-labelledby="{{anchor}}">
    <header><div{{{speech}}}><h2 id="{{anchor}}">{{title}}</h2>\
    {{#hasSubtitle}}<p>{{subtitle}}</p>{{/hasSubtitle}}</div>\
    <a class="all" href="{{address}}">{{all}}<span class="vh"{{{speech}}}>: {{title}}</span></a></header>
    {{#hasNote}}<p class="note">{{note}}</p>{{/hasNote}}
    {{#hasCards}}<ul class="cards some"{{{speech}}}>
    {{#cards}}{{> card}}{{/cards}}</ul>{{/hasCards}}
    {{^hasCards}}{{> empty}}{{/hasCards}}
    </section>
    {{/shelves}}
    {{^hasShelves}}{{> empty}}{{/hasShelves}}
    """

  static let section = """
    {{% CONTENT_TYPE: PAGE}}<header class="head"><div{{{speech}}}><h1>{{title}}</h1>\
    {{#hasSubtitle}}<p>{{subtitle}}</p>{{/hasSubtitle}}</div></header>
    {{#hasNote}}<p class="note">{{note}}</p>{{/hasNote}}
    {{> list}}
    """

  static let search = """
    {{% CONTENT_TYPE: PAGE}}<header class="head"><h1>{{title}}</h1></header>
    {{> list}}
    """

  static let list = """
    {{% CONTENT_TYPE: PAGE}}<div class="tools">
    {{#hasBadges}}<nav aria-label="[[Badge|배지]]"><ul class="chips">
    {{#badges}}
    <li><a href="{{address}}"{{#isCurrent}} aria-current="true"{{/isCurrent}}><span{{{speech}}}>{{title}}</span> \
    <span class="n">{{count}}</span></a></li>
    {{/badges}}
    </ul></nav>{{/hasBadges}}
    <form class="filter" action="{{path}}">
    {{#hasSearch}}<input type="hidden" name="q" value="{{query.search}}">{{/hasSearch}}
    {{#hasBadge}}<input type="hidden" name="badge" value="{{query.badge}}">{{/hasBadge}}
    <fieldset><legend class="vh">[[Price|가격]]</legend>
    <label for="low" class="vh">[[From|최저]] ({{unit}})</label>\
    <input id="low" name="low" inputmode="decimal" value="{{query.low}}" placeholder="[[from|최저]] {{unit}}" \
    maxlength="16" autocomplete="off"{{#isWrong}} aria-invalid="true" aria-describedby="wrong"{{/isWrong}}>\
    <span aria-hidden="true">–</span>\
    <label for="high" class="vh">[[To|최고]] ({{unit}})</label>\
    <input id="high" name="high" inputmode="decimal" value="{{query.high}}" placeholder="[[to|최고]] {{unit}}" \
    maxlength="16" autocomplete="off"{{#isWrong}} aria-invalid="true" aria-describedby="wrong"{{/isWrong}}></fieldset>
    <label for="sort" class="vh">[[Order|정렬]]</label>
    <select id="sort" name="sort">
    {{#orders}}
    <option value="{{value}}"{{#isCurrent}} selected{{/isCurrent}}>{{title}}</option>
    {{/orders}}
    </select>
    <button type="submit" class="quiet">[[Apply|적용]]</button>
    </form>
    </div>
    {{#isWrong}}<p class="note bad" id="wrong">[[That is no price range: the first price is the lower one.|가격 \
    범위를 확인해 주세요. 앞의 가격이 더 낮아야 합니다.]]</p>{{/isWrong}}
    <p class="found" role="status" id="found" tabindex="-1">{{found}}\
    {{#isNarrowed}} <a href="{{clear}}">[[Clear filters|조건 지우기]]</a>{{/isNarrowed}}</p>
    {{#hasCards}}<h2 class="vh">[[Items|상품]]</h2><ul class="cards"{{{speech}}}>
    {{#cards}}{{> card}}{{/cards}}</ul>{{/hasCards}}
    {{^hasCards}}{{> empty}}{{/hasCards}}
    {{#hasPages}}<nav class="pages" aria-label="[[Pages|페이지]]"><ul>
    {{#pages}}
    <li{{#isStep}} class="step"{{/isStep}}>{{#isLink}}<a href="{{address}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}\
    {{#hasRel}} rel="{{rel}}"{{/hasRel}}>{{title}}</a>{{/isLink}}{{^isLink}}<span aria-hidden="true">{{title}}</span>{{/isLink}}</li>
    {{/pages}}
    </ul></nav>{{/hasPages}}
    """
}

/// The page of an item.
enum StoreItemTemplates {
  static let item = """
    {{% CONTENT_TYPE: PAGE}}<nav class="crumbs" aria-label="[[Where you are|현재 위치]]"><ol{{{speech}}}>\
    <li><a href="/">{{shop}}</a></li>\
    {{#crumbs}}<li><a href="{{address}}">{{title}}</a></li>{{/crumbs}}</ol></nav>
    <article class="item">
    <section class="gallery" aria-roledescription="carousel" aria-label="[[Pictures|사진]]">
    {{#hasPictures}}<div class="stage"><ul id="stage"{{#isMany}} tabindex="0"{{/isMany}} aria-label="[[Pictures: page with the arrow keys|사진: 화살표 키로 \
    넘기기]]">
    {{#pictures}}
    <li id="picture-{{number}}"><a href="{{whole}}"><img src="{{whole}}" alt="{{label}}" width="720" height="720" \
    {{#isLater}}loading="lazy" {{/isLater}}decoding="async"></a></li>
    {{/pictures}}
    </ul>{{#isMany}}<p class="turn" hidden><button type="button" id="back" aria-label="[[Previous picture|이전 사진]]">\
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m14.5 6-6 6 6 6"/></svg></button>\
    <button type="button" id="next" aria-label="[[Next picture|다음 사진]]">\
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m9.5 6 6 6-6 6"/></svg></button></p>\
    <p class="at" id="at" role="status" hidden></p>{{/isMany}}</div>
    {{#isMany}}<ol class="strip">
    {{#pictures}}
    <li><a href="{{turn}}" data-picture="{{number}}"{{#isCurrent}} aria-current="true"{{/isCurrent}}>\
    <img src="{{small}}" alt="{{label}}" width="64" height="64" loading="lazy" decoding="async"></a></li>
    {{/pictures}}
    </ol>{{/isMany}}{{/hasPictures}}
    {{^hasPictures}}<div class="pic"><span class="none">{{noPicture}}</span></div>{{/hasPictures}}
    </section>
    <div class="about">
    {{#hasBadges}}<p class="badges"{{{speech}}}>{{#badges}}<em>{{.}}</em> {{/badges}}</p>{{/hasBadges}}
    <h1{{{speech}}}>{{title}}</h1>
    {{#hasText}}<p class="t"{{{speech}}}>{{text}}</p>{{/hasText}}
    <div class="price">{{#isReduced}}<p class="was"><span class="vh">{{normalWord}} </span><s>{{normal}}</s></p>\
    <p class="p">{{#hasOff}}<i class="off"><span class="vh">[[off|할인율]] </span>{{off}}%</i> {{/hasOff}}\
    <b><span class="vh">{{saleWord}} </span>{{price}}</b></p>{{/isReduced}}\
    {{#isPlain}}<p class="p"><b>{{price}}</b></p>{{/isPlain}}\
    {{#isUnpriced}}<p class="p">[[No price|가격 정보 없음]]</p>{{/isUnpriced}}\
    {{#hasOther}}<p class="faint">{{other}}</p>{{/hasOther}}</div>
    {{#isStale}}<p class="note">{{stale}}</p>{{/isStale}}
    {{#hasFacts}}<dl class="facts">
    {{#facts}}
    <div><dt>{{name}}</dt><dd{{{speech}}}>{{value}}</dd></div>
    {{/facts}}
    </dl>{{/hasFacts}}
    {{#isAdded}}<p class="note good" role="status">[[It is in your basket.|장바구니에 담았습니다.]] \
    <a href="/basket">[[See the basket|장바구니 보기]]</a></p>{{/isAdded}}
    {{#isFull}}<p class="note bad" role="alert">[[The basket holds no more.|장바구니에 더 담을 수 없습니다.]] \
    <a href="/basket">[[See the basket|장바구니 보기]]</a></p>{{/isFull}}
    {{#isOld}}<p class="note bad" role="alert">[[The page was too old. Please press once more.|화면이 오래되었습니다. \
    한 번 더 눌러 주세요.]]</p>{{/isOld}}
    {{#isOrderable}}<form class="buy" id="buy" action="/basket" method="post" data-price="{{units}}" data-money="{{money}}">
    <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="item" value="{{id}}">
    <div class="row"><label for="quantity">[[Quantity|수량]]</label>\
    <span class="stepper"><input id="quantity" name="quantity" type="number" min="1" max="{{most}}" value="1" \
    inputmode="numeric" required></span>\
    <p class="total"><span>[[Total|합계]]</span> <output for="quantity">{{price}}</output></p></div>
    <div class="row"><button class="quiet" name="do" value="add">[[Add to basket|장바구니 담기]]</button>\
    <button name="do" value="order">[[Order now|바로 주문]]</button></div>
    </form>{{/isOrderable}}
    {{#isSoldOut}}<p class="sold">[[Sold out|품절된 상품입니다]]</p>{{/isSoldOut}}
    </div>
    </article>
    {{#hasStory}}<section class="story" aria-labelledby="story"><h2 id="story">[[About it|상세 정보]]</h2>
    {{#hasLong}}<p class="long"{{{speech}}}>{{long}}</p>{{/hasLong}}
    {{#sheets}}
    <img src="{{source}}" alt="{{label}}"{{#hasSize}} width="{{width}}" height="{{height}}"{{/hasSize}} loading="lazy" decoding="async">
    {{/sheets}}
    </section>{{/hasStory}}
    {{#hasMore}}<section class="shelf" aria-labelledby="more"><header><h2 id="more">[[More from here|함께 보면 좋은 \
    상품]]</h2></header>
    <ul class="cards some"{{{speech}}}>{{#cards}}{{> card}}{{/cards}}</ul></section>{{/hasMore}}
    """
}
