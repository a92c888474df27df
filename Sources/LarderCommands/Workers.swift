import Glibc
import Imaging

/// The processes of larder itself that work on what comes from elsewhere, so that it can do no harm here.
enum Workers {
  /// The only argument of one; a name that no command has.
  private static let argument = "picture-worker"

  /// Those that make pictures for this process, as many as pictures are made at once.
  static let forPictures = PictureWorkers([program, argument])

  /// This program, though its file may have been replaced since; by the name that it was started by where there is no
  /// /proc.
  private static var program: String {
    let own = "/proc/self/exe"
    if access(own, X_OK) == 0 { return own }
    let name = ProgramArguments.all.first ?? ""
    if name.contains("/") { return name }
    let folders = getenv("PATH").map { String(cString: $0) } ?? ""
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
      ?? name
  }

  /// Becomes a worker, for the rest of the process, where the arguments say so and nothing else.
  ///
  /// Before there is a second thread, and before the arguments are parsed: a start costs as little as it can.
  static func beOneIfAsked(by arguments: [String]) {
    guard arguments.count == 2, arguments[1] == argument else { return }
    PictureWorker.run(on: 3)
  }
}
