const pageBytes = 65_536

/**
 * Limits PHP's memory in a way that no setting of PHP can lift: the site can change `memory_limit`. Must be called
 * before PHP is loaded. PHP sees a refusal as a machine without memory, and ends the request with a fatal error.
 * @param grew called with the size of PHP's memory each time that it has grown
 */
export function boundMemory(mostBytes: number, grew: (bytes: number) => void): void {
  const { prototype } = WebAssembly.Memory
  const { grow } = prototype
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * pageBytes > mostBytes) throw new RangeError('no memory is left for PHP')
    const before = grow.call(this, pages)
    grew(this.buffer.byteLength)
    return before
  }
}
