import { setTimeout as pause } from 'node:timers/promises'
import { type Stead, startStead } from '../test/support/stead.ts'
import { memoryMb } from './support/memory.ts'
import type { Figure, Section } from './support/report.ts'
import { addIdleSites } from './support/sites.ts'

const roles = ['supervisor', 'control', 'host', 'edge'] as const
const IDLE_SITES = 1000

/**
 * Memory of an idle Stead, with an active site, and with a thousand idle sites, and the time it takes to start with
 * them.
 */
export async function memoryBench(): Promise<Section> {
  const stead = await startStead()
  try {
    await stead.restart()
    const empty = await rolesMb(stead)
    const id = await stead.createSite({ name: 'bench-memory' })
    for (const path of ['/', '/wp-login.php', '/?s=hello', '/sample-page/']) await stead.visit('bench-memory', path)
    const active = Math.max(...stead.phpProcesses().map(({ pid }) => memoryMb(pid).rss))
    await stead.api('DELETE', `/v1/sites/${id}`)
    await addIdleSites(stead, { count: IDLE_SITES })
    const began = performance.now()
    await stead.restart()
    const restarted = performance.now() - began
    const full = await rolesMb(stead)
    const php = stead.phpProcesses().length
    return {
      title: 'Memory and start',
      how: `The real program without spares, at its second start, with a filled compile cache. Pss is a process’s own memory and its share of common pages. Rss is in parentheses. The ${IDLE_SITES} sites are rows with routes and no visitors. The start runs from the stop signal until \`/readyz\` says ready again.`,
      figures: [
        memoryFigure('all roles, no site', empty, '< 400 MB'),
        { what: 'an active site (Rss of its PHP process)', value: `${Math.round(active)} MB`, aim: '< 330 MB' },
        memoryFigure(`all roles, ${IDLE_SITES} idle sites`, full, '+ < 50 MB'),
        { what: `… PHP processes`, value: String(php), aim: '0' },
        { what: `stop and start with ${IDLE_SITES} sites`, value: `${(restarted / 1000).toFixed(1)} s`, aim: '< 3 s' },
      ],
    }
  } finally {
    await stead.remove()
  }
}

interface RolesMemory {
  readonly pss: number
  readonly rss: number
  readonly text: string
}

const memoryFigure = (what: string, { pss, rss, text }: RolesMemory, aim: string): Figure => ({
  what: `${what} (${text})`,
  value: `${Math.round(pss)} MB (${Math.round(rss)})`,
  aim,
})

async function rolesMb(stead: Stead): Promise<RolesMemory> {
  // After a start, V8 is still releasing memory.
  await pause(5000)
  const each = roles.map((name) => ({ name, ...memoryMb(stead.role(name)?.pid as number) }))
  const sum = (key: 'pss' | 'rss') => each.reduce((total, one) => total + one[key], 0)
  return {
    pss: sum('pss'),
    rss: sum('rss'),
    text: each.map(({ name, pss }) => `${name} ${Math.round(pss)}`).join(', '),
  }
}
