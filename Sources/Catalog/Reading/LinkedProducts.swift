/// The products of schema.org that a response has as JSON-LD, as microdata or as Open Graph.
///
/// Each product becomes a plain JSON object. Its `price`, `listPrice`, `priceCurrency` and `availability` are those of
/// the product's best offer, and its `image` is a list of URLs. If `price` is only the lowest of several prices, `highPrice`
/// is the highest one. Other texts and numbers keep their names of schema.org.
/// A thing that has a name, such as a brand, becomes this name.
///
/// A variant is one size or colour of a product, and the product itself is a group of variants. Each variant becomes an
/// object. If it lacks a member, the member of its group is taken.
struct LinkedProducts {
  /// A product, as the names and values of its members.
  typealias Item = [(name: String, value: RecordValue)]

  /// The products, in the order of the response.
  private(set) var items: [Item] = []
  /// The name of the list that has the products, or nil if there is no such list, or if it has no name.
  private(set) var title: String?
  /// Whether the response has an empty list of products.
  private(set) var hasEmptyList = false

  private let graph: LinkedGraph
  private let scripts: Scripts?
  private let byteLimit: Int
  private var byteCount = 0
  /// The index in ``items`` of each product.
  ///
  /// A key is the `@id`, SKU and name of a product, or its SKU (or another id) and its name.
  private var places: [[String]: Int] = [:]
  /// The URL of the first page in a list that has URLs of pages instead of products.
  private(set) var linkedPage: String?

  private static let products: Set<String> = [
    "Product", "IndividualProduct", "ProductModel", "SomeProducts", "Vehicle", "Car", "Motorcycle",
  ]
  private static let group = "ProductGroup"
  private static let lists: Set<String> = ["ItemList", "OfferCatalog", "ProductCollection"]
  /// Members that are skipped, because their values describe other things than the product of the page.
  private static let others: Set<String> = [
    "@context", "itemReviewed", "isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor",
    "isConsumableFor", "review", "reviews",
  ]
  /// Members that are not copied, because their content is in other members of the object or is left out.
  private static let remade = others.union([
    "offers", "image", "availability", "price", "hasVariant", "isVariantOf", "description",
    "aggregateRating", "id", "type",
  ])

  /// The members that identify a product, the best first.
  private static let ids = [
    "sku", "productID", "gtin", "gtin14", "gtin13", "gtin12", "gtin8", "mpn", "url",
  ]

  /// Finds the products in the documents of a response.
  ///
  /// - Parameters:
  ///   - roots: The outermost values of the documents.
  ///   - count: The size of the response in bytes. The products together can be up to 16 times as large, because
  ///     several products can refer to the same data.
  ///   - scripts: The scripts with JSON-LD if the response is an HTML page, or nil if it is JSON.
  /// - Throws: ``CatalogError`` if the products would be too large.
  init(in roots: [JSONNode], of count: Int, scripts: Scripts? = nil) throws(CatalogError) {
    graph = LinkedGraph(roots)
    self.scripts = scripts
    byteLimit = 1 << 20 + 16 * count
    for root in roots { try visit(root) }
  }

