/** Each harm happens to the machines, and ends with everything in order again. */
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Chance } from '../../support/seeded.ts'
import { until } from '../../support/stead.ts'
import type { HostPart, Lab } from '../lab/lab.ts'
import { backUp, type Work, type WorkedSite } from '../lab/load.ts'
import type { Part } from '../lab/parts.ts'

export interface Scene {
  readonly lab: Lab
  readonly chance: Chance
  readonly sites: readonly WorkedSite[]
  /** The visitors of these sites. */
  readonly load: Work
  /** Says that a site has to return with what it has acknowledged until now. */
  returnsToBackup(site: WorkedSite): void
  fault(text: string): void
}

export interface Harm {
  readonly name: string
  /** Whether the sites of a host are recovered elsewhere. Such a harm allows no other work beside it. */
  readonly isAlone?: boolean
  /** Whether it takes so long that only `--only` chooses it. */
  readonly isLong?: boolean
  run(scene: Scene): Promise<void>
}

const MOST_MS = 600_000

const killed = (name: string, of: (lab: Lab) => readonly Part[]): Harm => ({
  name: `kill -9 ${name}`,
  async run({ lab, chance }) {
    const part = chance.pick(of(lab))
    await part.kill()
    await part.start()
  },
})

/** A process that stands still, as on a machine that swaps or that a hypervisor moves. */
const suspended = (name: string, seconds: number, of: (lab: Lab) => readonly Part[]): Harm => ({
  name: `SIGSTOP ${name} ${seconds} s`,
  async run({ lab, chance }) {
    const part = chance.pick(of(lab))
    part.suspend()
    await pause(seconds * 1000)
    part.resume()
  },
})

const cut = (name: string, seconds: number, of: (lab: Lab) => readonly Part[]): Harm => ({
  name: `silent cut of ${name} ${seconds} s`,
  async run({ lab, chance }) {
    const { machine } = chance.pick(of(lab))
    await machine.cut()
    await pause(seconds * 1000)
    await machine.mend()
  },
})

/** One machine no longer reaches an address, while everything else does. */
const blackHole = (
  name: string,
  seconds: number,
  of: (lab: Lab) => readonly Part[],
  to: (lab: Lab, chance: Chance) => string,
): Harm => ({
  name: `black hole from ${name} ${seconds} s`,
  async run({ lab, chance }) {
    const { machine } = chance.pick(of(lab))
    const address = to(lab, chance)
    await machine.lose(address)
    await pause(seconds * 1000)
    await machine.find(address)
  },
})

const hosts = ({ hosts: list }: Lab) => list
const edges = ({ edges: list }: Lab) => list
const controls = ({ controls: list }: Lab) => list

const databaseStopped: Harm = {
  name: 'database stopped 15 s',
  async run({ lab }) {
    await lab.postgres.stop('immediate')
    await pause(15_000)
    await lab.postgres.start()
  },
}

/** No visitor of a site may notice that PostgreSQL is away. */
const databaseAway: Harm = {
  name: 'database stopped 600 s',
  isAlone: true,
  isLong: true,
  async run({ lab, sites, load, fault }) {
    const before = sites.map(({ name }) => countsOf(load, name))
    await lab.postgres.stop('immediate')
    await pause(600_000)
    const after = sites.map(({ name }) => countsOf(load, name))
    await lab.postgres.start()
    for (const [index, { name }] of sites.entries()) {
      const [old, now] = [before[index] as Counts, after[index] as Counts]
      if (now.answers <= old.answers) fault(`${name} answered nobody`)
      const failures = now.failures.slice(old.failures.length)
      if (failures.length > 0)
        fault(`of ${name} failed ${failures.length}, and ${now.answers - old.answers} did not: ${failures.join(' | ')}`)
    }
  },
}

interface Counts {
  readonly answers: number
  /** What the others got. */
  readonly failures: readonly string[]
}

function countsOf({ reads, acknowledged, unacknowledged }: Work, name: string): Counts {
  const statuses = reads.get(name) ?? []
  const failed = statuses.filter((status) => status !== 200)
  return {
    answers: statuses.length - failed.length + (acknowledged.get(name)?.length ?? 0),
    failures: [...failed.map((status) => `read ${status}`), ...(unacknowledged.get(name) ?? [])],
  }
}

const databaseCut: Harm = {
  name: 'database and storage cut off from all machines 30 s',
  async run({ lab }) {
    for (const machine of lab.machines) await machine.lose(lab.network.here)
    await pause(30_000)
    for (const machine of lab.machines) await machine.find(lab.network.here)
  },
}

/** A host is cut off and declared lost. Its sites come back elsewhere; it returns empty. */
const hostLost: Harm = {
  name: 'a host declared lost',
  isAlone: true,
  async run({ lab, chance, sites, returnsToBackup, fault }) {
    const host = chance.pick(lab.hosts)
    const rows = await lab.records(
      `select sites.id from sites join hosts on hosts.id = sites.host_id where hosts.name = '${host.name}'`,
    )
    const there = sites.filter(({ id }) => rows.some((row) => Number(row.id) === id))
    for (const site of there) {
      // What it writes during its backups may be in only one of them.
      returnsToBackup(site)
      await backUp(lab, site)
    }
    const before = await siteFolders(host)
    await host.machine.cut()
    const decide = (what: string, body?: object) =>
      until(
        `${host.name}: ${what}`,
        async () => (await lab.api('PUT', `/v1/installation/hosts/${host.name}/${what}`, body)).status === 200,
        MOST_MS,
        500,
      )
    await decide('lost', { confirm: host.name })
    for (const site of there) await isServedElsewhere(lab, site, host)
    await host.machine.mend()
    await until('the lost host has ended', () => host.hasEnded(), MOST_MS, 300)
    await decide('return')
    await host.start()
    const after = await siteFolders(host)
    if (after < before) fault(`${host.name} came back with ${after} of ${before} site folders`)
  },
}

/** Counts the folders with the files of worked sites, wherever the host has put them. */
async function siteFolders({ dataDir }: HostPart): Promise<number> {
  const { stdout } = await promisify(execFile)('find', [dataDir, '-name', 'keep.php'])
  return stdout.split('\n').length - 1
}

const isServedElsewhere = (lab: Lab, { id, name }: WorkedSite, host: HostPart) =>
  until(
    `${name} is served by another host`,
    async () => {
      const [row] = await lab.records(
        `select hosts.name from sites join hosts on hosts.id = sites.host_id where sites.id = ${id}`,
      )
      return row?.name !== host.name && (await lab.visit(0, name, '/wp-login.php')).status === 200
    },
    MOST_MS,
    500,
  )

export const harms: readonly Harm[] = [
  killed('a host', hosts),
  killed('an edge', edges),
  killed('a control', controls),
  suspended('a host', 11, hosts),
  suspended('a host', 40, hosts),
  suspended('an edge', 11, edges),
  suspended('a control', 40, controls),
  cut('a host', 20, hosts),
  cut('a control', 20, controls),
  blackHole('an edge to a host', 20, edges, ({ hosts: list }, chance) => chance.pick(list).machine.address),
  blackHole('a host to database and storage', 20, hosts, ({ network }) => network.here),
  blackHole('an edge to the database', 20, edges, ({ network }) => network.here),
  databaseStopped,
  databaseAway,
  databaseCut,
  hostLost,
]
