import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fetchBuffer } from '../../platform/fetch/fetch-public.ts'

const run = promisify(execFile)

/** The only release that is downloaded. Debian 12 has exactly the same file. Any other must be configured. */
export const RELEASE = {
  version: '4.8.1',
  sha256: '2fd7e6d8f987b243ab1839249551f62adce19704c47d3d0c8dd9e57ea5b9c6b3',
  url: 'https://github.com/vrana/adminer/releases/download/v4.8.1/adminer-4.8.1.php',
}
const MOST_BYTES = 1 << 20
const FETCH_MS = 60_000
/** How long a first start waits, so that it can use the download. A later result is used from the next start on. */
const FIRST_START_MS = 10_000
const INSTALLED = '/usr/share/adminer/adminer.php'
const NAME = `adminer-${RELEASE.version}.php`
const PART = 'part-'

export interface AdminerOptions {
  readonly dataDir: string
  /** The operator's own file, or `off` for none. */
  readonly file: string | undefined
  /**
   * The operator's download address, possibly on a private network. With undefined: the public address, then Debian's
   * package.
   */
  readonly source: string | undefined
  readonly allowPrivate: boolean
  readonly log: { info(facts: object, message: string): void; warn(facts: object, message: string): void }
  /** For tests: another file, which is installed nowhere. */
  readonly release?: Pick<typeof RELEASE, 'sha256'>
  readonly installed?: string
  readonly firstStartMs?: number
  readonly fromDebian?: (folder: string) => Promise<Buffer>
}

/**
 * Finds Adminer, which shows databases in a browser, as one PHP file: the operator's, that of Debian's package, or one
 * that is downloaded once.
 * @returns undefined if there is none at this start
 * @throws when the configured file cannot be read
 */
export async function findAdminer(options: AdminerOptions): Promise<Buffer | undefined> {
  const { dataDir, file, installed = INSTALLED, firstStartMs = FIRST_START_MS, log } = options
  if (file === 'off') return undefined
  if (file !== undefined) return readFile(file)
  const folder = join(dataDir, 'adminer')
  const found = (await readFile(installed).catch(() => undefined)) ?? (await kept(folder, options))
  if (found) return found
  const isFirst = (await mkdir(folder, { recursive: true })) !== undefined
  const fetched = fetchOnce(folder, options).catch((error) => {
    log.warn(
      { err: error },
      'could not download Adminer, so database links do not work; Stead retries at the next start',
    )
    return undefined
  })
  return isFirst ? Promise.race([fetched, pause(firstStartMs, undefined, { ref: false })]) : undefined
}

async function kept(folder: string, options: AdminerOptions): Promise<Buffer | undefined> {
  const php = await readFile(join(folder, NAME)).catch(() => undefined)
  return php && isRelease(php, options) ? php : undefined
}

const isRelease = (php: Buffer, { release = RELEASE }: AdminerOptions): boolean =>
  createHash('sha256').update(php).digest('hex') === release.sha256

/** Stores the file completely or not at all. */
async function fetchOnce(folder: string, options: AdminerOptions): Promise<Buffer> {
  for (const left of await readdir(folder))
    if (left.startsWith(PART)) await rm(join(folder, left), { recursive: true, force: true })
  const part = await mkdtemp(join(folder, PART))
  try {
    const { php, from } = await fetchFromFirst(part, options)
    await writeFile(join(part, NAME), php)
    await rename(join(part, NAME), join(folder, NAME))
    options.log.info({ from, version: RELEASE.version }, 'downloaded Adminer')
    return php
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

async function fetchFromFirst(part: string, options: AdminerOptions): Promise<{ php: Buffer; from: string }> {
  const { source, allowPrivate, fromDebian = debianPackage } = options
  const url = source ?? RELEASE.url
  const fetching = { allowPrivate: allowPrivate || source !== undefined, timeoutMs: FETCH_MS, maxBytes: MOST_BYTES }
  const sources = {
    [url]: () => fetchBuffer(url, fetching),
    ...(source === undefined && { 'Debian’s package': () => fromDebian(part) }),
  }
  const failures: string[] = []
  for (const [from, get] of Object.entries(sources))
    try {
      const php = await get()
      if (isRelease(php, options)) return { php, from }
      failures.push(`${from}: it is another file than that of release ${RELEASE.version}`)
    } catch (error) {
      failures.push(from === url ? (error as Error).message : `${from}: ${(error as Error).message}`)
    }
  throw new Error(failures.join('; '))
}

/** Downloads with this machine's own package manager, which knows its mirrors. Installs nothing. */
async function debianPackage(folder: string): Promise<Buffer> {
  const limits = { cwd: folder, timeout: FETCH_MS, maxBuffer: MOST_BYTES }
  const alone = ['-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=10']
  await run('apt-get', [...alone, '-q', 'download', 'adminer'], limits)
  const archive = (await readdir(folder)).find((name) => name.endsWith('.deb'))
  if (archive === undefined) throw new Error('apt-get has fetched nothing')
  await run('dpkg-deb', ['-x', archive, 'package'], limits)
  return readFile(join(folder, 'package', INSTALLED))
}
