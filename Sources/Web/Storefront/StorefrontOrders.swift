import Base
import Cache
import Catalog
import Larder
import Orders
import Pipeline

/// Answers one request for a page of the store, from the present state of the cache and of the order database.
struct StorefrontOrders {
  let store: Storefront
  let visit: StorefrontRequest
  let reader: CatalogReader
  let sections: StorefrontSections

  /// Opens the catalog.
  ///
  /// - Throws: ``LarderError`` when the cache cannot be read, or has no catalog.
  init(_ store: Storefront, _ visit: StorefrontRequest) throws(LarderError) {
    (self.store, self.visit) = (store, visit)
    reader = try store.catalog.renewed().reader
    sections = try store.sections.sections(reader)
  }

  private var language: PageLanguage { visit.language }
  private var currency: String { reader.catalog.currency }
  private var shop: String { PlainText.line(reader.catalog.name) }

  /// The answer to a request for a route; the request's method was already checked.
  func answer(_ route: StorefrontRoute) throws -> Answer {
    switch route {
    case .home: return try home()
    case .search: return try search()
    case .section(let key): return try section(key)
    case .item(let id): return try item(id)
    case .basket: return visit.isForm ? changeBasket() : try basket()
    case .orders: return visit.isForm ? try place() : try orders()
    case .order(let id): return try order(id)
    case .cancel(let id): return try cancel(id)
    }
  }

  private func finished(_ page: StorefrontPage, _ view: some PageView) -> Answer {
    store.finished(page, visit, view, sections: sections)
  }

  /// A page with status 404.
  private func nothing(_ heading: String, _ message: String) -> Answer {
    store.notice(visit, 404, heading, message)
  }

  // MARK: - Lists

  private func home() throws(LarderError) -> Answer {
    var page = StorefrontPage()
    page.part = .home
    let first = try reader.shown(
      sections.all.flatMap { shelf in
        shelf.items.prefix(8).map { (item: $0, section: shelf.section) }
      }
    )
    var rest = first[...]
    var parts: [StorefrontHome.Shelf] = []
    for (number, shelf) in sections.all.enumerated() {
      let some = rest.prefix(min(8, shelf.items.count))
      rest = rest.dropFirst(some.count)
      let words = ItemView.Words(language, within: shelf.speech)
      parts.append(
        StorefrontHome.Shelf(
          anchor: "shelf-\(number + 1)",
          title: shelf.title,
          subtitle: shelf.subtitle,
          address: StorefrontAddress.section(shelf.section.key),
          all: language.count(shelf.items.count, "item", "items", "상품"),
          speech: shelf.speech,
          note: try note(shelf),
          message: visit.say("Nothing here yet.", "아직 상품이 없습니다."),
          cards: some.enumerated().map {
            StorefrontCard($1, words, store.squares, isEager: number == 0 && $0 < 4)
          }
        )
      )
    }
    let deal = StorefrontHome.Deal(try largestSaving(), language)
    let view = StorefrontHome(
      shop: shop,
      speech: sections.speech,
      message: visit.say("The catalog has no sections.", "카탈로그에 섹션이 없습니다."),
      deal: deal,
      shelves: parts
    )
    return finished(page, view)
  }

  /// The item with the largest saving among the items that can be bought.
  private func largestSaving() throws(LarderError) -> ShownItem? {
    let items = sections.everything.filter {
      !$0.item.isSoldOut && $0.item.price?.currency == currency
    }
    // If savings are equal, the first item wins.
    let best = items.max { $0.item.saving < $1.item.saving }
    guard let best, best.item.percentOff != nil else { return nil }
    return try reader.shown([best]).first
  }

  /// The note above a section that the last run of `sync` could not refresh; empty if the section is current.
  private func note(_ shelf: StorefrontSections.Shelf) throws(LarderError) -> String {
    guard shelf.section.isStale else { return "" }
    return visit.asLastSeen(try reader.lastGood(shelf.section.key))
  }