  /// The products as JSON in UTF-8, in the form `{"title": "Cups", "items": [{"sku": "C1", "name": "Cup"}]}`.
  ///
  /// For each block that cannot be read, `items` also has a text with the reason.
  var json: [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("title", title)
      $0.name("items")
      $0.array {
        for item in items { RecordValue.object(item).write(to: &$0) }
        for reason in unreadable { $0.value(reason) }
      }
    }
    return writer.bytes
  }

  /// Gives the URL of the page to the product, if there is only one product and it has neither an id nor a URL.
  mutating func identify(by page: String) {
    guard items.count == 1, !page.isEmpty,
      !items[0].contains(where: { LinkedNode.ownMembers.contains($0.name) || $0.name == "@id" })
    else { return }
    items[0].append(("url", .text(page)))
  }

  // MARK: - Finding products

  /// Finds the products in a node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - isProduct: Whether the node must be a product because of its position. If it has a type, the type decides
  ///     instead.
  ///   - offer: The offer that refers to the node, or nil if there is none.
  /// - Throws: ``CatalogError`` if the products would be too large, or with code `path-work`.
  private mutating func visit(
    _ node: JSONNode,
    isProduct: Bool = false,
    within offer: JSONNode? = nil
  ) throws(CatalogError) {
    guard node.kind == .object else {
      for element in node.elements { try visit(element, isProduct: isProduct, within: offer) }
      return
    }
    let types = Set(LinkedGraph.types(of: node))
    if types.isEmpty ? isProduct : !types.isDisjoint(with: Self.products.union([Self.group])) {
      return try take(node, types, within: offer)
    }
    if !types.isDisjoint(with: Self.lists) { try begin(list: node) }
    for (name, value) in node.members {
      let plain = LinkedGraph.plain(name)
      if Self.others.contains(plain) { continue }
      // The item of a list can be a page, a brand or the like. If it is an object, only its offers say that it is a
      // product.
      let isListed = plain == "item" && types.contains("ListItem")
      let isOffered = plain == "itemOffered"
      try visit(
        value,
        isProduct: isOffered || isListed && (value.kind == .array || value["offers"] != nil),
        within: isOffered ? node : nil
      )
    }
  }

  private mutating func begin(list node: JSONNode) throws(CatalogError) {
    let list = try graph.node(node)
    let elements = list.all("itemListElement")
    if title == nil { title = try graph.value("name", of: list)?.text }
    if elements.isEmpty, node["itemListElement"]?.kind == .array { hasEmptyList = true }
    if linkedPage == nil { linkedPage = elements.lazy.compactMap { $0["url"]?.text }.first }
  }

  /// Adds a product.
  ///
  /// If it has variants, they are added instead.
  private mutating func take(
    _ json: JSONNode,
    _ types: Set<String>,
    within offer: JSONNode?
  ) throws(CatalogError) {
    let node = try graph.node(json)
    guard !types.isEmpty || node.types.allSatisfy({ Self.products.contains($0) }) else { return }
    // A page about one variant can have the group, with all its variants, inside this variant. Other objects with the
    // same `@id` are not searched, because they can lead back to this object.
    for (name, group) in json.members where LinkedGraph.plain(name) == "isVariantOf" {
      if group["hasVariant"] != nil { try visit(group) }
    }
    let variants = node.all("hasVariant").filter { $0.kind == .object }
    guard variants.isEmpty else {
      for variant in variants { try add(graph.node(variant), of: node) }
      return
    }
    let group = node.all("isVariantOf").first { $0.kind == .object }
    let parent: LinkedNode? = if let group { try graph.node(group) } else { nil }
    try add(node, of: parent, within: offer)
  }

  // MARK: - One product

  private mutating func add(
    _ node: LinkedNode,
    of group: LinkedNode? = nil,
    within offer: JSONNode? = nil
  ) throws(CatalogError) {
    // A product that has neither a name nor an offer is only mentioned here. It is described on another page.
    let isVariant = group != nil && node.names.contains { !$0.hasPrefix("@") }
    guard isVariant || node["name"] != nil || node["offers"] != nil else { return }
    // If the product is already known, only its group or the offer around it can add anything.
    let key = [node.id, node["sku"]?.text, node["name"]?.text].map { $0 ?? "" }
    if node.id != nil, places[key] != nil, group == nil, offer == nil { return }
    var offers = node.all("offers")
    if offers.isEmpty, let offer { offers = [offer] }
    var node = node
    if let group { node.inherit(from: group) }
    let best = try LinkedOffer.best(of: offers.isEmpty ? node.all("offers") : offers, in: graph)

    var item: Item = []
    for name in node.names where !name.hasPrefix("@") && !Self.remade.contains(name) {
      guard let json = node[name], let value = try RecordValue(json, in: graph) else { continue }
      let isOne = name == "name" || LinkedNode.ownMembers.contains(name)
      item.append((name, isOne ? value.first : value))
    }
    func append(_ name: String, _ value: RecordValue?) {
      if let value { item.append((name, value)) }
    }
    if let text = node.all("description").first?.scalar?.text, !text.isEmpty {
      append("description", .text(PageText.plain(text)))
    }
    append("price", best?.price)
    append("listPrice", best?.listPrice)
    append("highPrice", best?.highPrice)
    if let currency = best?.currency {
      item.removeAll { $0.name == "priceCurrency" }
      append("priceCurrency", currency)
    }
    append("availability", best?.availability.map { .list([.text($0)]) })
    if !item.contains(where: { $0.name == "url" }) { append("url", best?.url) }
    // An id such as `#p1` identifies the product only within this page, so it is kept only if there is no URL.
    let hasURL = item.contains { $0.name == "url" }
    if let id = node.id, !id.hasPrefix("_:"), !(id.hasPrefix("#") && hasURL) {
      append("@id", .text(id))
    }
    let images = try images(node.all("image"))
    if !images.isEmpty { append("image", .list(images.map(RecordValue.text))) }
    try take(item, key: node.id == nil ? nil : key)
  }

  /// The URLs of pictures, without repetitions.
  private func images(_ values: [JSONNode]) throws(CatalogError) -> [String] {
    let urls = try values.map { value throws(CatalogError) in try address(ofPicture: value) }
    return urls.compactMap { $0?.trimmed }.filter { !$0.isEmpty }.map(RecordValue.address)
      .unique(by: \.self)
  }

  /// The URL of a picture, which is a text or an object. (schema.org/ImageObject)
  private func address(ofPicture value: JSONNode) throws(CatalogError) -> String? {
    if let text = value.scalar?.text { return text }
    let picture = try graph.node(value)
    for name in ["contentUrl", "url"] {
      if let address = picture.all(name).first?.word { return address }
    }
    // In the expanded form of JSON-LD, a URL is an object that has only an `@id`.
    guard let id = picture.id, picture.names.allSatisfy({ $0.hasPrefix("@") }) else { return nil }
    return id.contains("://") && !id.contains("#") ? id : nil
  }

  /// Adds a product.
  ///
  /// If there is an earlier product with the same id and name, both are merged. This happens often, because a shop's
  /// theme and its extensions both publish the product, or because an offer or a group refers to it.
  mutating func take(_ item: Item, key: [String]? = nil) throws(CatalogError) {
    func value(_ names: [String]) -> String? {
      let found = names.lazy.compactMap { name in item.first { $0.name == name } }.first
      return found.map { "\($0.value.first)" }
    }
    var writer = StoredFormWriter()
    RecordValue.object(item).write(to: &writer)
    byteCount += writer.bytes.count
    guard byteCount <= byteLimit else {
      let reason = "references make more than \(byteLimit) bytes of its products"
      throw .shape("JSON-LD", reason, remedy: "try another page")
    }
    var keys = [key].compactMap(\.self)
    if let id = value(Self.ids), let name = value(["name"]) { keys.append([id, name]) }
    let place = keys.compactMap { places[$0] }.first ?? items.count
    for key in keys where places[key] == nil { places[key] = place }
    guard place < items.count else { return items.append(item) }
    let names = Set(items[place].map(\.name))
    items[place] += item.filter { !names.contains($0.name) }
  }
}

