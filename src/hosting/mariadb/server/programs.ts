import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram, programFolders } from '../../../platform/files/find-program.ts'
import { OperatorError } from '../../../platform/operator-error.ts'

const run = promisify(execFile)

/** What the server, and what makes its first data folder, find their own programs by; nothing else of Stead's environment reaches them. */
export const serverEnvironment = (): Record<string, string> => ({ PATH: programFolders.join(':'), LC_ALL: 'C.UTF-8' })

/** The oldest that has all that is used here: definitions that are changed wholly or not at all (10.6). */
const OLDEST = [10, 6] as const

export interface MariaDbPrograms {
  readonly server: string
  readonly install: string
  readonly setpriv: string
  readonly version: string
}

/** The programs of this machine's MariaDB. @throws OperatorError when one is missing, or too old */
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

/** @param text what a server says of itself: `10.11.19-MariaDB-0+deb12u1`. @throws OperatorError when it is none that Stead can use */
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
