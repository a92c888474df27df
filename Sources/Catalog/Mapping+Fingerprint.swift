extension Mapping {
  /// The whole mapping as text that changes when, and only when, the mapping does.
  ///
  /// The same on every machine and in every run, so a cache may keep it or its digest, and decode
  /// again what it holds when the text is another.
  public var fingerprint: String {
    // The number rises when larder itself reads bodies otherwise, so that what it once left out of one
    // that never changes is read again.
    var lines = ["mapping 2", line("items", items)]
    lines.append(line("envelope.title", envelope.title))
    lines.append(line("envelope.subtitle", envelope.subtitle))
    lines.append(line("envelope.status", envelope.status))
    lines.append(line("item.id", item.id))
    lines.append(line("item.title", item.title))
    lines.append(line("item.description", item.description))
    lines.append(line("item.badges", item.badges))
    lines.append(line("item.deliveryTypes", item.deliveryTypes))
    lines.append(line("item.normalPrice", item.normalPrice))
    lines.append(line("item.salePrice", item.salePrice))
    // Absent in most mappings, whose digest then is as it was.
    if !item.latitude.isEmpty { lines.append(line("item.latitude", item.latitude)) }
    if !item.longitude.isEmpty { lines.append(line("item.longitude", item.longitude)) }
    if !item.address.isEmpty { lines.append(line("item.address", item.address)) }
    lines += self.lines("item.images", item.images)
    if !item.given.isEmpty {
      lines.append((["item.given"] + item.given.map(\.rawValue).sorted()).joined(separator: "\t"))
    }
    lines += item.placeValues.map { line("item.placeValues.\($0.name)", $0.paths) }
    if notation != .json { lines.append("notation\t\(notation.rawValue)") }
    if let transform { lines.append("transform\t\(transform.program.debugDescription)") }
    guard let detail else { return lines.joined(separator: "\n") }
    lines.append(line("detail.entries", detail.entries))
    lines.append(line("detail.id", detail.id))
    lines.append(line("detail.root", detail.root))
    lines.append(line("detail.description", detail.description))
    lines.append(line("detail.prices", detail.prices))
    lines += self.lines("detail.images", detail.images)
    lines += detail.notes.map { line("detail.notes.\($0.name)", $0.paths) }
    if !detail.given.isEmpty {
      lines.append((["detail.given"] + detail.given.map(\.name).sorted()).joined(separator: "\t"))
    }
    return lines.joined(separator: "\n")
  }

  private func line(_ name: String, _ paths: [JSONPath]) -> String {
    ([name] + paths.map(\.description)).joined(separator: "\t")
  }

  private func line(_ name: String, _ rules: [PriceRule]) -> String {
    let texts = rules.map { rule in
      var text = rule.path.description
      switch rule.scale {
      case nil: break
      case .fixed(let scale): text += " scale \(scale)"
      case .path(let scale): text += " scale \(scale)"
      case .currency: text += " minorUnits"
      }
      switch rule.currency {
      case nil: break
      case .code(let code): text += " currency \(code)"
      case .path(let path): text += " currency \(path)"
      }
      return text
    }
    return ([name] + texts).joined(separator: "\t")
  }

  private func lines(_ name: String, _ rules: ImageRules) -> [String] {
    ImageReference.Role.allCases.map { role in
      (["\(name).\(role.rawValue)"] + rules[rules: role].map(\.fingerprint))
        .joined(separator: "\t")
    }
  }
}
