/** The pictures that a logo can be. SVG is not among them: it is a document, with scripts and links. */
export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type LogoType = (typeof logoTypes)[number]

export const MOST_LOGO_BYTES = 200_000
/** A small file can say that it is a huge picture. */
export const MOST_LOGO_PIXELS = 4000

export interface Logo {
  readonly type: LogoType
  readonly width: number
  readonly height: number
}

/** Returns what a file is, from its first bytes. Returns undefined for other files. */
export function readLogo(bytes: Buffer): Logo | undefined {
  const found = readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes)
  return found && found.width > 0 && found.height > 0 ? found : undefined
}

/** PNG (ISO 15948): the first chunk has the size. */
function readPng(bytes: Buffer): Logo | undefined {
  const isPng = bytes.length >= 33 && bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n'
  if (!isPng || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** JPEG (ITU T.81): the frame header has the size. Segments before it have their length. */
function readJpeg(bytes: Buffer): Logo | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { type: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    // A fill byte.
    if (marker === 0xff) at += 1
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return undefined
}

/** WebP (RFC 9649): each of its three forms has the size in another place. */
function readWebp(bytes: Buffer): Logo | undefined {
  const word = (at: number) => bytes.toString('latin1', at, at + 4)
  if (bytes.length < 30 || word(0) !== 'RIFF' || word(8) !== 'WEBP') return undefined
  const type = 'image/webp'
  if (word(12) === 'VP8 ')
    return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (word(12) === 'VP8L') {
    const bits = bytes.readUInt32LE(21)
    return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (word(12) === 'VP8X') return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  return undefined
}
