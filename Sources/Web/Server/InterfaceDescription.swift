import Pipeline

/// The OpenAPI 3.1 document that describes the JSON interface, served as `/openapi.json`.
///
/// A test requests every path of the document from a server, and compares every key of the answers with the document.
struct InterfaceDescription {
  /// The document as JSON.
  let bytes: [UInt8]

  /// Creates the document.
  ///
  /// - Parameter squares: The sides of the square pictures that clients can request, in pixels.
  init(squares: [Int]) {
    // Encoding cannot fail, because the document has only texts, numbers and flags.
    bytes = (try? Self.document(squares).jsonLine()) ?? []
  }

  private static func document(_ squares: [Int]) -> DescriptionNode {
    let paths: [String: DescriptionNode] = [
      "/api/sections": sections, "/api/sections/{key}": section, "/api/items/{id}": item,
      "/api/search": search, "/images/{folder}/{file}": image(squares), "/healthz": health,
      "/metrics": metrics,
    ]
    return [
      "openapi": "3.1.0", "info": info, "paths": .object(paths),
      "components": ["schemas": InterfaceSchemas.all],
    ]
  }

  private static let info: DescriptionNode = [
    "title": "larder",
    "version": "1",
    "description": """
    A shop's catalog as last synced, and its pictures. Items are as larder list --json and larder show --json \
    print them; a picture's url is a path on this server, source is where its origin has it. Answers have an \
    ETag: ask again with If-None-Match.
    """,
    "license": ["name": "MIT", "identifier": "MIT"],
  ]

  private static let sections = path(
    "sections",
    "All sections, in the catalog's order",
    [],
    "Sections",
    ["200", "304", "412"]
  )

  private static let section = path(
    "section",
    "The items of a section, in the catalog's order, a page at a time",
    [part("key", "The section's key"), offset, limit],
    "Items",
    ["200", "304", "400", "404", "412"]
  )

  private static let item = path(
    "item",
    "One item with its detail, its pictures and all its sections",
    [part("id", "The item's id")],
    "Item",
    ["200", "304", "400", "404", "412"]
  )

  private static let search = path(
    "search",
    "Items that match a text and filters, a page at a time",
    [searched, badge, price, sort, offset, limit],
    "Items",
    ["200", "304", "400", "412"]
  )

  /// The schema of a search text.
  ///
  /// The pattern excludes NUL, because the server refuses a URL that contains it.
  private static let text: DescriptionNode = [
    "type": "string", "maxLength": .number(InterfaceQuery.longest), "pattern": "^[^\\x00]*$",
  ]

  private static let searched = query(
    "q",
    text,
    "Text in the title, description, badge or id; Korean initials too"
  )
  private static let badge = query(
    "badge",
    text,
    "Text in a badge"
  )
  private static let price = query(
    "price",
    ["type": "string", "pattern": "^([0-9]{1,9}[.]{2}|[.]{2}[0-9]{1,9})$"],
    "A price range in the currency's major unit: 5000..9000, 5000.. or ..9000"
  )
  private static let sort = query(
    "sort",
    ["type": "string", "enum": ["price", "-price", "title"]],
    "The order (default: the catalog's)"
  )

  private static let health = plain(
    "health",
    "Whether the server is healthy: 503 while it is about to end or the cache cannot be read"
  )
  private static let metrics = plain("metrics", "Counts for Prometheus")

  private static let offset = query(
    "offset",
    ["type": "integer", "minimum": 0, "maximum": 10_000_000, "default": 0],
    "How many items to skip"
  )
  private static let limit = query(
    "limit",
    [
      "type": "integer", "minimum": 1, "maximum": .number(InterfaceRoutes.most),
      "default": .number(InterfaceRoutes.usual),
    ],
    "The largest number of items; Link: rel=\"next\" has the next page"
  )

  private static func query(_ name: String, _ schema: DescriptionNode, _ words: String)
    -> DescriptionNode
  {
    ["name": .text(name), "in": "query", "description": .text(words), "schema": schema]
  }

  private static func part(_ name: String, _ words: String) -> DescriptionNode {
    [
      "name": .text(name), "in": "path", "required": true, "description": .text(words),
      // The pattern excludes control characters, because the server refuses paths that contain any.
      "schema": ["type": "string", "pattern": "^[^\\x00-\\x1F\\x7F]+$"],
    ]
  }

