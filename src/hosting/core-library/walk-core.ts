import { openSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceEntry } from '../../backups/backup-store.ts'
import { contentOf } from '../site-files/stage/pin.ts'

/** What a release has that no site has of its own: it is laid over their web roots. */
const SHARED = ['wp-admin', 'wp-includes']

/** Files of an unpacked core that sites share, as a backup keeps them: folders before what is in them, in the order of their bytes. */
export async function* walkCore(corePath: string): AsyncGenerator<SourceEntry> {
  for (const name of SHARED) yield* walk(corePath, name)
}

async function* walk(corePath: string, path: string): AsyncGenerator<SourceEntry> {
  const full = join(corePath, path)
  const stats = await lstat(full)
  const common = { path, mode: stats.mode & 0o777, mtimeMs: Math.trunc(stats.mtimeMs) }
  if (stats.isDirectory()) {
    yield { kind: 'folder', ...common }
    // names of releases are ASCII: the order of their characters is that of their bytes
    for (const name of (await readdir(full)).sort()) yield* walk(corePath, `${path}/${name}`)
  } else if (stats.isFile())
    yield {
      kind: 'file',
      ...common,
      sizeBytes: stats.size,
      // a release never changes
      stamp: `${stats.size}`,
      open: async () => contentOf(openSync(full, 'r')),
    }
}
