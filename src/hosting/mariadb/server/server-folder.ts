import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { syncFolder, writeFileDurably } from '../../../platform/files/write-file.ts'
import { OperatorError } from '../../../platform/operator-error.ts'
import { giveTo } from '../../site-files/platform/lay-out-directory.ts'
import { removeTree } from '../../site-files/remove-tree.ts'
import { type MariaDbPrograms, serverEnvironment } from './programs.ts'
import { LOG_FILE, serverSettings, UNDO_FILES } from './server-settings.ts'

const run = promisify(execFile)

/** Creating the first data folder takes seconds. */
const INSTALL_MS = 300_000
/** Longest path of a socket (unix(7)), without the terminating byte. */
const MOST_SOCKET_PATH = 107

/** The host's account, which administers the server. */
export const ADMINISTRATOR = 'stead_admin'

/**
 * The folder of the server.
 *
 * ```
 * <data>/mariadb/        0711
 *     data/              0700, the server's: all databases
 *     run/               0711, the server's: socket
 *     tmp/               0700, the server's: temporary files; emptied at each start
 *     files/             0555, empty: the only folder in which statements could use files
 *     settings.cnf       settings of the server
 *     start.sql          0600, the server's: creates the host's account at each start
 *     administrator.cnf  0600, for MariaDB's tools: `--defaults-file`
 *     lock               held by the server's host
 * ```
 */
export class ServerFolder {
  readonly path: string
  readonly #uid: number | null

  /** @param uid owner of the data and user of the server; null for the user that Stead runs as */
  constructor(path: string, uid: number | null) {
    this.path = path
    this.#uid = uid
  }

  get data(): string {
    return join(this.path, 'data')
  }

  get socket(): string {
    return join(this.path, 'run/socket')
  }

  get temporary(): string {
    return join(this.path, 'tmp')
  }

  get settings(): string {
    return join(this.path, 'settings.cnf')
  }

  get lock(): string {
    return join(this.path, 'lock')
  }

  /**
   * Returns the command that runs a program as the server's user. The program gets a signal when this process ends for
   * any reason.
   */
  command({ setpriv }: MariaDbPrograms, words: readonly string[]): [string, string[]] {
    const user =
      this.#uid === null ? [] : ['--reuid', String(this.#uid), '--regid', String(this.#uid), '--clear-groups']
    return [setpriv, [...user, '--pdeathsig', 'TERM', '--', ...words]]
  }

  /** Creates missing folders. @throws OperatorError when the server's user cannot reach them */
  async prepare(programs: MariaDbPrograms): Promise<void> {
    if (Buffer.byteLength(this.socket) > MOST_SOCKET_PATH)
      throw new OperatorError(
        `The path ${this.socket} is too long for a socket. Choose a shorter data folder with STEAD_DATA_DIR.`,
      )
    await mkdir(this.path, { recursive: true, mode: 0o711 })
    await chmod(this.path, 0o711)
    if (this.#uid !== null) await this.#checkWay()
    await this.#makeFolder(join(this.path, 'run'), 0o711, true)
    await this.#makeFolder(join(this.path, 'files'), 0o555, false)
    await this.#makeFolder(this.temporary, 0o700, true)
    await this.#install(programs)
    // Another user created the folder before Stead ran as root.
    if (this.#uid !== null && (await stat(this.data)).uid !== this.#uid) await giveTo(this.#uid, this.data)
  }

  /** Creates data without accounts. The folder gets its name when it is complete. */
  async #install(programs: MariaDbPrograms): Promise<void> {
    const isThere = await stat(this.data).then(
      () => true,
      () => false,
    )
    if (isThere) return
    const made = join(this.path, 'new')
    await removeTree(made)
    await this.#makeFolder(made, 0o700, true)
    const options = ['--no-defaults', `--datadir=${made}`, '--auth-root-authentication-method=normal', '--skip-test-db']
    // In a shared folder, a server that starts would delete such files of other servers.
    options.push(`--tmpdir=${this.temporary}`)
    options.push(`--innodb-undo-tablespaces=${UNDO_FILES}`, `--innodb-log-file-size=${LOG_FILE}`)
    const [command, words] = this.command(programs, [programs.install, ...options, '--skip-name-resolve'])
    try {
      await run(command, words, { env: serverEnvironment(), cwd: '/', timeout: INSTALL_MS, maxBuffer: 1 << 20 })
    } catch (error) {
      const { stderr = '', stdout = '', message } = error as Error & { stderr?: string; stdout?: string }
      const said = `${stderr}\n${stdout}`.trim().slice(0, 1000) || message
      throw new OperatorError(`mariadb-install-db failed: ${said}`, { cause: error, exitCode: 1 })
    }
    await rename(made, this.data)
    await syncFolder(this.path)
  }

  /**
   * Writes the settings, and creates the host's account with a new password. Removes all other accounts with more
   * rights than sites have.
   */
  async write(password: string, { version }: MariaDbPrograms): Promise<void> {
    const initFile = join(this.path, 'start.sql')
    const statements = [
      // A new installation has administrators without a password.
      "DELETE FROM mysql.global_priv WHERE User NOT LIKE 'stead\\_%' AND User <> 'mariadb.sys'",
      'DELETE FROM mysql.proxies_priv',
      'FLUSH PRIVILEGES',
      `CREATE OR REPLACE USER ${ADMINISTRATOR}@localhost IDENTIFIED BY '${password}'`,
      `GRANT ALL ON *.* TO ${ADMINISTRATOR}@localhost WITH GRANT OPTION`,
    ]
    await writeFileDurably(initFile, statements.map((statement) => `${statement};\n`).join(''), 0o600)
    if (this.#uid !== null) await chown(initFile, this.#uid, this.#uid)
    const { data, socket, temporary } = this
    const hasUndoFiles = existsSync(join(data, 'undo001'))
    await writeFileDurably(
      this.settings,
      serverSettings({ data, socket, temporary, files: join(this.path, 'files'), initFile, hasUndoFiles, version }),
      0o644,
    )
    await writeFileDurably(
      join(this.path, 'administrator.cnf'),
      `# Written by Stead at each start.\n[client]\nsocket = ${socket}\nuser = ${ADMINISTRATOR}\npassword = ${password}\n`,
      0o600,
    )
  }

  async #makeFolder(path: string, mode: number, isServers: boolean): Promise<void> {
    await mkdir(path, { recursive: true })
    await chmod(path, mode)
    if (isServers && this.#uid !== null) await chown(path, this.#uid, this.#uid)
  }

  async #checkWay(): Promise<void> {
    for (let above = this.path; above !== dirname(above); above = dirname(above)) {
      if (((await stat(above)).mode & 0o001) !== 0) continue
      throw new OperatorError(
        `Other users cannot enter the folder ${above}, so MariaDB, which runs as a separate user, cannot reach its data. ` +
          `Run chmod o+x ${above}, or choose another data folder with STEAD_DATA_DIR.`,
      )
    }
  }
}
