import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CoreSource, FoundCore } from './core-source.ts'
import { type CoreContent, checkComplete, flush, flushTree, sealTree } from './core-tree.ts'
import { compareVersions, isVersion, versionOf } from './wordpress-version.ts'

/** A WordPress release on this machine, complete and checked. Never write into `path`: every site shares it. */
export interface Core extends CoreContent {
  readonly version: string
  readonly path: string
  /** The name of its source. */
  readonly source: string
  /** ISO 8601. */
  readonly unpackedAt: string
}

/** Runs `work` with a new folder below `folder`, which is removed afterwards. Call it with the lock held. */
export async function inWorkDir<Result>(folder: string, work: (workDir: string) => Promise<Result>): Promise<Result> {
  const workDir = await mkdtemp(join(folder, '.unpack-'))
  try {
    return await work(workDir)
  } finally {
    await rm(workDir, { recursive: true, force: true })
  }
}

/** Removes the remains of failed attempts. Call it with the lock held. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith('.unpack-')) await rm(join(folder, name), { recursive: true, force: true })
}

/**
 * Installs a release that a source has found as a core of this machine. Writes the folder first and the manifest last:
 * a folder without a manifest is a failed attempt. Call it with the lock held.
 * @throws Error when it is not the expected release
 */
export async function installCore(
  folder: string,
  workDir: string,
  source: CoreSource,
  found: FoundCore,
): Promise<Core> {
  if (!isVersion(found.version)) throw new Error('it names no version that is understood')
  const tree = join(workDir, 'core')
  await found.unpack(tree)
  const version = await versionOf(tree)
  if (version !== found.version) throw new Error(`it announces ${found.version} but delivers ${version}`)
  await checkComplete(tree)
  const content = await sealTree(tree)
  await flushTree(tree)
  const path = join(folder, version)
  const manifest = { version, source: source.name, unpackedAt: new Date().toISOString(), ...content }
  await rm(manifestOf(folder, version), { force: true })
  // An existing folder is broken, or it would have been returned before.
  await rename(path, join(workDir, 'broken')).catch(ignoreMissing)
  await rename(tree, path)
  await flush(folder)
  await replaceFile(manifestOf(folder, version), `${JSON.stringify(manifest, null, 2)}\n`, workDir)
  await flush(folder)
  return { ...manifest, path }
}

const manifestOf = (folder: string, version: string) => join(folder, `${version}.json`)

async function replaceFile(path: string, content: string, workDir: string): Promise<void> {
  const draft = join(workDir, 'draft')
  await writeFile(draft, content, { mode: 0o644 })
  await flush(draft)
  await rename(draft, path)
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Returns all complete cores, newest first. */
export async function listCores(folder: string): Promise<Core[]> {
  const names = await readdir(folder).catch(() => [] as string[])
  const versions = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5))
  const cores = await Promise.all(versions.filter(isVersion).map((version) => readCore(folder, version)))
  return cores.filter((core) => core !== undefined).sort((a, b) => compareVersions(b.version, a.version))
}

/** Returns the core of this version if it is complete. */
export async function readCore(folder: string, version: string): Promise<Core | undefined> {
  const path = join(folder, version)
  try {
    const manifest = JSON.parse(await readFile(manifestOf(folder, version), 'utf8')) as Core
    if (manifest.version !== version || (await versionOf(path)) !== version) return undefined
    await checkComplete(path)
    return { ...manifest, path }
  } catch {
    return undefined
  }
}

/** Stores which version was the latest, so that a restart needs no network and does not wait for one. */
export function latestAnswer(folder: string, sources: readonly CoreSource[], forMs: number) {
  const file = join(folder, '.latest.json')
  const key = async () => (await Promise.all(sources.map((source) => source.identity()))).join('\n')
  return {
    async read(): Promise<Core | undefined> {
      try {
        const answer = JSON.parse(await readFile(file, 'utf8')) as { version: string; until: number; sources: string }
        const leftMs = answer.until - Date.now()
        // After the clock is set back, the answer must not stay valid for years.
        if (!isVersion(answer.version) || !(leftMs > 0 && leftMs <= forMs)) return undefined
        if (answer.sources !== (await key())) return undefined
        return await readCore(folder, answer.version)
      } catch {
        return undefined
      }
    },
    /** Stores an answer. Use `holdsMs` for one that must expire sooner. Call it with the lock held. */
    async write(version: string, holdsMs = forMs): Promise<void> {
      const answer = JSON.stringify({ version, until: Date.now() + Math.min(holdsMs, forMs), sources: await key() })
      await inWorkDir(folder, (workDir) => replaceFile(file, answer, workDir))
    },
  }
}
