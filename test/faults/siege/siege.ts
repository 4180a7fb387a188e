/**
 * Siege: eight hostile sites and 500 hostile connections do whatever they can to one Stead, and a ninth site, its
 * visitors, and its owner must not notice.
 *
 * attack   one way to harm others (`attacks/`, one or two a file; `attackers.ts` runs them at a lower priority than Stead)
 * sample   one response that an ordinary visitor or client got meanwhile (`measure/measurer.ts`, a separate process)
 * bound    what Stead promises (`bounds.ts`)
 */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../support/stead.ts'
import { aftermath } from './aftermath.ts'
import { attacks } from './attacks/index.ts'
import { bounds } from './bounds.ts'
import { openGround, type SiegeGround } from './ground.ts'
import { type Measuring, measure } from './measure/measure.ts'
import type { SampleKind } from './measure/measurer.ts'
import { type Part, type Watch, watch } from './measure/watch.ts'
import { faultsOf, lateOf, type SiegeReport } from './report.ts'

export interface SiegeOptions {
  readonly minutes: number
  /** Names of attacks; all by default. An empty list measures Stead without attacks. */
  readonly only?: readonly string[]
  /** Settings besides those of the siege. */
  readonly settings?: Readonly<Record<string, string>>
  readonly say?: (line: string) => void
  readonly signal?: AbortSignal
}

export async function siege({
  minutes,
  only,
  settings = {},
  say = () => {},
  signal,
}: SiegeOptions): Promise<SiegeReport> {
  const wanted = attacks.filter(({ name }) => !only || only.includes(name))
  const made = wanted.filter((attack) => !attack.missing?.())
  const skipped = wanted.flatMap((attack) => {
    const reason = attack.missing?.()
    return reason ? [`${attack.name}: ${reason}`] : []
  })
  say('nine sites are being made')
  const ground = await openGround(made, settings)
  await warm(ground).catch(async (error) => {
    await ground.remove()
    throw error
  })
  const watching = watch(ground)
  const measuring = measure({
    edgePort: ground.stead.edgePort,
    apiPort: ground.stead.apiPort,
    ...ground.ninth,
    siteId: ground.ninth.id,
  })
  const faults: string[] = []
  const late: string[] = []
  const tried: Tried = { connections: 0, requests: 0, calls: 0 }
  try {
    const ended = attack(
      ground,
      made.map(({ name }) => name),
      minutes,
      say,
      signal,
      tried,
    )
    const tooMuch = await Promise.race([ended, watching.tooMuch])
    if (tooMuch) faults.push(tooMuch)
    measuring.stop()
    watching.stop()
    if (!only) {
      faults.push(...faint(tried, leastTried.toProve, minutes))
      late.push(...faint(tried, leastTried.toJudge, minutes))
    }
    faults.push(...judged(ground, measuring, watching))
    late.push(...lateOf(measuring.samples, kindsOf(ground)), ...unasked(ground, measuring))
    say('the attackers have gone')
    if (!signal?.aborted) faults.push(...(await aftermath(ground).catch((error) => [`afterwards: ${error.stack}`])))
  } finally {
    measuring.stop()
    watching.stop()
    stopAttackers()
    await ground.remove()
  }
  const { peakMb, largestTotalMb, leastFreeMb, peakTemporaryMb } = watching
  const names = made.map(({ name }) => name)
  return {
    minutes,
    attacks: names,
    skipped,
    samples: measuring.samples,
    peakMb,
    largestTotalMb,
    leastFreeMb,
    peakTemporaryMb,
    tried,
    faults,
    late,
  }
}

/** Caches the measured page and starts PHP: what a first visitor waits for is measured elsewhere. */
async function warm({ stead, ninth }: SiegeGround): Promise<void> {
  await until('the page comes from the cache', async () => {
    const { headers } = await stead.visit(ninth.host)
    return String(headers['cache-status']).includes('; hit')
  })
  await stead.visit(ninth.host, '/fresh.php')
}

export type Tried = Record<'connections' | 'requests' | 'calls', number>

const running = new Set<ReturnType<typeof fork>>()
const stopAttackers = () => {
  for (const child of running) child.kill('SIGKILL')
}

/** Runs the attackers for the given time. */
async function attack(
  { target }: SiegeGround,
  names: readonly string[],
  minutes: number,
  say: (line: string) => void,
  signal: AbortSignal | undefined,
  tried: Tried,
): Promise<undefined> {
  const child = fork(join(import.meta.dirname, 'attackers.ts'), { execArgv: [], detached: true })
  running.add(child)
  child.on('exit', () => running.delete(child))
  child.on('message', (figures: Tried) => Object.assign(tried, figures))
  child.send({ target, names })
  for (let second = 0; second < minutes * 60 && !signal?.aborted; second++) {
    if (second % 30 === 0) say(`${second} of ${minutes * 60} s under attack`)
    await wait(1000)
  }
  child.kill('SIGKILL')
  return undefined
}

/**
 * Attackers without processor time prove nothing. The smallest numbers of connections, and of requests a minute, to
 * look for faults and to judge times. Only for all attacks together: some of them send one request a minute.
 */
const leastTried = {
  toProve: { connections: 250, requests: 100 },
  toJudge: { connections: 250, requests: 2000 },
}

function faint({ connections, requests }: Tried, least: typeof leastTried.toProve, minutes: number): string[] {
  if (connections >= least.connections && requests >= least.requests * minutes) return []
  return [
    `the attackers opened only ${connections} connections and made ${requests} requests: the machine had no time for them`,
  ]
}

const kindsOf = ({ names }: SiegeGround): SampleKind[] =>
  names ? ['cached', 'uncached', 'api', 'name'] : ['cached', 'uncached', 'api']

function unasked({ names }: SiegeGround, { samples }: Measuring): string[] {
  const missing = samples.filter(({ kind, name }) => kind === 'name' && name && names && !names.asked.has(name))
  return missing.length > 0 ? [`${missing.length} names of the ninth site never reached the name server`] : []
}

/** Describes what broke during the attacks. */
function judged(ground: SiegeGround, { samples }: Measuring, watched: Watch): string[] {
  const sizes = (Object.keys(bounds.memoryMb) as Part[])
    .filter((part) => watched.peakMb[part] > bounds.memoryMb[part])
    .map((part) => `${part} took ${Math.round(watched.peakMb[part])} MB of its ${bounds.memoryMb[part]}`)
  const deaths = ground.stead.output().match(/"msg":"a part died/g)?.length ?? 0
  return [
    ...faultsOf(samples, kindsOf(ground)),
    ...sizes,
    ...(watched.peakTemporaryMb > bounds.temporaryMb
      ? [`temporary files took ${Math.round(watched.peakTemporaryMb)} MB of their ${bounds.temporaryMb}`]
      : []),
    ...(watched.leastFreeMb < bounds.freeDiskMb
      ? [`the disk had ${Math.round(watched.leastFreeMb)} MB left, ${bounds.freeDiskMb} are Stead’s own`]
      : []),
    ...(deaths > 0 ? [`a part died, ${deaths} times`] : []),
  ]
}
