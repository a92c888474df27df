import Mustache

/// The report's templates, parsed when the first report is made.
///
/// Each begins with the kind of its text: partials do not inherit it from the including template.
enum ReportTemplates {
  /// Every template by its name.
  static let texts = [
    "page": page, "card": card, "line": PriceLineView.template,
    "changes": ReportPartTemplates.changes,
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
    {{#isPeriod}}{{> changes}}{{/isPeriod}}
    {{#needsAttention}}{{> problems}}{{/needsAttention}}
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
    {{^isPeriod}}{{^hasShelves}}<p class="empty">{{words.emptyCatalog}}</p>{{/hasShelves}}
    {{> changes}}{{/isPeriod}}
    {{^needsAttention}}{{> problems}}{{/needsAttention}}
    {{> runs}}
    {{^isPeriod}}{{> sizes}}{{/isPeriod}}
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
  // no quotation marks around values that never come from a feed.
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
    </p>{{#line}}{{> line}}{{/line}}</div></li>

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

/// The parts below the items: changes, problems, runs, and sizes.
enum ReportPartTemplates {
  static let changes = """
    {{% CONTENT_TYPE: PAGE}}<section class="part about" id="changes" aria-labelledby="changes-h">
    <header><h2 id="changes-h">{{words.changes}}</h2><p>{{changes.span}}</p></header>
    {{#changes.isQuiet}}<p class="empty">{{changes.quiet}}</p>{{/changes.isQuiet}}
    {{#changes.hasGroups}}<div class="two">{{/changes.hasGroups}}
    {{#changes.groups}}
    <div class="panel"><h3>{{title}}</h3><ul class="list names"{{{speech}}}>
    {{#rows}}
    <li>{{#isLinked}}<a href="#i{{number}}">{{name}}</a>{{/isLinked}}\
    {{^isLinked}}{{name}}{{/isLinked}}\
    {{#hasField}} <span class="faint" lang="{{language}}">{{field}}</span>{{/hasField}}\
    {{#hasValues}}<br><span class="from"><span class="vh" lang="{{language}}">{{was}} </span>\
    {{from}}</span> \
    → <span class="vh" lang="{{language}}">{{now}} </span><b>{{to}}</b>{{/hasValues}}</li>
    {{/rows}}
    </ul>{{#hasMore}}<p class="more">{{more}}</p>{{/hasMore}}</div>
    {{/changes.groups}}
    {{#changes.hasGroups}}</div>{{/changes.hasGroups}}
    </section>

    """

  static let problems = """
    {{% CONTENT_TYPE: PAGE}}<section class="part about" id="problems" aria-labelledby="problems-h">
    <header><h2 id="problems-h">{{words.problems}}</h2></header>
    {{^problems}}<p class="empty">{{words.noProblems}}</p>{{/problems}}
    {{#problems}}
    <div class="panel"><h3><span class="is {{tone}}">{{title}}</span></h3>
    {{#hasMeaning}}<p>{{meaning}}</p>{{/hasMeaning}}
    {{#hasAdvice}}<p class="todo"><b>{{words.advice}}</b> {{advice}}</p>{{/hasAdvice}}
    {{#hasRows}}<ul class="list">
    {{#rows}}
    <li class="fact">{{#hasName}}<span class="who">{{#isLinked}}<a href="#i{{number}}">{{name}}</a>\
    {{/isLinked}}{{^isLinked}}{{name}}{{/isLinked}}</span> {{/hasName}}<span class="what">\
    {{#hasText}}<span class="row" lang="en">{{text}}</span> {{/hasText}}\
    {{#hasURL}}<span class="url">\
    {{#hasLink}}<a href="{{link}}" rel="noreferrer noopener">{{url}}</a>\
    {{/hasLink}}{{^hasLink}}{{url}}{{/hasLink}}</span>{{/hasURL}}</span></li>
    {{/rows}}
    </ul>{{/hasRows}}{{#hasMore}}<p class="more">{{more}}</p>{{/hasMore}}</div>
    {{/problems}}
    </section>

    """

  static let runs = """
    {{% CONTENT_TYPE: PAGE}}<section class="part about" id="runs" aria-labelledby="runs-h">
    <header><h2 id="runs-h">{{words.runs}}</h2><p>{{runs.summary}}</p></header>
    <div class="panel"><h3>{{words.days}}</h3>
    <div class="scroll late" tabindex="0" role="group" aria-label="{{words.days}}">
    <svg class="cal" viewBox="0 0 {{runs.calendar.width}} {{runs.calendar.height}}" role="img" \
    aria-label="{{runs.calendar.summary}}">
    {{#runs.calendar.labels}}
    <text x="{{x}}" y="{{y}}">{{text}}</text>
    {{/runs.calendar.labels}}
    {{#runs.calendar.days}}
    <rect class="{{tone}}" x="{{x}}" y="{{y}}" width="12" height="{{height}}" rx="{{radius}}">\
    <title>{{label}}</title></rect>
    {{/runs.calendar.days}}
    </svg></div>
    <p class="key"><span class="is good">{{words.goodDay}}</span>\
    <span class="is warn">{{words.partDay}}</span>\
    <span class="is bad">{{words.badDay}}</span><span class="is no">{{words.noDay}}</span></p></div>
    <div class="two">
    {{#runs.plots}}
    <div class="panel"><h3>{{title}}</h3>
    <svg class="plot" viewBox="0 0 480 120" role="img" aria-label="{{summary}}">
    <line x1="0" y1="100.5" x2="480" y2="100.5"/>
    <text x="0" y="10">{{top}}</text><text x="0" y="116">{{first}}</text>\
    <text x="480" y="116" text-anchor="end">{{last}}</text>
    {{#bars}}
    <rect class="{{tone}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}" rx="1">\
    <title>{{label}}</title></rect>
    {{/bars}}
    </svg></div>
    {{/runs.plots}}
    </div>
    <div class="panel" id="run-list">\
    <div class="scroll" tabindex="0" role="group" aria-label="{{words.runs}}"><table>
    <thead><tr><th scope="col">{{words.run}}</th><th scope="col">{{words.began}}</th>\
    <th scope="col">{{words.outcome}}</th><th scope="col" class="r">{{words.duration}}</th>\
    <th scope="col" class="r">{{words.received}}</th>\
    <th scope="col" class="r">{{words.requests}}</th>\
    <th scope="col" class="r">{{words.failures}}</th></tr></thead>
    <tbody>
    {{#runs.rows}}
    <tr><th scope="row" data-name="{{words.run}}">{{number}}</th>\
    <td class="w"><time datetime="{{began.machine}}">{{began.text}}</time></td>\
    <td><span class="is {{tone}}">{{outcome}}</span></td>\
    <td class="r" data-name="{{words.duration}}">{{duration}}</td>\
    <td class="r" data-name="{{words.received}}">{{received}}</td>\
    <td class="r" data-name="{{words.requests}}">{{requests}}</td>\
    <td class="r" data-name="{{words.failures}}">{{failures}}</td></tr>
    {{/runs.rows}}
    </tbody></table></div></div>
    </section>

    """

  static let sizes = """
    {{% CONTENT_TYPE: PAGE}}<section class="part about" id="sizes" aria-labelledby="sizes-h">
    <header><h2 id="sizes-h">{{words.sizes}}</h2><p>{{sizes.summary}}</p></header>
    <div class="panel">\
    <div class="scroll" tabindex="0" role="group" aria-label="{{words.sizes}}"><table>
    <thead><tr><th scope="col">{{words.section}}</th><th scope="col" class="r">{{words.items}}</th>\
    <th scope="col" class="r">{{words.picturesHeld}}</th>\
    <th scope="col" class="r">{{words.size}}</th>\
    <td class="hide q">{{words.share}}</td></tr></thead>
    <tbody>
    {{#sizes.rows}}
    <tr><th scope="row"{{{speech}}}>{{title}}</th>\
    <td class="r">{{items}}</td><td class="r">{{pictures}}</td>\
    <td class="r">{{size}}</td><td class="hide"><svg class="m" width="160" height="10" \
    viewBox="0 0 160 10" aria-hidden="true"><rect width="160" height="10" rx="5"/>\
    <rect width="{{bar}}" height="10" rx="5"/></svg></td></tr>
    {{/sizes.rows}}
    </tbody></table></div>\
    {{#sizes.isShared}}<p class="more">{{words.shared}}</p>{{/sizes.isShared}}</div>
    </section>

    """
}
