import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { PhpPool } from '../php/pool/pool.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import type { FileContent, WantedEntry } from '../site-files/file-content.ts'
import { ALL } from '../site-files/scope.ts'
import { walkTree } from '../site-files/walk.ts'
import type { UnpackedPackage } from './plugin-packages.ts'

/** Returns the place of a package for WordPress' upgrader, below `wp-content`. */
export const stagingOf = (operationId: number): string => `upgrade/stead-${operationId}`

/**
 * Puts an unpacked package into a site, as its user and within its quota. Visitors wait while it is moved into its
 * place.
 * @throws DiskFull, FilesRefused
 */
export async function stagePackage(
  { siteFiles, pool }: { readonly siteFiles: FileContent; readonly pool: Pick<PhpPool, 'between'> },
  directory: SitePlace,
  { path }: UnpackedPackage,
  { operationId, signal }: { readonly operationId: number; readonly signal: AbortSignal },
): Promise<void> {
  const staging = `wp-content/${stagingOf(operationId)}`
  const scope = { paths: [staging] }
  await siteFiles.prepare(directory, below(staging, path, signal), { scope, signal })
  await pool.between(directory.siteId, () => siteFiles.switch(directory))
  await siteFiles.cleanUp(directory)
}

async function* below(staging: string, root: string, signal: AbortSignal): AsyncGenerator<WantedEntry> {
  yield { kind: 'folder', path: staging, mode: 0o755, mtimeMs: Date.now() }
  for await (const entry of walkTree(root, { scope: ALL, granularityMs: 0, signal })) {
    const path = `${staging}/${entry.path}`
    if (entry.kind !== 'file') yield { ...entry, path }
    else yield { ...entry, path, open: async () => createReadStream(join(root, entry.path)) }
  }
}
