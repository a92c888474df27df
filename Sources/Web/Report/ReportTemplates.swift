import Mustache

/// The report's templates, parsed when the first report is made.
///
/// Each begins with the kind of its text: partials do not take it from whoever includes them.
enum ReportTemplates {
  /// Every template by its name.
  static let texts = [
    "page": page, "card": card, "changes": ReportPartTemplates.changes,
    "problems": ReportPartTemplates.problems, "runs": ReportPartTemplates.runs,
    "sizes": ReportPartTemplates.sizes,
  ]

  /// The templates.
  ///
  /// - Throws: `MustacheTemplate.ParserError`, which a test rules out.
  static func library() throws -> MustacheLibrary {
    // Parsing a template looks its kind of text up.
    MustacheContentTypes.register(PageText(), named: PageText.name)
    return MustacheLibrary(templates: try texts.mapValues { try MustacheTemplate(string: $0) })
  }

  private static let page = """
    {{% CONTENT_TYPE: PAGE}}<!doctype html>
    <html lang="{{language}}">
    <head>
    <meta charset="utf-8">
    <meta name="generator" content="\(ReportMark.name)">
    <meta http-equiv="Content-Security-Policy" content="{{policy}}">
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <link rel="icon" href="data:,">
    <title>{{title}}</title>
    <style>{{{style}}}</style>
    </head>
    <body>
    <a class="skip" href="#main">{{words.skip}}</a>
    <header class="top"><div class="wrap">
    <p class="kind">{{words.kind}}</p>
    <h1>{{catalog}}</h1>
    <p class="lede">{{lede}} <time datetime="{{made.machine}}">{{made.text}}</time> {{zone}}</p>
    <ul class="tiles">
    {{#tiles}}
    <li class="{{tone}}"><a href="#{{target}}"><b>{{value}}</b><span>{{label}}</span>\
    {{#hasTime}}<span class="w">{{time}}</span>{{/hasTime}}</a></li>
    {{/tiles}}
    </ul>
    </div></header>
    <div class="find"><div class="wrap">
    <form id="find" role="search" autocomplete="off" hidden><label class="vh" for="q">{{words.search}}</label>
    <input id="q" type="search" placeholder="{{words.search}}" \
    spellcheck="false" aria-keyshortcuts="/"></form>
    <span id="n" role="status"></span>
    <nav aria-label="{{words.sections}}">
    {{#shelves}}
    <a href="#{{anchor}}"{{{speech}}}>{{title}}</a>
    {{/shelves}}
    </nav>
    </div></div>
    <main id="main" class="wrap">
    <p class="empty" id="none" hidden>{{words.nothingFound}}</p>
    {{#shelves}}
    <section class="part shelf" id="{{anchor}}" aria-labelledby="{{anchor}}-h">
    <header{{{speech}}}><h2 id="{{anchor}}-h">{{title}}</h2>\
    {{#hasSubtitle}}<p>{{subtitle}}</p>{{/hasSubtitle}}\
    <p class="n" lang="{{language}}">{{count}}</p></header>
    {{#hasNote}}<p class="note">{{note}}</p>{{/hasNote}}
    {{#isEmpty}}<p class="empty">{{words.emptySection}}</p>{{/isEmpty}}
    {{^isEmpty}}<ul class="cards"{{{speech}}}>
    {{{cards}}}</ul>{{/isEmpty}}
    </section>
    {{/shelves}}
    {{^hasShelves}}<p class="empty">{{words.emptyCatalog}}</p>{{/hasShelves}}
    {{> changes}}
    {{> problems}}
    {{> runs}}
    {{> sizes}}
    </main>
    <footer class="foot"><div class="wrap">{{words.footer}}</div></footer>
    <dialog id="sheet" aria-labelledby="sheet-title"><div class="bn">
    <button type="button" id="back">{{words.back}}</button>
    <button type="button" id="next">{{words.next}}</button>
    <button type="button" id="close" class="x" autofocus>{{words.close}}</button></div>
    <div class="sheet" id="sheet-body"></div></dialog>
    <script type="application/json" id="data">{{{data}}}</script>
    <script>{{{script}}}</script>
    </body>
    </html>

    """

  // Ten thousand times on a page: no attribute that the style sheet makes needless, short elements, and
  // no quotation marks around what is never a feed's.
  private static let card = """
    {{% CONTENT_TYPE: PAGE}}<li class=c id=i{{number}}>\
    {{#hasPicture}}<img src="{{picture}}" alt="" loading=lazy>{{/hasPicture}}\
    {{^hasPicture}}<span class=none{{{own}}}>{{noPicture}}</span>{{/hasPicture}}\
    <div><h3><a href=#i{{number}}>{{title}}</a></h3>\
    {{#hasText}}<p class=t>{{text}}</p>{{/hasText}}<p class=p>\
    {{#isReduced}}<b><i{{{own}}}>{{saleWord}} </i>{{price}}</b> \
    <s><i{{{own}}}>{{normalWord}} </i>{{normal}}</s>{{/isReduced}}\
    {{#isPlain}}<b class=only>{{price}}</b>{{/isPlain}}\
    {{#badges}} <em>{{.}}</em>{{/badges}}\
    {{#isStale}} <em class=quiet{{{own}}}>{{staleWord}}</em>{{/isStale}}\
    </p></div></li>

    """
}

/// How a page says that larder's report wrote it.
package enum ReportMark {
  static let name = "larder report"

  /// Whether a file that begins so is a report of larder, which a later one may replace.
  package static func isIn(_ start: [UInt8]) -> Bool {
    String(decoding: start, as: UTF8.self).contains(
      "<meta name=\"generator\" content=\"\(name)\">"
    )
  }
}
