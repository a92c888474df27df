import Base
import Cache
import Catalog
import Larder
import Orders
import Pipeline

/// The store with its catalog opened for one request, which it answers.
struct OpenStorefront {
  let store: Storefront
  let visit: StorefrontRequest
  let route: StorefrontRoute
  let reader: CatalogReader
  let sections: StorefrontSections

  /// Opens the catalog.
  ///
  /// - Throws: ``LarderError`` when the cache cannot be read, or has no catalog.
  init(_ store: Storefront, _ visit: StorefrontRequest, _ route: StorefrontRoute)
    throws(LarderError)
  {
    (self.store, self.visit, self.route) = (store, visit, route)
    reader = try store.content.catalog.renewed().reader
    sections = try store.sections.sections(reader)
  }

  var currency: String { reader.catalog.currency }

  /// The answer to the request; the request's method was already checked.
  func answer() throws -> Answer {
    switch route {
    case .home: return try home()
    case .search: return try search()
    case .section(let key): return try section(key)
    case .item(let id): return try item(id)
    case .basket: return visit.isForm ? try changeBasket() : try basket()
    case .orders: return visit.isForm ? try place() : try orders()
    case .order(let id): return try order(id)
    case .cancel(let id): return try cancel(id)
    }
  }

  private func finished(_ page: StorefrontPage, _ view: some PageView) -> Answer {
    var page = page
    (page.route, page.sections) = (page.route ?? route, sections)
    return page.answer(visit, shop: store.shop, view)
  }

  /// A page with status 404.
  private func nothing(_ heading: String, _ message: String) -> Answer {
    store.notice(visit, 404, heading, message)
  }

  /// A page with status 404 about a section or an item.
  private func removed(_ heading: String) -> Answer {
    nothing(
      heading,
      visit.say("It may have been removed by the last update.", "마지막 갱신 때 사라졌을 수 있습니다.")
    )
  }

  // MARK: - Lists

  private func home() throws(LarderError) -> Answer {
    var shelves: [StorefrontHome.Shelf] = []
    for (number, shelf) in sections.all.enumerated() {
      let first = try reader.shown(shelf.items.prefix(8).map { ($0, shelf.section) })
      let words = ItemView.Words(visit.language, within: shelf.speech)
      shelves.append(
        StorefrontHome.Shelf(
          anchor: "shelf-\(number + 1)",
          title: shelf.title,
          subtitle: shelf.subtitle,
          address: StorefrontAddress.section(shelf.section.key),
          all: visit.language.count(shelf.items.count, "item", "items", "상품"),
          speech: shelf.speech,
          note: try note(shelf),
          cards: first.enumerated().map {
            StorefrontCard($1, words, store.squares, isEager: number == 0 && $0 < 4)
          }
        )
      )
    }
    let view = StorefrontHome(
      shop: store.shop,
      speech: sections.speech,
      deal: try deal(),
      shelves: shelves
    )
    return finished(StorefrontPage(), view)
  }

  /// The card of the item with the largest saving among the items that can be bought.
  private func deal() throws(LarderError) -> StorefrontCard? {
    let items = sections.everything.filter {
      !$0.item.isSoldOut && $0.item.price?.currency == currency
    }
    // If savings are equal, the first item wins.
    let best = items.max { $0.item.saving < $1.item.saving }
    guard let best, best.item.percentOff != nil, let shown = try reader.shown([best]).first,
      shown.thumbnail?.path != nil
    else { return nil }
    return StorefrontCard(shown, ItemView.Words(visit.language), store.squares, isEager: true)
  }

  /// The note above a section that the last run of `sync` could not refresh; empty if the section is current.
  private func note(_ shelf: StorefrontSections.Shelf) throws(LarderError) -> String {
    guard shelf.section.isStale else { return "" }
    return visit.asLastSeen(try reader.lastGood(shelf.section.key))
  }

  private func search() throws(LarderError) -> Answer {
    let query = StorefrontQuery(visit)
    let words = query.search
    let title = words.isEmpty ? visit.say("All items", "전체 상품") : words
    let heading =
      words.isEmpty ? title : visit.say("Results for “\(words)”", "‘\(words)’ 검색 결과")
    let list = try StorefrontList(
      self,
      heading: (heading, "", sections.speech, ""),
      path: "/search",
      query: query,
      among: sections.everything
    )
    return finished(StorefrontPage(title: title, search: words), list)
  }

  private func section(_ key: String) throws(LarderError) -> Answer {
    guard let shelf = sections.shelf(key) else {
      return removed(visit.say("There is no such section.", "없는 섹션입니다."))
    }
    let query = StorefrontQuery(visit)
    let list = try StorefrontList(
      self,
      heading: (shelf.title, shelf.subtitle, shelf.speech, try note(shelf)),
      path: StorefrontAddress.section(key),
      query: query,
      among: shelf.items.map { ($0, shelf.section) }
    )
    return finished(StorefrontPage(title: shelf.title, search: query.search), list)
  }

  // MARK: - An item

  private func item(_ id: String) throws(LarderError) -> Answer {
    guard let item = try reader.show(id), let shelf = sections.shelf(item.sections.first ?? ""),
      let shown = try reader.withPriceLines([item]).first
    else { return removed(visit.say("There is no such item.", "없는 상품입니다.")) }
    let others = shelf.items
    let start = others.firstIndex { $0.id.exact == id.exact } ?? 0
    let neighbours = (others[start...].dropFirst() + others[..<start]).filter { !$0.isSoldOut }
    let view = StorefrontItemPage(
      self,
      shown,
      on: shelf,
      since: shown.isStale ? try reader.lastGood(shelf.section.key) : nil,
      more: try reader.shown(neighbours.prefix(4).map { ($0, shelf.section) })
    )
    return finished(StorefrontPage(title: PlainText.line(shown.item.title)), view)
  }
}

