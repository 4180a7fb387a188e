import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { enqueue } from '../enqueue.ts'
import { oneStep } from '../harness.ts'
import { LeaseLost } from './lease.ts'
import { changeStep, type OperationState } from './operation-state.ts'

describe.each(dialects)('the record of a step on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
  })
  afterEach(() => made?.drop())

  test('changes only from the state that its worker knows, and only for this operation', async () => {
    const { database } = made
    const definition = oneStep(() => {})
    const ask = () => database.transaction((tx) => enqueue(tx, definition, {}))
    const [id, other] = [await ask(), await ask()]
    const steps = (of: number) =>
      database.read.selectFrom('operation_steps').selectAll().where('operation_id', '=', of).execute()
    const current = { operation: {}, steps: await steps(id) } as unknown as OperationState
    const asItWas = { operation: {}, steps: await steps(id) } as unknown as OperationState
    await database.transaction((tx) => changeStep(tx, current, 0, { state: 'running' }))
    expect([(await steps(id))[0]?.state, current.steps[0]?.state]).toEqual(['running', 'running'])
    expect((await steps(other))[0]?.state).toBe('pending')
    const late = database.transaction((tx) => changeStep(tx, asItWas, 0, { state: 'failed' }))
    await expect(late).rejects.toThrow(LeaseLost)
    expect([(await steps(id))[0]?.state, asItWas.steps[0]?.state]).toEqual(['running', 'pending'])
  })
})
