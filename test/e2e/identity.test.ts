/** A data folder and its database recognize each other, and a missing row never removes a site. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, cp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { postgresUrl, type TestDatabase, testDatabase } from '../support/database.ts'
import { prepareStead, program, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

/** Every file of a folder with its owner, mode, and content, as one text. */
const photographed = (folder: string): string =>
  execFileSync(
    'sh',
    [
      '-c',
      `cd "$1" && find . -printf '%p %U %m\\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum`,
      'sh',
      folder,
    ],
    { encoding: 'utf8', maxBuffer: 64 << 20 },
  )
/** Quarantined folders that belonged to sites: site name → path. */
const sitesAside = (stead: Stead): Record<string, string> => {
  const folder = join(stead.dataDir, 'set-aside')
  const notes = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  return Object.fromEntries(
    notes.flatMap((name) => {
      const { mark } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      return mark?.site ? [[mark.site.name, join(folder, name.slice(0, -'.json'.length))]] : []
    }),
  )
}
/** Waits until the site answers with its title: right after a start the edge may still have the host's old port. */
const answers = (stead: Stead, name: string) =>
  until(`${name} answers`, async () => (await stead.visit(name)).text.includes(`<title>${name}</title>`))

/** Starts it where the start must fail. @returns the output */
async function refused(stead: Stead): Promise<string> {
  const { code, stderr } = await stead.cli('serve')
  expect(code).toBe(2)
  expect(stderr).not.toMatch(/^\s+at /m)
  return stderr
}

