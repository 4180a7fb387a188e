import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import type { Load } from './load.ts'

const notFound = new WeakMap<Ground, string[]>()

/** Only reads: what existed must never disappear in between. */
export const readers: Load = {
  name: 'readers',
  workers: 2,
  async run(ground, { chance, signal }) {
    const gone: string[] = notFound.get(ground) ?? []
    notFound.set(ground, gone)
    while (!signal.aborted) {
      const { id, name } = chance.pick(ground.baseSites)
      const path = chance.pick([
        `/v1/sites/${id}`,
        '/v1/sites',
        `/v1/sites/${id}/notes`,
        '/v1/operations',
        '/v1/account',
      ])
      const { status } = await ground.client.ask('GET', path)
      if (![0, 200, 401, 503].includes(status)) gone.push(`GET ${path}: ${status}`)
      const page = await ground.stead.visit(name, '/wp-includes/css/buttons.css').catch(() => undefined)
      ground.ledger.answered('visit', page?.status ?? 0)
      if (page && ![200, 502, 503].includes(page.status)) gone.push(`a file of ${name}: ${page.status}`)
      await pause(chance.between(50, 300))
    }
  },

  async check(ground) {
    const faults = new Map<string, number>()
    for (const fault of notFound.get(ground) ?? []) faults.set(fault, (faults.get(fault) ?? 0) + 1)
    return [...faults].map(([fault, times]) => `${fault}, ${times} times`)
  },
}
