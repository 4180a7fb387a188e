import { hostJobs } from '../../src/jobs.ts'
import { type AnyDefinition, durable } from '../../src/platform/operations/definition.ts'
import { startWorker } from '../../src/platform/operations/harness.ts'
import type { Worker } from '../../src/platform/operations/worker/worker.ts'
import type { TestApi } from './api.ts'

/**
 * Does the work of hosts without a host: every step succeeds at once, and changes nothing. Stop it before you close the
 * API.
 * @param reports what a step of an operation returns, by both names, if a page reads it
 */
export async function idleHost(
  { database }: TestApi,
  reports: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<Worker & { readonly hostId: number }> {
  const { id: hostId } = await database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()
  const stubs = hostJobs.map((job) => {
    const { name, input, changeableBy, steps } = job as AnyDefinition
    const done = Object.keys(steps).map((step) => [step, { run: async () => reports[name]?.[step] ?? { login: 'x' } }])
    return durable({ name, input, on: 'host', changeableBy, steps: Object.fromEntries(done) })
  })
  return Object.assign(startWorker(database, stubs, { runner: 'host', hostId, lookEveryMs: 50 }), { hostId })
}
