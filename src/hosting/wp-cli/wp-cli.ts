import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FetchError, fetchBuffer, fetchToFile } from '../../platform/fetch/fetch-public.ts'

/** WP-CLI is not available. The message includes the remedy, and may be shown to users. */
export class WpCliMissing extends Error {
  override readonly name = 'WpCliMissing'
}

/** The only program in the folder that PHP sees. */
export const PHAR = 'wp-cli.phar'
const PUBLIC_SOURCE = 'https://github.com/wp-cli/builds/raw/gh-pages/phar/wp-cli.phar'

const MOST_BYTES = 64 << 20
const FETCH_MS = 5 * 60_000
const PART = 'part-'

export interface WpCliOptions {
  readonly dataDir: string
  /** The operator's own phar. */
  readonly file: string | undefined
  /** The operator's download address, possibly on a private network, or undefined for the public address. */
  readonly source: string | undefined
  readonly allowPrivate: boolean
  readonly log: { info(facts: object, message: string): void; warn(facts: object, message: string): void }
}

/** Provides WP-CLI on a host. */
export interface WpCli {
  /**
   * Returns a folder that contains only WP-CLI. The first call may take as long as the download. @throws WpCliMissing
   */
  folder(): Promise<string>
}

export function createWpCli(options: WpCliOptions): WpCli {
  const root = join(options.dataDir, 'wp-cli')
  let finding: Promise<string> | undefined
  return {
    folder() {
      finding ??= (options.file === undefined ? fetched(root, options) : copied(root, options.file)).finally(() => {
        finding = undefined
      })
      return finding
    },
  }
}

/** Copies the operator's file, which may be where sites must not have access. */
async function copied(root: string, file: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(file)
    const name = `file-${createHash('sha256').update(`${file}\0${size}\0${mtimeMs}`).digest('hex').slice(0, 16)}`
    return await madeOnce(root, name, (path) => copyFile(file, path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new WpCliMissing(
      `WP-CLI cannot be read where STEAD_WP_CLI says that it is (${code ?? 'fault'}). The operator can set it to the path of wp-cli.phar, or remove it.`,
      { cause: error },
    )
  }
}

async function fetched(root: string, { source, allowPrivate, log }: WpCliOptions): Promise<string> {
  const url = source ?? PUBLIC_SOURCE
  const fetching = { allowPrivate: allowPrivate || source !== undefined, timeoutMs: FETCH_MS }
  try {
    return await madeOnce(root, 'fetched', async (path) => {
      const said = (await fetchBuffer(`${url}.sha512`, { ...fetching, maxBytes: 1024 })).toString()
      const wanted = /^\s*([0-9a-f]{128})\b/i.exec(said)?.[1]?.toLowerCase()
      if (!wanted) throw new WpCliMissing('its checksum is not SHA-512')
      await fetchToFile(url, path, { ...fetching, maxBytes: MOST_BYTES })
      if ((await sha512(path)) !== wanted) throw new WpCliMissing('it does not have the checksum that is published')
      log.info({ url, sha512: wanted }, 'WP-CLI was fetched')
    })
  } catch (error) {
    if (!(error instanceof FetchError) && !(error instanceof WpCliMissing)) throw error
    log.warn({ err: error, url }, 'WP-CLI could not be fetched')
    throw new WpCliMissing(
      `WP-CLI is not there, and could not be fetched: ${error.message}. The operator can put wp-cli.phar on the host and set STEAD_WP_CLI to its path.`,
      { cause: error },
    )
  }
}

/** Creates a folder with the program that `make` writes, completely or not at all. */
async function madeOnce(root: string, name: string, make: (path: string) => Promise<unknown>): Promise<string> {
  const folder = join(root, name)
  if (await stat(join(folder, PHAR)).catch(() => undefined)) return folder
  await mkdir(root, { recursive: true })
  for (const left of await readdir(root)) if (left.startsWith(PART)) await rm(join(root, left), { recursive: true })
  const part = join(root, PART + randomBytes(8).toString('hex'))
  await mkdir(part)
  try {
    await make(join(part, PHAR))
    // For the users of sites.
    await chmod(join(part, PHAR), 0o644)
    for (const path of [root, part]) await chmod(path, 0o755)
    await rm(folder, { recursive: true, force: true })
    await rename(part, folder)
    return folder
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

async function sha512(path: string): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
