import { bounds } from './bounds.ts'
import type { Sample, SampleKind } from './measure/measurer.ts'
import type { Part } from './measure/watch.ts'

export interface SiegeReport {
  readonly minutes: number
  readonly attacks: readonly string[]
  readonly skipped: readonly string[]
  readonly samples: readonly Sample[]
  readonly peakMb: Readonly<Record<Part, number>>
  readonly largestTotalMb: number
  readonly leastFreeMb: number
  readonly peakTemporaryMb: number
  readonly tried: Readonly<Record<'connections' | 'requests' | 'calls', number>>
  /** What broke: a wrong response, a process that died, memory or disk over its limit, something left behind. */
  readonly faults: readonly string[]
  /** Responses that were right but too late. */
  readonly late: readonly string[]
}

export const boundOf: Readonly<Record<SampleKind, number>> = {
  cached: bounds.cachedMs,
  uncached: bounds.uncachedMs,
  api: bounds.apiMs,
  name: bounds.nameMs,
}

const words: Readonly<Record<SampleKind, string>> = {
  cached: 'ninth site, cached page',
  uncached: 'ninth site, uncached page',
  api: 'API',
  name: 'ninth site, name asked for',
}

export interface Judged {
  readonly kind: SampleKind
  readonly count: number
  /** 0 to 1; wrong responses do not count. */
  readonly within: number
  readonly wrong: number
  readonly percentiles: readonly number[]
}

const asked = [0.5, 0.95, 0.99, 1]

export function judge(samples: readonly Sample[], kind: SampleKind): Judged {
  const all = samples.filter((sample) => sample.kind === kind)
  const sorted = all.map(({ ms }) => ms).sort((a, b) => a - b)
  const right = all.filter(({ ms, fault }) => !fault && ms <= boundOf[kind])
  return {
    kind,
    count: all.length,
    within: all.length > 0 ? right.length / all.length : 0,
    wrong: all.filter(({ fault }) => fault).length,
    percentiles: asked.map((p) => sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN),
  }
}

/** Describes responses that came too late. */
export function lateOf(samples: readonly Sample[], kinds: readonly SampleKind[]): string[] {
  return kinds.flatMap((kind) => {
    const { count, within } = judge(samples, kind)
    if (count === 0) return [`${words[kind]}: never measured`]
    if (within >= bounds.share) return []
    return [
      `${words[kind]}: ${(within * 100).toFixed(1)} % within ${boundOf[kind]} ms, ${bounds.share * 100} % promised`,
    ]
  })
}

/** Describes wrong responses. */
export function faultsOf(samples: readonly Sample[], kinds: readonly SampleKind[]): string[] {
  return kinds.flatMap((kind) => {
    const faults = new Map<string, number>()
    for (const sample of samples)
      if (sample.kind === kind && sample.fault && !isLate(sample))
        faults.set(`${sample.what}: ${sample.fault}`, (faults.get(`${sample.what}: ${sample.fault}`) ?? 0) + 1)
    return [...faults].map(([fault, times]) => `${words[kind]}: ${fault}, ${times} times`)
  })
}

const isLate = ({ fault }: Sample): boolean => fault?.startsWith('no answer in') === true

export function reportText(report: SiegeReport): string {
  const ms = (value: number) => (Number.isNaN(value) ? '–' : String(Math.round(value)))
  const timings = (Object.keys(words) as SampleKind[]).map((kind) => {
    const { count, within, wrong, percentiles } = judge(report.samples, kind)
    const share = `${(within * 100).toFixed(1)} %`
    return `| ${words[kind]} | ${count} | ${percentiles.map(ms).join(' | ')} | ${boundOf[kind]} | ${share} | ${wrong} |`
  })
  const sizes = (Object.keys(bounds.memoryMb) as Part[]).map(
    (part) => `| ${part} | ${Math.round(report.peakMb[part])} | ${bounds.memoryMb[part]} |`,
  )
  return [
    `Siege of ${report.minutes} minutes: ${report.attacks.join(', ')}`,
    `Tried: ${Object.entries(report.tried)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}`,
    ...report.skipped.map((line) => `Left out: ${line}`),
    '',
    '| what | samples | median, ms | 95 % | 99 % | most | bound | within | wrong |',
    '|---|---|---|---|---|---|---|---|---|',
    ...timings,
    '',
    '| memory (Pss) | most, MB | budget |',
    '|---|---|---|',
    ...sizes,
    `| all at once | ${Math.round(report.largestTotalMb)} | |`,
    `| temporary files | ${Math.round(report.peakTemporaryMb)} | ${bounds.temporaryMb} |`,
    `| disk, least free | ${Math.round(report.leastFreeMb)} | at least ${bounds.freeDiskMb} |`,
    '',
    ...(report.faults.length + report.late.length === 0 ? ['Every bound held.'] : []),
    ...report.faults.map((fault) => `Broken: ${fault}`),
    ...report.late.map((what) => `Too late: ${what}`),
    '',
  ].join('\n')
}
