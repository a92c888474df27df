import Mustache

/// The store's templates in a language, parsed when the first page in it is made.
///
/// Words of the store's own stand in the templates in both languages, `[[English|Korean]]`. Each template begins
/// with the kind of its text: partials do not inherit it from the including template.
enum StorefrontTemplates {
  /// Every template by its name.
  static let texts = [
    "frame": frame, "card": card, "empty": empty, "line": PriceLineView.template,
    "home": StorefrontListTemplates.home, "list": StorefrontListTemplates.list,
    "section": StorefrontListTemplates.section, "search": StorefrontListTemplates.search,
    "item": StorefrontItemTemplates.item, "basket": StorefrontOrderTemplates.basket,
    "orders": StorefrontOrderTemplates.orders, "order": StorefrontOrderTemplates.order,
    "progress": StorefrontOrderTemplates.progress, "notice": notice,
  ]

  /// The templates in a language.
  ///
  /// - Throws: `MustacheTemplate.ParserError`, which a test rules out.
  static func library(_ language: PageLanguage) throws -> MustacheLibrary {
    // Parsing a template looks its kind of text up.
    MustacheContentTypes.register(PageText(), named: PageText.name)
    return MustacheLibrary(
      templates: try texts.mapValues { try MustacheTemplate(string: worded($0, language)) }
    )
  }

  /// The same, parsed once.
  static func shared(_ language: PageLanguage) throws -> MustacheLibrary {
    try (language == .korean ? korean : english).get()
  }

  private static let korean = Result { try library(.korean) }
  private static let english = Result { try library(.english) }

