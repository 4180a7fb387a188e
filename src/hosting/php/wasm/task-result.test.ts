import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { budgetOf } from '../../../../test/support/budget.ts'
import { failureText } from '../../../platform/operations/worker/failure-text.ts'
import { PhpCrashed } from '../runtime.ts'
import { PhpTaskError } from '../task-error.ts'
import { mostPrintedBytes, readTaskResult } from './task-result.ts'

const marker = 'f00dfeedf00dfeedf00dfeedf00dfeed'
const task = { name: 'test', input: {}, marker }
const budget = () => budgetOf(1000)

/** Reads output that arrives in pieces of `size` bytes. */
async function read(output: string, size = 1 << 16, results = budget()): Promise<unknown> {
  const bytes = Buffer.from(output)
  function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const room = results.share(1)
  try {
    return await readTaskResult(Readable.from(pieces(), { objectMode: false }), task, room)
  } finally {
    expect(results.used).toBe(room.amount)
    room.free()
  }
}
const result = (value: unknown) => `${marker}${JSON.stringify({ result: value })}${marker}`

describe('the result of a task', () => {
  it.each([1, 2, 7, 31, 32, 33, 1000])('is found in pieces of %i bytes, whatever surrounds it', async (size) => {
    const noise = `${marker.slice(0, 20)}x`.repeat(5)
    expect(await read(`${noise}${result({ ä: [1] })}${noise}${marker}${noise}`, size)).toEqual({ ä: [1] })
  })

  it('is not found in output that is missing, cut off, or not JSON', async () => {
    for (const output of ['', 'noise', `${marker}{"result":1}`, `${marker}${marker}`, `${marker}<br>${marker}`])
      await expect(read(output), output).rejects.toThrow(PhpTaskError)
    await expect(read(`${marker}<b>secret</b>${marker}`)).rejects.not.toThrow(/secret/)
  })

  it('is as long as the budget says, and no longer', async () => {
    expect(await read(result('x'.repeat(900)), 100)).toHaveLength(900)
    await expect(read(result('x'.repeat(1000)), 100)).rejects.toThrow('too long')
    const others = budget()
    others.take(2, 500)
    const room = others.share(1)
    await expect(readTaskResult(Readable.from([Buffer.from(result('x'.repeat(900)))]), task, room)).rejects.toThrow(
      'too long',
    )
    expect(others.used).toBe(500)
  })

  it('may be a failure, whose message is cut', async () => {
    const error = await read(
      `${marker}${JSON.stringify({ error: 'no'.repeat(10_000) })}${marker}`,
      1 << 16,
      budgetOf(1 << 20),
    ).catch((thrown: Error) => thrown)
    expect(error).toBeInstanceOf(PhpTaskError)
    expect((error as Error).message.length).toBeLessThan(1100)
  })

  it('reports PHP’s message unchanged, with the task’s name in a separate field', async () => {
    const failed = Readable.from([Buffer.from(`${marker}${JSON.stringify({ error: 'no such user' })}${marker}`)])
    const reading = readTaskResult(failed, { ...task, name: 'reset-password' }, budget().share(1))
    const error = await reading.catch((thrown: Error) => thrown)
    expect(failureText(error)).toBe('no such user')
    expect(error).toMatchObject({ task: 'reset-password' })
  })

  it('does not wait for the end of endless output, and keeps none of it', async () => {
    const chunk = Buffer.alloc(1 << 20, 'x')
    let printed = 0
    const endless = Readable.from(
      (function* () {
        for (;;) {
          printed += chunk.length
          yield chunk
        }
      })(),
      { objectMode: false, highWaterMark: 1 },
    )
    const room = budget().share(1)
    await expect(readTaskResult(endless, task, room)).rejects.toThrow(PhpCrashed)
    expect(printed).toBeLessThan(mostPrintedBytes + (8 << 20))
    expect(room.amount).toBe(0)
  })
})
