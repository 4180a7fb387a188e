import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { commonName } from '../../certificates/local-authority.ts'

/** The machine whose certificate stores are changed. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** `$HOME` of the user whose browsers are changed. */
  readonly home: string
  /** The root of the system's folders: `/`. */
  readonly systemRoot: string
  /** Whether the system's store may be changed. */
  readonly isRoot: boolean
  run(program: string, args: readonly string[]): Promise<Ran>
}

/** The result of a program. */
export interface Ran {
  /** Undefined if the program is missing, or was interrupted. */
  readonly code: number | undefined
  readonly isMissing: boolean
  readonly out: string
  /** The output on standard error, or why it could not run. */
  readonly error: string
}

/** The certificate of an authority to trust. */
export interface Root {
  /** In PEM form. */
  readonly certificate: string
  /** Its name, which no other has. */
  readonly name: string
  /** The name in the form of a file name, without an extension. */
  readonly fileName: string
}

/** A certificate store that browsers or programs trust. */
export interface TrustPlace {
  /** Its description. */
  readonly where: string
  /**
   * Returns how much of a certificate is stored; `part` after an interrupted change.
   * @throws TrustFault when it cannot be read
   */
  holds(root: Root): Promise<'all' | 'part' | 'nothing'>
  /**
   * Adds a certificate.
   * @throws TrustFault
   */
  add(root: Root): Promise<void>
  /**
   * Removes this certificate only.
   * @throws TrustFault
   */
  remove(root: Root): Promise<void>
}

/** A store could not be changed. The message says why, or what to do. */
export class TrustFault extends Error {
  override readonly name = 'TrustFault'
}

export function rootOf(certificate: string): Root {
  const name = commonName({ certificate })
  return { certificate, name, fileName: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') }
}

/** No program takes this long, except one that waits for a password. */
const MOST_MS = 60_000
/** The folders of administrative programs, which users' shells leave out. */
const SYSTEM_PATH = '/usr/sbin:/sbin'

/** Returns this machine, for the user who runs the command. */
export function thisMachine(environment: Readonly<Record<string, string | undefined>>): Machine {
  // Stead's secrets must not reach other programs.
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
    // The program gets no input.
    child.stdin?.end()
  })
}
