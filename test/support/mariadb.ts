/** A MariaDB for one test, on a socket in a temporary folder. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MOST_BYTES = 1 << 30

export interface TestMariaDb {
  /** Its socket; `root` needs no password. */
  readonly socket: string
  /** Empties the database, and runs the text of a dump in it. */
  import(file: string): Promise<void>
  /** Runs `mariadb-dump`. */
  dump(options?: readonly string[]): Promise<Buffer>
  /** Runs a statement. @returns tab-separated rows */
  query(sql: string): Promise<string>
  stop(): Promise<void>
}

/** Whether this machine can start one. */
export const hasMariaDb = ['mariadbd', 'mariadb', 'mariadb-dump', 'mariadb-install-db'].every((name) => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { env: withPath() })
    return true
  } catch {
    return false
  }
})

function withPath(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
}

export async function startMariaDb(): Promise<TestMariaDb> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-mariadb-'))
  const socket = join(folder, 'socket')
  const env = withPath()
  const user = userInfo().username
  const place = ['--no-defaults', `--datadir=${join(folder, 'data')}`, `--user=${user}`]
  await run('mariadb-install-db', [...place, '--auth-root-authentication-method=normal', '--skip-test-db'], { env })
  const server = spawn(
    'mariadbd',
    // its data need no fsync
    [
      ...place,
      `--socket=${socket}`,
      '--skip-networking',
      '--max-allowed-packet=1G',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-log-file-size=512M',
    ],
    { env, stdio: 'ignore' },
  )
  const client = [
    '--no-defaults',
    `--socket=${socket}`,
    '--user=root',
    '--default-character-set=utf8mb4',
    '--max-allowed-packet=1G',
  ]
  const query = async (sql: string) =>
    (await run('mariadb', [...client, '-N', '-e', sql], { env, maxBuffer: MOST_BYTES })).stdout
  const isUp = () =>
    query('select 1').then(
      () => true,
      () => false,
    )
  while (!(await isUp())) if (server.exitCode !== null) throw new Error('MariaDB does not start')
  return {
    socket,
    query,
    async import(file) {
      await query('drop database if exists site; create database site')
      const importing = execFile('mariadb', [...client, 'site'], { env })
      const said: string[] = []
      importing.stderr?.on('data', (text) => said.push(String(text)))
      createReadStream(file).pipe(importing.stdin as NodeJS.WritableStream)
      importing.stdin?.on('error', () => {})
      const code = await new Promise((resolve) => importing.once('close', resolve))
      if (code !== 0) throw new Error(`MariaDB refuses it: ${said.join('').slice(-500)}`)
    },
    async dump(options = []) {
      const words = [...client, ...options, 'site']
      const { stdout } = await run('mariadb-dump', words, { env, maxBuffer: MOST_BYTES, encoding: 'buffer' })
      return stdout
    },
    async stop() {
      const ended = new Promise((resolve) => server.once('close', resolve))
      server.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
