/// The shapes of the interface's answers, as JSON Schema.
///
/// Every key is always there, and no other.
enum InterfaceSchemas {
  static let all: DescriptionNode = [
    "Sections": sections, "Items": ["type": "array", "items": reference("Listing")],
    "Listing": object(listing), "Item": object(item), "Image": image, "Price": price,
    "Detail": detail, "Problem": problem,
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
    "salePrice": referenceOrNull("Price"), "latitude": orNull("number"),
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
      "description": "A path on this server; it can be had even while the state is missing",
    ],
    "source": text, "path": orNull("string"), "sha256": orNull("string"),
    "bytes": orNull("integer"),
    "type": orNull("string"),
    "state": ["type": "string", "enum": ["held", "failed", "missing"]],
  ])

  private static let price = object(["minorUnits": number, "currency": text])

  private static let detail = object([
    "description": orNull("string"), "prices": ["type": "array", "items": reference("Price")],
    "notes": ["type": "object", "additionalProperties": text], "stale": flag,
    "since": ["type": ["string", "null"], "format": "date-time"],
  ])

  private static let problem = object([
    "type": text, "title": text, "status": number, "detail": text,
  ])
}
