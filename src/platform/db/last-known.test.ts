import { expect, test } from 'vitest'
import { orLastKnown } from './last-known.ts'
import { DatabaseSilent } from './postgres-silence.ts'

test('answers what was known last while the database is away, and nothing else', async () => {
  let answer: () => { n: number } | undefined = () => ({ n: 1 })
  const ask = orLastKnown(async (_key: number) => answer())
  await ask(7)
  answer = () => {
    throw new DatabaseSilent()
  }
  expect(await ask(7)).toEqual({ n: 1 })
  await expect(ask(8)).rejects.toThrow('does not respond')
  answer = () => {
    throw new Error('no such column')
  }
  await expect(ask(7)).rejects.toThrow('no such column')
  // A deleted row is not remembered.
  answer = () => undefined
  expect(await ask(7)).toBeUndefined()
  answer = () => {
    throw new DatabaseSilent()
  }
  await expect(ask(7)).rejects.toThrow('does not respond')
})