extension LinkedProducts {
  /// The scripts with JSON-LD in an HTML page, which error messages call blocks.
  struct Scripts {
    /// The number of scripts.
    var count = 0
    /// For each script that cannot be read, the reason on one line, and whether the script contains the word "Product".
    var faults: [(reason: String, concernsProducts: Bool)] = []
  }

  /// The reasons why scripts that mention products cannot be read.
  var unreadable: [String] {
    scripts?.faults.filter(\.concernsProducts).map(\.reason) ?? []
  }

  /// The error that the response has no products, or none with an id and a name.
  func nothingFound(_ subject: String) -> CatalogError {
    var found: String
    switch scripts?.count {
    case nil: found = "found \(graph.types.isEmpty ? "JSON without @type" : "none in JSON-LD")"
    case 0 where graph.types.isEmpty:
      found =
        "found a page without <script type=\"application/ld+json\">, microdata "
        + "and Open Graph of a product"
    case 0: found = "found a page with microdata and none in it"
    case let blocks?:
      found =
        "found a page with \(blocks) \(blocks == 1 ? "block" : "blocks") of JSON-LD and none in it"
      if let fault = scripts?.faults.first { found += "; \(fault.reason)" }
    }
    let lacking = [
      ("sku, gtin, mpn, url or @id", Self.ids + ["productGroupID", "@id"]), ("name", ["name"]),
    ].compactMap { name, names in
      let count = items.count { item in !item.contains { names.contains($0.name) } }
      return count > 0 ? "\(count) without \(name)" : nil
    }
    if !lacking.isEmpty {
      found = "found \(items.count) products, \(lacking.joined(separator: " and "))"
    } else if !graph.types.isEmpty {
      let types = graph.types.map { PlainText.line(String($0.prefix(40))) }
      found += " (only \(types.joined(separator: ", ")))"
    }
    if let linkedPage {
      found +=
        "; its list names only the pages of the items, such as "
        + PlainText.line(String(linkedPage.prefix(200)))
    }
    var error = CatalogError.shape(
      subject,
      "expected products of schema.org (Product, ProductGroup or ItemList) in JSON-LD"
        + (scripts == nil ? ", " : " or microdata, ") + found,
      remedy: lacking.isEmpty
        ? "use the URL of a product page, of a category page with products, or of the shop's JSON"
        : "write the file by hand, with format: json-ld and, for example, item: {id: $.name}"
    )
    // Behind good pages, a page with data and without products is the last. One without data can be a page to log in.
    let hasData =
      !graph.types.isEmpty || scripts.map { $0.count > 0 && $0.faults.isEmpty } == true
    if lacking.isEmpty, hasData { error.code = .absentItems }
    return error
  }
}

