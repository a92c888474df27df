import CGlibc
import CSQLite
import Glibc
import Imaging
import SystemPackage

/// The words of the command line, as the system handed them to the program.
///
/// `CommandLine.arguments` reads them from `/proc`, and has none where a jail has no `/proc`.
enum ProgramArguments {
  /// The words, the program's own name first; a byte that is no UTF-8 reads as U+FFFD.
  static let all: [String] = words.map { String(cString: $0) }

  private static var words: [UnsafePointer<CChar>] {
    (0..<larder_argument_count()).compactMap { larder_argument($0) }
  }

  /// The path that a word of the command line names, with the bytes that it came in.
  ///
  /// - Parameter argument: A word of the command line, or the part after an equals sign, as text.
  /// - Returns: The path.
  static func path(_ argument: String) -> FilePath {
    guard argument.unicodeScalars.contains("\u{FFFD}") else { return FilePath(argument) }
    for word in words {
      if String(cString: word) == argument { return FilePath(platformString: word) }
      var rest = word
      while rest.pointee != 0, rest.pointee != CChar(UInt8(ascii: "=")) { rest += 1 }
      guard rest.pointee != 0 else { continue }
      if String(cString: rest + 1) == argument { return FilePath(platformString: rest + 1) }
    }
    return FilePath(argument)
  }
}

/// How the process asks for memory.
enum Memory {
  /// Sets process-wide options for every command, before there is a thread or a database.
  static func prepare() {
    limitArenas()
    // SQLite as Debian builds it allocates at each step of a row, and locks a count of it all each time.
    larder_sqlite_count_no_memory()
  }

  /// Lets all threads share four heaps, and keeps large blocks out of them.
  ///
  /// glibc would give each of the few threads a heap of its own, and keep in each the peak of that
  /// thread; with two, threads wait for one another. It would also raise, with each large block that
  /// is freed, the size from which blocks are mapped on their own, until the body of a section and
  /// its tree are cut from a heap that then never shrinks.
  private static func limitArenas() {
    larder_limit_heaps(4)
    larder_map_from(512 << 10)
  }
}

/// How the process keeps its open files.
enum Descriptors {
  /// Makes room for many descriptors while there is one thread.
  ///
  /// The kernel's table starts with 64. In a process of several threads each growth of it waits
  /// until no processor can be reading the old one. That takes ten to twenty milliseconds, in
  /// which no thread can open a file: a run of many connections and files stood still that long,
  /// once or twice. (`expand_fdtable` in Linux, fs/file.c)
  static func makeRoom() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    let last = min(limit.rlim_cur, 1024)
    guard last > 0 else { return }
    let highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(last - 1))
    if highest >= 0 { close(highest) }
  }

  /// Lets the process have as many descriptors as the system allows it, for a server with many connections.
  static func raiseLimit() {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(kind, &limit)
  }
}

/// The worker processes for untrusted data, so that it can do no harm to this one.
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
    OwnFonts.use()
    PictureWorker.run(on: 3)
  }
}

/// The fonts that the tarball brings, for machines without any.
enum OwnFonts {
  /// Names their configuration to fontconfig, where it lies beside the program and nobody named another.
  ///
  /// Before there is a second thread, as it changes the environment.
  static func use() {
    let program = SampleFolder.program().split(separator: "/").dropLast(2)
    let file = program.map { "/" + $0 }.joined() + "/share/larder/fonts.conf"
    if access(file, R_OK) == 0 { setenv("FONTCONFIG_FILE", file, 0) }
  }
}