  private func search() throws(LarderError) -> Answer {
    let query = StorefrontQuery(visit)
    var page = StorefrontPage()
    page.search = query.search
    page.title = query.search.isEmpty ? visit.say("All items", "전체 상품") : query.search
    let heading =
      query.search.isEmpty
      ? page.title : visit.say("Results for “\(query.search)”", "‘\(query.search)’ 검색 결과")
    return try list(
      page,
      (heading, "", sections.speech, ""),
      path: "/search",
      query,
      among: sections.everything
    )
  }

  private func section(_ key: String) throws(LarderError) -> Answer {
    guard let shelf = sections.shelf(key) else {
      return nothing(
        visit.say("There is no such section.", "없는 섹션입니다."),
        visit.say("It may have been removed by the last update.", "마지막 갱신 때 사라졌을 수 있습니다.")
      )
    }
    let query = StorefrontQuery(visit)
    var page = StorefrontPage()
    page.part = .section(key)
    page.title = shelf.title
    page.search = query.search
    return try list(
      page,
      (shelf.title, shelf.subtitle, shelf.speech, try note(shelf)),
      path: StorefrontAddress.section(key),
      query,
      among: shelf.items.map { ($0, shelf.section) }
    )
  }

  private func list(
    _ page: StorefrontPage,
    _ heading: (title: String, subtitle: String, speech: String, note: String),
    path: String,
    _ query: StorefrontQuery,
    among items: [(item: StoreItem, section: RunSection)]
  ) throws(LarderError) -> Answer {
    let chosen = StorefrontList.chosen(items, query)
    let view = StorefrontList(
      visit,
      heading: heading,
      path: path,
      query: query,
      among: items,
      chosen: (chosen.count, chosen.page, try reader.shown(chosen.some)),
      currency: currency,
      squares: store.squares
    )
    return finished(page, view)
  }

  // MARK: - An item

  private func item(_ id: String) throws(LarderError) -> Answer {
    guard let item = try reader.show(id), let place = sections.item(id),
      let shown = try reader.withPriceLines([item]).first
    else {
      return nothing(
        visit.say("There is no such item.", "없는 상품입니다."),
        visit.say("It may have been removed by the last update.", "마지막 갱신 때 사라졌을 수 있습니다.")
      )
    }
    var page = StorefrontPage()
    page.title = PlainText.line(shown.item.title)
    let others = place.shelf.items
    let start = others.firstIndex { $0.id == id } ?? 0
    let neighbours = (others[start...].dropFirst() + others[..<start]).filter { !$0.isSoldOut }
    let since = shown.isStale ? try reader.lastGood(place.shelf.section.key) : nil
    let view = StorefrontItemPage(
      visit,
      shop: shop,
      shown,
      on: place.shelf,
      since: since,
      more: try reader.shown(neighbours.prefix(4).map { ($0, place.shelf.section) }),
      squares: store.squares,
      sizes: store.sizes,
      token: store.orders == nil ? nil : visit.session.token(store.key)
    )
    return finished(page, view)
  }
}

/// The basket and the orders.
extension StorefrontOrders {
  private var now: OrderTime { OrderTime(seconds: visit.clock.now.seconds) }
  private var hasToken: Bool { visit.hasToken(store.key) }

  // MARK: - The basket

