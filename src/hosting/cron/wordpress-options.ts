import type { FileHandle } from 'node:fs/promises'
import { openInside } from '../site-files/open-inside.ts'
import { UnreadableDatabase } from './event-source.ts'

const CONFIG = 'web/wp-config.php'
const MOST_CONFIG_BYTES = 1 << 20
/** An event takes about 150 bytes. A site with more than this has other problems. */
export const MOST_OPTION_BYTES = 1 << 20

/** The most sites of a network. Must match `tasks/cron.php`. */
export const MOST_BLOGS = 200

export function readingOf(handle: FileHandle) {
  return async (position: number, length: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await handle.read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
}

/** Reads the table prefix from a site's wp-config.php. @throws UnreadableDatabase */
export async function tablePrefix(siteDirectory: string): Promise<string> {
  const file = await openInside(siteDirectory, CONFIG)
  if (!file) throw new UnreadableDatabase('no wp-config.php')
  try {
    if (file.stats.size > MOST_CONFIG_BYTES) throw new UnreadableDatabase('a wp-config.php of unusual size')
    const text = (await readingOf(file.handle)(0, file.stats.size)).toString()
    const [, , prefix] = /^[ \t]*\$table_prefix\s*=\s*(['"])(\w{1,64})\1\s*;/m.exec(text) ?? []
    if (!prefix) throw new UnreadableDatabase('a wp-config.php whose table prefix is not plain')
    return prefix
  } finally {
    await file.handle.close()
  }
}
