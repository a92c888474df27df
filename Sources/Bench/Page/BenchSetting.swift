/// When, where and how a report was measured, which its page says on it: figures of another machine or version are others.
package struct BenchSetting: Sendable {
  /// The moment, as people write it.
  package let date: String
  /// The machine: its name, processors and system.
  package let host: String
  /// What measured, with its version.
  package let version: String
  /// The command line, fit to be shown.
  package let command: String

  /// A setting from its parts.
  package init(date: String, host: String, version: String, command: String) {
    (self.date, self.host, self.version, self.command) = (date, host, version, command)
  }

  /// The lines under the page's title.
  var html: String {
    let facts = [date, host, version].map(Markup.escaped).joined(separator: " · ")
    return """
      <p class="faint">\(facts)</p>
      <p class="scroll"><code>\(Markup.escaped(command))</code></p>
      """
  }
}
