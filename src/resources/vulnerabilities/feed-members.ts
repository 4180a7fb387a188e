/** The bytes are not one JSON object, or a member of it is too large. */
export class NotAnObject extends Error {
  override readonly name = 'NotAnObject'
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const OPENING: readonly number[] = [0x7b, 0x5b]
const CLOSING: readonly number[] = [0x7d, 0x5d]
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/**
 * Reads the members of a JSON object one at a time. A feed of vulnerabilities may have a hundred megabytes, and six
 * times that as objects.
 * @param mostBytes of one member
 * @throws NotAnObject, also if the end is missing
 */
export async function* feedMembers(
  stream: AsyncIterable<Buffer>,
  mostBytes: number,
): AsyncGenerator<[key: string, value: unknown]> {
  let depth = 0
  let isText = false
  let isEscaped = false
  let isOver = false
  let pieces: Buffer[] = []
  for await (const chunk of stream) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
      } else if (isOver || depth === 0) {
        if (!isSpace(byte) && (isOver || byte !== OPENING[0])) throw new NotAnObject('it is not one JSON object')
        if (!isSpace(byte)) depth = 1
        from = at + 1
      } else if (byte === QUOTE) isText = true
      else if (OPENING.includes(byte)) depth++
      else if (CLOSING.includes(byte)) depth--
      const ends = !isText && (depth === 0 ? !isOver && CLOSING.includes(byte) : depth === 1 && byte === COMMA)
      if (!ends) continue
      const text = Buffer.concat([...pieces, chunk.subarray(from, at)]).toString('utf8')
      isOver = depth === 0
      pieces = []
      from = at + 1
      // A comma needs a member before it. The end may follow at once.
      if (!isOver || text.trim() !== '') yield memberIn(text)
    }
    pieces.push(chunk.subarray(from))
    if (pieces.reduce((sum, { length }) => sum + length, 0) > mostBytes)
      throw new NotAnObject(`a member of it has more than ${mostBytes} bytes`)
  }
  if (!isOver) throw new NotAnObject('its end is missing')
}

function memberIn(text: string): [string, unknown] {
  try {
    const [member, ...others] = Object.entries(JSON.parse(`{${text}}`))
    if (member && others.length === 0) return member
  } catch {}
  throw new NotAnObject('it is not JSON')
}