  /// A text of both languages in one of them.
  static func worded(_ text: String, _ language: PageLanguage) -> String {
    var worded = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "[["),
      let end = rest[start.upperBound...].firstRange(of: "]]")
    {
      worded += rest[..<start.lowerBound]
      let words = rest[start.upperBound..<end.lowerBound].split(
        separator: "|",
        omittingEmptySubsequences: false
      )
      worded += words[language == .korean && words.count > 1 ? 1 : 0]
      rest = rest[end.upperBound...]
    }
    return worded + rest
  }

  private static let frame = """
    {{% CONTENT_TYPE: PAGE}}<!doctype html>
    <html lang="{{language}}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="theme-color" content="#faf8f5" media="(prefers-color-scheme:light)">
    <meta name="theme-color" content="#14171b" media="(prefers-color-scheme:dark)">
    <title>{{title}}</title>
    <link rel="icon" href="{{assets.icon}}" type="image/svg+xml">
    <link rel="stylesheet" href="{{assets.style}}">
    <script src="{{assets.script}}" defer></script>
    </head>
    <body>
    <a class="skip" href="#main">[[Skip to the content|본문으로 건너뛰기]]</a>
    <header class="bar"><div class="wrap">
    <a class="shop" href="/"{{#isHome}} aria-current="page"{{/isHome}}>{{shop}}</a>
    <form class="find" action="/search" role="search">\
    <label class="vh" for="q">[[Search items|상품 검색]]</label>\
    <svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="11" cy="11" r="6.5"/>\
    <path d="m16 16 4.5 4.5"/></svg>\
    <input id="q" name="q" type="search" value="{{search}}" maxlength="200" \
    placeholder="[[Search items|상품 검색 (초성도 됩니다)]]" autocomplete="off" spellcheck="false" \
    enterkeyhint="search" aria-keyshortcuts="/">\
    <button class="vh" type="submit">[[Search|검색]]</button></form>
    <nav class="links" aria-label="[[Orders and language|주문과 언어]]">
    <a href="/orders"{{#isOrders}} aria-current="page"{{/isOrders}}>\
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 3.5h12v17l-3-2-3 2-3-2-3 2zM9 8.5h6M9 12.5h6"/></svg>\
    <span>[[Orders|주문 내역]]</span></a>
    <a href="/basket"{{#isBasket}} aria-current="page"{{/isBasket}}>\
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 8.5h16l-1.5 11h-13zM8.5 8.5a3.5 4.5 0 0 1 7 0"/></svg>\
    <span>[[Basket|장바구니]]</span>\
    <b class="count" id="count"{{^count}} hidden{{/count}}>{{count}}<span class="vh"> [[pieces|개]]</span></b></a>
    <a class="tongue" href="{{otherAddress}}" lang="{{otherLanguage}}" hreflang="{{otherLanguage}}" \
    rel="nofollow">{{otherName}}</a>
    </nav></div></header>
    {{#hasAisles}}<nav class="aisles" aria-label="[[Sections|섹션]]"><ul class="wrap"{{{speech}}}>
    {{#aisles}}
    <li><a href="{{address}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{title}}</a></li>
    {{/aisles}}
    </ul></nav>{{/hasAisles}}
    <main id="main" class="wrap" tabindex="-1">
    {{{main}}}
    </main>
    <footer class="foot"><div class="wrap"><p>{{footer}}</p></div></footer>
    </body>
    </html>

    """

  private static let card = """
    {{% CONTENT_TYPE: PAGE}}<li class="card{{#isSoldOut}} gone{{/isSoldOut}}">\
    <div class="pic">{{#hasPicture}}<img src="{{small}}" {{#hasSizes}}srcset="{{small}} {{smallSide}}w, {{large}} {{largeSide}}w" \
    sizes="(min-width:64rem) 18rem, (min-width:40rem) 31vw, 46vw" {{/hasSizes}}alt="" width="256" height="256" \
    {{^isEager}}loading="lazy" {{/isEager}}decoding="async">{{/hasPicture}}\
    {{^hasPicture}}<span class="none"{{{own}}}>{{noPicture}}</span>{{/hasPicture}}\
    {{#isSoldOut}}<span class="over"{{{own}}}>[[Sold out|품절]]</span>{{/isSoldOut}}</div>\
    <h3><a href="{{address}}">{{title}}</a></h3>\
    {{#hasText}}<p class="t">{{text}}</p>{{/hasText}}\
    <p class="p">{{#isReduced}}{{#hasOff}}<i class="off"><span class="vh"{{{own}}}>[[off|할인율]] </span>\
    {{off}}%</i> {{/hasOff}}<b><span class="vh"{{{own}}}>{{saleWord}} </span>{{price}}</b> \
    <s><span class="vh"{{{own}}}>{{normalWord}} </span>{{normal}}</s>{{/isReduced}}\
    {{#isPlain}}<b>{{price}}</b>{{/isPlain}}</p>\
    {{#hasBadges}}<p class="badges">{{#badges}}<em>{{.}}</em> {{/badges}}\
    {{#isStale}}<em class="quiet"{{{own}}}>{{staleWord}}</em>{{/isStale}}</p>{{/hasBadges}}</li>

    """

  private static let empty = """
    {{% CONTENT_TYPE: PAGE}}<div class="blank"><svg viewBox="0 0 48 48" aria-hidden="true">\
    <path d="M8 22h32c0 11-7 17-16 17S8 33 8 22zM14 22c0-7 4-11 10-11s10 4 10 11"/></svg>\
    <p>{{message}}</p>{{#hasWay}}<p><a class="button quiet" href="{{way}}">{{wayWords}}</a></p>{{/hasWay}}</div>

    """

  private static let notice = """
    {{% CONTENT_TYPE: PAGE}}<div class="notice"><p class="eyebrow">{{eyebrow}}</p><h1>{{heading}}</h1>
    <p>{{message}}</p><p><a class="button" href="{{way}}">{{wayWords}}</a></p></div>

    """
}

