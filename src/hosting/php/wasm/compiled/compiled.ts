import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { sqlitePlugin } from '../../../site-files/platform/platform-files.ts'

/** Where PHP sees what was compiled ahead for all sites of a core. */
export const compiledAt = '/compiled'

/** Where the process that compiles it, in a site directory that is nobody's, puts it; below `private/`. */
export const compiling = 'compiled'

/**
 * What is the same for every site, and nothing of `wp-config.php`: its keys stand in what was compiled of it. PHP's own identity comes
 * first, so that no other build reads it.
 */
const kept = new RegExp(`^[0-9a-f]{32}/wordpress/(wp-admin|wp-includes|${sqlitePlugin})/`)

/** Copies what PHP has compiled in a site directory to where sites may read it, and nobody may change it. */
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

/** PHP gives its folders and files to nobody but their owner. */
async function makeReadable(folder: string, root: string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  for (let each = folder; ; each = dirname(each)) {
    await chmod(join(root, each), 0o755)
    if (each === '.') return
  }
}
