import Mustache

/// The store's templates in a language, parsed when the first page in it is made.
///
/// Words of the store's own stand in the templates in both languages, `[[English|Korean]]`. Each template begins
/// with the kind of its text: partials do not take it from whoever includes them.
enum StoreTemplates {
  /// Every template by its name.
  static let texts = [
    "frame": frame, "card": card, "empty": empty,
    "home": StoreListTemplates.home, "list": StoreListTemplates.list,
    "section": StoreListTemplates.section, "search": StoreListTemplates.search,
    "item": StoreItemTemplates.item, "basket": StoreOrderTemplates.basket,
    "orders": StoreOrderTemplates.orders, "order": StoreOrderTemplates.order,
    "progress": StoreOrderTemplates.progress, "notice": notice,
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
