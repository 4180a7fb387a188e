import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type HostPart, type Lab, openLab } from '../test/machines/lab/lab.ts'
import { backUp, placeOf, type WorkedSite } from '../test/machines/lab/load.ts'
import { hasNamespaces } from '../test/machines/lab/network.ts'
import { until } from '../test/support/stead.ts'
import { type Figure, median, type Section } from './support/report.ts'

const SITES = 20
const MOST_MS = 1_800_000
/** Steps of a move during which its site is closed. */
const CLOSED = ['close', 'keep_content', 'ask_content', 'receive_content', 'done']

/** Empties a host with small sites, then loses the host that has got most of them. */
export async function drainsBench(sites = SITES): Promise<Section> {
  const title = 'Drain of a host, and recovery of a lost one'
  if (!hasNamespaces) return { title, how: 'Not measured: it needs root and `ip netns`.', figures: [] }
  const lab = await openLab({ hosts: 3, edges: 1 })
  try {
    const [full] = lab.hosts as [HostPart]
    const all: WorkedSite[] = []
    for (let number = 1; number <= sites; number++) {
      const name = `small-${number}`
      all.push({ name, id: await lab.createSite(name, full) })
    }
    const byHand = await copyByHand(lab, all.slice(0, 5), full)
    const drain = await drainHost(lab, full)
    const lost = await loseFullest(lab, all)
    return {
      title,
      how: `${sites} sites, as WordPress installs them, are on one of three hosts, which all run on this machine with their own MariaDB. The host is drained to the other two, through an S3 storage. Then the host that has most of the sites stops, and is declared lost. Its sites have backups. The reference for both is a copy of five of the sites with \`cp -a\`, and \`mariadb-dump\` piped into \`mariadb\`, one after the other, which is neither checked nor served.`,
      figures: figuresOf({ byHand, drain, lost }),
    }
  } finally {
    await lab.remove()
  }
}

/** @returns milliseconds for each site */
async function copyByHand(lab: Lab, sites: readonly WorkedSite[], { dataDir }: HostPart): Promise<number> {
  const login = `--defaults-file=${join(dataDir, 'mariadb/administrator.cnf')}`
  const run = promisify(execFile)
  const startedAt = performance.now()
  for (const { id } of sites) {
    const place = await placeOf(lab, id)
    const [web, copy] = [join(dataDir, 'sites', `h${place}`, 'web'), join(dataDir, `copy-${place}`)]
    const sql = `mariadb ${login}`
    await run('sh', [
      '-ec',
      `cp -a ${web} ${copy}
from=$(${sql} -N -e "show databases like '%\\_h${place}'")
${sql} -e 'create database copy_by_hand'
mariadb-dump ${login} --single-transaction $from | ${sql} copy_by_hand
${sql} -e 'drop database copy_by_hand'
rm -r ${copy}`,
    ])
  }
  return (performance.now() - startedAt) / sites.length
}

interface Drain {
  readonly msEach: number
  readonly closedMs: number
}

async function drainHost(lab: Lab, { name }: HostPart): Promise<Drain> {
  const startedAt = performance.now()
  const { status, headers, body } = await lab.api('PUT', `/v1/installation/hosts/${name}/drain`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  const { state, error } = await lab.ended(headers.get('operation-id') as string)
  if (state !== 'succeeded') throw new Error(`the drain failed: ${error}`)
  const ms = performance.now() - startedAt
  const steps = CLOSED.map((step) => `'${step}'`).join(', ')
  const moves = await lab.records(
    `select sum(s.finished_at - s.started_at) as ms from operation_steps s join operations o on o.id = s.operation_id
      where o.type = 'site.relocate' and o.state = 'succeeded' and s.name in (${steps}) group by o.id`,
  )
  return { msEach: ms / moves.length, closedMs: median(moves.map(({ ms: each }) => Number(each))) }
}

interface Loss {
  readonly msEach: number
  readonly firstMs: number
  readonly sites: number
}

/** Stops the host with most sites, and waits until all of them answer from the others. */
async function loseFullest(lab: Lab, all: readonly WorkedSite[]): Promise<Loss> {
  const rows = await lab.records(
    'select hosts.name, sites.id from sites join hosts on hosts.id = sites.host_id where sites.id > 0',
  )
  const on = ({ name }: HostPart) =>
    all.filter(({ id }) => rows.some((row) => row.name === name && Number(row.id) === id))
  const [host] = lab.hosts.toSorted((one, other) => on(other).length - on(one).length) as [HostPart]
  const theirs = on(host)
  for (const { name } of lab.hosts) if (name !== host.name) await decide(lab, name, 'uncordon')
  for (const site of theirs) await backUp(lab, site)
  await host.kill()
  await decide(lab, host.name, 'lost', { confirm: host.name })
  const startedAt = performance.now()
  const times = await Promise.all(
    theirs.map(async ({ name }) => {
      await until(`${name} answers`, async () => (await lab.visit(0, name, '/?fresh')).status === 200, MOST_MS, 200)
      return performance.now() - startedAt
    }),
  )
  return { msEach: Math.max(...times) / theirs.length, firstMs: Math.min(...times), sites: theirs.length }
}

/** Refused while the host still counts as heard of. */
const decide = (lab: Lab, name: string, what: string, body?: object) =>
  until(
    `${name}: ${what}`,
    async () => (await lab.api('PUT', `/v1/installation/hosts/${name}/${what}`, body)).status === 200,
    MOST_MS,
    200,
  )

function figuresOf({ byHand, drain, lost }: { byHand: number; drain: Drain; lost: Loss }): Figure[] {
  const hourly = (ms: number) => `${Math.round(3_600_000 / ms)} an hour`
  const rate = (what: string, msEach: number): Figure => ({
    ...{ what, value: hourly(msEach), yardstick: hourly(byHand), ratio: (byHand / msEach).toFixed(2) },
  })
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return [
    rate('sites moved by a drain', drain.msEach),
    { what: 'drain: a site is closed', value: seconds(drain.closedMs) },
    rate(`sites recovered from the lost host, of ${lost.sites}`, lost.msEach),
    { what: 'lost host: the first site answers after', value: seconds(lost.firstMs) },
  ]
}
