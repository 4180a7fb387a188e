import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import { untilCodeIsKept } from './support/kept-code.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'
import { cpuOf } from './support/servers.ts'

const TIMES = 12

interface Visit {
  readonly firstByteMs: number
  readonly wholeMs: number
}

/** The waiting time of the first visitor of a site whose PHP is stopped. */
export async function sleptSiteBench(): Promise<Section> {
  const stead = await startStead({ env: { STEAD_PHP_IDLE_SECONDS: '1' } })
  try {
    await untilCodeIsKept(stead)
    await stead.createSite({ name: 'bench-slept' })
    const visits = { slept: [] as Visit[], awake: [] as Visit[] }
    const cpu: number[] = []
    for (let time = 0; time < TIMES; time++) {
      await until('PHP has stopped', () => stead.phpProcesses().length === 0)
      // Ended when the process ends.
      await pause(500)
      visits.slept.push(await firstByte(stead, `/?slept=${time}`))
      cpu.push(phpCpuMs(stead))
      visits.awake.push(await firstByte(stead, `/?awake=${time}`))
    }
    return {
      title: 'A sleeping site',
      how: `A visit to the front page of a fresh site whose PHP has stopped. Each request has a query that no cache knows, and a new connection to the edge. There are ${TIMES} requests with the default settings, except that PHP stops after one second. The reference is the same request right after, with PHP running. Processor time is that of the site’s processes, from their start to the end of the page.`,
      figures: [
        ...figures('first byte', visits, ({ firstByteMs }) => firstByteMs, '0.7 s'),
        ...figures('whole page', visits, ({ wholeMs }) => wholeMs),
        { what: '… processor time of PHP, median', value: `${Math.round(median(cpu))} ms` },
      ],
    }
  } finally {
    await stead.remove()
  }
}

function figures(
  what: string,
  { slept, awake }: { readonly slept: readonly Visit[]; readonly awake: readonly Visit[] },
  of: (visit: Visit) => number,
  aim?: string,
): Figure[] {
  const text = (visits: readonly Visit[], share: number) => `${Math.round(percentile(visits.map(of), share))} ms`
  return [
    { what: `${what}, median of ${TIMES}`, value: text(slept, 0.5), yardstick: text(awake, 0.5), ...(aim && { aim }) },
    { what: '… p95', value: text(slept, 0.95), yardstick: text(awake, 0.95) },
  ]
}

const phpCpuMs = (stead: Stead): number =>
  stead.phpProcesses().reduce((most, { pid }) => Math.max(most, cpuOf(pid) / 1000), 0)

async function firstByte(stead: Stead, path: string): Promise<Visit> {
  const began = performance.now()
  const host = `bench-slept.localhost:${stead.edgePort}`
  const sent = request({ host: '127.0.0.1', port: stead.edgePort, path, headers: { host }, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const firstByteMs = performance.now() - began
  for await (const _ of response) {
    // Waits for its end.
  }
  if (response.statusCode !== 200) throw new Error(`the site answered ${response.statusCode}`)
  return { firstByteMs, wholeMs: performance.now() - began }
}
