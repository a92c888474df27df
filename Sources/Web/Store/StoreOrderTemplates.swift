/// Pages of the basket and of orders.
enum StoreOrderTemplates {
  static let basket = """
    {{% CONTENT_TYPE: PAGE}}<header class="head"><h1>[[Basket|장바구니]]</h1></header>
    {{#hasFaults}}<div class="note bad" role="alert" id="faults" tabindex="-1"><p><b>{{faultTitle}}</b></p><ul>
    {{#faults}}
    <li>{{.}}</li>
    {{/faults}}
    </ul></div>{{/hasFaults}}
    {{^hasLines}}{{> empty}}{{/hasLines}}
    {{#hasLines}}<form class="checkout" action="/orders" method="post" data-money="{{money}}" \
    data-more="[[# and % more|# 외 %건]]">
    <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="key" value="{{key}}">\
    <input type="hidden" name="total" value="{{totalUnits}}">
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
    inputmode="numeric" aria-label="[[Quantity|수량]]: {{title}}" required></span>{{/isGone}}\
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
    {{#isPlaced}}<p class="note good" role="status">[[Thank you: the order is placed.|주문이 접수되었습니다. 감사합니다.]]</p>{{/isPlaced}}
    {{#isAgain}}<p class="note" role="status">[[This form was sent before: nothing was ordered again.|이미 보낸 \
    주문서입니다. 다시 주문되지 않았습니다.]]</p>{{/isAgain}}
    {{#isLate}}<p class="note bad" role="alert">[[It is too late to cancel: somebody works on it.|이미 준비가 시작되어 \
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
