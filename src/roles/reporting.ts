import { randomBytes } from 'node:crypto'
import { type Budgets, figuresOf } from '../platform/budgets/budget.ts'
import { forgetProcess, reportProcess } from '../platform/processes/process.store.ts'
import type { Ground, Part } from './part.ts'

const EVERY_MS = 10_000

/** Tells the API's `/metrics`, by way of the database, how full the budgets of this process are. Nothing depends on it. */
export function startReporting({ database, log }: Ground, part: string, budgets: Budgets<string>): Part {
  const id = `${part}-${randomBytes(6).toString('hex')}`
  let reporting = Promise.resolve()
  const report = () => {
    const facts = { id, part, residentBytes: process.memoryUsage.rss(), budgets: figuresOf(budgets) }
    reporting = database
      .transaction((tx) => reportProcess(tx, facts, Date.now()))
      .catch((error) => log.debug({ err: error }, 'figures of this process were not written'))
  }
  // whoever died before has left a row
  reporting = database.transaction((tx) => forgetProcess(tx, id, Date.now())).catch(() => {})
  const timer = setInterval(report, EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await reporting
      await database.transaction((tx) => forgetProcess(tx, id, Date.now())).catch(() => {})
    },
  }
}