  /// The page with the basket and the order form.
  ///
  /// - Parameters:
  ///   - form: The form that was sent and did not become an order; nil for an empty form.
  ///   - faults: The reasons why the form did not become an order.
  /// - Returns: The page, with status 422 if there are faults.
  /// - Throws: ``LarderError`` when the cache cannot be read.
  func basket(_ form: OrderForm? = nil, faults: [OrderFault] = []) throws -> Answer {
    var page = StorefrontPage()
    page.part = .basket
    page.title =
      visit.single == nil ? visit.say("Basket", "장바구니") : visit.say("Order now", "바로 주문")
    page.isPrivate = true
    page.status = faults.isEmpty ? 200 : 422
    let basket = form?.basket ?? visit.single ?? visit.basket
    if form != nil, visit.single == nil {
      // Keep the items that the visitor has added in another window.
      var kept = visit.basket
      kept.read(visit.form)
      page.basket = kept
    }
    let draft = form?.draft ?? visit.draft
    let bill = bill(of: basket)
    let known = bill.lines.compactMap { line in
      sections.item(line.id).map { (item: $0.item, section: $0.shelf.section) }
    }
    let shown = Dictionary(try reader.shown(known).map { ($0.item.id, $0) }) { first, _ in first }
    var generator = SystemRandomNumberGenerator()
    let key = form?.chance ?? OrderID.Nonce(using: &generator)
    let view = StorefrontBasketPage(
      visit,
      bill,
      shown,
      draft: draft,
      budget: OrderBudget(house: store.budget, typed: draft.budget, currency: currency),
      form: (visit.session.token(store.key), key.rawValue),
      faults: faults,
      sections: sections,
      currency: currency,
      squares: store.squares
    )
    return finished(page, view)
  }

  private func bill(of basket: StorefrontBasket) -> BasketBill {
    BasketBill(basket, currency: currency) { sections.item($0)?.item }
  }

  /// Adds an item to the basket, changes quantities, or removes items, as the form asks.
  func changeBasket() -> Answer {
    let added = visit.posted("item") ?? ""
    let action = visit.posted("do")
    let isItem = action == "add" || action == "order"
    guard hasToken, store.orders != nil else {
      // Redirect to a page whose form has a valid token.
      return StorefrontPage.redirect(
        visit,
        to: isItem && !added.isEmpty ? "\(StorefrontAddress.item(added))?added=old#buy" : "/basket"
      )
    }
    var basket = visit.basket
    if isItem {
      let count = visit.posted("quantity").flatMap { Int(PlainText.line($0)) } ?? 1
      let isKnown = sections.item(added).map { !$0.item.isSoldOut } ?? false
      // "Buy now" orders only this quantity of the item, even if the visitor presses the button several times.
      var single = StorefrontBasket()
      let isNow = action == "order"
      let fits = isKnown && (isNow ? single.add(added, count) : basket.add(added, count))
      let address = StorefrontAddress.item(added)
      if !fits { return StorefrontPage.redirect(visit, to: "\(address)?added=0#buy") }
      if isNow { return StorefrontPage.redirect(visit, to: single.singleAddress) }
      return StorefrontPage.redirect(visit, to: "\(address)?added=1#buy", basket: basket)
    }
    if visit.posted("single") != nil {
      let isKept = visit.posted("remove") == nil
      return StorefrontPage.redirect(
        visit,
        to: isKept ? visit.single?.singleAddress ?? "/basket" : "/basket"
      )
    }
    basket.read(visit.form)
    if let removed = visit.posted("remove") { basket.set(removed, 0) }
    return StorefrontPage.redirect(
      visit,
      to: "/basket",
      basket: basket,
      draft: StorefrontDraft(visit)
    )
  }

  // MARK: - Orders

  /// Places an order.
  ///
  /// If the same form is sent again, no second order is placed.
  func place() throws -> Answer {
    let form = OrderForm(visit)
    guard let path = store.orders else { return closed() }
    guard hasToken, let chance = form.chance else {
      return try basket(form, faults: [.outdated])
    }
    let outbox = Outbox.exists(at: path) ? try Outbox(path) : nil
    if let earlier = try outbox?.order(chance) { return placed(earlier, form) }
    let bill = bill(of: form.basket)
    let budget = OrderBudget(house: store.budget, typed: form.draft.budget, currency: currency)
    var faults = form.faults(bill, budget, language)
    // If prices have changed since the form was shown, show the new prices before anything is ordered.
    if faults.isEmpty, let total = bill.total, !form.hasSeen(bill) {
      faults = [.price(total.formatted())]
    }
    guard faults.isEmpty else { return try basket(form, faults: faults) }
    let draft = form.orderDraft(budget, visit.orderLanguage)
    do {
      let made = try OrderFromCatalog(draft, reader, at: now, chance: chance)
      let outbox = try Outbox(path)
      let id = try outbox.place(made.order, once: chance)
      return placed(try outbox.order(id.rawValue), form)
    } catch let error as LarderError where error.code == .refused || error.code == .usage {
      return try basket(form, faults: [.other(error.problem)])
    } catch let error as LarderError where error.code == .notFound {
      return try basket(form, faults: [.trouble])
    }
  }

