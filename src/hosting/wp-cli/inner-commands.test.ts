import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { CommandIo, Ended } from './command-io.ts'
import { write } from './command-io.ts'
import { InnerCommands } from './inner-commands.ts'

const outer = (signal = new AbortController().signal): CommandIo => ({
  input: new PassThrough(),
  output: new PassThrough(),
  errors: new PassThrough(),
  signal,
  columns: undefined,
})
const question = (words: string[], shows = false) =>
  JSON.stringify({ ask: 'command', words: Buffer.from(words.join('\0')).toString('base64'), shows })
const read = async (answer: Promise<string> | undefined) => {
  const { code, output, errors } = JSON.parse((await answer) as string)
  const decoded = (base64: string) => Buffer.from(base64, 'base64').toString()
  return { code, output: decoded(output), errors: decoded(errors) }
}

test('passes its words to an inner command, and returns its output', async () => {
  const inner = new InnerCommands(async (words, io): Promise<Ended> => {
    await write(io.output, JSON.stringify(words), io.signal)
    await write(io.errors, 'wrong', io.signal)
    return { code: 3, wrote: true }
  })
  const words = ['option', 'get', 'two words', "it's; id", '']
  expect(await read(inner.answer(question(words), outer()))).toEqual({
    code: 3,
    output: JSON.stringify(words),
    errors: 'wrong',
  })
  expect(inner.wrote).toBe(true)
  const shown = outer()
  expect(await read(inner.answer(question(['a'], true), shown))).toEqual({ code: 3, output: '', errors: '' })
  expect(String((shown.output as PassThrough).read())).toBe('["a"]')
})

test('gives an inner command only the input in its question', async () => {
  const inner = new InnerCommands(async (_words, io): Promise<Ended> => {
    await write(io.output, `read ${await text(io.input)}`, io.signal)
    return { code: 0, wrote: false }
  })
  const asked = { ...JSON.parse(question(['eval-file', '-'])), input: Buffer.from('\0ä').toString('base64') }
  expect(await read(inner.answer(JSON.stringify(asked), outer()))).toMatchObject({ code: 0, output: 'read \0ä' })
  expect(await read(inner.answer(question(['eval-file', '-']), outer()))).toMatchObject({ code: 0, output: 'read ' })
  const large = JSON.stringify({ ...asked, input: 'x'.repeat((1 << 18) + 1) })
  expect(await inner.answer(large, outer())).toBe('')
})

test('cuts output beyond the limit of an answer, and reports a failure', async () => {
  const inner = new InnerCommands(async (_words, io) => {
    for (let i = 0; i < 20; i++) await write(io.output, Buffer.alloc(100_000, 'x'), io.signal)
    return { code: 0, wrote: false }
  })
  const answer = (await inner.answer(question(['a']), outer())) as string
  expect(answer.length).toBeLessThan(1 << 20)
  expect(JSON.parse(answer).code).toBe(1)
})

test('leaves other questions to others, and starts nothing for an invalid one', async () => {
  const inner = new InnerCommands(() => expect.unreachable())
  expect(inner.answer('{"ask":"mail","key":1}', outer())).toBeUndefined()
  expect(await inner.answer('{"ask":"command","words":7,"shows":false}', outer())).toBe('')
  expect(await inner.answer('{"ask":"command","words":"","shows":"yes"}', outer())).toBe('')
})

test('ends an inner command with the command that started it', async () => {
  const inner = new InnerCommands(
    (_words, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  )
  const answer = expect(inner.answer(question(['a']), outer())).rejects.toThrow('has ended')
  await inner.end()
  await answer
})
