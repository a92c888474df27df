// The public types of the library are declared in several modules. This module re-exports each of the types by name,
// and nothing else from those modules.
//
// A typealias would not be enough. If a program does not import the module that declares a type, it cannot use the
// members of the type. (SE-0444) `@_exported` is Swift's only way to re-export.

@_exported public import struct Base.LarderError
@_exported public import struct Cache.RunID
@_exported public import struct Cache.VerifyReport
@_exported public import struct Catalog.CatalogDiff
@_exported public import struct Catalog.CatalogError
@_exported public import struct Catalog.CatalogFile
@_exported public import struct Catalog.Coordinate
@_exported public import struct Catalog.ImageReference
@_exported public import struct Catalog.ItemDetail
@_exported public import struct Catalog.Price
@_exported public import struct Catalog.SkipLimit
@_exported public import struct Catalog.StoreItem
@_exported public import struct Orders.Delivery
@_exported public import struct Orders.Order
@_exported public import struct Orders.OrderID
@_exported public import struct Orders.OrderLine
@_exported public import struct Orders.OrderRequest
@_exported public import enum Orders.OrderState
@_exported public import struct Orders.SendReport
@_exported public import struct Pipeline.ExportOptions
@_exported public import struct Pipeline.ExportReport
@_exported public import struct Pipeline.LowestPrice
@_exported public import struct Pipeline.RunDiff
@_exported public import struct Pipeline.ShownItem
@_exported public import struct Pipeline.ShownPicture
@_exported public import struct Pipeline.SweepOptions
@_exported public import struct Pipeline.SweepReport
@_exported public import struct Pipeline.SyncProgress
@_exported public import struct Pipeline.SyncReport

extension Shop {
  /// The report of a sync.
  public typealias Report = SyncReport
  /// The progress of a sync.
  public typealias Progress = SyncProgress
  /// An item with its detail and its pictures.
  public typealias Item = ShownItem
  /// A picture of an item.
  public typealias Picture = ShownPicture
  /// The changes between two runs.
  public typealias Changes = RunDiff
  /// The result of a check of every file.
  public typealias Verification = VerifyReport
  /// The limits of a sweep.
  ///
  /// A sweep removes old runs, and pictures that no catalog needs.
  public typealias SweepOptions = Pipeline.SweepOptions
  /// The report of a sweep.
  public typealias Sweep = SweepReport
  /// The layout of an export.
  public typealias ExportOptions = Pipeline.ExportOptions
  /// The report of an export.
  public typealias Export = ExportReport
}

extension Order {
  /// A line of an order.
  public typealias Line = OrderLine
  /// The state of an order at the shop.
  public typealias State = OrderState
}

extension OrderBook {
  /// The report of a delivery.
  public typealias Delivery = SendReport
}