describe.skipIf(!core)('the database in the folder', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1', STEAD_TRASH_DAYS: '0' } })
  })
  afterAll(() => stead?.remove())
  const database = () => join(stead.dataDir, 'stead.db')
  const keep = async (as: string) => {
    for (const end of ['', '-wal', '-shm']) {
      await rm(`${database()}.${as}${end}`, { force: true })
      if (existsSync(database() + end)) await cp(database() + end, `${database()}.${as}${end}`)
    }
  }
  const restoreDatabase = async (as: string) => {
    for (const end of ['', '-wal', '-shm']) {
      await rm(database() + end, { force: true })
      if (existsSync(`${database()}.${as}${end}`)) await cp(`${database()}.${as}${end}`, database() + end)
    }
  }

  test('restored from a backup: its sites answer, a newer site is quarantined whole, and the next gets a new directory, user, and ID', async () => {
    for (const name of ['site-a', 'site-b']) await stead.createSite({ name })
    await stead.stop()
    await keep('older')
    await stead.start()
    const c = await stead.createSite({ name: 'site-c' })
    await answers(stead, 'site-c')
    const directoryOfC = stead.directoryOf('site-c')
    await stead.stop()
    await keep('newest')
    const before = photographed(directoryOfC)
    await restoreDatabase('older')
    await stead.start()
    await answers(stead, 'site-a')
    await answers(stead, 'site-b')
    expect((await stead.visit('site-c')).status).toBe(404)
    const d = await stead.createSite({ name: 'site-d' })
    await answers(stead, 'site-d')
    expect(d).toBeGreaterThan(c)
    expect(stead.directoryOf('site-d')).not.toBe(directoryOfC)
    expect(photographed(sitesAside(stead)['site-c'] as string)).toBe(before)
    const { body } = await stead.api('GET', '/readyz')
    expect(body.hosts[0].setAsideHomes).toBeGreaterThan(0)
    const listed = JSON.parse((await stead.cli('host', 'list', '--json')).stdout)
    expect(listed.set_aside).toContainEqual(expect.objectContaining({ from: directoryOfC, site: 'site-c' }))
    expect(listed.hosts).toMatchObject([{ is_this_folder: true, sites: 3 }])
  })

  test('restored the other way round: the quarantined site directory is in its place again', async () => {
    await stead.stop()
    await restoreDatabase('newest')
    await stead.start()
    await answers(stead, 'site-c')
    await answers(stead, 'site-a')
    // site-d is the one that this database does not know
    expect(Object.keys(sitesAside(stead))).toEqual(['site-d'])
  })

  test('in a moved folder: its sites answer, new ones are created there, and nothing uses the old path', async () => {
    const moved = `${stead.dataDir}-moved`
    await stead.stop()
    const before = stead.output().length
    await rename(stead.dataDir, moved)
    stead.set({ STEAD_DATA_DIR: moved })
    try {
      await stead.start()
      await answers(stead, 'site-a')
      await stead.createSite({ name: 'site-moved' })
      await answers(stead, 'site-moved')
      await stead.stop()
    } finally {
      await rename(moved, stead.dataDir)
      stead.set({ STEAD_DATA_DIR: stead.dataDir })
    }
    expect(stead.output().slice(before).replaceAll(moved, '')).not.toContain(stead.dataDir)
  })

  test('missing, empty, of another installation, or not a database: refused with what to do, and nothing changes', async () => {
    await stead.stop()
    await keep('right')
    const before = photographed(join(stead.dataDir, 'sites'))
    for (const end of ['', '-wal', '-shm']) await rm(database() + end, { force: true })
    const missing = await refused(stead)
    expect(missing).toContain('stead.db is missing')
    expect(missing).toContain('stead host adopt')
    expect(existsSync(database())).toBe(false)

    await writeFile(database(), '')
    expect(await refused(stead)).toContain('stead host adopt')

    const other = await startStead()
    await other.stop()
    await cp(join(other.dataDir, 'stead.db'), database())
    expect(await refused(stead)).toContain('another installation')
    await other.remove()

    await restoreDatabase('right')
    await writeFile(database(), 'this is no database, but it is long enough to be taken for one'.repeat(20))
    expect(await refused(stead)).toContain('damaged')

    await restoreDatabase('right')
    expect(photographed(join(stead.dataDir, 'sites'))).toBe(before)
    await stead.start()
    await answers(stead, 'site-a')
  })

  test('replaced after `stead host adopt`: every site is kept in quarantine, and new ones are created beside them', async () => {
    await stead.stop()
    await keep('right')
    const siteDirectories = new Map(
      ['site-a', 'site-b'].map((name) => [stead.directoryOf(name), photographed(stead.directoryOf(name))]),
    )
    for (const end of ['', '-wal', '-shm']) await rm(database() + end, { force: true })
    const adopted = await stead.cli('host', 'adopt', '--json')
    expect(adopted).toMatchObject({ code: 0 })
    expect(JSON.parse(adopted.stdout)).toMatchObject({ homes: 0 })
    await rm(join(stead.dataDir, 'credentials.json'))
    await stead.start()
    const photographs = Object.values(sitesAside(stead)).map(photographed)
    for (const photograph of siteDirectories.values()) expect(photographs).toContain(photograph)
    const restarted = await secondSession(stead)
    const id = await restarted.createSite({ name: 'site-a' })
    expect(id).toBeGreaterThan(0)
    expect(siteDirectories.has(stead.directoryOf('site-a'))).toBe(false)

    // the right database recovers all of them
    await stead.stop()
    await restoreDatabase('right')
    expect(await refused(stead)).toContain('another installation')
    // the restored database saw its host a moment ago, so adopting is refused for ten seconds
    const adopt = async () => (await stead.cli('host', 'adopt')).code
    await expect.poll(adopt, { timeout: 30_000, interval: 1000 }).toBe(0)
    await stead.start()
    for (const name of ['site-a', 'site-b']) await answers(stead, name)
  })

  test('a missing site directory: visitors get 503, never 404 or a new site, and the log says so', async () => {
    await stead.stop()
    const directory = stead.directoryOf('site-b')
    await cp(directory, `${stead.dataDir}/kept-b`, { recursive: true, preserveTimestamps: true })
    await rm(directory, { recursive: true })
    await stead.start()
    expect((await stead.visit('site-b')).status).toBe(503)
    expect((await stead.visit('site-b', '/wp-content/themes/none.css')).status).toBe(503)
    expect(existsSync(directory)).toBe(false)
    expect(stead.output()).toContain('a site directory is missing')
  })
})

