import ArgumentParser

extension Option {
  /// An option that may be left out, with a name for its value.
  ///
  /// - Parameters:
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `locale`; nil for the name of the option.
  init<Content: ExpressibleByArgument>(_ help: String, value name: String? = nil)
  where Value == Content? {
    self.init(help: ArgumentHelp(help, valueName: name))
  }

  /// An option that has a default, with a name for its value.
  ///
  /// - Parameters:
  ///   - wrappedValue: The default.
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `address`; nil for the name of the option.
  init(wrappedValue: Value, _ help: String, value name: String? = nil)
  where Value: ExpressibleByArgument {
    self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: name))
  }

  /// An option whose value is read by a function.
  ///
  /// The function also receives a value that begins with a minus sign, such as `-1`, so that it can refuse the value
  /// with its own message. The argument parser would take the value for an unknown option.
  ///
  /// - Parameters:
  ///   - spelling: The option's names, by default the property's name after two hyphens.
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `time`.
  ///   - completion: How a shell completes the value. Pass nil to let the shell complete it in its usual way.
  ///   - read: Reads the value; it throws a `ValidationError` with the allowed forms.
  init<Content>(
    name spelling: NameSpecification = .long,
    _ help: String,
    value name: String,
    completion: CompletionKind? = nil,
    read: @escaping @Sendable (String) throws -> Content
  ) where Value == Content? {
    self.init(
      name: spelling,
      parsing: .unconditional,
      help: ArgumentHelp(help, valueName: name),
      completion: completion,
      transform: read
    )
  }

  /// An option that has a default, and whose value is read by a function.
  ///
  /// - Parameters:
  ///   - wrappedValue: The default.
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `time`.
  ///   - read: Reads the value; it throws a `ValidationError` with the allowed forms.
  init(
    wrappedValue: Value,
    _ help: String,
    value name: String,
    read: @escaping @Sendable (String) throws -> Value
  ) {
    self.init(
      wrappedValue: wrappedValue,
      parsing: .unconditional,
      help: ArgumentHelp(help, valueName: name),
      transform: read
    )
  }

  /// An option that may be repeated, and whose values are read by the argument parser.
  ///
  /// - Parameters:
  ///   - wrappedValue: The default.
  ///   - help: The help.
  ///   - name: The name of a value in the help, such as `id`.
  init<Content: ExpressibleByArgument>(
    wrappedValue: [Content],
    _ help: String,
    value name: String
  ) where Value == [Content] {
    self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: name))
  }

  /// An option that names a file or a folder, and refuses an empty path; see ``PathArgument``.
  ///
  /// - Parameters:
  ///   - spelling: The option's names, by default the property's name after two hyphens.
  ///   - help: The help.
  ///   - name: The name of the value in the help, such as `file`.
  ///   - completion: How a shell completes the value. Pass nil to let the shell complete it in its usual way.
  init(
    name spelling: NameSpecification = .long,
    path help: String,
    value name: String,
    completion: CompletionKind? = nil
  ) where Value == String? {
    let help = ArgumentHelp(help, valueName: name)
    self.init(name: spelling, help: help, completion: completion, transform: PathArgument.read)
  }

  /// An option that must be given, and otherwise is like ``init(path:value:completion:)``.
  init(path help: String, value name: String, completion: CompletionKind)
  where Value == String {
    let help = ArgumentHelp(help, valueName: name)
    self.init(help: help, completion: completion, transform: PathArgument.read)
  }
}

extension Argument {
  /// An argument that names a file or a folder, and refuses an empty path; see ``PathArgument``.
  init(path help: String, value name: String, completion: CompletionKind) where Value == String {
    let help = ArgumentHelp(help, valueName: name)
    self.init(help: help, completion: completion, transform: PathArgument.read)
  }

  /// Arguments that name files or folders; otherwise like ``init(path:value:completion:)``.
  init(paths help: String, value name: String, completion: CompletionKind)
  where Value == [String] {
    let help = ArgumentHelp(help, valueName: name)
    self.init(help: help, completion: completion, transform: PathArgument.read)
  }
}
