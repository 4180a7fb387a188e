import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

const NAME = 'stead-move'
const source = join(import.meta.dirname, '../old-site-plugin', `${NAME}.php`)

/**
 * Returns the plugin that the owner installs on an old site, as a zip file. It contains only the hash of the token.
 * @param expiresAt the time from which it no longer answers
 */
export async function movePluginZip(token: string, expiresAt: number): Promise<Buffer> {
  const code = (await readFile(source, 'utf8'))
    .replace('{token_hash}', createHash('sha256').update(token).digest('hex'))
    .replace('{expires}', String(Math.floor(expiresAt / 1000)))
  return zipOf(`${NAME}/${NAME}.php`, Buffer.from(code))
}

/** Returns a zip file that stores one file uncompressed (APPNOTE 4.3). */
function zipOf(name: string, content: Buffer): Buffer {
  const path = Buffer.from(name)
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  // The first day that a zip file can have.
  shared.writeUInt16LE(0x21, 8)
  shared.writeUInt32LE(crc32(content), 10)
  shared.writeUInt32LE(content.length, 14)
  shared.writeUInt32LE(content.length, 18)
  shared.writeUInt16LE(path.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, path, content])
  const attributes = Buffer.alloc(14)
  attributes.writeUInt32LE((0o100644 << 16) >>> 0, 6)
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), shared, attributes, path])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}