describe.skipIf(!core)('single files that are lost', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1' } })
  })
  afterAll(() => stead?.remove())

  test('the master key: refused with what to do; the right key works again, and `stead key accept` accepts another', async () => {
    await stead.stop()
    const file = join(stead.dataDir, 'master.key')
    const key = await readFile(file)
    await rm(file)
    expect(await refused(stead)).toMatch(/master key is missing[\s\S]*stead key accept/)
    expect(existsSync(file)).toBe(false)
    await writeFile(file, Buffer.alloc(32, 7).toString('base64'))
    expect(await refused(stead)).toContain('is not the master key of this installation')
    await writeFile(file, 'nonsense')
    expect(await refused(stead)).toContain('does not contain a master key')
    await writeFile(file, key)
    stead.set({ STEAD_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') })
    expect(await refused(stead)).toContain('STEAD_MASTER_KEY is not the master key')
    stead.set({ STEAD_MASTER_KEY: key.toString() })
    await stead.start()
    await stead.stop()
    stead.set({ STEAD_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') })
    expect((await stead.cli('key', 'accept')).code).toBe(0)
    await stead.start()
  })

  test.each<[string, (file: string) => Promise<void>]>([
    ['removed', (file) => rm(file)],
    ['emptied', (file) => truncate(file)],
  ])(
    'a site’s database, %s while the site runs: 503 and never the installer, logged once, and healthy when the file is back',
    async (how, lose) => {
      const name = `database-${how}`
      const id = await stead.createSite({ name })
      await answers(stead, name)
      const file = join(stead.directoryOf(name), 'private/database/site.sqlite')
      await cp(file, `${file}.kept`, { preserveTimestamps: true })
      const { uid, gid } = statSync(file)
      await lose(file)
      const page = await stead.visit(name, '/?fresh')
      expect(page.status).toBe(503)
      expect(page.text).toContain('This site is not available')
      for (const path of ['/wp-admin/install.php', '/wp-login.php', '/'])
        expect((await stead.visit(name, path)).text).not.toMatch(/install\.php|Welcome to the famous/)
      if (how === 'removed') expect(existsSync(file)).toBe(false)
      const mails = await until('its owner is told', async () => {
        const found = await mailsAbout(stead, name)
        return found.length > 0 && found
      })
      expect(mails).toHaveLength(1)
      expect(stead.output()).toContain('a site is lost')
      const { data } = (await stead.api('POST', `/v1/sites/${id}/logs/activity`, {})).body
      expect(JSON.stringify(data)).toContain('cannot be served')
      await rm(file, { force: true })
      await cp(`${file}.kept`, file)
      await chown(file, uid, gid)
      await until('it is back', async () =>
        (await stead.visit(name, '/?again')).text.includes(`<title>${name}</title>`),
      )
      expect(await mailsAbout(stead, name)).toHaveLength(1)
    },
  )

  test('after a start: PHP does not start for a site whose database is damaged', async () => {
    const name = 'database-damaged'
    await stead.createSite({ name })
    const file = join(stead.directoryOf(name), 'private/database/site.sqlite')
    await stead.stop()
    await writeFile(file, 'not a database at all'.repeat(100))
    await stead.start()
    expect(
      await until('it is not served', async () => {
        const page = await stead.visit(name)
        return page.status === 503 && page.text.includes('not available')
      }),
    ).toBe(true)
    expect(stead.phpProcesses().filter(({ words }) => words.join().includes(stead.directoryOf(name)))).toEqual([])
  })
})

async function mailsAbout(stead: Stead, name: string): Promise<string[]> {
  const outbox = join(stead.dataDir, 'outbox')
  const files = (await readdir(outbox).catch(() => [])).filter((file) => file.endsWith('.eml'))
  const mails = await Promise.all(files.map((file) => readFile(join(outbox, file), 'utf8')))
  return mails.filter((mail) => mail.includes(`${name} cannot be served`))
}

describe.skipIf(!core)('a folder from before identities existed', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterAll(() => stead?.remove())

  test('is adopted by its own database, and refused by any other', async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1' } })
    await stead.createSite({ name: 'long-ago' })
    await stead.stop()
    await asBefore(stead)
    // site directories without a marker, and a database that does not know the host's name
    const database = join(stead.dataDir, 'stead.db')
    const name = await readFile(join(stead.dataDir, 'host-name'), 'utf8')
    await writeFile(join(stead.dataDir, 'host-name'), 'host-somebody')
    const before = photographed(join(stead.dataDir, 'sites'))
    expect(await refused(stead)).toContain('does not know its host host-somebody')
    expect(photographed(join(stead.dataDir, 'sites'))).toBe(before)
    await writeFile(join(stead.dataDir, 'host-name'), name)
    await stead.start()
    await answers(stead, 'long-ago')
    expect(sitesAside(stead)).toEqual({})
    expect(JSON.parse(readFileSync(join(stead.directoryOf('long-ago'), 'home.json'), 'utf8'))).toMatchObject({
      site: { name: 'long-ago' },
    })
    const second = await stead.createSite({ name: 'today' })
    expect(second).toBe(2)
    const { host } = JSON.parse(readFileSync(join(stead.dataDir, 'identity.json'), 'utf8'))
    const records = new DatabaseSync(database, { readOnly: true })
    expect(records.prepare('select identity from hosts').all()).toMatchObject([{ identity: host }])
    records.close()
  })
})