/// The basket and the orders.
extension OpenStorefront {
  private var now: OrderTime { OrderTime(seconds: visit.clock.now.seconds) }

  // MARK: - The basket

  /// The page with the basket and the order form.
  ///
  /// - Parameters:
  ///   - form: The form that was sent and did not become an order; nil for an empty form.
  ///   - faults: The reasons why the form did not become an order.
  ///   - problem: The message of the error that ``OrderFault/other`` stands for.
  /// - Returns: The page, with status 422 if there are faults.
  /// - Throws: ``LarderError`` when the cache cannot be read.
  private func basket(
    _ form: OrderForm? = nil,
    faults: [OrderFault] = [],
    problem: String = ""
  ) throws -> Answer {
    var page = StorefrontPage(status: faults.isEmpty ? 200 : 422, route: .basket)
    page.title = visit.say("Basket", "장바구니")
    if form != nil {
      // Keep the items that the visitor has added in another window.
      var kept = visit.basket
      kept.read(visit.form)
      page.basket = kept
    }
    let view = StorefrontBasketPage(
      self,
      try bill(of: form?.basket ?? visit.basket),
      draft: form?.draft ?? visit.draft,
      key: form?.chance ?? OrderID.Nonce(),
      faults: faults,
      problem: problem
    )
    return finished(page, view)
  }

  /// The limits on an order with a form's values.
  func budget(_ draft: StorefrontDraft) -> OrderBudget {
    OrderBudget(house: store.content.budget, typed: draft.budget, currency: currency)
  }

  private func bill(of basket: StorefrontBasket) throws(LarderError) -> BasketBill {
    let wanted = Set(basket.lines.map(\.id.exact))
    let listed: [ListedItem] = sections.all.flatMap { shelf in
      shelf.items.filter { wanted.contains($0.id.exact) }.map {
        (item: $0, section: shelf.section)
      }
    }
    let shown = try reader.shown(listed).map { ($0.id.exact, $0) }
    return BasketBill(basket, Dictionary(shown) { first, _ in first }, currency: currency)
  }

  /// Adds an item to the basket, changes quantities, or removes items, as the form asks.
  private func changeBasket() throws(LarderError) -> Answer {
    guard store.content.orders != nil else { return closed() }
    var basket = visit.basket
    if visit.posted("do") == "add", let added = visit.posted("item") {
      let count = visit.posted("quantity").flatMap { Int(PlainText.line($0)) } ?? 1
      let isKnown = try reader.show(added).map { !$0.item.isSoldOut } ?? false
      let fits = isKnown && basket.add(added, count)
      let address = "\(StorefrontAddress.item(added))?added=\(fits ? 1 : 0)#buy"
      return StorefrontPage.redirect(visit, to: address, basket: fits ? basket : nil)
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
  private func place() throws -> Answer {
    let form = OrderForm(visit)
    guard let path = store.content.orders else { return closed() }
    guard let chance = form.chance else {
      return try basket(form, faults: [.outdated])
    }
    if let earlier = try Outbox.existing(path)?.order(chance) { return placed(earlier, form) }
    let budget = budget(form.draft)
    let faults = form.faults(try bill(of: form.basket), budget)
    guard faults.isEmpty else { return try basket(form, faults: faults) }
    let draft = form.orderDraft(budget, visit.language)
    do {
      let order = try draft.order(from: reader, at: now, chance: chance)
      let outbox = try Outbox(path)
      let id = try outbox.place(order)
      return placed(try outbox.order(id.rawValue), form)
    } catch let error as LarderError where error.code == .refused || error.code == .usage {
      return try basket(form, faults: [.other], problem: error.problem)
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
    basket.remove(form.basket)
    return StorefrontPage.redirect(
      visit,
      to: StorefrontAddress.order(entry.order.id.rawValue) + "?told=\(told)",
      basket: basket,
      draft: rest
    )
  }

  /// The list of orders.
  private func orders() throws -> Answer {
    guard let path = store.content.orders else { return closed() }
    let size = StorefrontOrdersPage.pageSize
    let asked = min(max(visit.asked("page").flatMap { Int($0) } ?? 1, 1), 100_000)
    let found =
      try Outbox.existing(path)?.latest(size, after: (asked - 1) * size) ?? (entries: [], all: 0)
    let view = StorefrontOrdersPage(visit, found.entries, all: found.all, page: asked)
    return finished(StorefrontPage(title: visit.say("Orders", "주문 내역")), view)
  }

  /// The page of an order.
  private func order(_ id: String) throws -> Answer {
    guard let path = store.content.orders, let outbox = try Outbox.existing(path),
      let entry = try entry(id, in: outbox)
    else { return unknown() }
    let view = StorefrontOrderPage(visit, entry)
    return finished(StorefrontPage(title: view.order.summary), view)
  }

  /// Cancels an order if its state allows that.
  private func cancel(_ id: String) throws -> Answer {
    let address = StorefrontAddress.order(id)
    guard let path = store.content.orders, let outbox = try Outbox.existing(path),
      try entry(id, in: outbox) != nil
    else { return unknown() }
    var isLate = false
    do throws(LarderError) {
      // With `posting`, the shop is told about the cancellation if it may know of the order.
      _ = try outbox.move(id, to: .cancelled, posting: true, at: now)
    } catch {
      guard error.code == .state else { throw error }
      isLate = try entry(id, in: outbox)?.state != .cancelled
    }
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
