import ArgumentParser
import Base
import Cache
import Catalog
import Foundation
import Larder
import Orders
import Pipeline

/// `larder notify`: sends the catalog's changes to a webhook.
struct NotifyCommand: ParsableCommand {
  private static let statuses = StatusHelp(
    [
      .done: "everything was sent, or nothing changed",
      .failed: "there is no cache or no such catalog, or libcurl is missing",
      .partial: "a notice was refused, may have arrived or will be tried again",
      .unavailable: "the webhook is stopped or cannot be reached",
      .io: "the cache cannot be read, or the notices cannot be stored",
      .tryAgain: "a notice is not due yet",
    ],
    stops: true
  )

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

      \(statuses.text)
      """
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
    let receiver = try webhook.webhook()
    let names =
      try catalog.catalog.map { [$0] } ?? Index(reading: cache.path).catalogs().map(\.name)
    let (report, signal) = try NoticeSending(
      catalogs: names,
      cache: cache.path,
      wish: wish.wish,
      outbox: outbox
    ).run(receiver, webhook, resuming: resume)
    let summary = SendSummary(report, host: receiver.host, mail: .notices)
    try output.show(json: report.jsonLine(), text: summary.text)
    for warning in summary.warnings { Log(output).warning(warning) }
    Output.end(ExitStatus(report, signal: signal))
  }
}

/// The options that select the changes to report.
struct WishOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only these changes, separated by commas: \(Notice.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "kinds"
    ),
    transform: WishOptions.kinds
  )
  var only: [Notice.Kind]?

  @Option(
    "Only prices that fell by at least this share, such as 10%. (default: all)",
    value: "percent",
    read: PercentArgument.read
  )
  var drop: Double?

  @Option(help: ArgumentHelp("Only this item; may be repeated.", valueName: "id"))
  var item: [String] = []

  /// The filter of changes that these options describe.
  var wish: NoticeWish {
    var wish = NoticeWish()
    if let only { wish.kinds = Set(only) }
    wish.drop = drop
    wish.items = Set(item)
    return wish
  }

  /// Whether at least one of the options is given.
  var isGiven: Bool { only != nil || drop != nil || !item.isEmpty }

  private static func kinds(_ argument: String) throws -> [Notice.Kind] {
    let names = Notice.Kind.allCases.map(\.rawValue)
    return try argument.split(separator: ",", omittingEmptySubsequences: false).map { name in
      let name = String(name.trimmingPrefix(while: { $0 == " " }))
      guard let kind = Notice.Kind(rawValue: name) else {
        let near = nearest(to: name, in: names)
        throw ValidationError(
          "it takes one or more of \(names.joined(separator: ",")), separated by commas"
            + (near.map { "; did you mean \($0)?" } ?? "")
        )
      }
      return kind
    }
  }
}

/// The options of `warm` for notices to a webhook.
struct NotifyOptions: ParsableArguments {
  @Option(
    path: "Send the changes to the webhook whose URL is in this file, as larder notify does.",
    value: "file"
  )
  var notifyUrlFile: String?

  @Option(
    help: ArgumentHelp(
      "Send notices for Slack, or as signed JSON (default: LARDER_WEBHOOK_PAYLOAD, else slack).",
      valueName: "slack|json"
    )
  )
  var payload: PayloadKind?

  @OptionGroup var wish: WishOptions

  func validate() throws {
    guard notifyUrlFile == nil, payload != nil || wish.isGiven else { return }
    throw ValidationError("--payload, --only, --drop and --item go with --notify-url-file")
  }

  /// The options for sending to the webhook; nil if `--notify-url-file` is not given.
  func webhook(proxy: String?) throws -> WebhookOptions? {
    guard let notifyUrlFile else { return nil }
    var options = try WebhookOptions.parse([])
    options.webhookUrlFile = notifyUrlFile
    options.payload = payload
    options.wait = DurationArgument(seconds: 1)
    options.route.proxy = proxy
    return options
  }
}

/// Queues notices about the changes of catalogs, then sends the notices.
///
/// The commands `notify` and `warm` use it.
struct NoticeSending {
  let catalogs: [String]
  let cache: String
  let wish: NoticeWish
  let outbox: OutboxOptions

  /// Queues a notice for each catalog that has changed, and sends the notices that are due.
  ///
  /// - Parameters:
  ///   - webhook: The webhook.
  ///   - options: The options for sending.
  ///   - resuming: Whether to start a stopped webhook again.
  /// - Returns: The report, and the signal that ended the run, if any.
  /// - Throws: ``LarderError``.
  func run(
    _ webhook: Orders.Webhook,
    _ options: WebhookOptions,
    resuming: Bool = false
  ) throws -> (report: SendReport, signal: Int32?) {
    let box = try outbox.outbox()
    let place = URL(filePath: cache).resolvingSymlinksInPath().standardizedFileURL.path
    for name in catalogs {
      let reader = try CatalogReader(cache: cache, catalog: name)
      try wish.tell(
        of: reader,
        cache: place,
        at: webhook,
        through: box,
        outbox.language,
        now: SystemSenderClock().now()
      )
    }
    return try OrderSending(box, webhook, options, mail: .notices).run(resuming: resuming)
  }
}
