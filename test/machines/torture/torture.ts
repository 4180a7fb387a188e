/**
 * Torture of several machines: rounds of one harm each, beside moves and drains, while numbered writes and readers go
 * through both edges. After each round every answered write must be there, and every operation must have ended. Nobody
 * may have got a page from the wrong place, and no two directories of a site may have written in turns.
 *
 * The seed determines the order of harms and works. The timing depends on the machine.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Report } from '../../faults/torture/report.ts'
import { Interrupted } from '../../faults/torture/torture.ts'
import { type Chance, seeded } from '../../support/seeded.ts'
import { until } from '../../support/stead.ts'
import { type Lab, openLab } from '../lab/lab.ts'
import { keptRows, makeWorkedSite, startWork, type WorkedSite } from '../lab/load.ts'
import { type Harm, harms } from './harms.ts'
import { works } from './works.ts'

export interface MachinesOptions {
  readonly rounds: number
  readonly seed: number
  /** Begins no further round after this time. */
  readonly mostSeconds: number
  /** Only the named harms. */
  readonly only?: readonly string[]
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/** Statuses that a visitor may get. 0: the edge does not answer. */
const allowed = [0, 200, 502, 503]
const PATIENCE_MS = 600_000

/** @throws Interrupted, or when the machines cannot be made; faults of Stead are in the report */
export async function tortureMachines(options: MachinesOptions): Promise<Report> {
  const startedAt = performance.now()
  const lab = await openLab({ controls: 2, hosts: 3, edges: 2 })
  try {
    const run = await openRun(lab, options)
    await run.rounds()
    return { ...run.report(), seconds: (performance.now() - startedAt) / 1000 }
  } finally {
    await lab.remove()
  }
}

async function openRun(lab: Lab, { rounds, seed, mostSeconds, only, say, signal }: MachinesOptions) {
  const chance = seeded(seed)
  const sites: WorkedSite[] = []
  for (const [index, name] of ['alfa', 'bravo', 'charlie'].entries())
    sites.push(await makeWorkedSite(lab, name, lab.hosts[index] as Lab['hosts'][number]))
  const numbers = { next: 1 }
  /** The numbers that each site has to have. */
  const owed = new Map<string, Set<number>>(sites.map(({ name }) => [name, new Set()]))
  const faults: string[] = []
  const counts: Record<string, number> = {}
  const answers: Record<string, number> = {}

  async function round(harm: Harm): Promise<void> {
    const work = harm.isAlone ? works[0] : chance.pick(works)
    const label = `${harm.name}, beside ${work?.name}`
    say(label)
    counts[label] = (counts[label] ?? 0) + 1
    const load = startWork(lab, sites, numbers)
    const collect = (name: string) => {
      for (const n of load.acknowledged.get(name) ?? []) owed.get(name)?.add(n)
    }
    /** For each site that comes from a backup: what it had then. */
    const fromBackup = new Map<string, Set<number>>()
    const returnsToBackup = ({ name }: WorkedSite) => {
      collect(name)
      fromBackup.set(name, new Set(owed.get(name)))
    }
    const fault = (text: string) => void faults.push(`${label}: ${text}`)
    try {
      // Edges and hosts that lose the database serve the sites that they know.
      await isInOrder(lab, sites)
      const begun = await work?.begin(lab, chance, sites)
      await pause(chance.between(0, 5000))
      await harm.run({ lab, chance, sites, load, returnsToBackup, fault })
      await isInOrder(lab, sites)
      for (const id of begun?.operations ?? []) await lab.ended(id)
      await begun?.after()
      await hasNoWorkLeft(lab)
      await isInOrder(lab, sites)
    } finally {
      await load.end()
    }
    for (const { name } of sites) {
      collect(name)
      const kept = fromBackup.get(name)
      if (kept) owed.set(name, kept)
      for (const status of load.reads.get(name) ?? []) {
        answers[status] = (answers[status] ?? 0) + 1
        if (!allowed.includes(status)) fault(`a reader of ${name} got ${status}`)
      }
    }
    for (const site of sites) for (const each of await lost(lab, site, owed.get(site.name) ?? new Set())) fault(each)
  }

  return {
    async rounds() {
      const endsAt = performance.now() + mostSeconds * 1000
      const offered = harms.filter(({ name, isLong }) => (only ? only.includes(name) : !isLong))
      const next = deckOf(offered, chance)
      try {
        for (let done = 0; done < rounds && performance.now() < endsAt; done++) {
          if (signal.aborted) throw new Interrupted('interrupted: the rounds before were checked')
          await round(next())
        }
      } catch (error) {
        if (error instanceof Interrupted) throw error
        const parts = [...lab.controls, ...lab.hosts, ...lab.edges]
        const words = parts.map(({ machine, output }) => `--- ${machine.name}\n${output().slice(-2000)}`)
        faults.push(`the run broke off: ${(error as Error).stack}\n${words.join('\n')}`)
      }
    },
    report: () => ({
      ...{ title: 'several machines', seed, skipped: [], counts, answers, faults },
      figures: { 'answered writes': [...owed.values()].reduce((sum, { size }) => sum + size, 0) },
    }),
  }
}

/** Draws all harms in a random order before one comes again. */
function deckOf(all: readonly Harm[], chance: Chance): () => Harm {
  let deck: Harm[] = []
  return () => {
    if (deck.length === 0) deck = chance.shuffled(all)
    return deck.pop() as Harm
  }
}

/** Waits until every part works, and every site answers through both edges. */
async function isInOrder(lab: Lab, sites: readonly WorkedSite[]): Promise<void> {
  const ready = async (control: number) =>
    (await lab.api('GET', '/readyz', undefined, control).catch(() => undefined))?.status === 200
  for (const control of lab.controls.keys())
    await until(`control ${control} is ready`, () => ready(control), PATIENCE_MS, 300)
  const answers = async (edge: number, name: string) =>
    (await lab.visit(edge, name, '/wp-login.php').catch(() => undefined))?.status === 200
  for (const edge of lab.edges.keys())
    for (const { name } of sites)
      await until(`${name} answers through edge ${edge}`, () => answers(edge, name), PATIENCE_MS, 300)
}

/** Waits until no operation of a site or of a drain is left. */
async function hasNoWorkLeft(lab: Lab): Promise<void> {
  const left = `select id from operations where state in ('queued', 'running') and (type like 'site.%' or type like 'hosts.drain%')
    and type <> 'site.remove_copy'`
  await until('every operation has ended', async () => (await lab.records(left)).length === 0, PATIENCE_MS, 300)
}

/** Returns what a site lacks of what it has acknowledged, and whether two directories wrote in turns. */
async function lost(lab: Lab, site: WorkedSite, owed: ReadonlySet<number>): Promise<string[]> {
  const { numbers, places } = await keptRows(lab, site)
  const missing = [...owed].filter((n) => !numbers.has(n))
  return [
    ...(missing.length > 0 ? [`${site.name} lost ${missing.length} answered writes: ${missing.slice(0, 20)}`] : []),
    ...(new Set(places).size < places.length ? [`two directories of ${site.name} wrote in turns: ${places}`] : []),
  ]
}
