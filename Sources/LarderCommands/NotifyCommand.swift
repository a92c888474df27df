import ArgumentParser
import Base
import Cache
import Foundation
import Larder
import Orders
import Pipeline

/// `larder notify`: sends the catalog's changes to a webhook.
struct NotifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify",
    abstract: "Send the catalog's changes since the last time to a webhook.",
    discussion: """
      Example:  larder notify --webhook-url-file /etc/larder/webhook
                larder notify --only price,back --drop 10% --item HBDEF

      If nothing changed, nothing is sent. All changes of a catalog go into one message: 50 in words, \
      the rest as a count. The first notice to a webhook reports the changes of the last sync. Each \
      webhook, and each choice of --only, --drop and --item, is tracked separately.

      Notices are sent like orders; see larder order send --help. New changes are added to a notice that \
      is still waiting, so a webhook that was down for a week gets one message. A notice that may have \
      arrived is reported once; --on-ambiguous resend sends it again, until there are newer changes. \
      larder warm --notify-url-file sends notices after each run.
      """,
    statuses: [
      .done: "everything was sent, or nothing changed",
      .failed: "there is no cache or no such catalog, or libcurl is missing",
      .partial: "a notice was refused, may have arrived or will be tried again",
      .unavailable: "the webhook is stopped or cannot be reached",
      .io: "the cache cannot be read, or the notices cannot be stored",
      .tryAgain: "a notice is not due yet",
    ],
    stops: true
  )

  @OptionGroup(title: Topic.items) var wish: WishOptions

  @Flag(help: "Start a stopped webhook again.")
  var resume = false

  @OptionGroup(title: Topic.webhook) var webhook: WebhookOptions
  @OptionGroup(title: Topic.orders) var outbox: OutboxOptions
  @OptionGroup(title: Topic.cache) var cache: CacheOptions
  @OptionGroup(title: Topic.cache) var catalog: CatalogOptions
  @OptionGroup(title: Topic.output) var output: OutputOptions

  func run() throws {
    let sending = try NoticeSending(webhook, wish, outbox)
    let names =
      try catalog.catalog.map { [$0] } ?? Index(reading: cache.path).catalogs().map(\.name)
    let sent = try sending.run(names, cache: cache.path, resuming: resume)
    try output.show(sent.report, text: sent.text)
    sent.warn(output)
    Output.end(sent.status)
  }
}

/// The options that select the changes to report.
struct WishOptions: ParsableArguments {
  @Option(
    "Only these changes, separated by commas: \(NameArgument<Notice.Kind>.names.joined(separator: ", ")).",
    value: "kinds",
    read: NameArgument.readSeveral
  )
  var only: [Notice.Kind]?

  @Option(
    "Only prices that fell by at least this share, such as 10%. (default: all)",
    value: "percent",
    read: PercentArgument.read
  )
  var drop: Double?

  @Option("Only this item; may be repeated.", value: "id")
  var item: [String] = []

  /// The filter of changes that these options describe.
  var filter: NoticeWish {
    var filter = NoticeWish()
    filter.kinds = only.map(Set.init) ?? filter.kinds
    filter.drop = drop.map { $0 / 100 }
    filter.items = Set(item.map(\.exact))
    return filter
  }

  /// Whether at least one of the options is given.
  var isGiven: Bool { only != nil || drop != nil || !item.isEmpty }
}

/// The options of `warm` for notices to a webhook.
struct NotifyOptions: ParsableArguments {
  @Option(
    path: "Send the changes to the webhook whose URL is in this file, as larder notify does.",
    value: "file"
  )
  var notifyUrlFile: String?

  @Option(
    "Send notices for Slack, or as signed JSON (default: LARDER_WEBHOOK_PAYLOAD, else slack).",
    value: "slack|json"
  )
  var payload: PayloadKind?

  @OptionGroup var wish: WishOptions

  func validate() throws {
    guard notifyUrlFile == nil, payload != nil || wish.isGiven else { return }
    throw ValidationError("--payload, --only, --drop and --item go with --notify-url-file")
  }

  /// Notices to the webhook; nil if `--notify-url-file` is not given.
  ///
  /// - Parameter proxy: The value of the command's `--proxy`.
  /// - Returns: The notices.
  /// - Throws: ``CommandFailure`` when the file or a variable of the webhook is wrong.
  func sending(proxy: String?) throws -> NoticeSending? {
    guard let notifyUrlFile else { return nil }
    var options = try WebhookOptions.parse([])
    options.webhookUrlFile = notifyUrlFile
    options.payload = payload
    options.wait = DurationArgument(seconds: 1)
    options.route.proxy = proxy
    return try NoticeSending(options, wish, OutboxOptions.parse([]))
  }
}

/// Queues notices about the changes of catalogs, then sends the notices.
///
/// The commands `notify` and `warm` use it.
struct NoticeSending {
  private let webhook: Orders.Webhook
  private let options: WebhookOptions
  private let filter: NoticeWish
  private let outbox: OutboxOptions

  /// Reads the webhook's URL and secrets, so that a mistake in them is found before any other work.
  init(_ options: WebhookOptions, _ wish: WishOptions, _ outbox: OutboxOptions) throws {
    webhook = try options.webhook()
    self.options = options
    filter = wish.filter
    self.outbox = outbox
  }

  /// Queues a notice for each catalog that has changed, and sends the notices that are due.
  ///
  /// - Parameters:
  ///   - catalogs: The names of the catalogs. A run of each must have ended.
  ///   - cache: The path of their cache.
  ///   - resuming: Whether to start a stopped webhook again.
  /// - Returns: The result.
  /// - Throws: ``LarderError``.
  func run(
    _ catalogs: [String],
    cache: String,
    resuming: Bool = false
  ) throws -> SendSummary {
    let box = try outbox.outbox()
    let place = URL(filePath: cache).resolvingSymlinksInPath().standardizedFileURL.path
    for name in catalogs {
      try filter.tell(
        of: CatalogReader(cache: cache, catalog: name),
        cache: place,
        at: webhook,
        through: box,
        outbox.language,
        now: SystemSenderClock().now()
      )
    }
    return try options.send(.notices, of: box, to: webhook, resuming: resuming)
  }
}
