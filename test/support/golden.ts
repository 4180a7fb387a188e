import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { layerNumber } from '../../src/hosting/site-files/platform/sqlite-layer.ts'
import { keptDir } from './kept.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** Everything that a template depends on: other content means another golden folder. */
const madeBy = [
  'src/hosting/site-directories/template.ts',
  'src/hosting/site-files/platform/lay-out-directory.ts',
  'src/hosting/php/wp-config.ts',
  'src/hosting/php/tasks/install.php',
  'src/hosting/php/tasks/check-site.php',
]

/**
 * Returns the folder where tests of this user share a data folder that contains only an unpacked core and its template.
 */
export async function goldenFolder(core: string): Promise<string> {
  // a changed layer makes Stead create the template again, which every start of a test would repeat
  const hash = createHash('sha256')
    .update(core)
    .update(await layerNumber())
  for (const file of madeBy) hash.update(await readFile(join(root, file)))
  return join(keptDir(), `stead-golden-${userInfo().uid}`, `${basename(core)}-${hash.digest('hex').slice(0, 12)}`)
}

/** Keeps `cores/` and `templates/` of a data folder for later starts. If several do so at once, the first wins. */
export async function keepGolden(golden: string, dataDir: string): Promise<void> {
  if (existsSync(golden)) return
  const unfinished = `${golden}.${randomBytes(6).toString('hex')}`
  await mkdir(unfinished, { recursive: true, mode: 0o711 })
  await copyParts(dataDir, unfinished)
  await rename(unfinished, golden).catch(() => rm(unfinished, { recursive: true, force: true }))
}

/** Copies the golden folder into a data folder. @returns whether there was anything to copy */
export async function fromGolden(golden: string, dataDir: string): Promise<boolean> {
  if (!existsSync(golden)) return false
  await copyParts(golden, dataDir)
  return true
}

async function copyParts(from: string, to: string): Promise<void> {
  // Stead never writes to an existing core, so links suffice on the same file system
  await run('cp', ['-al', join(from, 'cores'), to]).catch(async () => {
    await rm(join(to, 'cores'), { recursive: true, force: true })
    await run('cp', ['-a', join(from, 'cores'), to])
  })
  await rm(join(to, 'cores/.lock'), { force: true })
  await run('cp', ['-a', join(from, 'templates'), to])
  for (const name of await readdir(join(to, 'templates')))
    if (name.endsWith('.making')) await rm(join(to, 'templates', name), { recursive: true })
}
