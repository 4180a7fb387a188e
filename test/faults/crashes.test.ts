/** Kills processes of the real program while visitors come and sites are created. */
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atLength } from '../support/at-length.ts'
import { testCore } from '../support/core.ts'
import { stillRunning } from '../support/processes.ts'
import { standStill } from '../support/stand-still.ts'
import { prepareStead, type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const core = await testCore()

/** Counts its requests, and keeps what it said it had kept. */
const counter = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
$wpdb->insert($wpdb->options, ['option_name' => 'kept-' . $_GET['n'], 'option_value' => '1', 'autoload' => 'no']);
echo 'kept ', (int) $_GET['n'];`
// what is in the database now, not a page from the edge cache
const kept = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
echo json_encode($wpdb->get_col("SELECT option_name FROM $wpdb->options WHERE option_name LIKE 'kept-%'"));`

describe.skipIf(!core)('crashes under traffic', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead({ env: { STEAD_PREPARED_SITES: '2' } })
    await stead.createSite({ name: 'visited' })
    await stead.createSite({ name: 'neighbour' })
    for (const name of ['visited', 'neighbour'])
      for (const [file, code] of Object.entries({
        'count.php': counter,
        'kept.php': kept,
        'pid.php': '<?php echo getmypid();',
        'loop.php': "<?php touch('/tmp/looping'); while (true) {}",
      }))
        await writeFile(join(stead.directoryOf(name), 'web', file), code)
  })
  afterAll(() => stead?.remove())

  /** Visits without a pause while `during` runs, and until the site answers again. */
  async function underTraffic(during: () => Promise<void>): Promise<{ kept: number[]; statuses: Map<number, number> }> {
    const answered: number[] = []
    const statuses = new Map<number, number>()
    let going = true
    const visitor = async (first: number) => {
      for (let n = first; going; n += 2) {
        const page = await stead.visit('visited', `/count.php?n=${n}`).catch(() => undefined)
        const status = page?.status ?? 0
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (page?.status === 200 && page.text === `kept ${n}`) answered.push(n)
        else await pause(20)
      }
    }
    const start = Math.floor(Math.random() * 1e9) * 1000
    const visitors = [visitor(start), visitor(start + 1)]
    await until('traffic flows', () => answered.length > 3)
    await during()
    const before = answered.length
    await until('visitors are served again', () => answered.length > before + 5)
    going = false
    await Promise.all(visitors)
    return { kept: answered, statuses }
  }

  const namesKept = async (): Promise<Set<string>> =>
    new Set(JSON.parse((await stead.visit('visited', '/kept.php')).text) as string[])

  test.each(['edge', 'host', 'control'] as const)(
    'kill -9 of %s: it restarts, and no acknowledged write is lost',
    async (role) => {
      const old = stead.role(role)
      const php = role === 'host' ? stead.phpProcesses() : []
      const { kept: numbers, statuses } = await underTraffic(async () => {
        stead.kill(role)
        await until(`a new ${role} runs`, () => {
          const found = stead.role(role)
          return found !== undefined && found.pid !== old?.pid
        })
      })
      const names = await namesKept()
      expect(numbers.filter((n) => !names.has(`kept-${n}`))).toEqual([])
      expect(stillRunning(php)).toEqual([])
      // visitors get an error page of Stead, never a broken page of the site; visitors do not notice a
      // missing control
      const allowed = { edge: [0, 200], host: [0, 200, 502, 503], control: [200] }[role]
      expect([...statuses.keys()].filter((status) => !allowed.includes(status))).toEqual([])
      await until(
        'the API is ready',
        async () => (await fetch(`${stead.apiUrl}/readyz`).catch(() => undefined))?.status === 200,
      )
      expect((await stead.api('GET', '/v1/sites')).body.data).toHaveLength(2)
    },
  )

  test('kill -9 of a site’s PHP: later visitors are served, and no acknowledged write is lost', async () => {
    const { kept: numbers, statuses } = await underTraffic(async () => {
      for (const { pid } of stead.phpProcesses()) process.kill(pid, 'SIGKILL')
    })
    const names = await namesKept()
    expect(numbers.filter((n) => !names.has(`kept-${n}`))).toEqual([])
    expect([...statuses.keys()].filter((status) => ![0, 200, 502, 503].includes(status))).toEqual([])
  })

  test('an endless loop in a site’s PHP does not delay another site', async () => {
    expect((await stead.visit('neighbour')).status).toBe(200)
    let looping = true
    const loop = stead
      .visit('visited', '/loop.php', { timeoutMs: 120_000 })
      .catch(() => undefined)
      .finally(() => {
        looping = false
      })
    await until('the loop runs', () => existsSync(join(stead.directoryOf('visited'), 'private/tmp/looping')))
    for (let n = 0; n < 10; n++) expect((await stead.visit('neighbour', '/')).status).toBe(200)
    expect(looping).toBe(true)
    // requests that wait for the looping site's only PHP stay with it, and its files are served meanwhile
    expect((await stead.visit('visited', '/wp-includes/css/buttons.css')).status).toBe(200)
    expect(looping).toBe(true)
    const [php] = stead.phpProcesses().filter(({ words }) => words.includes(`${stead.directoryOf('visited')}/web`))
    if (php) process.kill(php.pid, 'SIGKILL')
    await loop
    await until('the site answers', async () => (await stead.visit('visited')).status === 200)
  })

  test('SIGTERM under traffic: requests in flight are answered, then everything ends', async () => {
    await writeFile(
      join(stead.directoryOf('visited'), 'web/slow.php'),
      "<?php touch('/tmp/slow'); sleep(2); echo 'to the end';",
    )
    const slow = stead.visit('visited', '/slow.php')
    await until('PHP works on it', () => existsSync(join(stead.directoryOf('visited'), 'private/tmp/slow')))
    const all = stead.processes()
    const stopped = stead.stop()
    expect((await slow).text).toBe('to the end')
    expect(await stopped).toBe(0)
    expect(stillRunning(all)).toEqual([])
    await stead.start()
    expect((await stead.visit('visited')).status).toBe(200)
  })

  test('kill -9 of the supervisor: all its children end, and an immediate start finds everything', async () => {
    await stead.visit('visited')
    const all = stead.processes()
    expect(all.length).toBeGreaterThan(3)
    stead.kill('supervisor')
    await stead.start()
    await until('the old ones have ended', () => stillRunning(all).length === 0)
    // the dying control may have reported `ready` for the new one, whose edge does not listen yet
    await until('the site answers', async () => (await stead.visit('visited').catch(() => undefined))?.status === 200)
    expect((await namesKept()).size).toBeGreaterThan(10)
  })
})

