import { expect, test } from 'vitest'
import { OperatorError } from '../../platform/operator-error.ts'
import { type Check, ok, problem } from './check.ts'
import { contextOf } from './context.fixture.ts'
import { runChecks } from './run-checks.ts'

const check = (area: Check['area'], run: Check['run']): Check => ({ area, run })
const run = (list: readonly Check[], limitMs?: number) =>
  runChecks(contextOf({}), { list, ...(limitMs && { limitMs }) })

test('returns findings in the order of the areas, whichever check they come from', async () => {
  const found = await run([
    check('limits', async () => [ok('a')]),
    check('databases', async () => [{ ...problem('b', 'mend it'), area: 'php' }, ok('c')]),
    check('settings', async () => [ok('d')]),
  ])
  expect(found).toEqual([
    { area: 'settings', state: 'ok', text: 'd', remedy: null },
    { area: 'databases', state: 'ok', text: 'c', remedy: null },
    { area: 'php', state: 'problem', text: 'b', remedy: 'mend it' },
    { area: 'limits', state: 'ok', text: 'a', remedy: null },
  ])
})

test('turns the failure of a check into a problem, and runs the others', async () => {
  const found = await run([
    check('mail', () => {
      throw new OperatorError('The key is no key. Give another with STEAD_KEY.\nOr none.')
    }),
    check('php', async () => Promise.reject(new Error('it broke'))),
    check('limits', async () => [ok('a')]),
  ])
  expect(found).toMatchObject([
    { area: 'mail', state: 'problem', text: 'The key is no key.', remedy: 'Give another with STEAD_KEY. Or none.' },
    { area: 'php', state: 'problem', text: 'The check failed: it broke.', remedy: expect.stringMatching(/.+/) },
    { area: 'limits', state: 'ok' },
  ])
})

test('lets only checks of the given areas contact other machines', async () => {
  const asked: unknown[] = []
  const noting = (area: Check['area']) =>
    check(area, async ({ asksOutside }) => {
      asked.push([area, asksOutside])
      return []
    })
  await runChecks({ ...contextOf({}), asksOutside: ['mail'] }, { list: [noting('mail'), noting('names')] })
  await runChecks({ ...contextOf({}), asksOutside: true }, { list: [noting('names')] })
  expect(asked).toEqual([
    ['mail', true],
    ['names', false],
    ['names', true],
  ])
})

test('ends a check without an answer at its limit', async () => {
  const found = await run([check('dns', () => new Promise(() => {}))], 1)
  expect(found).toMatchObject([{ area: 'dns', state: 'problem', text: expect.stringContaining('did not finish') }])
})

test('shortens texts of other machines to one line without control characters', async () => {
  const found = await run([
    check('mail', async () => [problem(`a\u001b[31m\r\nb\u202ec ${'x'.repeat(600)}`, 'd\u0007e')]),
  ])
  expect(found[0]?.text).toMatch(/^a \[31m b c x+$/)
  expect(found[0]?.text).toHaveLength(500)
  expect(found[0]?.remedy).toBe('d e')
})