  private static func path(
    _ name: String,
    _ words: String,
    _ parameters: [DescriptionNode],
    _ schema: String,
    _ statuses: [String]
  ) -> DescriptionNode {
    var responses: [String: DescriptionNode] = [:]
    for status in statuses + usual { responses[status] = response(status, schema) }
    return [
      "get": [
        "operationId": .text(name), "summary": .text(words), "parameters": .list(parameters),
        "responses": .object(responses),
      ]
    ]
  }

  /// The statuses that an answer of any path can have.
  private static let usual = ["400", "421", "429", "503"]

  private static func response(_ status: String, _ schema: String) -> DescriptionNode {
    switch status {
    case "200":
      var headers: [String: DescriptionNode] = [
        "ETag": header("The version of this answer", isAlways: true)
      ]
      if schema == "Items" {
        headers["Link"] = header("Where the next page is, when there is one")
        headers["X-Total-Count"] = header("How many items there are in all", isAlways: true)
      }
      return [
        "description": "The requested data", "headers": .object(headers),
        "content": [
          "application/json": ["schema": ["$ref": .text("#/components/schemas/\(schema)")]]
        ],
      ]
    case "304": return ["description": "The client's version is current"]
    default: return problem(status)
    }
  }

  private static func header(_ words: String, isAlways: Bool = false) -> DescriptionNode {
    [
      "description": .text(words), "required": .flag(isAlways), "schema": ["type": "string"],
    ]
  }

  private static func problem(_ status: String) -> DescriptionNode {
    let words: [String: String] = [
      "400": "A parameter is malformed", "404": "Not found",
      "412": "A precondition does not hold", "416": "No such range",
      "421": "The server has another name", "429": "Too many requests",
      "502": "The picture's origin does not deliver it",
      "503": "Too many requests, or the cache cannot be read",
    ]
    return [
      "description": .text(words[status] ?? "A failure"),
      "content": [
        "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
      ],
    ]
  }

  private static func image(_ squares: [Int]) -> DescriptionNode {
    let file: DescriptionNode = ["type": "string", "contentEncoding": "binary"]
    var content: [String: DescriptionNode] = [:]
    for type in ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"] {
      content[type] = ["schema": file]
    }
    var responses: [String: DescriptionNode] = [
      "200": ["description": "The picture", "content": .object(content)],
      "206": ["description": "A part of it", "content": .object(content)],
      "304": ["description": "The client's version is current"],
    ]
    for status in ["400", "404", "412", "416", "502"] + usual {
      responses[status] = problem(status)
    }
    var parameters = [
      part("folder", "Two hexadecimal digits"), part("file", "The file's name"),
    ]
    if !squares.isEmpty {
      parameters.append(
        query(
          "square",
          ["type": "integer", "enum": .list(squares.map { .number($0) })],
          "A square of this size in pixels, cropped as larder crop does"
        )
      )
    }
    return [
      "get": [
        "operationId": "image",
        "summary":
          "A picture, by an image's url; one that the cache lacks is fetched from its origin",
        "parameters": .list(parameters), "responses": .object(responses),
      ]
    ]
  }

  private static func plain(_ name: String, _ words: String) -> DescriptionNode {
    let text: DescriptionNode = ["schema": ["type": "string"]]
    var responses: [String: DescriptionNode] = [
      "200": ["description": "The requested data", "content": ["text/plain": text]],
      "503": [
        "description": "The server is not healthy, or gets too many requests",
        "content": [
          "text/plain": text,
          "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]],
        ],
      ],
    ]
    for status in ["400", "421", "429"] { responses[status] = problem(status) }
    return [
      "get": [
        "operationId": .text(name), "summary": .text(words), "responses": .object(responses),
      ]
    ]
  }
}

/// The shapes of the interface's answers, as JSON Schema.
///
/// An answer always has every key of its schema, and no other keys.
enum InterfaceSchemas {
  static let all: DescriptionNode = [
    "Sections": sections, "Items": ["type": "array", "items": reference("Listing")],
    "Listing": object(listing), "Item": object(item), "Image": image, "Price": price,
    "LowestPrice": lowest, "Detail": detail, "Problem": problem,
  ]

