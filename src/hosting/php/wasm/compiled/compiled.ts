import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { sqlitePlugin } from '../../../site-files/platform/platform-files.ts'

/** The path at which PHP sees the scripts that were compiled ahead for all sites of a core. */
export const compiledAt = '/compiled'

/**
 * The folder below `private/` in which the compiling process stores its results. Its site directory belongs to no site.
 */
export const compiling = 'compiled'

/**
 * The files that are the same for every site. `wp-config.php` is excluded, because its compiled form contains its keys.
 * The path starts with PHP's own identity, so that no other build reads it.
 */
const kept = new RegExp(`^[0-9a-f]{32}/wordpress/(wp-admin|wp-includes|${sqlitePlugin})/`)

/** Copies what PHP has compiled in a site directory to a place where sites can read it and cannot change it. */
export async function publishCompiled(siteDirectory: string, to: string): Promise<void> {
  const from = join(siteDirectory, 'private', compiling)
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name))
    if (!entry.isFile() || !kept.test(path)) continue
    const file = join(to, path)
    await makeReadable(dirname(path), to)
    await copyFile(join(from, path), file)
    await chmod(file, 0o644)
  }
}

/** Makes folders and files readable. PHP creates them for their owner only. */
async function makeReadable(folder: string, root: string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  for (let each = folder; ; each = dirname(each)) {
    await chmod(join(root, each), 0o755)
    if (each === '.') return
  }
}
