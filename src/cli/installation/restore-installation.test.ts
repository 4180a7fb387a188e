import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { siteDraft } from '../../../test/support/site-draft.ts'
import { backupKey } from '../../backups/backup-key.store.ts'
import type { BackupStore } from '../../backups/backup-store.ts'
import { printKey } from '../../backups/printed-key.ts'
import { LeasedByAnother } from '../../backups/repository-lease.ts'
import { type Config, readConfig } from '../../config.ts'
import { registerHost } from '../../hosting/host.store.ts'
import { bindFolder } from '../../hosting/identity/bind.ts'
import { folderFacts } from '../../hosting/identity/folder.ts'
import { databaseFacts, installationOf } from '../../hosting/identity/identity.store.ts'
import { insertDirectory, setDirectory } from '../../hosting/site-directories/directory.store.ts'
import { lastGivenId } from '../../platform/db/sequences.ts'
import { makeFirstAccount } from '../../resources/account/account.ts'
import { backUpRecords, listRecordsBackups, recordsRepository } from '../../resources/installation/records-backup.ts'
import { openBackups } from '../../resources/kit/open-backups.ts'
import { insertSite } from '../../resources/sites/site.store.ts'
import { requireMasterKey } from '../../roles/keys/process-keys.ts'
import { openControlDatabase, openProcessContext, type ProcessContext } from '../../roles/process-context.ts'
import { exportSite, siteBackups } from '../site-backups.ts'
import { takeOverBackups } from './own-backups.ts'
import { restoreInstallation } from './restore-installation.ts'

