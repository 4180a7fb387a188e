const pageBytes = 65_536

/**
 * Puts an end to PHP's memory that no setting of PHP can lift: `memory_limit` is the site's to change. Must come before PHP is
 * loaded. A refusal is what PHP sees of a machine without memory: it ends the request with a fatal error.
 * @param grew told the size of PHP's memory each time that it has grown
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
