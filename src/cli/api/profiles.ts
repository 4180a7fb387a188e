import { mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeFileDurably } from '../../platform/files/write-file.ts'
import { CommandError } from '../output.ts'
import type { Environment } from './command-context.ts'

/** A server, and the credentials for it. */
export interface Profile {
  readonly url: string
  readonly client_id: string
  readonly client_secret: string
}

export interface Profiles {
  /** The default profile. */
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

export const profilesFile = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'stead', 'profiles.json')

export async function readProfiles(environment: Environment): Promise<Profiles> {
  const file = profilesFile(environment)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw new CommandError(`${file} cannot be read: ${error.message}`)
  })
  if (text === undefined) return { current: null, profiles: {} }
  try {
    const { current, profiles } = JSON.parse(text) as Profiles
    if (typeof profiles === 'object' && profiles !== null) return { current: current ?? null, profiles }
  } catch {
    // The error below reports it.
  }
  throw new CommandError(`${file} does not contain profiles. Repair it, or remove it and log in again with stead login`)
}

/** Writes the file, which only its owner can read, because it contains secrets. */
export async function writeProfiles(environment: Environment, profiles: Profiles): Promise<void> {
  const file = profilesFile(environment)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFileDurably(file, `${JSON.stringify(profiles, null, 2)}\n`, 0o600)
}
