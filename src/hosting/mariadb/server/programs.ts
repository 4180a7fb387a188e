import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram, programFolders } from '../../../platform/files/find-program.ts'
import { OperatorError } from '../../../platform/operator-error.ts'

const run = promisify(execFile)

/**
 * Environment of the server and its installer, by which they find their own programs. Nothing else of Stead's
 * environment reaches them.
 */
export const serverEnvironment = (): Record<string, string> => ({ PATH: programFolders.join(':'), LC_ALL: 'C.UTF-8' })

/** The oldest version with everything used here: atomic DDL (10.6). */
const OLDEST = [10, 6] as const

export interface MariaDbPrograms {
  readonly server: string
  readonly install: string
  readonly setpriv: string
  readonly version: string
}

/** Finds the MariaDB programs of this machine. @throws OperatorError when one is missing or too old */
export async function findPrograms(): Promise<MariaDbPrograms> {
  const [server, install, setpriv] = await Promise.all(['mariadbd', 'mariadb-install-db', 'setpriv'].map(findProgram))
  if (!server || !install || !setpriv)
    throw new OperatorError(
      'MariaDB is not installed on this server. Run apt install mariadb-server-core mariadb-client (Debian, Ubuntu). ' +
        'Stead starts a separate MariaDB server and does not touch one that already runs. To use another server, set STEAD_MARIADB_URL.',
    )
  const { stdout } = await run(server, ['--no-defaults', '--version'], { env: serverEnvironment(), timeout: 30_000 })
  return { server, install, setpriv, version: versionIn(stdout) }
}

/**
 * @param text the server's version string, such as `10.11.19-MariaDB-0+deb12u1`
 * @throws OperatorError when the server is not supported
 */
export function versionIn(text: string): string {
  const [, version = ''] = /(\d+\.\d+\.\d+)-MariaDB/i.exec(text) ?? []
  if (!version)
    throw new OperatorError(
      `The database server is not MariaDB. It reports "${text.trim().slice(0, 100)}". Stead does not support MySQL.`,
    )
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOldEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  if (!isOldEnough) throw new OperatorError(`MariaDB ${version} is too old: ${OLDEST.join('.')} or newer is required.`)
  return version
}
