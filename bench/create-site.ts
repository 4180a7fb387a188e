import { setTimeout as pause } from 'node:timers/promises'
import { fetch } from 'undici'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import { untilCodeIsKept } from './support/kept-code.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'

interface Creation {
  readonly totalMs: number
  readonly steps: Record<string, number>
}

/** Measures from the request to the first page with the right title, over HTTP, through the edge. */
export async function createSiteBench(): Promise<Section> {
  const warm = await startStead({ env: { STEAD_SPARE_SITES: '1' } })
  const withSpare = await creations(warm, 20, true).finally(() => warm.remove())
  const cold = await startStead()
  const without = await creations(cold, 10, false).finally(() => cold.remove())
  return {
    title: 'A site',
    how: 'The time from `POST /v1/sites` to the first 200 page with the site’s title through the edge. The benchmark requests the page every 5 ms. Before Stead routes the site, it has proved a page and a write, and the first visitor gets that page (docs/design/hosting.md). The sites are created one after the other. With a spare, the next site starts when the next spare is warm. The steps are those of the operation, timed by the database. No public reference was measured on the same machine. In an earlier run, the Playground command line took 3.8 s for an installed site and 7.9 s for a fresh one.',
    figures: [...figures('with a warm spare', withSpare, '< 0.5 s'), ...figures('with no spare', without, '< 2.5 s')],
  }
}

function figures(what: string, all: readonly Creation[], aim: string): Figure[] {
  const totals = all.map(({ totalMs }) => totalMs)
  const names = Object.keys(all[0]?.steps ?? {})
  const steps = names.map((name) => `${name} ${Math.round(median(all.map((each) => each.steps[name] as number)))}`)
  return [
    { what: `request to first page, ${what}, median of ${all.length}`, value: `${Math.round(median(totals))} ms`, aim },
    { what: `… p95`, value: `${Math.round(percentile(totals, 0.95))} ms` },
    { what: '… steps, median ms', value: steps.join(', ') },
  ]
}

async function creations(stead: Stead, count: number, awaitSpare: boolean): Promise<Creation[]> {
  await untilCodeIsKept(stead)
  const all: Creation[] = []
  for (let index = 0; index < count; index++) {
    await until('all is quiet', () => isQuiet(stead, awaitSpare))
    all.push(await create(stead, `bench-${awaitSpare ? 'warm' : 'cold'}-${index}`))
  }
  return all
}

async function isQuiet(stead: Stead, awaitSpare: boolean): Promise<boolean> {
  // The report of a host is up to two seconds old.
  await pause(2500)
  const response = await fetch(`${stead.apiUrl}/readyz`)
  const { hosts } = (await response.json()) as { hosts: { warmSpares: number }[] }
  return !awaitSpare || (hosts[0]?.warmSpares ?? 0) > 0
}

async function create(stead: Stead, name: string): Promise<Creation> {
  const began = performance.now()
  const { body, headers } = await stead.api('POST', '/v1/sites', { name })
  for (;;) {
    const page = await stead.visit(name)
    if (page.status === 200 && page.text.includes(`<title>${name}`)) break
    await pause(5)
  }
  const totalMs = performance.now() - began
  const operation = await stead.ended(headers.get('operation-id') as string)
  const steps = operation.steps as { name: string; startedAt: string; finishedAt: string }[]
  const lasted = steps.map((step) => [step.name, Date.parse(step.finishedAt) - Date.parse(step.startedAt)])
  await stead.api('DELETE', `/v1/sites/${body.data.id}`)
  return { totalMs, steps: Object.fromEntries(lasted) as Record<string, number> }
}