/** Makes a stopped Stead look like one from before identities, with a current schema. */
async function asBefore(stead: Stead): Promise<void> {
  await rm(join(stead.dataDir, 'identity.json'))
  for (const directory of readdirSync(join(stead.dataDir, 'sites'))) {
    const path = join(stead.dataDir, 'sites', directory)
    await rm(join(path, 'home.json'))
    await chmod(path, 0o700)
    const { uid } = statSync(join(path, 'web'))
    await chown(path, uid, uid)
  }
  const database = new DatabaseSync(join(stead.dataDir, 'stead.db'))
  database.exec('delete from installation; update hosts set identity = null, epoch = 0')
  database.close()
}

describe.skipIf(!core || !postgresUrl)('a database in PostgreSQL', () => {
  let stead: Stead
  const databases: TestDatabase[] = []
  showOutputOfFailures(() => stead)
  const url = async () => {
    const made = await testDatabase('postgres')
    databases.push(made)
    return made.connection.url as string
  }
  afterAll(async () => {
    await stead?.remove()
    for (const each of databases) await each.drop()
  })

  test('an empty one is refused by a folder with sites, and the start itself loses nothing', async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '1' } })
    await stead.createSite({ name: 'in-sqlite' })
    await stead.stop()
    const before = photographed(join(stead.dataDir, 'sites'))
    stead.set({ STEAD_DATABASE_URL: await url() })
    expect(await refused(stead)).toMatch(/does not know its host[\s\S]*stead host adopt/)
    expect((await stead.cli('account', 'list')).code).toBe(2)
    expect(photographed(join(stead.dataDir, 'sites'))).toBe(before)
    stead.set({ STEAD_DATABASE_URL: '' })
    await stead.start()
    await answers(stead, 'in-sqlite')
    await stead.remove()
  })

  test.runIf(process.getuid?.() === 0)(
    'a copy of a running host’s folder is refused on the same machine, whose users it would share; elsewhere it starts, and the first ends with a clear message',
    async () => {
      const address = await url()
      stead = await startStead({ env: { STEAD_PREPARED_SITES: '1', STEAD_DATABASE_URL: address } })
      await stead.createSite({ name: 'once' })
      const copy = await prepareStead({
        env: { STEAD_DATABASE_URL: address },
        launch: [...elsewhere, process.execPath, program, 'serve'],
      })
      await rm(copy.dataDir, { recursive: true })
      execFileSync('cp', ['-a', stead.dataDir, copy.dataDir])
      expect(await refused(copy)).toMatch(/Another Stead on this server uses the users \d+ to \d+/)
      await answers(stead, 'once')
      await copy.start()
      await until('the first has ended', () => stead.processes().length === 0)
      expect(stead.output()).toContain('was started from a copy of this data folder')
      expect(stead.output()).toContain('already runs from another copy')
      await answers(copy, 'once')
      await copy.remove()
    },
  )
})

/** Prefix of a command that must not see this machine's locks, as if it ran on another machine. */
const elsewhere = [...['unshare', '--mount', 'sh', '-c'], 'mount -t tmpfs none /run/stead && exec "$@"', 'elsewhere']

/** Signs in again: an installation that started over does not accept earlier tokens. */
async function secondSession(stead: Stead): Promise<Pick<Stead, 'createSite'>> {
  const { client_id, client_secret } = JSON.parse(await readFile(join(stead.dataDir, 'credentials.json'), 'utf8'))
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${stead.apiUrl}/auth/token`, { method: 'POST', body: form })
  const { access_token } = (await answer.json()) as { access_token: string }
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
    const response = await fetch(stead.apiUrl + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return (await response.json()) as { data: { id: number; state: string } }
  }
  return {
    async createSite(order) {
      const { data } = await call('POST', '/v1/sites', order)
      await until('it is live', async () => (await call('GET', `/v1/sites/${data.id}`)).data.state === 'live')
      return data.id
    },
  }
}