  private static let text: DescriptionNode = ["type": "string"]
  private static let number: DescriptionNode = ["type": "integer"]
  private static let flag: DescriptionNode = ["type": "boolean"]
  private static let texts: DescriptionNode = ["type": "array", "items": text]

  private static func orNull(_ type: DescriptionNode) -> DescriptionNode {
    ["type": [type, "null"]]
  }

  private static func reference(_ name: String) -> DescriptionNode {
    ["$ref": .text("#/components/schemas/\(name)")]
  }

  private static func referenceOrNull(_ name: String) -> DescriptionNode {
    ["anyOf": [reference(name), ["type": "null"]]]
  }

  private static func object(_ members: [String: DescriptionNode]) -> DescriptionNode {
    [
      "type": "object", "additionalProperties": false, "properties": .object(members),
      "required": .list(members.keys.sorted().map { .text($0) }),
    ]
  }

  private static let sections = object([
    "catalog": text, "currency": text, "run": number,
    "synced": ["type": ["string", "null"], "format": "date-time"],
    "sections": [
      "type": "array",
      "items": object([
        "key": text, "title": text, "subtitle": orNull("string"), "items": number, "stale": flag,
        "url": text,
      ]),
    ],
  ])

  private static let common: [String: DescriptionNode] = [
    "id": text, "title": text, "description": orNull("string"), "badges": texts,
    "deliveryTypes": texts, "normalPrice": referenceOrNull("Price"),
    "salePrice": referenceOrNull("Price"), "lowest30Days": referenceOrNull("LowestPrice"),
    "latitude": orNull("number"),
    "longitude": orNull("number"), "address": orNull("string"), "stale": flag,
    "thumbnail": referenceOrNull("Image"),
    "images": ["type": "array", "items": reference("Image")],
  ]

  private static let listing = common.merging(["section": text]) { first, _ in first }
  private static let item = common.merging(
    ["sections": texts, "detail": referenceOrNull("Detail")]
  ) { first, _ in first }

  private static let image = object([
    "role": ["type": "string", "enum": ["thumbnail", "top", "gallery", "section"]],
    "url": [
      "type": "string",
      "description": "A path on this server; it works even while the state is missing",
    ],
    "source": text, "path": orNull("string"), "sha256": orNull("string"),
    "bytes": orNull("integer"),
    "type": orNull("string"),
    "state": ["type": "string", "enum": ["held", "failed", "missing"]],
  ])

  private static let price = object(["minorUnits": number, "currency": text])

  private static let lowest = object([
    "minorUnits": number, "currency": text,
    "at": [
      "type": "string", "format": "date-time",
      "description":
        "The time from which the lowest price of the 30 days before the last sync applied",
    ],
  ])

  private static let detail = object([
    "description": orNull("string"), "prices": ["type": "array", "items": reference("Price")],
    "notes": ["type": "object", "additionalProperties": text], "stale": flag,
    "since": ["type": ["string", "null"], "format": "date-time"],
  ])

  private static let problem = object([
    "type": text, "title": text, "status": number, "detail": text,
  ])
}

/// A JSON value that can be written as a Swift literal, such as `["type": "string", "maxLength": 100]`.
indirect enum DescriptionNode: Sendable {
  case text(String)
  case number(Int)
  case flag(Bool)
  case list([DescriptionNode])
  case object([String: DescriptionNode])
}

extension DescriptionNode: Encodable {
  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .text(let text): try value.encode(text)
    case .number(let number): try value.encode(number)
    case .flag(let flag): try value.encode(flag)
    case .list(let nodes): try value.encode(nodes)
    case .object(let members): try value.encode(members)
    }
  }
}

extension DescriptionNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByStringInterpolation
{
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int) { self = .number(value) }
  init(booleanLiteral value: Bool) { self = .flag(value) }
  init(arrayLiteral elements: DescriptionNode...) { self = .list(elements) }
  init(dictionaryLiteral elements: (String, DescriptionNode)...) {
    self = .object(Dictionary(elements) { first, _ in first })
  }
}
