import Support

/// The contents of an origin, as a value that a random generator changes between runs.
///
/// An answer depends only on this value and the request, not on the order of requests.
struct SoakShop: Sendable {
  /// A catalog and the current items of its sections.
  struct Catalog: Sendable {
    /// The way in which its sections are published.
    enum Shape: Sendable {
      /// One document for each section.
      case listed
      /// One document for all sections.
      case combined
      /// Pages of this many items, up to an empty one.
      case paged(Int)
    }

    let name: String
    let shape: Shape
    let hasDetails: Bool
    var sections: [SoakSection]
  }

  /// The hosts of its URLs.
  static let hosts = ["shop.test", "img.test", "cdn.test"]

  /// The number of pictures.
  private static let pictures = 60

  /// The origin's own clock, which is never set back.
  var time: Int64
  var catalogs: [Catalog]
  /// The resource at each URL.
  var resources: [String: SoakResource] = [:]
  /// The faults that the origin may show.
  let lies: Set<SoakLie>
  /// The number of changes so far.
  private(set) var age = 0
  private var serial = 0
  /// The removed sections, by the index of their catalog.
  private var dropped: [Int: [SoakSection]] = [0: [], 1: [], 2: []]

  /// A shop of three catalogs that share some pictures.
  init(_ random: inout SplitMix64, at time: Int64, lies: Set<SoakLie>) {
    self.time = time
    self.lies = lies
    catalogs = [
      Catalog(name: "list", shape: .listed, hasDetails: true, sections: []),
      Catalog(name: "whole", shape: .combined, hasDetails: false, sections: []),
      Catalog(name: "pages", shape: .paged(5), hasDetails: true, sections: []),
    ]
    let sizes = [[4, 12, 15, 1], [4, 13], [14, 4]]
    for place in catalogs.indices {
      catalogs[place].sections = sizes[place].enumerated().map { number, size in
        var items: [SoakItem] = []
        for _ in 0..<size { items.append(newItem(&random)) }
        return SoakSection(key: "\(catalogs[place].name)\(number)", items: items)
      }
    }
    publish(&random)
  }

  private mutating func newItem(_ random: inout SplitMix64) -> SoakItem {
    serial += 1
    let picture = random.happens(0.9) ? Self.reference(&random) : nil
    return SoakItem(
      id: "n\(serial)",
      title: "요리 \(serial)",
      price: 100 * Int.random(in: 1...200, using: &random),
      picture: picture
    )
  }

  /// A reference to a picture: absolute, without the scheme, or a path that is relative to the
  /// body's host.
  private static func reference(_ random: inout SplitMix64) -> String {
    let host = random.pick([
      ("http://img.test", weight: 7), ("//img.test", weight: 1), ("", weight: 1),
    ])
    return "\(host)/p/\(Int.random(in: 0..<pictures, using: &random)).jpg"
  }

  /// The URLs to which a reference may resolve.
  private static func urls(of reference: String) -> [String] {
    if reference.hasPrefix("//") { return ["http:\(reference)"] }
    guard reference.hasPrefix("/") else { return [reference] }
    return ["http://shop.test\(reference)", "http://cdn.test\(reference)"]
  }

