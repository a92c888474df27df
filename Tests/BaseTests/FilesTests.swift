import Base
import Glibc
import Support
import Testing

/// The reading and replacing of whole files.
@Suite struct FilesTests {
  private func replace(_ path: String, _ bytes: [UInt8], mode: mode_t? = nil) throws {
    try Files.replace(path, with: bytes.span.bytes, mode: mode)
  }

  @Test func `a file is replaced in one step, and no other file is left in its folder`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a")
    try replace(path, [1, 2])

    try replace(path, [3], mode: 0o604)

    #expect(Files.contents(of: path) == [3])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o604)
    #expect(try Files.names(in: folder.path) == ["a"])
  }

  @Test func `a failed replacement leaves the old file and no temporary file`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("full")
    #expect(mkdir(path, 0o700) == 0)

    #expect(throws: SystemError(code: EISDIR)) { try replace(path, [1]) }
    #expect(throws: SystemError(code: ENOENT)) {
      try replace(folder.path("none/a"), [1])
    }

    #expect(try Files.names(in: folder.path) == ["full"])
  }

  @Test func `writing to a full device throws its error`() {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let bytes: [UInt8] = [1]

    #expect(throws: SystemError(code: ENOSPC)) { try Files.write(bytes.span.bytes, to: full) }
  }

  @Test func `a read ends at the end of the buffer or of the file`() throws {
    let folder = try TemporaryFolder()
    try replace(folder.path("a"), [1, 2, 3, 4, 5])
    let file = open(folder.path("a"), O_RDWR | O_CLOEXEC)
    defer { close(file) }
    let late: [UInt8] = [9, 8]
    try Files.write(late.span.bytes, to: file, at: 3)
    var room: [UInt8] = [0, 0, 0]

    let first = try Files.read(file, into: &room)
    let full = room
    let placed = try Files.read(file, into: &room, most: 1, at: 3)
    let changed = room
    let rest = try Files.read(file, into: &room)

    #expect(first == 3 && full == [1, 2, 3])
    #expect(placed == 1 && changed == [9, 2, 3])
    #expect(rest == 2 && room == [9, 8, 3])
    #expect(try Files.bytes(of: file, 9, at: 1) == [2, 3, 9, 8])
  }

  @Test func `only a regular file within the size limit is read`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a")
    try replace(path, [1, 2])
    #expect(symlink(path, folder.path("link")) == 0)
    #expect(mkfifo(folder.path("pipe"), 0o600) == 0)

    #expect(Files.contents(of: path, most: 2) == [1, 2])
    #expect(Files.contents(of: path, most: 1) == nil)
    for name in ["link", "pipe", "none", ""] {
      #expect(Files.contents(of: folder.path(name)) == nil)
    }
  }

  @Test(arguments: [
    (EINVAL, true), (ENOSYS, true), (EBADF, true), (EOPNOTSUPP, true), (EIO, false),
    (ENOSPC, false), (EACCES, false),
  ])
  func `a folder that does not support sync is accepted, but a sync that failed is an error`(
    _ code: Int32,
    _ isMissing: Bool
  ) {
    #expect(Files.lacksFolderSync(code) == isMissing)
  }

  @Test func `the names in a folder exclude . and .. and are not recursive`() throws {
    let folder = try TemporaryFolder()
    try replace(folder.path("a"), [1])
    #expect(mkdir(folder.path("b"), 0o700) == 0)

    #expect(try Files.names(in: folder.path).sorted() == ["a", "b"])
    #expect(throws: SystemError(code: ENOTDIR)) { try Files.names(in: folder.path("a")) }
  }
}
