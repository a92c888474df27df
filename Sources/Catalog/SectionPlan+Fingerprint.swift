extension SectionPlan {
  /// The whole plan as text that changes when, and only when, the plan does; see ``Mapping/fingerprint``.
  public var fingerprint: String {
    var writer = StoredFormWriter()
    writer.array {
      switch self {
      case .listed(let sources):
        $0.value("listed")
        for source in sources {
          $0.value(source.key)
          $0.value(source.title)
          $0.value(source.subtitle)
          $0.value(source.url)
          if let parts = source.parts { Self.write(parts, to: &$0) }
        }
      case .combined(let plan):
        Self.write(plan, to: &$0)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func write(_ plan: CombinedSections, to writer: inout StoredFormWriter) {
    writer.value("combined")
    writer.value(plan.url)
    writer.value(plan.each.description)
    writer.value(plan.key.description)
    writer.value(plan.title?.description)
    writer.value(plan.subtitle?.description)
  }
}
