import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably, writeFileOnce } from '../../platform/files/write-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { FolderFacts, FolderIdentity } from './belonging.ts'
import { LAST_SYSTEM_USER } from './users.ts'

/** Folder names of site directories: `h<number>`. */
const HOME = /^h([1-9]\d{0,15})$/

export const newIdentity = (): string => randomBytes(16).toString('hex')

export const identityFile = (dataDir: string): string => join(dataDir, 'identity.json')

/** Returns the number of a site directory from the name of its folder. */
export function directoryNumber(folder: string): number | undefined {
  const digits = HOME.exec(folder)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Reads facts from the folder, and changes nothing.
 * @throws OperatorError when its identity cannot be read
 */
export async function folderFacts(dataDir: string): Promise<FolderFacts> {
  const [identity, hostName, names] = await Promise.all([
    readIdentity(dataDir),
    readOrNull(join(dataDir, 'host-name')),
    readdir(join(dataDir, 'sites')).catch(nothingIfMissing),
  ])
  const siteDirectories = names.flatMap((name) => directoryNumber(name) ?? [])
  const firstUser = identity?.firstUser ?? (await firstUserOf(join(dataDir, 'sites'), siteDirectories))
  return { identity, hostName: hostName?.trim() || null, siteDirectories: siteDirectories.length, firstUser }
}

/**
 * Finds the users of site directories from their owners, when the folder does not record them: it is older, or has lost
 * its identity.
 */
async function firstUserOf(sites: string, siteDirectories: readonly number[]): Promise<number | null> {
  for (const directory of siteDirectories) {
    const owner = await stat(join(sites, `h${directory}`, 'web')).catch(() => undefined)
    if (owner && owner.uid - directory > LAST_SYSTEM_USER) return owner.uid - directory
  }
  return null
}

async function readIdentity(dataDir: string): Promise<FolderIdentity | null> {
  const text = await readOrNull(identityFile(dataDir))
  if (text === null) return null
  const { installation, host, epoch, lastHome, firstUser = null } = (parsed(text) ?? {}) as Partial<FolderIdentity>
  const isWhole =
    typeof installation === 'string' &&
    typeof host === 'string' &&
    Number.isSafeInteger(epoch) &&
    Number.isSafeInteger(lastHome) &&
    (firstUser === null || Number.isSafeInteger(firstUser))
  if (!isWhole)
    throw new OperatorError(
      `${identityFile(dataDir)} is invalid. Restore it from a backup, or remove it. ` +
        'Without it, Stead identifies the host by its name, if the database is the correct one.',
    )
  return { installation, host, epoch: epoch as number, lastHome: lastHome as number, firstUser }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readOrNull(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new OperatorError(`${file} cannot be read (${error.code}). Stead's user must own it.`, { cause: error })
  })
}

function nothingIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw new OperatorError(`${error.path} cannot be read (${error.code}). Stead's user must own it.`, { cause: error })
}

export async function writeIdentity(dataDir: string, identity: FolderIdentity): Promise<void> {
  await writeFileDurably(identityFile(dataDir), `${JSON.stringify(identity, null, 2)}\n`, 0o600)
}

/** Writes the name of a host into its data folder, unless the folder has it. */
export async function nameHost(dataDir: string, name: string): Promise<void> {
  const file = hostNameFile(dataDir)
  if ((await readOrNull(file))?.trim() !== name) await writeFileDurably(file, name, 0o600)
}

/**
 * Returns the name of a host that no database knows yet.
 * @param proposed its name unless the folder has one already, by default a random one
 */
export async function firstHostName(dataDir: string, proposed: string | undefined): Promise<string> {
  const file = hostNameFile(dataDir)
  await writeFileOnce(file, proposed ?? `host-${randomBytes(6).toString('hex')}`, 0o600)
  return (await readFile(file, 'utf8')).trim()
}

const hostNameFile = (dataDir: string): string => join(dataDir, 'host-name')

/** The identity of a folder in use, which has users. */
export type IdentityInUse = FolderIdentity & { readonly firstUser: number }

/** The identity of a folder whose host runs. Only this class writes its file. */
export class RunningIdentity {
  readonly #dataDir: string
  #current: IdentityInUse
  #writing: Promise<void> = Promise.resolve()
  /** False until the folder matches its identity. */
  #isInForce = false

  constructor(dataDir: string, current: IdentityInUse) {
    this.#dataDir = dataDir
    this.#current = current
  }

  get current(): IdentityInUse {
    return this.#current
  }

  /**
   * Resolves when the number, or a higher one, is on the disk. Call it before you create a site directory with that
   * number.
   */
  async reserve(directory: number): Promise<void> {
    if (directory > this.#current.lastHome) {
      this.#current = { ...this.#current, lastHome: directory }
      const write = () => writeIdentity(this.#dataDir, this.#current)
      if (this.#isInForce) this.#writing = this.#writing.then(write, write)
    }
    return this.#writing
  }

  /** Writes the identity. Until then, it exists only in memory. */
  async write(): Promise<void> {
    this.#isInForce = true
    await writeIdentity(this.#dataDir, this.#current)
  }
}
