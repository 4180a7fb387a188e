import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from '../../../support/visit.ts'
import type { Ground } from '../ground.ts'
import type { Load } from './load.ts'

const kept = new WeakMap<Ground, Map<string, number[]>>()

function keptBy(ground: Ground, site: string): number[] {
  const all = kept.get(ground) ?? new Map<string, number[]>()
  kept.set(ground, all)
  const numbers = all.get(site) ?? []
  all.set(site, numbers)
  return numbers
}

/** Describes an unexpected failure. */
function noteOf({ status, headers, text }: Page): string {
  if (status === 503) return headers['retry-after'] ? '' : 'without Retry-After'
  return status === 500
    ? text
        .replace(/<(style|script).*?<\/\1>|<[^>]*>/gs, ' ')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 200)
    : ''
}

/** Visitors whose requests write to WordPress. */
export const visitors: Load = {
  name: 'visitors',
  workers: 2,
  async run(ground, { chance, worker, signal }) {
    for (let n = worker; !signal.aborted; n += 2) {
      const { name } = chance.pick(ground.baseSites)
      const page = await ground.stead.visit(name, `/keep.php?n=${n}`, { timeoutMs: 40_000 }).catch(() => undefined)
      ground.ledger.answered('visit', page?.status ?? 0, page && noteOf(page))
      if (page?.status === 200 && page.text === `kept ${n}`) keptBy(ground, name).push(n)
      await pause(page?.status === 200 ? chance.between(10, 60) : 100)
    }
  },

  async check(ground) {
    const faults: string[] = []
    for (const { name } of ground.baseSites) {
      const page = await ground.stead.visit(name, '/kept.php')
      const there = new Set(JSON.parse(page.text) as string[])
      const numbers = keptBy(ground, name)
      ground.ledger.count('visitors’ writes acknowledged', numbers.length)
      const lost = numbers.filter((n) => !there.has(`kept-${n}`))
      if (lost.length > 0) faults.push(`lost in ${name}: ${lost.join(', ')}`)
    }
    return faults
  },
}