  /// Advances the clock, and changes the contents and moods at random.
  mutating func live(_ random: inout SplitMix64, seconds: Int64) {
    time += seconds
    age += 1
    for catalog in catalogs.indices where random.happens(0.5) {
      for section in catalogs[catalog].sections.indices where random.happens(0.4) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          catalogs[catalog].sections[section].items = edited(
            catalogs[catalog].sections[section].items,
            &random,
            isPaged: catalog == 2
          )
        }
      }
    }
    if random.happens(0.04) { rearrange(&random) }
    let lies = lies
    for url in resources.keys.sorted() { resources[url]?.live(&random, at: time, lies: lies) }
    publish(&random)
    if age % 100 == 0 { clear() }
    for url in resources.keys.sorted() where random.happens(0.006) { move(url, &random) }
    let weather = random.pick([
      (0, weight: 8), (0.04, weight: 9), (0.4, weight: 2), (1, weight: 1),
    ])
    for url in resources.keys.sorted() {
      guard var resource = resources[url] else { continue }
      let isWell = !random.happens(weather)
      resource.take(
        isWell ? .well : .chosen(&random, for: resource.content, lies: lies),
        at: time
      )
      resources[url] = resource
    }
  }

  /// Removes a section of a catalog, or adds a new or removed one.
  private mutating func rearrange(_ random: inout SplitMix64) {
    guard lies.contains(.shrinking) else { return }
    let place = Int.random(in: catalogs.indices, using: &random)
    let count = catalogs[place].sections.count
    if count > 1, random.happens(0.5) {
      dropped[place]?.append(
        catalogs[place].sections.remove(at: Int.random(in: 0..<count, using: &random))
      )
    } else if let section = dropped[place]?.popLast() {
      catalogs[place].sections.insert(section, at: Int.random(in: 0...count, using: &random))
    } else if count < 5 {
      serial += 1
      var section = SoakSection(key: "\(catalogs[place].name)-\(serial)")
      for _ in 0..<Int.random(in: 0...6, using: &random) { section.items.append(newItem(&random)) }
      catalogs[place].sections.append(section)
    }
  }

  /// Removes resources that no catalog lists.
  private mutating func clear() {
    var listed: Set<String> = []
    for (place, catalog) in catalogs.enumerated() {
      // The items of a removed section return with it, unchanged.
      for item in (catalog.sections + (dropped[place] ?? [])).flatMap(\.items) {
        listed.insert(Self.detail(catalog, item.id))
      }
    }
    let targets = Set(resources.values.compactMap(\.moved?.url))
    resources = resources.filter { url, resource in
      if url.hasPrefix("http://cdn.test"), !url.hasPrefix("http://cdn.test/p/") {
        return targets.contains(url)
      }
      if case .detail = resource.content { return listed.contains(url) }
      return true
    }
  }

  private mutating func edited(
    _ items: [SoakItem],
    _ random: inout SplitMix64,
    isPaged: Bool
  ) -> [SoakItem] {
    var items = items
    let place = Int.random(in: 0..<max(items.count, 1), using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case _ where isPaged && !lies.contains(.movingPages) && !items.isEmpty:
      items[place].price = (items[place].price ?? 0) + 10
    case 0..<42 where items.count < 18:
      items.insert(newItem(&random), at: min(place, items.count))
    case _ where items.isEmpty: break
    case 42... where !lies.contains(.shrinking):
      items[place].price = (items[place].price ?? 0) + 10
    case 42..<55: items.remove(at: place)
    case 57..<64: items[place].price = (items[place].price ?? 0) + 10
    case 64..<66: items[place].price = nil
    case 55..<57: items[place].title = nil
    case 66 where random.happens(0.3): for place in items.indices { items[place].price = nil }
    case 67..<77: items[place].title = (items[place].title ?? "요리 \(items[place].id)") + "*"
    case 77..<87:
      items[place].picture = Self.reference(&random)
    case 87..<92: items.shuffle(using: &random)
    case 92..<94: items[place].picture = nil
    case 94 where random.happens(0.3): for place in items.indices { items[place].picture = nil }
    case 95: items.removeSubrange((items.count / 2)...)
    case 96 where random.happens(0.3): items.removeAll()
    default: break
    }
    return items
  }

  // MARK: - URLs

  /// The URL of a page of a section, or of the document with all sections.
  static func page(_ catalog: Catalog, _ section: Int, _ number: Int = 1) -> String {
    let base = "http://shop.test/\(catalog.name)"
    return switch catalog.shape {
    case .listed: "\(base)/\(catalog.sections[section].key)"
    case .combined: "\(base)/all"
    case .paged: "\(base)/\(catalog.sections[section].key)?page=\(number)"
    }
  }

  /// The URL of an item's detail.
  static func detail(_ catalog: Catalog, _ id: String) -> String {
    "http://shop.test/\(catalog.name)/detail/\(id)"
  }

  /// Publishes the current listings; unchanged resources keep their state.
  private mutating func publish(_ random: inout SplitMix64) {
    for catalog in catalogs {
      switch catalog.shape {
      case .combined:
        put(.listing(catalog.sections), at: Self.page(catalog, 0), &random)
      case .listed:
        for (number, section) in catalog.sections.enumerated() {
          let part = SoakSection(key: "", items: section.items)
          put(.listing([part]), at: Self.page(catalog, number), &random)
        }
      case .paged(let size):
        for (number, section) in catalog.sections.enumerated() {
          let pages = (section.items.count + size - 1) / size
          // Pages after the last one exist too, and are empty.
          for page in 1...5 {
            let items = section.items.dropFirst((page - 1) * size).prefix(page <= pages ? size : 0)
            let part = SoakSection(key: "", items: Array(items))
            put(.listing([part]), at: Self.page(catalog, number, page), &random)
          }
        }
      }
      for item in catalog.sections.flatMap(\.items) {
        for url in item.picture.map(Self.urls) ?? [] {
          put(.painting(url, 1), at: url, &random, anew: false)
        }
        guard catalog.hasDetails else { continue }
        let gallery = Set(
          (0..<Int.random(in: 0...2, using: &random)).map { _ in
            Self.reference(&random)
          }
        ).sorted()
        let detail = SoakDetail(id: item.id, text: "About \(item.id)", pictures: gallery)
        put(.detail(detail), at: Self.detail(catalog, item.id), &random, anew: false)
      }
    }
    for case .detail(let detail) in resources.keys.sorted().compactMap({ resources[$0]?.content })
    {
      for url in detail.pictures.sorted().flatMap(Self.urls) {
        put(.painting(url, 1), at: url, &random, anew: false)
      }
    }
  }

  private mutating func put(
    _ content: @autoclosure () -> SoakContent,
    at url: String,
    _ random: inout SplitMix64,
    anew: Bool = true
  ) {
    guard let known = resources[url] else {
      resources[url] = SoakResource(content(), at: time, &random, lies: lies)
      return
    }
    guard anew else { return }
    let content = content()
    guard known.content != content else { return }
    resources[url]?.change(to: content, at: time, &random, lies: lies)
    // The target of a redirect has the same content.
    if let target = known.moved?.url {
      resources[target]?.change(to: content, at: time, &random, lies: lies)
    }
  }

  /// Moves a resource to another URL, or back.
  private mutating func move(_ url: String, _ random: inout SplitMix64) {
    guard lies.contains(.moves), !url.hasPrefix("http://cdn.test"), let resource = resources[url]
    else { return }
    guard resource.moved == nil || random.happens(0.5) else {
      resources[url]?.moved = nil
      return
    }
    serial += 1
    let target =
      "http://cdn.test/\(serial)/\(url.split(separator: "/").suffix(2).joined(separator: "/"))"
    var there = SoakResource(resource.content, at: time, &random, lies: lies)
    if case .picture = resource.content, random.happens(0.6) {
      // Another picture, which may well have the ETag of the one before.
      there.content = .painting(target, 1)
    }
    resources[target] = there
    resources[url]?.moved = SoakResource.Move(
      status: random.pick([(301, weight: 1), (302, weight: 2), (307, weight: 1), (308, weight: 1)]
      ),
      url: target
    )
  }
}

/// Faults that the origin may show in addition to failing requests.
///
/// Each can be enabled separately.
enum SoakLie: String, CaseIterable, Sendable {
  /// Redirects to other resources and back.
  case moves
  /// Bodies that change without new validators, or within the second of `Last-Modified`.
  case quietChanges
  /// A 304 with another ETag than the request's.
  case otherTag
  /// A 304 to any request.
  case blind304
  /// Bodies without the expected content, with the validators of the right ones.
  case garbled
  /// Pages that are missing for a while.
  case missingPages
  /// Items that move between pages while a listing is read.
  case movingPages
  /// Answers without a date, including 304.
  case undated
  /// `Vary: *`, so that an answer fits no other request.
  case varying
  /// Details that are missing for a while.
  case missingDetails
  /// Listings that suddenly lose many items or all, and sections that are removed and added.
  case shrinking
}
