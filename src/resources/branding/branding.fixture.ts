import { deflateSync } from 'node:zlib'

/** A PNG that says it has this size, in Base64. Its only pixels are missing for sizes other than 1. */
export function pngOf(width: number, height: number, padding = 0): string {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunk = (name: string, data: Buffer) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(data.length, 0)
    head.write(name, 4, 'latin1')
    return Buffer.concat([head, data, Buffer.alloc(4)])
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, 15, 118, 110]))),
    chunk('IEND', Buffer.alloc(0)),
    Buffer.alloc(padding),
  ]).toString('base64')
}

export const smallPng = pngOf(1, 1)