/// Pages that list items.
enum StorefrontListTemplates {
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
    <input type="checkbox" class="fold" id="fold"{{#isFiltered}} checked{{/isFiltered}}>\
    <label class="unfold" for="fold">[[Filter and sort|가격·정렬]]</label>
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
    {{#isWrong}}<p class="note bad" id="wrong">[[That is no price range: write two amounts, the lower one first.|가격 \
    범위를 확인해 주세요. 낮은 금액부터 숫자로 적어 주세요.]]</p>{{/isWrong}}
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
enum StorefrontItemTemplates {
  static let item = """
    {{% CONTENT_TYPE: PAGE}}<nav class="crumbs" aria-label="[[Where you are|현재 위치]]"><ol{{{speech}}}>\
    <li><a href="/">{{shop}}</a></li>\
    <li><a href="{{sectionAddress}}">{{section}}</a></li></ol></nav>
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
    <img src="{{small}}" alt="{{turnLabel}}" width="64" height="64" loading="lazy" decoding="async"></a></li>
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
    {{#hasOther}}<p class="faint">{{other}}</p>{{/hasOther}}{{#line}}{{> line}}{{/line}}</div>
    {{#isStale}}<p class="note">{{stale}}</p>{{/isStale}}
    {{#hasFacts}}<dl class="facts">
    {{#facts}}
    <div><dt>{{name}}</dt><dd{{{speech}}}>{{value}}</dd></div>
    {{/facts}}
    </dl>{{/hasFacts}}
    {{#isAdded}}<p id="told" tabindex="-1" class="note good" role="status">[[It is in your basket.|장바구니에 담았습니다.]] \
    <a href="/basket">[[See the basket|장바구니 보기]]</a></p>{{/isAdded}}
    {{#isFull}}<p id="told" tabindex="-1" class="note bad" role="alert">[[The basket holds no more.|장바구니에 더 담을 수 없습니다.]] \
    <a href="/basket">[[See the basket|장바구니 보기]]</a></p>{{/isFull}}
    {{#isOld}}<p id="told" tabindex="-1" class="note bad" role="alert">[[The page was too old. Please press once more.|화면이 오래되었습니다. \
    한 번 더 눌러 주세요.]]</p>{{/isOld}}
    {{#isOrderable}}<form class="buy" id="buy" action="/basket" method="post" data-price="{{units}}" data-money="{{money}}">
    <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="item" value="{{id}}">
    <div class="row"><label for="quantity">[[Quantity|수량]]</label>\
    <span class="stepper"><input id="quantity" name="quantity" type="number" min="1" max="{{most}}" value="1" \
    inputmode="numeric" required data-less="[[Decrease quantity|수량 줄이기]]" \
    data-more="[[Increase quantity|수량 늘리기]]"></span>\
    <p class="total"><span>[[Total|합계]]</span> <output for="quantity">{{price}}</output></p></div>
    <div class="row reach"><output for="quantity">{{price}}</output>\
    <button class="quiet" name="do" value="add">[[Add to basket|장바구니 담기]]</button>\
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

/// Pages of the basket and of orders.
enum StorefrontOrderTemplates {
  static let basket = """
    {{% CONTENT_TYPE: PAGE}}<header class="head"><h1>{{heading}}</h1></header>
    {{#hasKept}}<p class="note">{{kept}} <a href="/basket">[[See the basket|장바구니 보기]]</a></p>{{/hasKept}}
    {{#hasFaults}}<div class="note bad" role="alert" id="faults" tabindex="-1"><p><b>{{faultTitle}}</b></p><ul>
    {{#faults}}
    <li>{{.}}</li>
    {{/faults}}
    </ul></div>{{/hasFaults}}
    {{^hasLines}}{{> empty}}{{/hasLines}}
    {{#hasLines}}<form class="checkout" action="/orders" method="post" data-money="{{money}}" \
    data-more="[[# and % more|# 외 %건]]">
    <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="key" value="{{key}}">\
    <input type="hidden" name="total" value="{{totalUnits}}">\
    {{#isSingle}}<input type="hidden" name="single" value="1">{{/isSingle}}
    <section class="lines" aria-labelledby="lines"><h2 id="lines" class="vh">[[Items|담은 상품]]</h2><ul>
    {{#lines}}
    <li class="line{{#isGone}} gone{{/isGone}}" data-price="{{units}}">\
    <div class="pic">{{#hasPicture}}<img src="{{picture}}" alt="" width="96" height="96" decoding="async">{{/hasPicture}}\
    {{^hasPicture}}<span class="none">{{noPicture}}</span>{{/hasPicture}}</div>\
    <div class="what"><h3{{{speech}}}>{{#hasPage}}<a href="{{address}}">{{title}}</a>{{/hasPage}}\
    {{^hasPage}}{{title}}{{/hasPage}}</h3>\
    {{#hasPrice}}<p class="each">{{each}}</p>{{/hasPrice}}\
    {{#isGone}}<p class="bad">{{trouble}}</p>{{/isGone}}</div>\
    <div class="many"><input type="hidden" name="item" value="{{id}}">\
    <input type="hidden" name="price" value="{{units}}">\
    {{#isGone}}<input type="hidden" name="quantity" value="{{quantity}}">{{/isGone}}\
    {{^isGone}}<span class="stepper"><input name="quantity" type="number" min="0" max="{{most}}" value="{{quantity}}" \
    inputmode="numeric" aria-label="[[Quantity|수량]]: {{title}}" required \
    data-less="[[Decrease quantity|수량 줄이기]]: {{title}}" data-more="[[Increase quantity|수량 늘리기]]: {{title}}"></span>{{/isGone}}\
    <output class="sum">{{sum}}</output>\
    <button class="bare" formaction="/basket" formnovalidate name="remove" value="{{id}}" \
    aria-label="[[Remove|삭제]]: {{title}}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="m7 7 10 10M17 7 7 17"/>\
    </svg></button></div></li>
    {{/lines}}
    </ul><p><button class="quiet update" formaction="/basket" formnovalidate name="do" value="update">\
    [[Update quantities|수량 반영]]</button></p></section>
    <section class="sheet" aria-labelledby="pay"><h2 id="pay">[[Order|주문하기]]</h2>
    <p class="sums"><span id="summary"{{{speech}}}>{{summary}}</span> <b><output id="total">{{total}}</output></b></p>
    <div class="field"><label for="by">[[Who orders|주문하는 사람]]</label>
    <input id="by" name="by" value="{{draft.by}}" maxlength="200" autocomplete="name" required\
    {{#isNameless}} aria-invalid="true" aria-describedby="faults"{{/isNameless}}></div>
    <div class="field"><label for="note">[[Note|남길 말]] <span class="faint">[[(optional)|(선택)]]</span></label>
    <textarea id="note" name="note" rows="2" maxlength="1000">{{draft.note}}</textarea></div>
    <div class="field"><label for="budget">[[Budget|예산]] <span class="faint">{{budgetHint}}</span></label>
    <input id="budget" name="budget" value="{{draft.budget}}" inputmode="decimal" maxlength="20" autocomplete="off" \
    aria-describedby="left"{{#isOver}} aria-invalid="true"{{/isOver}}{{#hasLimit}} data-limit="{{limit}}"{{/hasLimit}}>
    <p id="left" class="left{{#isOver}} bad{{/isOver}}" role="status" data-left="[[# left|# 남음]]" \
    data-over="[[# over the budget|예산을 # 초과했습니다]]">{{left}}</p></div>
    <button class="wide" name="do" value="order">[[Place the order|주문하기]] · <output class="grand">{{total}}</output></button>
    <p class="faint small">[[The order is kept on this machine and leaves with the next delivery run.|주문은 이 컴퓨터에 \
    저장되고, 다음 전송 때 보내집니다.]]</p>
    </section></form>{{/hasLines}}
    """

  static let orders = """
    {{% CONTENT_TYPE: PAGE}}<header class="head"><div><h1>[[Orders|주문 내역]]</h1>{{#hasOrders}}<p>{{count}}</p>{{/hasOrders}}\
    </div></header>
    {{^hasOrders}}{{> empty}}{{/hasOrders}}
    {{#hasOrders}}<ul class="tickets" data-live="{{isLive}}">
    {{#orders}}
    <li class="ticket {{state}}"><div class="top"><h2{{{speech}}}><a href="{{address}}">{{summary}}</a></h2>\
    <b>{{total}}</b></div>
    <p class="faint"><span>{{by}}</span> · <time datetime="{{placed.machine}}" title="{{placed.text}}">{{ago}}</time> · \
    <span class="way {{delivery}}">{{deliveryWord}}</span></p>
    {{> progress}}</li>
    {{/orders}}
    </ul>
    {{#hasPages}}<nav class="pages" aria-label="[[Pages|페이지]]"><ul>
    {{#pages}}
    <li{{#isStep}} class="step"{{/isStep}}>{{#isLink}}<a href="{{address}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{title}}</a>{{/isLink}}\
    {{^isLink}}<span aria-hidden="true">{{title}}</span>{{/isLink}}</li>
    {{/pages}}
    </ul></nav>{{/hasPages}}{{/hasOrders}}
    """

  static let progress = """
    {{% CONTENT_TYPE: PAGE}}{{#isCancelled}}<p class="ended">{{stateWord}}\
    {{#hasTime}} · <time datetime="{{time.machine}}">{{time.text}}</time>{{/hasTime}}</p>{{/isCancelled}}\
    {{^isCancelled}}<ol class="steps" aria-label="[[Progress|진행 상황]]">
    {{#steps}}
    <li class="{{tone}}"{{#isCurrent}} aria-current="step"{{/isCurrent}}><span>{{title}}</span>\
    {{#hasTime}}<time datetime="{{time.machine}}">{{time.text}}</time>{{/hasTime}}</li>
    {{/steps}}
    </ol>{{/isCancelled}}
    """

  static let order = """
    {{% CONTENT_TYPE: PAGE}}<nav class="crumbs" aria-label="[[Where you are|현재 위치]]"><ol>\
    <li><a href="/orders">[[Orders|주문 내역]]</a></li></ol></nav>
    {{#isPlaced}}<p id="told" tabindex="-1" class="note good" role="status">[[Thank you: the order is placed.|주문이 접수되었습니다. 감사합니다.]]</p>{{/isPlaced}}
    {{#isAgain}}<p id="told" tabindex="-1" class="note" role="status">[[This form was sent before: nothing was ordered again.|이미 보낸 \
    주문서입니다. 다시 주문되지 않았습니다.]]</p>{{/isAgain}}
    {{#isLate}}<p id="told" tabindex="-1" class="note bad" role="alert">[[It is too late to cancel: somebody works on it.|이미 준비가 시작되어 \
    취소할 수 없습니다.]]</p>{{/isLate}}
    <article class="receipt" data-live="{{isLive}}">
    <header><h1{{{speech}}}>{{summary}}</h1><p class="faint">{{by}} · \
    <time datetime="{{placed.machine}}">{{placed.text}}</time> {{zone}} · <code>{{id}}</code></p></header>
    {{> progress}}
    <p class="send"><span class="way {{delivery}}">{{deliveryWord}}</span> {{deliveryText}}</p>
    <table><caption class="vh">[[Items|주문한 상품]]</caption>
    <thead><tr><th scope="col">[[Item|상품]]</th><th scope="col" class="r">[[Price|가격]]</th>\
    <th scope="col" class="r">[[Quantity|수량]]</th><th scope="col" class="r">[[Sum|금액]]</th></tr></thead>
    <tbody>
    {{#lines}}
    <tr><th scope="row"{{{speech}}}><a href="{{address}}">{{title}}</a></th><td class="r">{{price}}</td>\
    <td class="r">{{quantity}}</td><td class="r">{{sum}}</td></tr>
    {{/lines}}
    </tbody>
    <tfoot><tr><th scope="row" colspan="3">[[Total|합계]]</th><td class="r"><b>{{total}}</b></td></tr></tfoot></table>
    {{#hasNote}}<p class="said">{{note}}</p>{{/hasNote}}
    {{#isOpen}}<form action="{{cancel}}" method="post"><input type="hidden" name="token" value="{{token}}">\
    <button class="quiet danger">[[Cancel the order|주문 취소]]</button></form>{{/isOpen}}
    </article>
    """
}
