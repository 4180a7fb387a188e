/** A separate PostgreSQL server on loopback that tests can stop and start. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
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

/**
 * @param isSafe whether data must survive a crash of the server. Otherwise no commit waits for the disk, and it accepts
 * the connections of a whole test run
 * @returns undefined on a machine without PostgreSQL
 */
export async function startPostgres({ isSafe = true } = {}): Promise<PostgresCluster | undefined> {
  const bin = programs()
  if (!bin) return undefined
  const user = await unprivileged()
  const folder = await mkdtemp(join(tmpdir(), 'stead-postgres-'))
  if (user) await chown(folder, user.uid, user.gid)
  const port = await freePort()
  const data = join(folder, 'data')
  const as = user ?? {}
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'stead', '-A', 'trust', '-E', 'UTF8', '--locale=C'], as)
  const forTests = isSafe ? ['-c', 'max_connections=60'] : ['-c', 'max_connections=300', '-c', 'fsync=off']
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...forTests]
  let child: ReturnType<typeof spawn> | undefined
  const address = (database: string) => `postgres://stead@127.0.0.1:${port}/${database}`
  const start = async () => {
    const [command, ...words] = ['/usr/bin/setpriv', '--pdeathsig', 'QUIT', join(bin, 'postgres'), ...options]
    child = spawn(command as string, words, { ...as, stdio: 'ignore' })
    await until('PostgreSQL answers', () =>
      ask(address('postgres'), 'select 1')
        .then(() => true)
        .catch(() => false),
    )
  }
  const stop = async (signal: NodeJS.Signals) => {
    const running = child
    if (!running || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await ended
  }
  await start()
  await ask(address('postgres'), 'create database stead')
  return {
    url: address('stead'),
    async restart(how) {
      await stop(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await start()
    },
    async dump(file) {
      await run(join(bin, 'pg_dump'), ['-Fc', '-f', file, '-d', address('stead')])
    },
    async restore(file) {
      await ask(address('postgres'), 'drop database stead with (force)')
      await ask(address('postgres'), 'create database stead')
      await run(join(bin, 'pg_restore'), ['-d', address('stead'), file])
    },
    async remove() {
      await stop('SIGQUIT')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(statement)
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
