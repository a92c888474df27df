extension Mapping.Envelope {
  /// Refuses a body that carries an error's status, whatever HTTP said.
  func checkStatus(of root: JSONNode, subject: String) throws(CatalogError) {
    for path in status {
      guard let value = try path.firstValue(in: root), let text = FieldReader.plainText(value),
        let number = Int(text), number >= 400
      else { continue }
      throw CatalogError(
        .reportedFailure,
        subject: subject,
        reason: "the body reports a failure: \(path.lastName ?? path.description) is \(number)",
        remedy: "try again later"
      )
    }
  }
}
