/** A separate PostgreSQL server on loopback that tests can stop and start. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort, until } from './stead.ts'

const run = promisify(execFile)

export interface PostgresCluster {
  /** A database in it that is empty at first. */
  readonly url: string
  /** Restarts as after a crash of the server (`immediate`), or in an orderly way that cuts all connections (`fast`). */
  restart(how: 'fast' | 'immediate'): Promise<void>
  /** Ends it like `restart`, until {@link start}. */
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Returns the rows of a statement, on a connection of its own. */
  query(statement: string): Promise<Record<string, unknown>[]>
  /** Saves the content of the database. */
  dump(file: string): Promise<void>
  /** Replaces the content of the database. Nothing may be connected. */
  restore(file: string): Promise<void>
  remove(): Promise<void>
}

/** Programs of the newest installed server. */
function programs(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** Whether this machine can start a server. */
export const hasPostgres = programs() !== undefined

/** Only logins that Stead creates need their passwords. */
const ACCESS = ['127.0.0.1/32', 'samenet']
  .map((from) => `host all stead ${from} trust\nhost all all ${from} scram-sha-256\n`)
  .join('')

/**
 * @param isSafe whether data must survive a crash of the server. Otherwise no commit waits for the disk, and it accepts
 * the connections of a whole test run
 * @param address where it listens; everyone there may log in as `stead`
 * @param mostConnections of a safe server
 * @returns undefined on a machine without PostgreSQL
 */
export async function startPostgres({
  isSafe = true,
  address = '127.0.0.1',
  mostConnections = 60,
} = {}): Promise<PostgresCluster | undefined> {
  const bin = programs()
  if (!bin) return undefined
  const user = await unprivileged()
  const folder = await mkdtemp(join(tmpdir(), 'stead-postgres-'))
  if (user) await chown(folder, user.uid, user.gid)
  const port = await freePort()
  const data = join(folder, 'data')
  const as = user ?? {}
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'stead', '-A', 'trust', '-E', 'UTF8', '--locale=C'], as)
  await writeFile(join(data, 'pg_hba.conf'), ACCESS)
  const forTests = isSafe
    ? ['-c', `max_connections=${mostConnections}`]
    : ['-c', 'max_connections=300', '-c', 'fsync=off']
  const options = ['-D', data, '-p', String(port), '-h', address, '-k', '', ...forTests]
  let child: ReturnType<typeof spawn> | undefined
  const urlOf = (database: string) => `postgres://stead@${address}:${port}/${database}`
  const start = async () => {
    const [command, ...words] = ['/usr/bin/setpriv', '--pdeathsig', 'QUIT', join(bin, 'postgres'), ...options]
    child = spawn(command as string, words, { ...as, stdio: 'ignore' })
    await until('PostgreSQL answers', () =>
      ask(urlOf('postgres'), 'select 1')
        .then(() => true)
        .catch(() => false),
    )
  }
  const stop = async (how: 'fast' | 'immediate') => {
    const running = child
    if (!running || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }
  await start()
  await ask(urlOf('postgres'), 'create database stead')
  return {
    url: urlOf('stead'),
    stop,
    start,
    async restart(how) {
      await stop(how)
      await start()
    },
    query: (statement) => ask(urlOf('stead'), statement),
    async dump(file) {
      await run(join(bin, 'pg_dump'), ['-Fc', '-f', file, '-d', urlOf('stead')])
    },
    async restore(file) {
      await ask(urlOf('postgres'), 'drop database stead with (force)')
      await ask(urlOf('postgres'), 'create database stead')
      await run(join(bin, 'pg_restore'), ['-d', urlOf('stead'), file])
    },
    async remove() {
      await stop('immediate')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** The server refuses to run as root. Debian's package creates a user for it. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const { stdout } = await run('id', ['-u', 'postgres'])
  const group = await run('id', ['-g', 'postgres'])
  return { uid: Number(stdout), gid: Number(group.stdout) }
}
