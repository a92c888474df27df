import Larder
import Testing

@Suite struct ShopTests {
}
