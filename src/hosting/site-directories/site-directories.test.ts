/** Uses a real disk and a real database to test what is removed, kept, and quarantined. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { lastGivenId } from '../../platform/db/sequences.ts'
import { noLog } from '../../platform/log/log.ts'
import { registerHost, reportHost } from '../host.store.ts'
import { RunningIdentity } from '../identity/folder.ts'
import { DirectoriesOnDisk } from './directories-on-disk.ts'
import type { DirectoryDatabases } from './directory-databases.ts'
import { listQuarantined } from './quarantine.ts'
import { SiteDirectories, SiteDirectoryMissing } from './site-directories.ts'
import type { Template } from './template.ts'

const owner = { installation: 'inst', host: 'me' }

describe.each(dialects)('site directories on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  let dataDir: string
  let hostId: number
  const template = () => ({ path: join(dataDir, 'template'), coreVersion: '6.8', corePath: '', install: 'wordpress' })
  beforeEach(async () => {
    if (skip) return
    made = await testDatabase(dialect)
    dataDir = await mkdtemp(join(tmpdir(), 'stead-homes-'))
    for (const part of ['web', 'private']) await mkdir(join(dataDir, 'template', part), { recursive: true })
    await writeFile(join(dataDir, 'template/web/index.php'), '<?php')
    await writeFile(join(dataDir, 'template/web/wp-config.php'), "<?php\nrequire_once ABSPATH . 'wp-settings.php';\n")
    hostId = await made.database.transaction((tx) =>
      registerHost(tx, { name: 'one', address: '', datacenters: '', identity: 'me', epoch: 1, maxSites: 1000 }),
    )
  })
  afterEach(async () => {
    if (skip) return
    await made.drop()
    await rm(dataDir, { recursive: true })
  })

  /** Starts as a host does. @param lastHome the last number in the folder's identity */
  async function start(lastHome = 0, isTakenOver = false, prepared = 1, onServer?: DirectoryDatabases) {
    const identity = new RunningIdentity(dataDir, { ...owner, epoch: 1, lastHome, firstUser: 300_000 })
    await identity.write()
    const folders = new DirectoriesOnDisk({ dataDir, identity, isRoot: process.getuid?.() === 0, log: noLog })
    const kinds = onServer && (['sqlite', 'mariadb'] as const)
    const own = { onServer, ...(kinds && { kinds }) }
    const siteDirectories = new SiteDirectories({
      database: made.database,
      hostId,
      folders,
      identity,
      prepared,
      log: noLog,
      ...own,
    })
    await siteDirectories.reconcile({ isTakenOver })
    return { siteDirectories, folders, identity }
  }
  const site = async (name: string) => {
    const { database } = made
    const values = {
      name,
      display_name: name,
      state: 'live',
      staging: 0,
      datacenter_code: 'AMS',
      host_id: hostId,
      account_id: await account(),
    }
    const more = {
      php_version: '8.3',
      core_version: null,
      core_channel: 'stable',
      install: 'wordpress',
      environment_type: 'production',
      multisite: 0,
      light_404: 0,
      edge_cache: 0,
      cdn: 0,
      defensive_until: null,
      maintenance: 0,
      cache_epoch: 1,
      cloned_from_id: null,
      admin_username: 'a',
      admin_email: 'a@b.c',
      written_address: null,
      created_at: 1,
      deleted_at: null,
    }
    const { id } = await database.transaction((tx) =>
      tx
        .insertInto('sites')
        .values({ ...values, ...more } as never)
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    return id
  }
  const account = async () => {
    const found = await made.database.read.selectFrom('accounts').select('id').executeTakeFirst()
    if (found) return found.id
    const values = {
      email: 'a@b.c',
      name: '',
      organization: '',
      phone_number: '',
      plan: 'Personal',
      default_php_version: '8.3',
      default_datacenter: null,
      created_at: 1,
    }
    return made.database.transaction(
      async (tx) => (await tx.insertInto('accounts').values(values).returning('id').executeTakeFirstOrThrow()).id,
    )
  }
  const forget = (id: number) =>
    made.database.transaction((tx) => tx.deleteFrom('site_homes').where('id', '=', id).execute())
  const markOf = (path: string) => JSON.parse(readFileSync(join(path, 'home.json'), 'utf8'))

  test.skipIf(skip)(
    'names no site in a prepared directory, names the site in a claimed one, and keeps both across a start',
    async () => {
      const { siteDirectories } = await start()
      await siteDirectories.fill(template())
      const [free] = await siteDirectories.free(template())
      expect(markOf(free?.path as string)).toEqual({ ...owner, home: free?.id, site: null })
      const siteId = await site('shop')
      const directory = await siteDirectories.claim(siteId, template(), [])
      expect(markOf(directory.path).site).toEqual({ id: siteId, name: 'shop' })
      const again = await start()
      expect(existsSync(directory.path)).toBe(true)
      await again.siteDirectories.remove(directory)
      expect(readdirSync(join(dataDir, 'sites'))).toEqual([])
      expect(await listQuarantined(dataDir)).toEqual([])
    },
  )

  test.skipIf(skip || process.getuid?.() !== 0)(
    'gives a directory that another user created to its own user at a start',
    async () => {
      const { siteDirectories } = await start()
      const directory = await siteDirectories.claim(await site('shop'), template(), [])
      await promisify(execFile)('chown', ['-R', '1000:1000', directory.path])
      await start()
      const ownerOf = (path: string) => {
        const { uid, gid, mode } = statSync(path)
        return [uid, gid, mode & 0o777]
      }
      expect(ownerOf(directory.path)).toEqual([0, directory.uid, 0o710])
      expect(ownerOf(join(directory.path, 'web/index.php')).slice(0, 2)).toEqual([directory.uid, directory.uid])
      expect(ownerOf(join(directory.path, 'home.json'))[0]).toBe(0)
    },
  )

  test.skipIf(skip)('never gives the same prepared directory to concurrent sites', async () => {
    const { siteDirectories } = await start()
    const sites = [await site('one'), await site('two'), await site('three'), await site('four')]
    for (let round = 0; round < 5; round++) {
      await siteDirectories.fill(template())
      const claimed = await Promise.all(sites.map((id) => siteDirectories.claim(id, template(), [])))
      expect(new Set(claimed.map(({ id }) => id)).size).toBe(sites.length)
      for (const [index, directory] of claimed.entries()) {
        expect(markOf(directory.path).site.id).toBe(sites[index])
        await siteDirectories.remove(directory)
      }
    }
  })

  test.skipIf(skip)('gives a site the oldest preferred directory, or else the newest', async () => {
    const { siteDirectories } = await start(0, false, 4)
    await siteDirectories.fill(template())
    const ids = (await siteDirectories.free(template())).map(({ id }) => id)
    const preferred = [ids[2], ids[1]] as number[]
    const got = []
    for (const name of ['one', 'two', 'three', 'four'])
      got.push((await siteDirectories.claim(await site(name), template(), preferred)).id)
    expect(got).toEqual([ids[1], ids[2], ids[3], ids[0]])
  })

  test.skipIf(skip)('keeps a directory of an older template that a site claims at the same moment', async () => {
    const { siteDirectories } = await start()
    for (let round = 0; round < 5; round++) {
      const [older, newer] = [`6.8.${2 * round}`, `6.8.${2 * round + 1}`].map((coreVersion) => ({
        ...template(),
        coreVersion,
      })) as [Template, Template]
      await siteDirectories.fill(older)
      const siteId = await site(`shop-${round}`)
      const [directory] = await Promise.all([siteDirectories.claim(siteId, older, []), siteDirectories.fill(newer)])
      expect((await siteDirectories.ofSite(siteId))?.id).toBe(directory.id)
      expect(markOf(directory.path).site.id).toBe(siteId)
    }
  })

  test.skipIf(skip)('never removes a folder in place of the directory that its record means', async () => {
    const { siteDirectories } = await start()
    const directory = await siteDirectories.claim(await site('shop'), template(), [])
    await writeFile(join(directory.path, 'web/precious.txt'), 'precious')
    // An older database says that nobody has it.
    await made.database.transaction((tx) =>
      tx.updateTable('site_homes').set({ site_id: null, state: 'leaving' }).where('id', '=', directory.id).execute(),
    )
    await siteDirectories.remove({ ...directory, siteId: null })
    const [found] = await listQuarantined(dataDir)
    expect(readFileSync(join(found?.path as string, 'web/precious.txt'), 'utf8')).toBe('precious')
    expect(found?.note).toMatchObject({ from: directory.path, mark: { site: { name: 'shop' } } })
  })

  test.skipIf(skip)(
    'quarantines a directory without a record, never reuses its number, and restores it with its record',
    async () => {
      const { siteDirectories } = await start()
      const siteId = await site('shop')
      const directory = await siteDirectories.claim(siteId, template(), [])
      const record = await made.database.read
        .selectFrom('site_homes')
        .selectAll()
        .where('id', '=', directory.id)
        .executeTakeFirstOrThrow()
      await forget(directory.id)
      const { folders } = await start()
      expect(existsSync(directory.path)).toBe(false)
      expect(folders.quarantined).toBe(1)
      await made.database.transaction((tx) => tx.insertInto('site_homes').values(record).execute())
      const back = await start()
      expect(back.folders.quarantined).toBe(0)
      expect(markOf(directory.path).site.name).toBe('shop')
    },
  )

  test.skipIf(skip)('allocates numbers above those the folder has had, both at a start and while running', async () => {
    const { siteDirectories } = await start(41)
    const sitesBefore = await lastGivenId(made.database.read, 'sites')
    expect(sitesBefore).toBeGreaterThan(41)
    const directory = await siteDirectories.claim(await site('first'), template(), [])
    expect(directory.id).toBe(42)
    // The database is restored while Stead runs.
    const running = await start(42)
    await running.identity.reserve(60)
    expect((await running.siteDirectories.claim(await site('second'), template(), [])).id).toBe(61)
    expect(JSON.parse(readFileSync(join(dataDir, 'identity.json'), 'utf8')).lastHome).toBe(61)
  })

  test.skipIf(skip)(
    'marks folders that are older than marks during a takeover, and quarantines them at any other time',
    async () => {
      const { siteDirectories } = await start()
      const directory = await siteDirectories.claim(await site('shop'), template(), [])
      await rm(join(directory.path, 'home.json'))
      await start(0, true)
      expect(markOf(directory.path).site.name).toBe('shop')
      await rm(join(directory.path, 'home.json'))
      await start()
      expect(existsSync(directory.path)).toBe(false)
      expect(await listQuarantined(dataDir)).toHaveLength(1)
    },
  )

  test.skipIf(skip)('treats a mark that is a link or invalid as nobody’s', async () => {
    const { siteDirectories } = await start()
    for (const [name, spoil] of [
      ['linked', (file: string) => rename(file, `${file}.real`).then(() => symlink(`${file}.real`, file))],
      ['nonsense', (file: string) => writeFile(file, '{')],
    ] as const) {
      const directory = await siteDirectories.claim(await site(name), template(), [])
      await spoil(join(directory.path, 'home.json'))
      await siteDirectories.remove(directory)
      expect(existsSync(directory.path)).toBe(false)
    }
    expect(await listQuarantined(dataDir)).toHaveLength(2)
  })

  test.skipIf(skip)('does not give an empty directory to a site whose directory is missing', async () => {
    const { siteDirectories } = await start()
    const siteId = await site('shop')
    const directory = await siteDirectories.claim(siteId, template(), [])
    await rm(directory.path, { recursive: true })
    await start()
    await expect(siteDirectories.claim(siteId, template(), [])).rejects.toThrow(SiteDirectoryMissing)
    expect(existsSync(directory.path)).toBe(false)
  })

  test.skipIf(skip)('removes what a crash left half created or half removed at the next start', async () => {
    await start()
    for (const name of ['h7.making', 'h8.removing'])
      await mkdir(join(dataDir, 'sites', name, 'web'), { recursive: true })
    await mkdir(join(dataDir, 'sites/lost+found'))
    await start()
    expect(readdirSync(join(dataDir, 'sites'))).toEqual(['lost+found'])
  })

  test.skipIf(skip)('tells a host that is not the newest in the reply to its report', async () => {
    const { database } = made
    const report = (epoch: number) => database.transaction((tx) => reportHost(tx, { hostId, epoch }, {}))
    expect(await report(1)).toBe(true)
    await database.transaction((tx) =>
      registerHost(tx, { name: 'one', address: '', datacenters: '', identity: 'me', epoch: 2, maxSites: 1000 }),
    )
    expect(await report(1)).toBe(false)
    expect(await report(2)).toBe(true)
  })

  describe('with databases on a server', () => {
    /** Databases on the server by site directory: open or locked. */
    let server: Map<string, 'open' | 'locked'>
    /** Site directories whose databases were dropped while their folder was still there. */
    let early: string[]
    const databases = (): DirectoryDatabases => {
      const key = ({ path }: { path: string }) => path.split('/').at(-1) as string
      const constants = async (directory: { path: string }) => ({ DB_NAME: key(directory) })
      return {
        make: async (directory) => void server.set(key(directory), 'open'),
        ensure: async (directory) => void server.set(key(directory), server.get(key(directory)) ?? 'open'),
        prepareNext: async () => {},
        turn: async () => {},
        fill: async () => {},
        async drop(directory) {
          if (existsSync(directory.path) && server.has(key(directory))) early.push(key(directory))
          server.delete(key(directory))
        },
        constants,
        numbers: async () => [...server.keys()].map((name) => Number(name.slice(1))),
        quarantine: async (directory) => void server.set(key(directory), 'locked'),
        recover: async (directory) => void server.set(key(directory), 'open'),
      }
    }
    beforeEach(() => {
      server = new Map()
      early = []
    })

    test.skipIf(skip)('prepares directories of both kinds, and gives a site one of the kind it needs', async () => {
      const { siteDirectories } = await start(0, false, 1, databases())
      await siteDirectories.fill(template())
      const [file] = await siteDirectories.free(template())
      const [onServer] = await siteDirectories.free({ ...template(), database: 'mariadb' })
      expect([file?.database, onServer?.database]).toEqual(['sqlite', 'mariadb'])
      expect([...server.keys()]).toEqual([`h${onServer?.id}`])
      const directory = await siteDirectories.claim(await site('shop'), { ...template(), database: 'mariadb' }, [])
      expect(directory).toMatchObject({ id: onServer?.id, database: 'mariadb' })
      expect((await siteDirectories.claim(await site('blog'), template(), [])).id).toBe(file?.id)
    })

    test.skipIf(skip)('drops the database after the folder, even when a crash came in between', async () => {
      const { siteDirectories } = await start(0, false, 0, databases())
      const directory = await siteDirectories.claim(await site('shop'), { ...template(), database: 'mariadb' }, [])
      const dropping = databases()
      const dying = { ...dropping, drop: async () => Promise.reject(new Error('the host is dead')) }
      const { siteDirectories: died } = await start(directory.id, false, 0, dying)
      await expect(died.remove(directory)).rejects.toThrow('dead')
      expect([existsSync(directory.path), [...server.keys()]]).toEqual([false, [`h${directory.id}`]])
      expect(await died.ofSite(directory.siteId as number)).toMatchObject({ state: 'leaving' })
      const { siteDirectories: again } = await start(directory.id, false, 0, databases())
      await again.remove(directory)
      expect([...server.keys()]).toEqual([])
      expect(early).toEqual([])
    })

    test.skipIf(skip)('locks and keeps a database without a record, and never reuses its number', async () => {
      server.set('h7', 'open')
      const { siteDirectories } = await start(0, false, 0, databases())
      expect([...server]).toEqual([['h7', 'locked']])
      const directory = await siteDirectories.claim(await site('shop'), { ...template(), database: 'mariadb' }, [])
      expect(directory.id).toBeGreaterThan(7)
      await siteDirectories.remove(directory)
      expect([...server]).toEqual([['h7', 'locked']])
    })

    test.skipIf(skip)('does not drop the database when the folder belongs to another directory', async () => {
      const { siteDirectories } = await start(0, false, 0, databases())
      const directory = await siteDirectories.claim(await site('shop'), { ...template(), database: 'mariadb' }, [])
      await writeFile(join(directory.path, 'home.json'), '{}')
      await siteDirectories.remove(directory)
      expect([...server.keys()]).toEqual([`h${directory.id}`])
    })
  })
})
