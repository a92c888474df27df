import Base
import CGlibc
import CSQLite
import Glibc
import Imaging
import SystemPackage

/// The arguments of the process, as passed to `main`.
///
/// `CommandLine.arguments` reads them from `/proc`, and is empty in a sandbox without `/proc`.
enum ProgramArguments {
  /// The arguments; the first is the program's name.
  ///
  /// Bytes that are not valid UTF-8 become private characters, which ``path(_:)`` turns into these bytes again.
  static let all: [String] = (0..<larder_argument_count()).compactMap { larder_argument($0) }
    .map { text(UnsafeBufferPointer(start: $0, count: strlen($0)).map(UInt8.init(bitPattern:))) }

  /// The private character that stands for the byte 0.
  private static let first: UInt32 = 0x10FE00

  /// Whether a character stands for a byte that is not UTF-8.
  private static func isByte(_ scalar: Unicode.Scalar) -> Bool {
    (first..<first + 256).contains(scalar.value)
  }

  /// The text for the bytes of an argument.
  static func text(_ bytes: [UInt8]) -> String {
    String(bytes, isText: { !isByte($0) }) {
      String(Unicode.Scalar(first + UInt32($0)) ?? "\u{FFFD}")
    }
  }

  /// The message about the first argument with bytes that are not UTF-8; nil if there is none.
  ///
  /// Only the pictures and the folder of `crop` and `stamp` can have such names. Elsewhere, the text, or the file that it
  /// names, would be another.
  static func fault(in arguments: [String]) -> String? {
    arguments.first { $0.unicodeScalars.contains(where: isByte) }.map {
      "cannot read the argument \($0): it is not UTF-8; give a name in UTF-8"
    }
  }

  /// A text with escapes such as `\xE9` for bytes that are not UTF-8.
  static func shown(_ text: String) -> String {
    text.unicodeScalars.contains(where: isByte) ? path(text).shown : text
  }

  /// The path that an argument names.
  ///
  /// It has the argument's original bytes, even if they are not UTF-8.
  static func path(_ argument: String) -> FilePath {
    let bytes = argument.unicodeScalars.flatMap { scalar in
      isByte(scalar) ? [UInt8(scalar.value - first)] : Array(String(scalar).utf8)
    }
    return FilePath(platformString: bytes.map(CChar.init(bitPattern:)) + [0])
  }
}

/// Settings of the memory allocators.
enum Memory {
  /// Limits glibc to four heaps (arenas) for all threads, and keeps large blocks out of the heaps.
  ///
  /// By default, glibc gives each thread a heap, and a heap never shrinks after a peak. With only two heaps, threads
  /// would wait for one another.
  ///
  /// Blocks of at least `M_MMAP_THRESHOLD` bytes are mapped separately. If the threshold is not set, glibc raises it
  /// with each large block that is freed. In the end, even the text of a large response would come from a heap, and
  /// that heap would stay as large.
  ///
  /// Call it before a thread or a database is created.
  static func prepare() {
    larder_limit_heaps(4)
    larder_map_from(512 << 10)
    // SQLite allocates memory for each row that it reads. In Debian's build, each allocation would lock a mutex to
    // update statistics.
    larder_sqlite_count_no_memory()
  }
}

/// Settings of the table of file descriptors.
enum Descriptors {
  /// Opens stdin, stdout and stderr on `/dev/null` if the process was started without them.
  ///
  /// Otherwise the next files would get their numbers, and messages would be written into pictures. stdin cannot be read
  /// then, and stdout cannot be written, so that it is an error to use them.
  static func openStandard() {
    for file in STDIN_FILENO...STDERR_FILENO where fcntl(file, F_GETFD) < 0 {
      _ = open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Enlarges the kernel's table of file descriptors while the process has only one thread.
  ///
  /// The table starts with 64 entries. If it grows while the process has several threads, the kernel waits until no
  /// processor can be reading the old table (RCU). The wait takes 10 to 20 ms, and no thread can open a file meanwhile.
  /// Without this call, a sync with many connections waits once or twice. (`expand_fdtable` in Linux, fs/file.c)
  static func makeRoom() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    let last = min(limit.rlim_cur, 1024)
    guard last > 0 else { return }
    let highest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(last - 1))
    if highest >= 0 { close(highest) }
  }

  /// Raises the limit of open files to the hard limit, at most 65,536, for a server with many connections.
  static func raiseLimit() {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(kind, &limit)
  }
}

/// Worker processes that decode untrusted pictures.
///
/// An exploit or a crash in a worker cannot harm this process.
enum Workers {
  /// The only argument of a worker process; no command has this name.
  private static let argument = "picture-worker"

  /// The workers of this process.
  ///
  /// They are started on demand, one for each picture in progress.
  static let forPictures = PictureWorkers([program, argument])

  /// The path that starts this program again.
  ///
  /// `/proc/self/exe` works even if the program's file was replaced meanwhile. Without `/proc`, the path is found from
  /// the first argument. That is the name that the program was started with.
  private static var program: String {
    let own = "/proc/self/exe"
    if access(own, X_OK) == 0 { return own }
    let name = ProgramArguments.all.first ?? ""
    if name.contains("/") { return name }
    let folders = getenv("PATH").map { String(cString: $0) } ?? ""
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
      ?? name
  }

  /// If the only argument is `picture-worker`, runs as a worker and does not return.
  ///
  /// Call it before a second thread exists. Call it before the arguments are parsed too, so that a worker starts fast.
  static func beOneIfAsked(by arguments: [String]) {
    guard arguments.count == 2, arguments[1] == argument else { return }
    OwnFonts.use()
    PictureWorker.run(on: 3)
  }
}

/// The fonts that are bundled in the tarball, for machines without fonts.
enum OwnFonts {
  /// Sets `FONTCONFIG_FILE` to the bundled configuration, if that exists and the variable is not set.
  ///
  /// Call it before a second thread exists, because it changes the environment.
  static func use() {
    let program = SampleFolder.program().split(separator: "/").dropLast(2)
    let file = program.map { "/" + $0 }.joined() + "/share/larder/fonts.conf"
    if access(file, R_OK) == 0 { setenv("FONTCONFIG_FILE", file, 0) }
  }
}
