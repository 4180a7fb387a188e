/**
 * A copy of a text from a request's head (Latin-1) that shares memory with nothing. V8 keeps a part of a string as a reference into the
 * whole: a name of ten letters that is remembered would keep the 30 kB of the head that it was cut from.
 */
export const ownText = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** A buffer with memory of its own, no larger than it is: small ones are parts of a larger piece, which each of them would keep. */
export function ownBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}

/** What a text takes in memory, with what V8 needs for it. */
export const textBytes = (text: string): number => text.length + 24
