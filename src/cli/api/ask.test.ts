import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { CommandError } from '../output.ts'
import { ask } from './ask.ts'

/** Simulates a terminal on which a person types. */
function terminal() {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.on('data', (piece) => {
    shown += piece
  })
  return { input, output, shown: () => shown }
}

test('shows the question and the typed text, but not a secret', async () => {
  const { input, output, shown } = terminal()
  const name = ask('Name: ', { input, output })
  input.write('shop\n')
  expect(await name).toBe('shop')
  expect(shown()).toContain('Name: ')
  const secret = ask('Secret: ', { input, output, isSecret: true })
  input.write('s3cret\n')
  expect(await secret).toBe('s3cret')
  expect(shown()).toMatch(/Secret: \n$/)
  expect(shown()).not.toContain('s3cret')
})

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s leaves, and changes nothing', async (_key, typed) => {
  const { input, output } = terminal()
  const answer = ask('Name: ', { input, output })
  input.write(typed)
  await expect(answer).rejects.toBeInstanceOf(CommandError)
})
