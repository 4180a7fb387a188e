/**
 * Data folders that older versions of Stead made. They are kept packed, without WordPress: what a site shares with the
 * core of its version is listed in `from-core.json` and comes from the core of the tests.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { cp, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { create, extract } from 'tar'

const run = promisify(execFile)

/** Where they lie, one file each, named after the day and the commit of the program. */
export const foldersDir = join(import.meta.dirname, 'folders')

/** What the API of the old version said of what it made. */
export interface OldFacts {
  readonly commit: string
  readonly cmsVersion: string
  readonly site: { readonly id: number; readonly url: string }
  readonly comment: string
  readonly upload: { readonly path: string; readonly text: string }
  readonly note: { readonly subject: string; readonly body: string }
  readonly tag: string
  readonly collaborator: { readonly email: string; readonly roles: readonly string[] }
  readonly domain?: string
  readonly webhook?: { readonly url: string }
  /** IDs of the backups, with their kind. */
  readonly backups?: readonly { readonly id: number; readonly type: string }[]
  readonly sftp?: { readonly username: string; readonly password: string }
  /** A site that was being created when the old program was killed. */
  readonly unfinished: { readonly id: number }
}

const FACTS = 'facts.json'
const FROM_CORE = 'from-core.json'

/** Files that Stead creates again automatically. */
const isLeftOut = (name: string): boolean =>
  /^(?:adminer|cores|edge-cache|logs|php-code|php-program|reserve|templates)$|\.lock(?:-journal)?$/.test(name)

/** Packs a data folder that no program uses any longer, with the facts about it. */
export async function packFolder(dataDir: string, facts: OldFacts, file: string): Promise<void> {
  await writeFile(join(dataDir, FACTS), JSON.stringify(facts, undefined, 2))
  await writeFile(join(dataDir, FROM_CORE), JSON.stringify(await takeCoreAway(dataDir, facts.cmsVersion)))
  const names = (await readdir(dataDir)).filter((name) => !isLeftOut(name)).sort()
  await mkdir(dirname(file), { recursive: true })
  // Beside it, because a run may be killed.
  const part = `${file}.part`
  await pipeline(
    create({ cwd: dataDir, filter: (path) => !/^backups\/core-|^sites\/[^/]*\.\w/.test(path) }, names),
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_windowLog]: 26 } }),
    createWriteStream(part),
  )
  await rename(part, file)
}

/**
 * Unpacks one into a data folder that has a core and a template.
 * @param core folder of the WordPress of the tests
 */
export async function unpackFolder(file: string, dataDir: string, core: string): Promise<OldFacts> {
  await pipeline(
    createReadStream(file),
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 26 } }),
    extract({ cwd: dataDir, preserveOwner: process.getuid?.() === 0 }),
  )
  const fromCore: Record<string, string[]> = JSON.parse(await readFile(join(dataDir, FROM_CORE), 'utf8'))
  for (const [web, paths] of Object.entries(fromCore)) {
    const { uid, gid } = await stat(join(dataDir, web))
    for (const path of paths) {
      if (!existsSync(join(core, path))) continue
      await cp(join(core, path), join(dataDir, web, path), { recursive: true })
      if (process.getuid?.() === 0) await run('chown', ['-R', `${uid}:${gid}`, join(dataDir, web, path)])
    }
  }
  const facts: OldFacts = JSON.parse(await readFile(join(dataDir, FACTS), 'utf8'))
  await giveCoreVersion(dataDir, core, facts.cmsVersion)
  for (const name of [FACTS, FROM_CORE]) await rm(join(dataDir, name))
  return facts
}

/** Removes the files of a site that are the same in the core. @returns their paths by directory, for the way back */
async function takeCoreAway(dataDir: string, cmsVersion: string): Promise<Record<string, string[]>> {
  const core = coreOf(dataDir, cmsVersion)
  const taken: Record<string, string[]> = {}
  for (const home of await readdir(join(dataDir, 'sites'))) {
    const web = join('sites', home, 'web')
    if (!existsSync(join(dataDir, web))) continue
    const paths: string[] = []
    for (const name of await readdir(join(dataDir, web))) {
      const path = join(dataDir, web, name)
      if (!(await lstat(path)).isFile() || !existsSync(join(core, name))) continue
      if (!(await readFile(path)).equals(await readFile(join(core, name)))) continue
      await rm(path)
      paths.push(name)
    }
    taken[web] = paths
    // themes and plugins that come with WordPress
    for (const kind of ['themes', 'plugins'])
      for (const name of await readdir(join(dataDir, web, 'wp-content', kind)).catch(() => [])) {
        const path = join('wp-content', kind, name)
        if (!existsSync(join(core, path))) continue
        await rm(join(dataDir, web, path), { recursive: true })
        paths.push(path)
      }
  }
  return taken
}

function coreOf(dataDir: string, cmsVersion: string): string {
  const core = join(dataDir, 'cores', cmsVersion)
  if (!existsSync(core)) throw new Error(`There is no WordPress in ${core}`)
  return core
}

/** Gives the core of the tests the version that the old sites name, if it has another. */
async function giveCoreVersion(dataDir: string, core: string, version: string): Promise<void> {
  const file = 'wp-includes/version.php'
  const line = `$wp_version = '${version}'`
  const text = await readFile(join(core, file), 'utf8')
  // Stead itself takes the core of the tests.
  if (text.includes(line)) return
  const cores = join(dataDir, 'cores')
  await mkdir(cores, { recursive: true, mode: 0o711 })
  await cp(core, join(cores, version), { recursive: true })
  await writeFile(join(cores, version, file), text.replace(/\$wp_version = '.*'/, line))
  const manifest = {
    version,
    source: 'tests',
    unpackedAt: new Date().toISOString(),
    sha256: '',
    files: 0,
    sizeBytes: 0,
  }
  await writeFile(join(cores, `${version}.json`), JSON.stringify(manifest))
}
