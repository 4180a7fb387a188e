/** A host's own server on the machine: its isolation, and what happens when the server or the host dies. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { testUid } from '../../../../test/support/site-directory.ts'
import { lockFile } from '../../../platform/files/lock-file.ts'
import { noLog } from '../../../platform/log/log.ts'
import { rowsOf } from './connect.ts'
import { asAdministrator, type DatabaseServer } from './database-server.ts'
import { startOwnServer } from './own-server.ts'
import { versionIn } from './programs.ts'

test('rejects a server that is not MariaDB or is too old', () => {
  expect(versionIn('10.11.19-MariaDB-0+deb12u1-log')).toBe('10.11.19')
  expect(versionIn('mariadbd  Ver 11.4.2-MariaDB for Linux')).toBe('11.4.2')
  expect(() => versionIn('8.0.36')).toThrow('is not MariaDB')
  expect(() => versionIn('10.5.23-MariaDB')).toThrow('too old')
})

/** Returns the process of the server that was started with these settings. */
async function pidOf(folder: string): Promise<number> {
  for (const name of await readdir('/proc')) {
    const words = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (words[1] === `--defaults-file=${join(folder, 'settings.cnf')}`) return Number(name)
  }
  return 0
}

describe.skipIf(!hasMariaDb)('the server of a host', () => {
  let above: string
  let folder: string
  let server: DatabaseServer
  const start = () => startOwnServer({ folder, uid: testUid, log: noLog })
  const ask = (sql: string) => asAdministrator(server, (connection) => rowsOf(connection, sql))

  beforeAll(async () => {
    above = await mkdtemp(join(tmpdir(), 'stead-server-'))
    await chmod(above, 0o711)
    folder = join(above, 'mariadb')
    server = await start()
  })
  afterAll(async () => {
    await server?.stop(30_000)
    await rm(above, { recursive: true, force: true })
  })

  test('admits only the host, listens only on its socket, and uses its own settings', async () => {
    expect(await ask("select User, Host from mysql.user where User <> 'mariadb.sys'")).toEqual([
      ['stead_admin', 'localhost'],
    ])
    expect(await ask('show databases')).toEqual([['information_schema'], ['mysql'], ['performance_schema'], ['sys']])
    expect(
      await ask(
        'select @@skip_networking, @@local_infile, @@secure_file_priv, @@have_symlink, @@innodb_file_per_table, @@character_set_server, @@event_scheduler',
      ),
    ).toEqual([['1', '0', join(folder, 'files/'), 'DISABLED', '1', 'utf8mb4', 'DISABLED']])
    // The limits of a session, and of all sessions.
    expect(
      await ask(
        'select @@innodb_temp_data_file_path, @@max_session_mem_used, @@tmp_disk_table_size, @@max_allowed_packet, @@tmpdir, @@max_connections, @@key_buffer_size',
      ),
    ).toEqual([
      [
        'ibtmp1:12M:autoextend:max:2048M',
        ...[256 << 20, 512 << 20, 64 << 20].map(String),
        expect.stringContaining(folder),
        '2000',
        '65536',
      ],
    ])
    await expect(server.connect({ user: 'root', password: '' })).rejects.toThrow('Access denied')
    await expect(server.connect({ user: '', password: '' })).rejects.toThrow('Access denied')
  })

  test('runs as its own user, and keeps others from its data and its secrets', async () => {
    const uid = testUid ?? process.getuid?.()
    expect((await stat(`/proc/${await pidOf(folder)}`)).uid).toBe(uid)
    const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777
    expect([await modeOf('data'), await modeOf('start.sql'), await modeOf('administrator.cnf')]).toEqual([
      0o700, 0o600, 0o600,
    ])
  })

  test('restarts with its data after it is killed', async () => {
    await ask('create database kept')
    await ask('create table kept.t (a int)')
    await ask('insert into kept.t values (7)')
    process.kill(await pidOf(folder), 'SIGKILL')
    await expect.poll(() => server.restarts).toBe(1)
    await expect.poll(() => server.isUp).toBe(true)
    expect(await ask('select a from kept.t')).toEqual([['7']])
    await ask('drop database kept')
  })

  test('belongs to one host at a time', async () => {
    expect(await lockFile(join(folder, 'lock'))).toBeUndefined()
  })

  test('ends when its host is killed, and serves the next one', async () => {
    const other = join(above, 'other')
    const script = `import { startOwnServer } from '${join(import.meta.dirname, 'own-server.ts')}'
      const log = { info() {}, warn() {}, error() {} }
      await startOwnServer({ folder: '${other}', uid: ${testUid}, log })
      console.log('up')
      setInterval(() => {}, 1000)`
    const file = join(above, 'host.ts')
    await writeFile(file, script)
    const host = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(host.stdout, 'data')
    expect(await pidOf(other)).toBeGreaterThan(0)
    host.kill('SIGKILL')
    await expect.poll(() => pidOf(other)).toBe(0)
    const next = await startOwnServer({ folder: other, uid: testUid, log: noLog })
    await next.stop(30_000)
    expect(await pidOf(other)).toBe(0)
  })

  test('ends a leftover server before starting another', async () => {
    const other = join(above, 'left')
    const first = await startOwnServer({ folder: other, uid: testUid, log: noLog })
    await first.stop(30_000)
    const user = testUid === null ? [] : ['--reuid', String(testUid), '--regid', String(testUid), '--clear-groups']
    const left = spawn('setpriv', [...user, '/usr/sbin/mariadbd', `--defaults-file=${join(other, 'settings.cnf')}`], {
      stdio: 'ignore',
    })
    const ended = once(left, 'exit')
    await expect.poll(() => pidOf(other)).toBe(left.pid)
    const next = await startOwnServer({ folder: other, uid: testUid, log: noLog })
    await ended
    expect(await pidOf(other)).not.toBe(left.pid)
    await next.stop(30_000)
  })

  test('reports what prevents it from starting', async () => {
    const closed = join(above, 'closed')
    await mkdir(closed, { mode: 0o700 })
    if (testUid !== null)
      await expect(startOwnServer({ folder: join(closed, 'm'), uid: testUid, log: noLog })).rejects.toThrow(
        'Other users cannot enter',
      )
    await expect(startOwnServer({ folder: join(above, 'x'.repeat(100)), uid: testUid, log: noLog })).rejects.toThrow(
      'too long for a socket',
    )
    const broken = join(above, 'broken')
    const first = await startOwnServer({ folder: broken, uid: testUid, log: noLog })
    await first.stop(30_000)
    await writeFile(join(broken, 'data/ibdata1'), 'x'.repeat(1000))
    await expect(startOwnServer({ folder: broken, uid: testUid, log: noLog })).rejects.toThrow('MariaDB does not start')
  })
})
