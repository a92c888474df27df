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
        }
      case .combined(let plan):
        $0.value("combined")
        $0.value(plan.url)
        $0.value(plan.each.description)
        $0.value(plan.key.description)
        $0.value(plan.title?.description)
        $0.value(plan.subtitle?.description)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
