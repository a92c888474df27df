import Glibc

/// The error of a failed system call: a value of `errno`.
package struct SystemError: Error, Equatable {
  /// The value of `errno`.
  package let code: Int32

  /// Makes the error for a value of `errno`.
  package init(code: Int32) {
    self.code = code
  }
}

/// Reads and writes whole files, repeating system calls until all bytes are done.
///
/// Every function blocks. If a signal interrupts a system call, the call is repeated.
package enum Files {
  /// Writes all the bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - file: An open file.
  ///   - offset: The offset in the file where the bytes go; nil if they go to the file's present position.
  /// - Throws: ``SystemError``. If the system writes 0 bytes, that counts as a full disk, because repeating the call
  ///   would never end.
  package static func write(
    _ bytes: RawSpan,
    to file: Int32,
    at offset: Int? = nil
  ) throws(SystemError) {
    var done = 0
    while done < bytes.byteCount {
      let count = bytes.extracting(droppingFirst: done).withUnsafeBytes { rest in
        guard let offset else { return Glibc.write(file, rest.baseAddress, rest.count) }
        return pwrite(file, rest.baseAddress, rest.count, offset + done)
      }
      if count < 0, errno == EINTR || waits(for: POLLOUT, file) { continue }
      guard count > 0 else { throw SystemError(code: count < 0 ? errno : ENOSPC) }
      done += count
    }
  }

  /// Waits until a file is ready after a call that did not block; false if the call failed for another reason.
  ///
  /// stdin and stdout can be pipes that do not block.
  private static func waits(for event: Int32, _ file: Int32) -> Bool {
    guard errno == EAGAIN else { return false }
    var one = pollfd(fd: file, events: Int16(event), revents: 0)
    poll(&one, 1, -1)
    return true
  }

  /// Reads until the buffer is full or the file ends.
  ///
  /// - Parameters:
  ///   - file: An open file.
  ///   - room: The buffer for the bytes.
  ///   - offset: The offset in the file where reading starts; nil if it starts at the file's present position.
  /// - Returns: How many bytes were read.
  /// - Throws: ``SystemError``.
  package static func read(
    _ file: Int32,
    into room: UnsafeMutableRawBufferPointer,
    at offset: Int? = nil
  ) throws(SystemError) -> Int {
    var done = 0
    while done < room.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: room[done...])
      let count =
        if let offset {
          pread(file, rest.baseAddress, rest.count, offset + done)
        } else {
          Glibc.read(file, rest.baseAddress, rest.count)
        }
      if count < 0, errno == EINTR || waits(for: POLLIN, file) { continue }
      guard count >= 0 else { throw SystemError(code: errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Reads into a reusable array until `most` bytes are read, the array is full, or the file ends.
  ///
  /// - Throws: ``SystemError``.
  package static func read(
    _ file: Int32,
    into bytes: inout [UInt8],
    most: Int = .max,
    at offset: Int? = nil
  ) throws(SystemError) -> Int {
    let result = bytes.withUnsafeMutableBytes { room in
      let room = UnsafeMutableRawBufferPointer(rebasing: room.prefix(most))
      return Result { () throws(SystemError) in try read(file, into: room, at: offset) }
    }
    return try result.get()
  }

  /// Reads `count` bytes, or fewer if the file ends earlier.
  ///
  /// - Throws: ``SystemError``.
  package static func bytes(
    of file: Int32,
    _ count: Int,
    at offset: Int? = nil
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.removeLast(count - (try read(file, into: &bytes, at: offset)))
    return bytes
  }

  /// The bytes of a regular file; nil if there is no such file.
  ///
  /// The result is also nil if the file has more than `most` bytes, or if it cannot be read.
  ///
  /// A symbolic link in the last component of the path is not followed. If the path is that of a named pipe, this does
  /// not wait for a writer.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - folder: The open folder that a relative path starts from; by default, the working folder.
  ///   - most: The maximum size of the file in bytes.
  /// - Returns: The bytes.
  package static func contents(
    of path: String,
    in folder: Int32 = AT_FDCWD,
    most: Int = .max
  ) -> [UInt8]? {
    let file = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= most
    else { return nil }
    return try? bytes(of: file, Int(status.st_size))
  }

  /// Replaces a file atomically.
  ///
  /// A reader sees either the whole old content or the whole new content.
  ///
  /// The bytes go into a temporary file in the same folder, which is then renamed. The folder is not synced, so a crash
  /// can bring the old file back.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - bytes: The new content.
  ///   - temporary: The path of the temporary file, by default `PATH.PID.tmp`. If anything fails, that file is removed.
  ///   - mode: The permissions of the file, regardless of the umask. With nil, they are 0644, reduced by the umask.
  ///   - isDurable: Whether to sync the bytes to the device before the rename. Without the sync, a crash can leave an
  ///     empty file.
  /// - Throws: ``SystemError``. In that case the old file is unchanged.
  package static func replace(
    _ path: String,
    with bytes: RawSpan,
    by temporary: String? = nil,
    mode: mode_t? = nil,
    isDurable: Bool = true
  ) throws(SystemError) {
    let temporary = temporary ?? "\(path).\(getpid()).tmp"
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let file = open(temporary, flags, 0o644)
    guard file >= 0 else { throw SystemError(code: errno) }
    do throws(SystemError) {
      do throws(SystemError) {
        try write(bytes, to: file)
        if let mode { try demand(fchmod(file, mode)) }
        if isDurable { try demand(fsync(file)) }
      } catch {
        close(file)
        throw error
      }
      try demand(close(file))
      try demand(rename(temporary, path))
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// The names in an open folder, without `.` and `..`, in the order of `readdir(3)`.
  ///
  /// - Throws: ``SystemError``.
  package static func names(in folder: Int32) throws(SystemError) -> [String] {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw SystemError(code: errno) }
    guard let stream = fdopendir(copy) else {
      let code = errno
      close(copy)
      throw SystemError(code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      // `readdir` returns nil both at the end and for a failure. Only `errno` tells the two apart.
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemError(code: errno) }
    return names
  }

  /// The names in the folder at a path, without `.` and `..`.
  ///
  /// - Throws: ``SystemError``.
  package static func names(in path: String) throws(SystemError) -> [String] {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw SystemError(code: errno) }
    defer { close(folder) }
    return try names(in: folder)
  }

  /// The folder that contains the file at `path`, for example `.` for a name without a folder.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Syncs an open folder, so that the names in it are on the device.
  ///
  /// - Returns: Whether the folder was synced. The result is false if the file system cannot sync folders, which is not
  ///   an error.
  /// - Throws: ``SystemError``.
  @discardableResult
  package static func sync(folder: Int32) throws(SystemError) -> Bool {
    if fsync(folder) == 0 { return true }
    let code = errno
    guard lacksFolderSync(code) else { throw SystemError(code: code) }
    return false
  }

  /// Whether a value of `errno` after the `fsync` of a folder means that the file system cannot sync folders.
  ///
  /// Examples of such file systems are CIFS and FUSE.
  package static func lacksFolderSync(_ code: Int32) -> Bool {
    [EINVAL, ENOSYS, EBADF, EOPNOTSUPP].contains(code)
  }

  private static func demand(_ result: Int32) throws(SystemError) {
    guard result == 0 else { throw SystemError(code: errno) }
  }
}
