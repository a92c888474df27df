import ArgumentParser
import CurlTransport
import Imaging
import Pipeline
import Transport

/// How `stamp` posts what it makes.
struct UploadOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Post each stamped photo there, as a form.", valueName: "url"))
  var post: String?

  @Option(
    help: ArgumentHelp(
      "The token to post with (default: LARDER_UPLOAD_TOKEN, else none).",
      valueName: "file"
    ),
    transform: PathArgument.read
  )
  var tokenFile: String?

  @Option(help: ArgumentHelp("The header that carries the token.", valueName: "name"))
  var tokenHeader = "token"

  @Option(help: ArgumentHelp("Post this field too; may be repeated.", valueName: "name=value"))
  var field: [String] = []

  @Option(
    help: ArgumentHelp(
      "Rename the field dateTime, timeStampContents or image; may be repeated.",
      valueName: "field=name"
    )
  )
  var fieldName: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Post again up to this often, 0 to 100, what certainly did not arrive. (default: 4)",
      valueName: "n"
    ),
    transform: RetriesArgument.read
  )
  var retries = RetriesArgument.standard

  @Option(
    help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"),
    completion: .file(),
    transform: CertificateFile.read
  )
  var cacert: CertificateFile?

  @OptionGroup var proxy: ProxyOptions

  mutating func validate() throws {
    for pair in field where Self.split(pair) == nil {
      throw ValidationError("--field takes NAME=VALUE, not \"\(pair)\"")
    }
    for pair in fieldName where !Self.isRenaming(pair) {
      throw ValidationError(
        "--field-name takes dateTime=NAME, timeStampContents=NAME or image=NAME, not \"\(pair)\""
      )
    }
    if post == nil,
      tokenFile != nil || !field.isEmpty || !fieldName.isEmpty || cacert != nil
        || proxy.proxy != nil
    {
      throw ValidationError("this option needs --post URL, which says where to post")
    }
  }

  /// The upload that is asked for; nil for none.
  ///
  /// - Parameter text: The text on the stamp.
  /// - Returns: What posts pictures.
  /// - Throws: ``CommandFailure`` when the URL or the token is of no use.
  func upload(text: String?) throws -> PictureUpload? {
    guard let post else { return nil }
    let destination = try UploadDestination(
      post,
      token: try token(),
      header: tokenHeader,
      parser: CurlURLParser()
    )
    var options = TransportOptions()
    options.namedHosts = [destination.url.hostPort]
    options.caFile = cacert?.path
    options.proxy = try proxy.route()
    options.userAgent = "larder/\(LarderCommand.version)"
    var policy = UploadPolicy()
    policy.retry.retries = retries.count
    // The transport never repeats a POST, but knows from this when a host is dead.
    options.retry = policy.retry
    return PictureUpload(
      to: destination,
      form: form(text: text),
      transport: try CurlTransport(options),
      policy: policy
    )
  }

  private func token() throws -> String? {
    guard let tokenFile else { return Terminal.environment("LARDER_UPLOAD_TOKEN") }
    let bytes = try FileReading.bytes(tokenFile, what: "the token", limit: 1 << 16)
    guard let token = String(validating: bytes, as: UTF8.self), bytes.count <= 1 << 16 else {
      throw CommandFailure("cannot read the token \(tokenFile): it is not a line of text", .usage)
    }
    return token
  }

  private func form(text: String?) -> UploadForm {
    var form = UploadForm()
    form.text = text ?? ""
    form.extra = field.compactMap(Self.split).map { UploadForm.Field(name: $0.0, value: $0.1) }
    let names = UploadForm()
    for (field, name) in fieldName.compactMap(Self.split) {
      switch field {
      case names.timeName: form.timeName = name
      case names.textName: form.textName = name
      default: form.imageName = name
      }
    }
    return form
  }

  private static func isRenaming(_ pair: String) -> Bool {
    let form = UploadForm()
    guard let (field, name) = split(pair), !name.isEmpty else { return false }
    return [form.timeName, form.textName, form.imageName].contains(field)
  }

  private static func split(_ pair: String) -> (String, String)? {
    guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else { return nil }
    return (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
  }
}