/** Creates an installation with one site on one host, whose site has backups, and a place for the restored one. */
describe.each(dialects.filter(({ skip }) => !skip))('a restore of the installation into $dialect', ({ dialect }) => {
  let folder: string
  let context: ProcessContext
  let printed: string
  let target: TestDatabase | undefined
  let config: Config
  let siteId: number
  const storage = () => openBackups(context)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-restore-'))
    context = await openProcessContext(settings('old'), 'test')
    const { database, sealer } = context
    const { name, identity } = await bindFolder(join(folder, 'old'), { database, where: '' }, Date.now())
    const { host, epoch } = identity.current
    siteId = await database.transaction(async (tx) => {
      const first = await makeFirstAccount(tx, { email: 'a@b.example', now: 1 })
      const hostId = await registerHost(tx, {
        name,
        address: '',
        datacenters: '',
        identity: host,
        epoch,
        maxSites: 1000,
      })
      const draft = siteDraft('one', { accountId: first?.account.id as number, hostId })
      const { id } = await insertSite(tx, draft, 1)
      const directory = { hostId, siteId: id, coreVersion: '6.8', install: 'wordpress', now: 1 }
      await setDirectory(tx, (await insertDirectory(tx, directory)).id, { state: 'taken' })
      return id
    })
    for (const number of [3, 4]) await aBackup(siteId, number)
    printed = printKey(await backupKey(database, sealer, 1))
    const parts = {
      database,
      backups: storage(),
      masterKey: requireMasterKey(context),
      credentials: '{"client_id":"x"}',
    }
    await backUpRecords(parts, { now: Date.now() })
    target = dialect === 'postgres' ? await testDatabase('postgres', {}) : undefined
    config = settings('new', target && { STEAD_DATABASE_URL: target.connection.url as string })
  })
  afterEach(async () => {
    await context.logs.close()
    await context.database.close()
    await target?.drop()
    await rm(folder, { recursive: true })
  })

  const settings = (name: string, more: Record<string, string> = {}) =>
    readConfig({
      STEAD_DATA_DIR: join(folder, name),
      STEAD_BACKUP_DIR: join(folder, 'storage'),
      STEAD_LOG_LEVEL: 'silent',
      ...more,
    })

  /** Creates a backup of a site's database, with the number of its database record. */
  async function aBackup(site: number, number: number, random = ''): Promise<void> {
    const content = async function* () {
      yield Buffer.from(`content ${number}${random}`)
    }
    await storage()
      .repository(`site-${site}`)
      .writeStream(content(), { name: `b${number}${random}` })
  }

  const restore = (more: Partial<Parameters<typeof restoreInstallation>[1]> = {}) =>
    restoreInstallation(config, {
      ...options(),
      key: printed,
      ...more,
    })

  test('needs only storage and key: the same installation, host, secrets, and a restore of every site', async () => {
    const restored = await restore()
    expect(restored).toMatchObject({
      sites: 1,
      withoutBackup: ['one'],
      unknown: [],
      host: expect.stringMatching(/^host-/),
    })
    expect(await readFile(join(config.dataDir, 'credentials.json'), 'utf8')).toBe('{"client_id":"x"}')
    // Open it as a start would, with the restored key.
    const { database, belonging } = await openControlDatabase(config, { makes: false, strangers: 'refuse' })
    expect(belonging.kind).toBe('known')
    expect(await installationOf(database.read)).toEqual(await installationOf(context.database.read))
    // Secondaries may know zones from after the backup.
    const clock = database.read.selectFrom('zone_clock').select('made_with')
    expect(await clock.executeTakeFirstOrThrow()).toEqual({ made_with: '' })
    const [operation] = await database.read
      .selectFrom('operations')
      .select(['id', 'type', 'site_id'])
      .where('type', '=', 'site.bring_back')
      .execute()
    expect(operation).toMatchObject({ site_id: siteId })
    const site = database.read.selectFrom('sites').select('closed_by').where('id', '=', siteId)
    expect(await site.executeTakeFirst()).toEqual({ closed_by: operation?.id })
    await database.close()
    const again = await openProcessContext(config, 'test')
    expect(again.masterKey).toEqual(context.masterKey)
    await again.logs.close()
    await again.database.close()
  })

  test('records backups that only the storage knows, and reuses no number', async () => {
    await aBackup(siteId, 40)
    await aBackup(siteId + 7, 55)
    expect(await restore()).toMatchObject({ unknown: [siteId + 7] })
    const { database } = await openControlDatabase(config, { makes: false, strangers: 'refuse' })
    const known = await database.read.selectFrom('backups').select(['id', 'kind', 'state']).orderBy('id').execute()
    expect(known).toEqual([3, 4, 40].map((id) => ({ id, kind: 'db', state: 'completed' })))
    expect(await lastGivenId(database.read, 'backups')).toBe(55)
    expect(await lastGivenId(database.read, 'sites')).toBe(siteId + 7)
    await database.close()
  })

  test('records both of two backups with one number, which an older restored database had assigned again', async () => {
    await aBackup(siteId, 40, '-0123456789abcdef')
    await aBackup(siteId, 40, '-fedcba9876543210')
    await aBackup(siteId, 41)
    await restore()
    const { database } = await openControlDatabase(config, { makes: false, strangers: 'refuse' })
    const known = await database.read.selectFrom('backups').select(['id', 'name']).orderBy('id').execute()
    expect(known.map(({ id }) => id)).toEqual([3, 4, 40, 41, 42])
    const names = known.filter(({ id }) => id === 40 || id === 42).map(({ name }) => name)
    expect(names.toSorted()).toEqual(['b40-0123456789abcdef', 'b40-fedcba9876543210'])
    await database.close()
  })

  test('skips and names damaged backups of the control database', async () => {
    const [good] = await listRecordsBackups(recordsRepository(storage()))
    const parts = {
      database: context.database,
      backups: storage(),
      masterKey: requireMasterKey(context),
      credentials: null,
    }
    const at = Date.now() + 1000
    for (const now of [at, at + 1]) await backUpRecords(parts, { now })
    const repository = recordsRepository(storage())
    const whole = (await Array.fromAsync(repository.readStream(`r${at}`))).map(String).join('')
    const half = whole.slice(0, whole.lastIndexOf('{"end"'))
    await repository.writeStream(Readable.from([Buffer.from(half)]), { name: `r${at}2` })
    // In one of them, not even the head is readable.
    await tornHead(`stead/backups/r${at + 1}.stream`)
    await tornHead(`site-${siteId}/backups/b4.stream`)
    await expect(restore({ backup: `r${at + 1}` })).rejects.toThrow(/r\d+ is unusable: The header .*Nothing/)
    const said = await restore()
    expect(said.backup).toBe(`r${at}`)
    expect(said.damaged.map(({ name }) => name)).toEqual([`r${at}2`, `r${at + 1}`])
    expect(said.damaged[1]?.reason).toMatch(/^The header of backup/)
    expect(good?.name).not.toBe(said.backup)
    const { database } = await openControlDatabase(config, { makes: false, strangers: 'refuse' })
    // A site's backup with an unreadable head is not recorded, but its number is not reused.
    expect(await database.read.selectFrom('backups').select('id').execute()).toEqual([{ id: 3 }])
    expect(await lastGivenId(database.read, 'backups')).toBe(4)
    await database.close()
  })

  test('names all backups of the control database if none is intact, and writes nothing', async () => {
    const [only] = await listRecordsBackups(recordsRepository(storage()))
    await tornHead(`stead/backups/${only?.name}.stream`)
    await expect(restore()).rejects.toThrow(new RegExp(`cannot read any backup .*\\n${only?.name}: The header`))
    expect(existsSync(config.dataDir)).toBe(false)
  })

  const tornHead = (name: string) => writeFile(join(folder, 'storage', name), 'torn')

  test('lists backups of a site, and exports them to files, with only the storage and its key', async () => {
    const files = async (owner: string, name: string, path: string) => {
      const open = async () => Readable.from([Buffer.from(`this is ${path}`)])
      const file = {
        kind: 'file' as const,
        path,
        mode: 0o644,
        mtimeMs: 1000,
        sizeBytes: 8 + path.length,
        stamp: path,
        open,
      }
      await storage()
        .repository(owner)
        .writeTree(Readable.from([file]), { name })
    }
    await files(`site-${siteId}`, 'b5', 'wp-config.php')
    await files('core-6.8', 'core', 'license.txt')
    const to = join(folder, 'out')
    const of = { site: String(siteId), key: printed }
    expect(await siteBackups(config, of)).toMatchObject([
      { backup: 5, kind: 'files' },
      { backup: 4, kind: 'database' },
      { backup: 3, kind: 'database' },
    ])
    const written = await exportSite(config, { ...of, to, backup: undefined })
    expect(written).toEqual([5, 4].map((id) => join(to, `site-${siteId}-backup-${id}.${id === 5 ? 'tar.bz2' : 'sql'}`)))
    const [archive, dump] = written as [string, string]
    expect(await readFile(dump, 'utf8')).toBe('content 4')
    const { stdout } = spawnSync('tar', ['-xjOf', archive], { encoding: 'utf8' })
    expect(stdout).toBe('this is license.txtthis is wp-config.php')
    // It refuses to export twice, to export other backups, and to leave partial files.
    await expect(exportSite(config, { ...of, to, backup: '5' })).rejects.toThrow('already exists')
    await expect(exportSite(config, { ...of, to, backup: '9' })).rejects.toThrow('does not contain this backup')
    await expect(exportSite(config, { ...of, to, site: '0', backup: undefined })).rejects.toThrow('--site: 0')
    await expect(exportSite(config, { ...of, to, key: undefined, backup: '3' })).rejects.toThrow('--key=')
    await expect(exportSite(config, { ...of, to: join(dump, 'in-a-file'), backup: '4' })).rejects.toThrow(
      'cannot be written',
    )
    await tornHead(`site-${siteId}/backups/b3.stream`)
    expect((await siteBackups(config, of)).at(-1)).toMatchObject({ backup: 3, kind: 'damaged' })
    await expect(exportSite(config, { ...of, to, backup: '3' })).rejects.toThrow('cannot read the header of backup 3')
    expect((await readdir(to)).sort()).toEqual(written.map((file) => basename(file)).sort())
    expect(existsSync(config.dataDir)).toBe(false)
  })

  test('refuses a folder or database in use, a wrong key and a missing key, and changes nothing', async () => {
    await expect(restore({ key: undefined })).rejects.toThrow('--key=')
    await expect(restore({ key: printKey(Buffer.alloc(32, 3)) })).rejects.toThrow()
    await expect(restore({ key: 'no key' })).rejects.toThrow('--key: ')
    await expect(restore({ host: 'nobody' })).rejects.toThrow('Unknown host nobody')
    await expect(restore({ backup: 'r1' })).rejects.toThrow()
    expect(existsSync(config.dataDir)).toBe(false)
    await expect(restoreInstallation(settings('old'), { ...options(), key: printed })).rejects.toThrow('is in use')
    if (target) {
      await target.database.transaction((tx) => tx.schema.createTable('mine').addColumn('a', 'text').execute())
      await expect(restore()).rejects.toThrow('is not empty')
      return
    }
    await restore()
    await expect(restore()).rejects.toThrow('is in use')
  })

  const options = () => ({ key: undefined, backup: undefined, host: undefined, isTrial: false, onProgress: () => {} })

  test('makes each folder the named host of an installation of several hosts', async () => {
    const [known] = (await databaseFacts(context.database)).hosts
    const identity = [...String(known?.identity)].toReversed().join('')
    const second = { name: 'second', address: '', datacenters: '', identity, epoch: 7, maxSites: 1000 }
    await context.database.transaction((tx) => registerHost(tx, second))
    const parts = {
      database: context.database,
      backups: storage(),
      masterKey: requireMasterKey(context),
      credentials: null,
    }
    await backUpRecords(parts, { now: Date.now() + 1000 })
    await expect(restore()).rejects.toThrow(/several hosts.* --host=host-\S+ or --host=second/)
    expect(existsSync(config.dataDir)).toBe(false)
    expect(await restore({ host: 'second' })).toMatchObject({ host: 'second', sites: 1 })
    expect((await folderFacts(config.dataDir)).identity).toMatchObject({ host: identity, epoch: 7 })
    if (!target) return
    // For the other host's folder, the shared database is already restored.
    const first = settings('new-first', { STEAD_DATABASE_URL: target.connection.url as string })
    const restored = await restoreInstallation(first, { ...options(), key: printed, host: known?.name as string })
    expect(restored).toMatchObject({ host: known?.name, sites: 0 })
    expect((await folderFacts(first.dataDir)).identity).toMatchObject({ host: known?.identity, epoch: known?.epoch })
  })

  /** Returns which copies of the installation may change the backups. */
  async function whoChanges(): Promise<{ old: boolean; restored: boolean }> {
    const { database } = await openControlDatabase(config, { makes: false, strangers: 'refuse' })
    const mayWrite = (backups: BackupStore) =>
      backups
        .repository('core-1')
        .sweep()
        .then(
          () => true,
          (error) => {
            expect(error).toBeInstanceOf(LeasedByAnother)
            return false
          },
        )
    try {
      const restored = openBackups({ config, database, sealer: context.sealer })
      return { old: await mayWrite(storage()), restored: await mayWrite(restored) }
    } finally {
      await database.close()
    }
  }

  test('controls the backups from then on, and the lost installation no longer does', async () => {
    await restore()
    expect(await whoChanges()).toEqual({ old: false, restored: true })
    // Every copy with the key can read.
    expect(await storage().repository(`site-${siteId}`).list()).toHaveLength(2)
  })

  test('controls none of them in a trial, until a take-over', async () => {
    await restore({ isTrial: true })
    expect(await whoChanges()).toEqual({ old: true, restored: false })
    vi.spyOn(console, 'log').mockReturnValue()
    await takeOverBackups({ config, flags: { json: true }, values: {} } as never)
    expect(await whoChanges()).toEqual({ old: false, restored: true })
  })

  test('can be run again after an interruption', async () => {
    await expect(
      restore({
        onProgress(doing) {
          if (doing.startsWith('Comparing sites')) throw new Error('the end of a process')
        },
      }),
    ).rejects.toThrow('the end of a process')
    expect(existsSync(join(config.dataDir, 'stead.db'))).toBe(false)
    // A partial file of the attempt.
    if (dialect === 'sqlite') await writeFile(join(config.dataDir, 'stead.db.restoring'), 'torn')
    expect(await restore()).toMatchObject({ sites: 1 })
  })
})
