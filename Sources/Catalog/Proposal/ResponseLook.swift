/// A response whose items have been found.
struct ResponseLook {
  /// The body: JSON in UTF-8.
  let body: [UInt8]
  /// The response as it came.
  let response: JSONNode
  /// What holds the items: the response, or what a program made of it.
  let root: JSONNode
  /// What the response went through.
  let program: JoiningProgram?
  /// Where the items are.
  let place: ItemPlace
  /// How sure that is, 0 to 1 and a little more.
  let confidence: Double
  /// The fields that the items have.
  let fields: MappingProposal.ItemFields

  /// Looks for the items.
  ///
  /// - Throws: ``CatalogError`` when it is no JSON, or nothing in it looks like items.
  init(_ body: [UInt8]) throws(CatalogError) {
    let response = try JSONDocument(parsing: body, of: "the response").root
    let program = JoiningProgram(for: response)
    // What a program makes is taken only when there are items in it.
    let joined = program?.applied(to: body)
    let found = joined.flatMap(Self.best)
    guard let best = found ?? Self.best(in: response) else {
      throw MappingProposal.nothingFound(in: response)
    }
    self.body = body
    self.response = response
    root = found == nil ? response : joined ?? response
    self.program = found == nil ? nil : program
    place = best.place
    confidence = best.confidence
    fields = best.fields
  }

  private typealias Found = (
    place: ItemPlace, confidence: Double, fields: MappingProposal.ItemFields
  )

  /// The place that looks most like items.
  private static func best(in root: JSONNode) -> Found? {
    var best: Found?
    for place in ItemPlace.all(in: root) {
      let fields = MappingProposal.ItemFields(EvidenceCollection(place.items).all)
      let confidence = fields.confidence * MappingProposal.weight(of: place)
      if fields.isUsable(in: place), confidence > (best?.confidence ?? 0) {
        best = (place, confidence, fields)
      }
    }
    return best
  }
}
