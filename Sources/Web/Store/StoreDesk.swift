import Cache
import Catalog
import Larder
import Orders
import Pipeline

/// Answers one request from what the cache holds at this moment.
struct StoreDesk {
  let store: Store
  let visit: StoreVisit
  let reader: CatalogReader
  let shelves: StoreShelves

  /// Opens the cache.
  ///
  /// - Throws: ``CacheError`` when it cannot be read, or holds no catalog.
  init(_ store: Store, _ visit: StoreVisit) throws(CacheError) {
    (self.store, self.visit) = (store, visit)
    reader = try CatalogReader(cache: store.cache, catalog: store.catalog)
    shelves = try store.shelving.shelves(reader)
  }

  var language: PageLanguage { visit.language }
  var currency: String { reader.catalog.currency }
  var shop: String { PlainText.line(reader.catalog.name) }

  /// The answer of a route whose method is right.
  func answer(_ route: StoreRoute) throws -> StoreAnswer {
    let isForm = visit.request.method == .post
    switch route {
    case .home: return try home()
    case .search: return try search()
    case .section(let key): return try section(key)
    case .item(let id): return try item(id)
    case .basket: return isForm ? changeBasket() : try basket()
    case .orders: return isForm ? try place() : try orders()
    case .order(let id): return try order(id)
    case .cancel(let id): return try cancel(id)
    }
  }

  func finished(_ page: StorePage, _ template: String, _ view: Any) -> StoreAnswer {
    store.finished(page, visit, template, view, shelves: shelves, shop: shop)
  }

  /// There is nothing at this address.
  func nothing(_ heading: String, _ message: String) -> StoreAnswer {
    store.notice(visit, 404, heading, message)
  }

  // MARK: - Lists

  private func home() throws(CacheError) -> StoreAnswer {
    var page = StorePage()
    page.part = .home
    let first = try reader.shown(
      shelves.all.flatMap { shelf in
        shelf.items.prefix(8).map { (item: $0, section: shelf.section) }
      }
    )
    var rest = first[...]
    var parts: [StoreHome.Shelf] = []
    for (number, shelf) in shelves.all.enumerated() {
      let some = rest.prefix(min(8, shelf.items.count))
      rest = rest.dropFirst(some.count)
      let words = ItemView.Words(language, within: shelf.speech)
      parts.append(
        StoreHome.Shelf(
          anchor: "shelf-\(number + 1)",
          title: shelf.title,
          subtitle: shelf.subtitle,
          address: StoreAddress.section(shelf.section.key),
          all: language.count(shelf.items.count, "item", "items", "상품"),
          speech: shelf.speech,
          note: try note(shelf),
          message: visit.say("Nothing here yet.", "아직 상품이 없습니다."),
          hasSubtitle: !shelf.subtitle.isEmpty,
          hasNote: shelf.section.isStale,
          hasCards: !some.isEmpty,
          cards: some.enumerated().map {
            StoreCard($1, words, store.squares, isEager: number == 0 && $0 < 4)
          }
        )
      )
    }
    let deal = StoreHome.Deal(try largestSaving(), language)
    let view = StoreHome(
      shop: shop,
      speech: shelves.speech,
      message: visit.say("The catalog has no sections.", "카탈로그에 섹션이 없습니다."),
      hasDeal: deal != nil,
      deal: deal,
      hasShelves: !parts.isEmpty,
      shelves: parts
    )
    return finished(page, "home", view)
  }

  /// The item that is reduced most among those that can be had.
  private func largestSaving() throws(CacheError) -> ShownItem? {
    let items = shelves.everything.filter { !$0.item.isSoldOut && $0.item.percentOff != nil }
    guard let best = items.max(by: { $0.item.percentOff ?? 0 < $1.item.percentOff ?? 0 }) else {
      return nil
    }
    return try reader.shown([best]).first
  }

  /// What is to be said of a section that is not of the last run; empty for one that is.
  private func note(_ shelf: StoreShelves.Shelf) throws(CacheError) -> String {
    guard shelf.section.isStale else { return "" }
    return visit.asLastSeen(try reader.lastGood(shelf.section.key))
  }

  private func search() throws(CacheError) -> StoreAnswer {
    let query = StoreQuery(visit.request)
    var page = StorePage()
    page.search = query.search
    page.title = query.search.isEmpty ? visit.say("All items", "전체 상품") : query.search
    let heading =
      query.search.isEmpty
      ? page.title : visit.say("Results for “\(query.search)”", "‘\(query.search)’ 검색 결과")
    return try list(
      page,
      "search",
      (heading, "", shelves.speech, ""),
      path: "/search",
      query,
      among: shelves.everything
    )
  }

  private func section(_ key: String) throws(CacheError) -> StoreAnswer {
    guard let shelf = shelves.shelf(key) else {
      return nothing(
        visit.say("There is no such section.", "없는 섹션입니다."),
        visit.say("It may have gone with the last update.", "마지막 갱신 때 사라졌을 수 있습니다.")
      )
    }
    let query = StoreQuery(visit.request)
    var page = StorePage()
    page.part = .section(key)
    page.title = shelf.title
    page.search = query.search
    return try list(
      page,
      "section",
      (shelf.title, shelf.subtitle, shelf.speech, try note(shelf)),
      path: StoreAddress.section(key),
      query,
      among: shelf.items.map { ($0, shelf.section) }
    )
  }

  private func list(
    _ page: StorePage,
    _ template: String,
    _ heading: (title: String, subtitle: String, speech: String, note: String),
    path: String,
    _ query: StoreQuery,
    among items: [(item: StoreItem, section: RunSection)]
  ) throws(CacheError) -> StoreAnswer {
    let chosen = StoreList.chosen(items, query)
    let view = StoreList(
      visit,
      heading: heading,
      path: path,
      query: query,
      among: items,
      chosen: (chosen.count, chosen.page, try reader.shown(chosen.some)),
      currency: currency,
      squares: store.squares
    )
    return finished(page, template, view)
  }

  // MARK: - An item

  private func item(_ id: String) throws(CacheError) -> StoreAnswer {
    guard let shown = try reader.show(id), let place = shelves.item(id) else {
      return nothing(
        visit.say("There is no such item.", "없는 상품입니다."),
        visit.say("It may have gone with the last update.", "마지막 갱신 때 사라졌을 수 있습니다.")
      )
    }
    var page = StorePage()
    page.title = PlainText.line(shown.item.title)
    let listed = shown.sections.compactMap(shelves.shelf)
    let others = place.shelf.items
    let start = others.firstIndex { $0.id == id } ?? 0
    let neighbours = (others[start...].dropFirst() + others[..<start]).filter { !$0.isSoldOut }
    let since = shown.isStale ? try reader.lastGood(place.shelf.section.key) : nil
    let view = StoreItemPage(
      visit,
      shop: shop,
      shown,
      on: listed,
      since: since,
      more: try reader.shown(neighbours.prefix(4).map { ($0, place.shelf.section) }),
      squares: store.squares,
      sizes: store.sizes,
      token: store.orders == nil ? nil : visit.session.token(store.key)
    )
    return finished(page, "item", view)
  }
}