/// The price, currency and availability of a product. (schema.org/Offer, AggregateOffer and PriceSpecification)
struct LinkedOffer {
  /// The price to pay.
  private(set) var price: RecordValue?
  /// The price before a reduction, or the recommended price.
  private(set) var listPrice: RecordValue?
  /// The highest price, if the offer stands for several offers and ``price`` is the lowest one. (schema.org/AggregateOffer)
  private(set) var highPrice: RecordValue?
  /// The currency of the prices, as the response writes it.
  private(set) var currency: RecordValue?
  /// The availability, such as `InStock`, without the prefix of schema.org.
  private(set) var availability: String?
  private(set) var url: RecordValue?

  /// The types of prices that can be the ``listPrice``.
  ///
  /// If there are several, the first of this list counts. (schema.org/PriceTypeEnumeration)
  private static let listTypes = [
    "StrikethroughPrice", "ListPrice", "RegularPrice", "MSRP", "SRP",
  ]
  private static let soldOut: Set<String> = ["OutOfStock", "SoldOut", "Discontinued"]

  /// The cheapest available one of a product's offers.
  ///
  /// Offers in another currency than the first offer's are left out.
  ///
  /// - Parameters:
  ///   - values: The values of `offers`.
  ///   - graph: The index of the nodes that references refer to.
  /// - Returns: The best offer, or nil if there is no offer.
  /// - Throws: ``CatalogError`` with code `path-work` if it takes too many steps to follow the references.
  static func best(
    of values: [JSONNode],
    in graph: LinkedGraph
  ) throws(CatalogError) -> LinkedOffer? {
    var seen: Set<String> = []
    let all = try offers(values, in: graph, depth: 0, &seen)
    let priced = all.filter { $0.price != nil }
    guard let first = priced.first else { return all.first }
    var rivals = priced.filter { $0.currency?.text == first.currency?.text }
    let available = rivals.filter { !soldOut.contains($0.availability ?? "") }
    if !available.isEmpty { rivals = available }
    // Prices that are not plain numbers, such as "on request", cannot be compared.
    guard rivals.allSatisfy({ $0.price?.number != nil }) else { return rivals.first }
    return rivals.min { ($0.price?.number ?? 0) < ($1.price?.number ?? 0) }
  }

  /// The offers among the given values.
  ///
  /// If an offer has no price but has offers inside it, these are taken instead.
  private static func offers(
    _ values: [JSONNode],
    in graph: LinkedGraph,
    depth: Int,
    _ seen: inout Set<String>
  ) throws(CatalogError) -> [LinkedOffer] {
    var offers: [LinkedOffer] = []
    for value in values where value.kind == .object {
      // An offer with an id is visited once, because offers can refer to each other in a circle.
      if let id = LinkedGraph.id(of: value), !seen.insert(id).inserted { continue }
      let node = try graph.node(value)
      let offer = try LinkedOffer(node, in: graph)
      let inner = node.all("offers")
      if offer.price == nil, !inner.isEmpty, depth < 4 {
        offers += try Self.offers(inner, in: graph, depth: depth + 1, &seen)
      } else {
        offers.append(offer)
      }
    }
    return offers
  }

  private init(_ node: LinkedNode, in graph: LinkedGraph) throws(CatalogError) {
    price = try graph.value("price", "lowPrice", of: node)
    if let high = try graph.value("highPrice", of: node), node["price"] == nil,
      let highest = high.number, let lowest = price?.number, highest > lowest
    {
      highPrice = high
    }
    currency = try graph.value("priceCurrency", of: node)
    url = try graph.value("url", of: node)
    availability = node.all("availability").first?.word.map(LinkedGraph.plain)

    var rank = Self.listTypes.count
    var listCurrency: RecordValue?
    for json in node.all("priceSpecification") where json.kind == .object {
      let specification = try graph.node(json)
      // A price with a tier is only for members of a club.
      guard specification["validForMemberTier"] == nil,
        let amount = try graph.value("price", "minPrice", of: specification)
      else { continue }
      let unit = try graph.value("priceCurrency", of: specification)
      let type = specification.all("priceType").first?.word.map(LinkedGraph.plain)
      if let type, let place = Self.listTypes.firstIndex(of: type) {
        if place < rank {
          (rank, listPrice, listCurrency) = (place, amount, unit)
        }
      } else if price == nil, type == nil || type == "SalePrice" {
        price = amount
        currency = unit ?? currency
      }
    }
    if price == nil, let listPrice {
      price = listPrice
      currency = listCurrency ?? currency
    }
    if let listCurrency {
      if currency == nil { currency = listCurrency }
      if currency?.text != listCurrency.text { listPrice = nil }
    }
  }
}