describe.skipIf(!core)('a supervisor that is killed while a process is suspended', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterAll(() => stead?.remove())

  test.each(['control', 'edge'] as const)('%s: a start waits until it resumes and frees its port', async (part) => {
    stead ??= await startStead({ env: { STEAD_PREPARED_SITES: '0' } })
    const { pid } = await until('it runs', () => stead.role(part))
    await standStill(pid, { file: join(stead.dataDir, 'stead.db') })
    const before = stead.output().length
    stead.kill('supervisor')
    const started = stead.start()
    try {
      await until('the start waits', () => /waiting for processes of a killed Stead/.test(stead.output().slice(before)))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await started
    // the old control may have reported `ready` just before it ended
    const next = await until('another runs in its place', () => stead.role(part))
    expect(next.pid).not.toBe(pid)
    const api = () => stead.api('GET', '/v1/sites').catch(() => undefined)
    await until('the API answers', async () => (await api())?.status === 200)
  })
})

describe.skipIf(!core)('crashes while sites are created', () => {
  let stead: Stead
  showOutputOfFailures(() => stead)
  afterAll(() => stead?.remove())

  test('kill -9 of the host at some moment: each site goes live in exactly one site directory, and nothing is left over', async () => {
    stead = await prepareStead({ env: { STEAD_PREPARED_SITES: '2' } })
    await stead.start()
    const ids: number[] = []
    for (let n = 0; n < 4; n++) ids.push((await stead.api('POST', '/v1/sites', { name: `crash-${n}` })).body.data.id)
    for (let kill = 0; kill < atLength(3, 6); kill++) {
      // between the first copied file and the first page: no condition tells these moments apart
      await pause(200 + Math.random() * 1500)
      const old = await until('a host runs', () => stead.role('host'))
      process.kill(old.pid, 'SIGKILL')
      await until('the next host runs', () => {
        const found = stead.role('host')
        return found !== undefined && found.pid !== old.pid
      })
    }
    for (const id of ids) await stead.live(id)
    for (let n = 0; n < 4; n++) expect((await stead.visit(`crash-${n}`)).text).toContain(`<title>crash-${n}</title>`)
    await stead.restart()
    const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { readOnly: true })
    const siteDirectories = database.prepare('select id, site_id, state from site_homes').all() as Record<
      string,
      unknown
    >[]
    database.close()
    expect(
      siteDirectories
        .filter(({ site_id }) => site_id !== null)
        .map(({ site_id }) => site_id)
        .sort(),
    ).toEqual(ids)
    expect(siteDirectories.filter(({ site_id, state }) => site_id !== null && state !== 'taken')).toEqual([])
    await until('folders and records agree', async () => {
      const folders = await readdir(join(stead.dataDir, 'sites'))
      const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { readOnly: true })
      const rows = database.prepare('select id, state from site_homes').all() as { id: number; state: string }[]
      database.close()
      return (
        rows.every(({ state }) => state !== 'making') &&
        folders.sort().join() ===
          rows
            .map(({ id }) => `h${id}`)
            .sort()
            .join()
      )
    })
  })
})
