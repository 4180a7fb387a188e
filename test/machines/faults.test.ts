/** Stead on several machines that lose each other, the database, and processes in the middle of a move. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { hasPostgres } from '../support/postgres-cluster.ts'
import { until } from '../support/stead.ts'
import { type HostPart, type Lab, openLab } from './lab/lab.ts'
import { backUp, keptRows, makeWorkedSite, placeOf, startWork, type WorkedSite } from './lab/load.ts'
import { hasNamespaces } from './lab/network.ts'

const core = await testCore()
/** A page that PHP makes for each visitor. */
const PHP = '/wp-login.php'

describe.skipIf(!core || !hasPostgres || !hasNamespaces)('several machines', () => {
  let lab: Lab
  let [h1, h2]: HostPart[] = []
  let alfa: WorkedSite
  let bravo: WorkedSite
  /** Numbers of writes are unique. */
  const numbers = { next: 1 }
  /** The numbers that each site has acknowledged. */
  const acknowledged = new Map<string, Set<number>>()

  beforeAll(async () => {
    lab = await openLab()
    ;[h1, h2] = lab.hosts
    alfa = await makeWorkedSite(lab, 'alfa', h1 as HostPart)
    bravo = await makeWorkedSite(lab, 'bravo', h2 as HostPart)
    for (const { name } of [alfa, bravo]) acknowledged.set(name, new Set())
  })
  afterAll(() => lab?.remove())
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const part of [...lab.controls, ...lab.hosts, ...lab.edges])
      console.error(`--- ${part.machine.name}, ${task.name}\n${part.output().slice(-3000)}`)
  })

  /** Works on both sites while `harm` runs. */
  async function workDuring(harm: () => Promise<void>) {
    const work = startWork(lab, [alfa, bravo], numbers)
    const reads = (name: string) => work.reads.get(name) ?? []
    try {
      await until('both sites are read', () => [alfa, bravo].every(({ name }) => reads(name).length > 4))
      await harm()
    } finally {
      await work.end()
    }
    for (const [name, kept] of work.acknowledged) for (const n of kept) acknowledged.get(name)?.add(n)
    return { reads, wrote: (name: string) => work.acknowledged.get(name)?.length ?? 0 }
  }
  const statuses = (reads: readonly number[]) => [...new Set(reads)].sort()
  const lost = async (site: WorkedSite) => {
    const { numbers: there } = await keptRows(lab, site)
    return [...(acknowledged.get(site.name) ?? [])].filter((n) => !there.has(n))
  }

  test('visitors read and write while no machine reaches the database', async () => {
    const { here } = lab.network
    const { reads, wrote } = await workDuring(async () => {
      for (const machine of lab.machines) await machine.lose(here)
      const before = numbers.next
      await until('a hundred writes have begun', () => numbers.next > before + 100)
      for (const machine of lab.machines) await machine.find(here)
      await until('the API answers', async () => (await lab.api('GET', '/readyz')).status === 200)
    })
    expect([statuses(reads('alfa')), statuses(reads('bravo'))]).toEqual([[200], [200]])
    expect([wrote('alfa') > 0, wrote('bravo') > 0]).toEqual([true, true])
    expect([await lost(alfa), await lost(bravo)]).toEqual([[], []])
  })

  test('a host and an edge that are killed come back without the database, and learn what changed when it is back', async () => {
    const [edge] = lab.edges
    const { here } = lab.network
    await until('what the machines know is on their disks', async () => {
      const text = await readFile(join(h1?.dataDir ?? '', 'known-sites.json'), 'utf8').catch(() => '')
      return text.includes(alfa.name) && !text.includes('"closed":1')
    })
    const { reads, wrote } = await workDuring(async () => {
      for (const machine of lab.machines) await machine.lose(here)
      await Promise.all([h1?.kill(), edge?.kill()])
      await Promise.all([h1?.start(), edge?.start()])
      for (const { name } of [alfa, bravo])
        for (const each of [0, 1])
          await until(`edge ${each} serves ${name}`, async () => (await lab.visit(each, name, PHP)).status === 200)
    })
    // Only the killed processes fail their visitors: connections to them, and to the host behind the other edge.
    expect(statuses(reads('alfa')).filter((status) => ![0, 200, 502, 503].includes(status))).toEqual([])
    expect(statuses(reads('bravo')).filter((status) => ![0, 200].includes(status))).toEqual([])
    expect([wrote('alfa') > 0, wrote('bravo') > 0]).toEqual([true, true])

    const after = await workDuring(async () => {
      const before = numbers.next
      await until('a hundred writes have begun', () => numbers.next > before + 100)
      expect((await lab.visit(0, 'charlie', PHP)).status).toBe(503)
      for (const machine of lab.machines) await machine.find(here)
      await until('the host reports', async () => !(await isSilent(h1 as HostPart)))
      await lab.createSite('charlie', h1 as HostPart)
      await until('the new site answers', async () => (await lab.visit(0, 'charlie', PHP)).status === 200)
    })
    expect([statuses(after.reads('alfa')), statuses(after.reads('bravo'))]).toEqual([[200], [200]])
    expect([await lost(alfa), await lost(bravo)]).toEqual([[], []])
  })

  test('a move whose new host dies leaves the site where it is, or ends when the host is back', async () => {
    const place = await placeOf(lab, alfa.id)
    let state = ''
    const { reads } = await workDuring(async () => {
      const move = await moveTo(alfa, h2 as HostPart)
      await until('the new host receives', () => isUnderway('site.receive_files'))
      await h2?.kill()
      await h2?.start()
      state = (await lab.ended(move)).state
    })
    await answers(alfa)
    // 503 while it is closed; never a page of another place
    expect(statuses(reads('alfa')).filter((status) => ![200, 503].includes(status))).toEqual([])
    expect(['succeeded', 'failed']).toContain(state)
    expect((await placeOf(lab, alfa.id)) === place).toBe(state === 'failed')
    expect(await lost(alfa)).toEqual([])
  })

  test('a move whose old host hangs for longer than its lease ends, and the two hosts never write in turns', async () => {
    const [from, to] = ((await hostOf(alfa.id)) === h1?.name ? [h1, h2] : [h2, h1]) as [HostPart, HostPart]
    const { reads } = await workDuring(async () => {
      const move = await moveTo(alfa, to)
      await until('the site is closed', () => isUnderway('site.receive'))
      from.suspend()
      await until('the old host is silent', () => isSilent(from))
      from.resume()
      await lab.ended(move)
    })
    await answers(alfa)
    expect(statuses(reads('alfa')).filter((status) => ![200, 503].includes(status))).toEqual([])
    expect(await lost(alfa)).toEqual([])
    const { places } = await keptRows(lab, alfa)
    expect(new Set(places).size).toBe(places.length)
  })

  const answers = ({ name }: WorkedSite) =>
    until(`${name} answers`, async () => (await lab.visit(0, name, '/wp-login.php')).status === 200)
  async function moveTo(site: WorkedSite, host: HostPart): Promise<string> {
    const { status, headers, body } = await lab.api('POST', `/v1/sites/${site.id}/relocate`, { host: host.name })
    expect([status, body.message]).toEqual([200, 'Success'])
    return headers.get('operation-id') as string
  }
  const isUnderway = async (type: string) =>
    (await lab.records(`select 1 from operations where type = '${type}' and state = 'running'`)).length > 0
  const isSilent = async ({ name }: HostPart) => {
    const silent = 'seen_at < extract(epoch from now()) * 1000 - 10000'
    return (await lab.records(`select 1 from hosts where name = '${name}' and ${silent}`)).length > 0
  }

  test('a clone goes to the other host while that of its source is cordoned', async () => {
    const place = await hostOf(alfa.id)
    const change = (action: string) => lab.api('PUT', `/v1/installation/hosts/${place}/${action}`)
    expect((await change('cordon')).status).toBe(200)
    const { status, headers, body } = await lab.api('POST', `/v1/sites/${alfa.id}/clone`, { name: 'alfa-copy' })
    expect([status, body.message]).toEqual([200, 'Success'])
    expect(await lab.ended(headers.get('operation-id') as string)).toMatchObject({ state: 'succeeded' })
    expect([h1?.name, h2?.name].filter((name) => name !== place)).toEqual([await hostOf(body.data.id)])
    await until('the clone answers', async () => (await lab.visit(1, 'alfa-copy', '/wp-login.php')).status === 200)
    expect((await change('uncordon')).status).toBe(200)
  })

  const hostOf = async (siteId: number) =>
    (await lab.records(`select hosts.name from hosts join sites on hosts.id = host_id where sites.id = ${siteId}`))[0]
      ?.name

  test('a host that is cut off and declared lost comes back on another host, and serves nothing when it returns', async () => {
    await backUp(lab, bravo)
    const before = new Set(acknowledged.get('bravo'))
    const { reads } = await workDuring(async () => {
      await h2?.machine.cut()
      await until('visitors get 503', async () => (await lab.visit(0, 'bravo', '/wp-login.php')).status === 503)
      const lost = () => lab.api('PUT', `/v1/installation/hosts/${h2?.name}/lost`, { confirm: h2?.name })
      expect((await lost()).body.code).toBe('host_running')
      await until('the host may be declared lost', async () => (await lost()).status === 200)
      await until('the site is back', async () => (await lab.visit(1, 'bravo', '/wp-login.php')).status === 200)
      await h2?.machine.mend()
      await until('the lost host has ended', () => h2?.hasEnded())
    })
    expect(statuses(reads('bravo')).filter((status) => ![0, 200, 502, 503].includes(status))).toEqual([])
    acknowledged.set('bravo', before)
    expect(await lost(bravo)).toEqual([])
    const { places } = await keptRows(lab, bravo)
    expect(new Set(places).size).toBe(places.length)
  })
})
