/// The parts below the items: what changed, what is wrong, how runs went, how large it is.
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
    <tr><th scope="row">{{number}}</th>\
    <td class="w"><time datetime="{{began.machine}}">{{began.text}}</time></td>\
    <td><span class="is {{tone}}">{{outcome}}</span></td><td class="r">{{duration}}</td>\
    <td class="r">{{received}}</td><td class="r">{{requests}}</td><td class="r">{{failures}}</td></tr>
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
