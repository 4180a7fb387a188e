import { expect, test } from 'vitest'
import { DatabaseSilent } from '../../platform/db/postgres-silence.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { runWhileAway } from './run-while-away.ts'

const role = (ended: string[], fault?: Promise<OperatorError>) => ({
  ...(fault && { fault }),
  stop: async () => void ended.push('everything'),
})

test('a host that serves what it knows ends alone, and starts the rest when the database is back', async () => {
  const ended: string[] = []
  const back = Promise.withResolvers<void>()
  const started: number[] = []
  const parts = {
    untilBack: back.promise,
    join: async () => 7,
    start: async (joined: number) => {
      started.push(joined)
      return role(ended)
    },
    stop: async () => void ended.push('serving'),
  }
  await runWhileAway(parts).stop()
  expect(ended).toEqual(['serving'])

  const running = runWhileAway(parts)
  back.resolve()
  await expect.poll(() => started).toEqual([7])
  await running.stop()
  expect(ended).toEqual(['serving', 'everything'])
})

test('a database that is away again is waited for', async () => {
  let tries = 0
  const ended: string[] = []
  const running = runWhileAway({
    untilBack: Promise.resolve(),
    async join() {
      if (++tries < 3) throw new DatabaseSilent()
    },
    start: async () => role(ended, Promise.resolve(new OperatorError('it was started elsewhere'))),
    stop: async () => {},
  })
  expect((await running.fault)?.message).toBe('it was started elsewhere')
  expect(tries).toBe(3)
})

test.each([
  [new OperatorError('h1 is marked lost'), 'h1 is marked lost'],
  [new Error('no space'), 'The host could not start: no space'],
])('a refusal ends the process: %s', async (refusal, message) => {
  const ended: string[] = []
  const running = runWhileAway({
    untilBack: Promise.resolve(),
    join: () => Promise.reject(refusal),
    start: async () => role(ended),
    stop: async () => void ended.push('serving'),
  })
  expect((await running.fault)?.message).toBe(message)
  await running.stop()
  expect(ended).toEqual(['serving'])
})
