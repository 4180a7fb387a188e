import { setTimeout as pause } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import Type from 'typebox'
import type { Database } from '../db/database.ts'
import { noLog } from '../log/log.ts'
import { type Definition, durable, type StepContext } from './definition.ts'
import { findOperation, type OperationView } from './read.ts'
import { createWorker, type Worker, type WorkerOptions } from './worker/worker.ts'

/** For tests: waits for a condition. Only the test's own timeout limits it. */
export async function until<Value>(
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  for (;;) {
    const value = await look()
    if (value) return value
    await pause(5)
  }
}

/** For tests: waits until an operation has ended. */
export const ended = (database: Database, id: number): Promise<OperationView> =>
  until(async () => {
    const operation = await findOperation(database.read, id)
    return operation?.finishedAt != null && operation
  })

/**
 * For tests: starts a control worker that looks often. Its lease has the normal length, because a busy machine delays
 * the worker by a second.
 */
export function startWorker<Services = unknown>(
  database: Database,
  definitions: readonly Definition<TSchema, Services>[],
  options: Partial<WorkerOptions<Services>> = {},
): Worker {
  const worker = createWorker<Services>({
    database,
    definitions,
    runner: 'control',
    services: undefined as Services,
    log: noLog,
    leaseMs: 8000,
    lookEveryMs: 150,
    ...options,
  })
  worker.start()
  return worker
}

export const anyInput = Type.Object({ label: Type.Optional(Type.String()) })
export type AnyInput = { label?: string }

/** For tests: defines a type with one step. */
export const oneStep = (
  run: (ctx: StepContext<AnyInput, unknown>) => unknown,
  more: Partial<Definition<typeof anyInput, unknown>> = {},
) => ({
  ...durable({ name: 'test.one', input: anyInput, on: 'control', changeableBy: 'account', steps: { only: { run } } }),
  ...more,
})

/** For tests: creates a promise and the function that fulfills it. */
export function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
