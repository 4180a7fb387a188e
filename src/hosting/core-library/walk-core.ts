import { openSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceEntry } from '../../backups/backup-store.ts'
import { contentOfOpenFile } from '../site-files/stage/pin.ts'

/** Folders of a release that sites do not have themselves. They are mounted over the sites' web roots. */
const SHARED = ['wp-admin', 'wp-includes']

/**
 * Yields the files of an unpacked core that sites share, in the order of a backup: folders before their content, by
 * their bytes.
 */
export async function* walkCore(corePath: string): AsyncGenerator<SourceEntry> {
  for (const name of SHARED) yield* walk(corePath, name)
}

async function* walk(corePath: string, path: string): AsyncGenerator<SourceEntry> {
  const full = join(corePath, path)
  const stats = await lstat(full)
  const common = { path, mode: stats.mode & 0o777, mtimeMs: Math.trunc(stats.mtimeMs) }
  if (stats.isDirectory()) {
    yield { kind: 'folder', ...common }
    // Names of releases are ASCII, so the order of their characters is that of their bytes.
    for (const name of (await readdir(full)).sort()) yield* walk(corePath, `${path}/${name}`)
  } else if (stats.isFile())
    yield {
      kind: 'file',
      ...common,
      sizeBytes: stats.size,
      // A release never changes.
      stamp: `${stats.size}`,
      open: async () => contentOfOpenFile(openSync(full, 'r')),
    }
}
