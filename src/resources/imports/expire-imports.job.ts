import Type from 'typebox'
import { durable, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { changeImport, deleteImportRow, expiredImports } from './import.store.ts'
import { removeImport } from './remove-import.job.ts'

/** Imports per transaction, so that other writers do not wait long. */
const BATCH = 20

/** Requests the removal of staged data of expired imports. */
export const expireImports = durable({
  name: 'imports.expire',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { order: { run: requestRemovals } },
})

export const expireImportsOften = schedule({
  name: 'imports.expire',
  everyMs: 600_000,
  definition: expireImports,
  input: () => ({}),
})

async function requestRemovals({ now, signal, transaction }: StepContext): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const count = await transaction(async (tx) => {
      const expired = await expiredImports(tx, now(), BATCH)
      for (const { id: importId, ...about } of expired) {
        // A site without a host has no staged data.
        if (about.hostId === null) {
          await deleteImportRow(tx, importId)
          continue
        }
        await enqueue(tx, removeImport, { siteId: about.siteId, importId }, { ...about, now: now() })
        await changeImport(tx, importId, { state: 'failed', error: 'Its time is over.' })
      }
      return expired.length
    })
    if (count === 0) return
  }
}
