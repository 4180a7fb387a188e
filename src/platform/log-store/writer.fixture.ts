/** A process that writes one log entry per millisecond, and prints the number of each. A test kills it. */
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { budgetOf } from '../../../test/support/budget.ts'
import { createLogBuffer } from './log-buffer.ts'
import { createLogIds } from './log-ids.ts'
import { openLogStore } from './open-log-store.ts'

const { url, folder, siteId, count } = JSON.parse(process.argv[2] as string) as {
  url?: string
  folder: string
  siteId: number
  /** Ends after this many entries. */
  count: number
}
const store = openLogStore({ url, folder })
const log = { warn: (facts: object, text: string) => console.error(text, facts) }
const buffer = createLogBuffer({ store, kind: 'server', log, budget: budgetOf() })
const id = createLogIds()
for (let number = 1; number <= count; number++) {
  const atMs = Date.now()
  buffer.add({ siteId, atMs, id: id(), facet: number % 3, key: `10.0.0.${number % 5}`, body: String(number) })
  writeSync(1, `${number} ${atMs}\n`)
  if (number % 2 === 0) await pause(1)
}
await buffer.close()
await store.close()
