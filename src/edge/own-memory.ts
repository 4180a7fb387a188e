/**
 * Returns a copy of a text from a request's head (Latin-1) that shares no memory. V8 keeps a substring as a reference
 * to the whole string: remembering a name of ten letters would retain the 30 kB of its head.
 */
export const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/**
 * Returns a buffer with memory of its own, no larger than its content. Small buffers are slices of a larger one, which
 * each of them would retain.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}

/** Returns the memory that a text takes, with V8's overhead. */
export const textBytes = (text: string): number => text.length + 24
