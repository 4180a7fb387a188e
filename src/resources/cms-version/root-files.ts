import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { WantedEntry } from '../../hosting/site-files/file-content.ts'

/** Returns the names of the files that a release has at the top of the web root, which are copied into each site. */
export async function rootFiles(corePath: string): Promise<string[]> {
  const entries = await readdir(corePath, { withFileTypes: true })
  // wp-config.php is the site's own, whatever a release contains.
  const names = entries.filter((entry) => entry.isFile() && entry.name !== 'wp-config.php').map(({ name }) => name)
  return names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** Yields these files with their content. */
export async function* wantedRootFiles(corePath: string): AsyncGenerator<WantedEntry> {
  for (const path of await rootFiles(corePath)) {
    const { size: sizeBytes, mtimeMs } = await stat(join(corePath, path))
    const open = async () => createReadStream(join(corePath, path))
    yield { kind: 'file', path, mode: 0o644, mtimeMs, sizeBytes, stamp: `core ${mtimeMs} ${sizeBytes}`, open }
  }
}
