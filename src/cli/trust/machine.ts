import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { commonName } from '../../certificates/local-authority.ts'

/** The machine whose stores of certificates are changed. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** Folder of the user whose browsers they are. */
  readonly home: string
  /** Where the system's folders begin: `/`. */
  readonly systemRoot: string
  /** The system's store may be changed. */
  readonly isRoot: boolean
  run(program: string, args: readonly string[]): Promise<Ran>
}

/** What became of a program. */
export interface Ran {
  /** Undefined: it is not there, or was cut off. */
  readonly code: number | undefined
  readonly isMissing: boolean
  readonly out: string
  /** What it said on standard error, or why it could not be run. */
  readonly error: string
}

/** The certificate of an authority that is to be trusted. */
export interface Root {
  /** PEM. */
  readonly certificate: string
  /** What it calls itself, as no other does. */
  readonly name: string
  /** The same as the name of a file, without an ending. */
  readonly fileName: string
}

/** A store of certificates that somebody trusts. */
export interface TrustPlace {
  /** In words. */
  readonly where: string
  /** How much of a certificate is there; `part`: a change was cut off. @throws TrustFault when it cannot be looked into */
  holds(root: Root): Promise<'all' | 'part' | 'nothing'>
  /** @throws TrustFault */
  add(root: Root): Promise<void>
  /** Takes out what it holds, and nothing else. @throws TrustFault */
  remove(root: Root): Promise<void>
}

/** A store could not be changed: the message says why, or what to do. */
export class TrustFault extends Error {
  override readonly name = 'TrustFault'
}

export function rootOf(certificate: string): Root {
  const name = commonName({ certificate })
  return { certificate, name, fileName: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') }
}

/** None takes so long but one that waits for a password. */
const MOST_MS = 60_000
/** Where programs for the operator are, which users' shells leave out. */
const SYSTEM_PATH = '/usr/sbin:/sbin'

/** This machine, and the user who runs the command. */
export function thisMachine(environment: Readonly<Record<string, string | undefined>>): Machine {
  // Stead's own secrets are nobody else's
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('STEAD_'))
  const env = { ...Object.fromEntries(others), PATH: `${environment.PATH ?? ''}:${SYSTEM_PATH}` }
  return {
    platform: process.platform,
    home: environment.HOME || homedir(),
    systemRoot: '/',
    isRoot: process.getuid?.() === 0,
    run: (program, args) => run(program, args, env),
  }
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, timeout: MOST_MS }, (error, out, said) => {
      const code = error ? error.code : 0
      resolve({
        code: typeof code === 'number' ? code : undefined,
        isMissing: code === 'ENOENT',
        out,
        error: said.trim() || error?.message || '',
      })
    })
    // it asks nobody
    child.stdin?.end()
  })
}
