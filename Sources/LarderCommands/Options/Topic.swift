/// The headings under which the help of every command lists its options.
enum Topic {
  static let scope = "What is fetched"
  static let limits = "Limits"
  static let doubt = "When the feed looks wrong"
  static let connection = "Connection"
  static let trust = "What the plan may use"
  static let monitoring = "Monitoring"
  static let cache = "Cache"
  static let pictures = "Pictures"
  static let upload = "Posting"
  static let orders = "Orders"
  static let webhook = "Webhook"
  static let items = "Which items"
  static let origin = "The embedded origin"
  static let output = "Output"
}
