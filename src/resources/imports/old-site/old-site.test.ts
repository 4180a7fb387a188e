/** Tests of a running old site, from the request until the import has ended. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { contentFiles, makeDump } from '../../../../test/support/hosted-archives.ts'
import { keyPair, OldMachine, PASSWORD } from '../../../../test/support/old-machine.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { changeSite } from '../../sites/site.store.ts'
import { importSite } from '../import-site.job.ts'
import { inspectImport } from '../inspect-import.job.ts'
import { removeImport } from '../remove-import.job.ts'

let api: TestApi
let host: FakeHost
let owner: Person
let site: number
let worker: Worker
let folder = ''
let machine: OldMachine

const put = async (path: string, text: string, changedAt = 1_700_000_000) => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await utimes(path, changedAt, changedAt)
}
const on = (path: string) => join(folder, 'site', path)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-old-'))
  for (const { name, content = '' } of contentFiles) await put(on(`wp-content/${name}`), String(content))
  const named = (name: string) => `define('DB_${name.toUpperCase()}', '${name}');`
  await put(on('wp-config.php'), `<?php ${['name', 'user', 'password', 'host'].map(named)}; $table_prefix = 'wp_';`)
  await put(join(folder, 'dump.sql'), makeDump())
  await put(join(folder, 'bin/mysqldump'), `#!/bin/sh\ncat ${folder}/dump.sql\n`)
  await chmod(join(folder, 'bin/mysqldump'), 0o755)
  for (const name of ['sh', 'cat']) await symlink(`/bin/${name}`, join(folder, 'bin', name))
  machine = await OldMachine.start({ path: join(folder, 'bin') })

  api = await testApi('sqlite', { settings: { STEAD_ALLOW_PRIVATE_FETCH: 'yes' } })
  host = await fakeHost(api, { sealer: api.sealer })
  owner = await api.person('owner@example.com')
  site = await api.site(owner, 'taken-in')
  const directory = await host.giveDirectory(site)
  await writeFile(join(directory, 'web/wp-config.php'), "<?php\n$table_prefix = 'wp_';\nrequire 'wp-settings.php';\n")
  await api.database.transaction((tx) => changeSite(tx, site, { writtenAddress: 'new.example.com' }, 1))
  const definitions = [inspectImport, importSite, removeImport].map((each) => ({ ...each, attempts: 1 }))
  worker = startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services: host.services })
})
afterEach(async () => {
  await worker.stop(0)
  machine.stop()
  await host.close()
  await api.close()
  await rm(folder, { recursive: true })
})

const source = (more: object = {}) => ({
  ...{ type: 'ssh', host: '127.0.0.1', port: machine.port, user: 'me', password: PASSWORD, path: on('') },
  ...more,
})
async function create(more: object = {}) {
  const made = await owner.call('POST', `/v1/sites/${site}/imports`, { source: source(more) })
  expect([made.status, made.body.errors]).toEqual([201, null])
  const operation = await ended(api.database, Number(made.headers['operation-id']))
  return { id: made.body.data.id as number, operation, made: made.body.data }
}
const read = async (id: number) => (await owner.call('GET', `/v1/sites/${site}/imports/${id}`)).body.data
const stored = async (id: number) =>
  api.database.read.selectFrom('imports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const start = async (id: number, body: object = {}) => {
  const started = await owner.call('POST', `/v1/sites/${site}/imports/${id}/start`, body)
  expect([started.status, started.body.errors]).toEqual([200, null])
  return ended(api.database, Number(started.headers['operation-id']))
}
const staged = (id: number, path: string) => join(host.services.config.dataDir, 'imports', String(id), path)

test('is inspected, and fetched again before the switch, and its login is deleted afterwards', async () => {
  const { id, operation, made } = await create()
  expect(operation).toMatchObject({ state: 'succeeded', error: null })
  expect(JSON.stringify(made)).not.toContain('pass word')
  const inspected = await read(id)
  expect(inspected).toMatchObject({
    state: 'ready',
    sources: [],
    source: { type: 'ssh', host: '127.0.0.1', port: machine.port, user: 'me', hostKey: machine.fingerprint },
    plan: { format: 'files', from: { home: 'https://old.example.com' }, blockers: [] },
  })
  expect(inspected.plan.leftOut).toContainEqual({ path: 'wp-content/cache', reason: 'cache' })
  expect(inspected.checklist.map(({ text }: { text: string }) => text).join()).toContain(
    'the changes since the inspection',
  )
  const row = await stored(id)
  expect(row.live_secret).toMatch(/^v1\./)
  expect(JSON.stringify(row)).not.toContain(PASSWORD.slice(0, 6))

  // Changes on the old site in the meantime.
  await put(on('wp-content/uploads/late.txt'), 'late')
  await put(on('wp-content/db.php'), '<?php // of the old host, since yesterday')
  await rm(on('wp-content/uploads/2026'), { recursive: true })
  await put(join(folder, 'dump.sql'), makeDump({ options: { blogname: 'Changed since' } }))
  machine.opened.length = 0
  expect(await start(id)).toMatchObject({ state: 'succeeded', error: null })
  const opened = machine.opened.filter((path) => path.includes('/wp-content/')).map((path) => path.split('/').at(-1))
  expect(opened.sort()).toEqual(['db.php', 'late.txt'])
  const directory = (await host.services.siteDirectories.ofSite(site))?.path as string
  expect(host.title(directory)).toBe('Changed since')
  expect(await readFile(join(directory, 'web/wp-content/uploads/late.txt'), 'utf8')).toBe('late')
  expect(await readdir(join(directory, 'web/wp-content/uploads'))).toEqual(['late.txt', 'made.css'])
  // A file that fits only the old host is left out, although it did not exist at the inspection.
  expect(await readdir(join(directory, 'web/wp-content'))).not.toContain('db.php')
  expect(await stored(id)).toMatchObject({ state: 'imported', live_secret: null })
})

test('without the second pass, imports what was inspected', async () => {
  const { id } = await create()
  machine.stop()
  expect(await start(id, { fetch_again: false })).toMatchObject({ state: 'succeeded' })
})

test('a second pass that fails changes nothing, and can be started again', async () => {
  const { id } = await create()
  await put(join(folder, 'dump.sql'), 'CREATE TABLE `half')
  const failed = await start(id)
  expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('The old site cannot be imported') })
  expect(await read(id)).toMatchObject({ state: 'ready', plan: { from: { title: 'Imported' } } })
  expect(await readFile(staged(id, 'database.sql'), 'utf8')).toBe(makeDump())
  expect((await readdir(staged(id, ''))).sort()).toEqual(['content', 'database.sql'])
  const directory = (await host.services.siteDirectories.ofSite(site))?.path as string
  expect(host.title(directory)).toBe('old')
  await put(join(folder, 'dump.sql'), makeDump())
  expect(await start(id)).toMatchObject({ state: 'succeeded' })
})

test('a second pass that is canceled halfway keeps what was staged', async () => {
  const { id } = await create()
  await put(on('wp-content/uploads/large.bin'), 'x'.repeat(3_000_000))
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  machine.options = {
    ...machine.options,
    sftp(name, _request, _sftp, path) {
      const isThere = name === 'OPEN' && String(path).endsWith('large.bin')
      if (isThere) reach()
      return isThere
    },
  }
  const started = await owner.call('POST', `/v1/sites/${site}/imports/${id}/start`, {})
  const operation = Number(started.headers['operation-id'])
  await reached
  expect((await owner.call('POST', `/v1/operations/${operation}/cancel`)).status).toBe(200)
  expect(await ended(api.database, operation)).toMatchObject({ state: 'canceled' })
  expect(await read(id)).toMatchObject({ state: 'ready', plan: { from: { title: 'Imported' } } })
  expect(await readFile(staged(id, 'database.sql'), 'utf8')).toBe(makeDump())
  machine.options = { ...machine.options, sftp: () => false }
  expect(await start(id)).toMatchObject({ state: 'succeeded' })
})

test('requires the host key that it saw first from then on', async () => {
  const { id } = await create()
  const other = await OldMachine.start({ path: join(folder, 'bin') })
  const live = JSON.stringify({ ...JSON.parse((await stored(id)).live_source as string), port: other.port })
  await api.database.transaction((tx) =>
    tx.updateTable('imports').set({ live_source: live }).where('id', '=', id).execute(),
  )
  const failed = await start(id)
  expect(failed.error).toContain(`is ${other.fingerprint}, and not ${machine.fingerprint}`)
  expect(other.logins).toEqual([])
  other.stop()
})

test('reconnects after a lost connection', async () => {
  await put(on('wp-content/uploads/large.bin'), 'x'.repeat(3_000_000))
  let cuts = 0
  machine.options = {
    ...machine.options,
    sftp: () => {
      if (machine.readBytes < 1_500_000 || cuts > 0) return false
      cuts++
      machine.cut()
      return true
    },
  }
  const { id, operation } = await create()
  expect([operation.state, cuts]).toEqual(['succeeded', 1])
  expect(machine.logins.length).toBe(2)
  expect((await readFile(staged(id, 'content/wp-content/uploads/large.bin'))).length).toBe(3_000_000)
})

test('an import that fails, and one that is deleted, forget their login', async () => {
  const { id, operation } = await create({ password: 'wrong' })
  expect(operation).toMatchObject({ state: 'failed', error: expect.stringContaining('does not admit me') })
  expect(await stored(id)).toMatchObject({ state: 'failed', live_secret: null })
  const retried = await owner.call('POST', `/v1/operations/${operation.id}/retry`)
  expect([retried.status, retried.body.errors]).toEqual([200, null])
  const again = await ended(api.database, Number(operation.id))
  expect(again.error).toContain('The login of the old site was removed')
  const other = await create()
  const path = `/v1/sites/${site}/imports/${other.id}`
  worker.stop(0)
  expect((await owner.call('DELETE', path)).status).toBe(200)
  expect(await stored(other.id)).toMatchObject({ state: 'failed', live_secret: null })
})

const { private: key, public: publicHalf } = keyPair()
// biome-ignore format: a table
const refusals = [
  [{ password: undefined }, 'provide either `password` or `private_key`'],
  [{ private_key: key }, 'provide either `password` or `private_key`'],
  [{ host: 'a b' }, '`host` is not a host name'],
  [{ host: 'http://x' }, '`host` is not a host name'],
  [{ password: undefined, private_key: 'nonsense' }, '`private_key` cannot be read'],
  [{ password: undefined, private_key: publicHalf }, '`private_key` is a public key'],
  [{ host_key: 'nonsense' }, '`host_key` is neither'],
] as const

test('refuses invalid sources', async () => {
  for (const [more, says] of refusals) {
    const { status, body } = await owner.call('POST', `/v1/sites/${site}/imports`, { source: source(more) })
    expect([status, body.code, body.errors.join()]).toEqual([
      400,
      'import_source_refused',
      expect.stringContaining(says),
    ])
  }
  const path = `/v1/sites/${site}/imports`
  const both = { urls: ['https://example.com/a.zip'], source: source() }
  for (const body of [{}, both]) expect((await owner.call('POST', path, body)).body.code).toBe('invalid_input')
  expect(await api.database.read.selectFrom('imports').select('id').execute()).toEqual([])
})

test('refuses a key with a passphrase before it is derived', async () => {
  const { default: ssh2 } = await import('ssh2')
  const sealed = ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'x', cipher: 'aes256-ctr', rounds: 1 }).private
  const body = { source: source({ password: undefined, private_key: sealed }) }
  const answer = await owner.call('POST', `/v1/sites/${site}/imports`, body)
  expect(answer.body.errors.join()).toContain('has a passphrase')
})
