/**
 * Reads everything into memory.
 * @returns undefined beyond this number of bytes, without reading the rest
 */
export async function readAtMost(stream: AsyncIterable<unknown>, mostBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > mostBytes) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