  /// Redirects to the page of an order, and removes the order's items from the basket.
  private func placed(_ entry: Order, _ form: OrderForm) -> Answer {
    let told = form.isSame(as: entry.order) ? "placed" : "again"
    var rest = form.draft
    rest.note = ""
    var basket = visit.basket
    if visit.single == nil { basket.remove(form.basket) }
    return StorefrontPage.redirect(
      visit,
      to: StorefrontAddress.order(entry.order.id.rawValue) + "?told=\(told)",
      basket: basket,
      draft: rest
    )
  }

  /// The list of orders.
  func orders() throws -> Answer {
    var page = StorefrontPage()
    page.part = .orders
    page.title = visit.say("Orders", "주문 내역")
    page.isPrivate = true
    guard let path = store.orders else { return closed() }
    let size = StorefrontOrdersPage.pageSize
    let asked = min(max(visit.asked("page").flatMap { Int($0) } ?? 1, 1), 100_000)
    let found =
      Outbox.exists(at: path)
      ? try Outbox(path).latest(size, after: (asked - 1) * size) : (entries: [], all: 0)
    let view = StorefrontOrdersPage(visit, found.entries, all: found.all, page: asked)
    return finished(page, view)
  }

  /// The page of an order.
  func order(_ id: String) throws -> Answer {
    guard let path = store.orders, Outbox.exists(at: path),
      let entry = try entry(id, in: Outbox(path))
    else { return unknown() }
    var page = StorefrontPage()
    page.part = .orders
    page.title = PlainText.line(entry.order.summary(in: visit.orderLanguage))
    page.isPrivate = true
    let token = visit.session.token(store.key)
    return finished(page, StorefrontOrderPage(visit, entry, token: token))
  }

  /// Cancels an order if its state allows that.
  func cancel(_ id: String) throws -> Answer {
    let address = StorefrontAddress.order(id)
    guard let path = store.orders, Outbox.exists(at: path) else { return unknown() }
    // Redirect to the order's page, because the button on that page has a valid token.
    if !hasToken { return StorefrontPage.redirect(visit, to: address) }
    let outbox = try Outbox(path)
    guard try entry(id, in: outbox) != nil else { return unknown() }
    // With `posting`, the shop is told about the cancellation if it may know of the order.
    let refusal = Self.refusal { () throws(LarderError) in
      _ = try outbox.move(id, to: .cancelled, posting: true, at: now)
    }
    if let refusal, refusal.code != .state { throw refusal }
    let isLate = try refusal != nil && entry(id, in: outbox)?.state != .cancelled
    return StorefrontPage.redirect(visit, to: isLate ? "\(address)?told=late" : address)
  }

  /// The order with an id; nil if there is none.
  private func entry(_ id: String, in outbox: Outbox) throws(LarderError) -> Order? {
    do {
      return try outbox.order(id)
    } catch {
      if error.code == .unknown { return nil }
      throw error
    }
  }

  private static func refusal(_ body: () throws(LarderError) -> Void) -> LarderError? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  private func unknown() -> Answer {
    nothing(
      visit.say("There is no such order.", "없는 주문입니다."),
      visit.say("The orders of this machine are in the list of orders.", "이 컴퓨터의 주문은 주문 내역에 있습니다.")
    )
  }

  private func closed() -> Answer {
    nothing(
      visit.say("Nothing can be ordered here.", "여기서는 주문할 수 없습니다."),
      visit.say("This store is only for browsing.", "둘러보기만 할 수 있는 상점입니다.")
    )
  }
}
