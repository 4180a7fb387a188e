import { setTimeout as pause } from 'node:timers/promises'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import { untilCodeIsKept } from './support/kept-code.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'
import { cpuWithEndedOf } from './support/servers.ts'

const SITES = 20

/** Twenty simultaneous creations, and their effect on other requests. */
export async function manySitesBench(): Promise<Section> {
  const stead = await startStead({ env: { STEAD_SPARE_SITES: '1' } })
  try {
    await untilCodeIsKept(stead)
    await stead.createSite({ name: 'bench-old' })
    for (let page = 0; page < 20; page++) await stead.visit('bench-old', `/?warm=${page}`)
    await until('the next spare is warm', async () => (await pause(2500)) || (await warmSpares(stead)) > 0)
    const quiet = await watch(stead, pause(5000))
    const cpuSeconds = () => cpuWithEndedOf(stead.role('supervisor')?.pid as number) / 1e6
    const before = cpuSeconds()
    const ordered = order(stead)
    const busy = await watch(stead, ordered)
    const liveMs = await ordered
    const seconds = cpuSeconds() - before
    return {
      title: 'Twenty sites at once',
      how: `${SITES} sites are requested in one moment, with one warm spare and the default settings. The time runs from the first request until a site is live and shows its front page, checked every 50 ms. Meanwhile, every 100 ms, one API read, one cached page, and one uncached page of an existing site are requested. The reference is the same three requests in 5 s without new sites.`,
      figures: [
        { what: `all ${SITES} live`, value: `${(Math.max(...liveMs) / 1000).toFixed(1)} s`, aim: '10 s' },
        {
          what: '… the first, the median',
          value: `${(Math.min(...liveMs) / 1000).toFixed(1)} s, ${(median(liveMs) / 1000).toFixed(1)} s`,
        },
        { what: '… processor time of all of Stead, a site', value: `${(seconds / SITES).toFixed(2)} s` },
        felt('an API read meanwhile', busy.api, quiet.api),
        felt('a cached page meanwhile', busy.cached, quiet.cached),
        felt('an uncached page meanwhile', busy.php, quiet.php),
      ],
    }
  } finally {
    await stead.remove()
  }
}

const felt = (what: string, busy: readonly number[], quiet: readonly number[]): Figure => {
  const text = (times: readonly number[]) =>
    `${Math.round(median(times))} ms, ${Math.round(percentile(times, 0.95))} ms`
  return { what: `${what}, median and p95`, value: text(busy), yardstick: text(quiet) }
}

async function warmSpares(stead: Stead): Promise<number> {
  const response = await fetch(`${stead.apiUrl}/readyz`)
  const { hosts } = (await response.json()) as { hosts: { warmSpares: number }[] }
  return hosts[0]?.warmSpares ?? 0
}

/** @returns for each site, milliseconds from the first request to its first page */
async function order(stead: Stead): Promise<number[]> {
  const began = performance.now()
  const names = Array.from({ length: SITES }, (_, number) => `bench-many-${number}`)
  return Promise.all(
    names.map(async (name) => {
      const { status, body } = await stead.api('POST', '/v1/sites', { name })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      for (;;) {
        const page = await stead.visit(name)
        if (page.status === 200 && page.text.includes(`<title>${name}`)) return performance.now() - began
        await pause(50)
      }
    }),
  )
}

interface Felt {
  readonly api: number[]
  readonly cached: number[]
  readonly php: number[]
}

/** Latencies of other requests until the work is done, each of the three independent of the others. */
async function watch(stead: Stead, work: Promise<unknown>): Promise<Felt> {
  const felt: Felt = { api: [], cached: [], php: [] }
  let isOver = false
  const repeat = async (times: number[], ask: (number: number) => Promise<{ readonly status: number }>) => {
    for (let number = 0; !isOver; number++) {
      const began = performance.now()
      const { status } = await ask(number)
      if (status !== 200) throw new Error(`status ${status}`)
      times.push(performance.now() - began)
      await pause(100)
    }
  }
  const end = work.finally(() => {
    isOver = true
  })
  await Promise.all([
    end,
    repeat(felt.api, () => stead.api('GET', '/v1/sites?limit=1')),
    repeat(felt.cached, () => stead.visit('bench-old')),
    repeat(felt.php, (number) => stead.visit('bench-old', `/?busy=${number}-${Date.now()}`)),
  ])
  return felt
}
