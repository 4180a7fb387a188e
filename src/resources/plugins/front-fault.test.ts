import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { PhpBusy, PhpCrashed, PhpDisplaced, PhpNotReached, PhpStarved, PhpTimeout } from '../../hosting/php/runtime.ts'
import { PhpTaskError } from '../../hosting/php/task-error.ts'
import { firstFault, frontFault, innerFaults } from './front-fault.ts'

/**
 * @param task result or error of the WordPress task
 * @param page the front page that a visitor gets
 */
const faultWith = (task: object, page = { status: 200, text: 'hello' }) =>
  frontFault(
    {
      hostedSite: async () => ({ address: 'site.example.com' }),
      pool: {
        async runTask() {
          if (task instanceof Error) throw task
          return { databaseErrors: [], ...task }
        },
        handle: async () => ({ status: page.status, headers: [], body: Readable.from([Buffer.from(page.text)]) }),
      },
    } as never,
    1,
  )

test.each([
  [{ status: 200, bytes: 10 }, undefined],
  [{ status: 404, bytes: 0 }, undefined],
  [new PhpTaskError('Uncaught Error in forms.php'), 'Uncaught Error in forms.php'],
  [new PhpCrashed('PHP has ended'), 'PHP has ended'],
  [new PhpTimeout('PHP took too long'), 'PHP took too long'],
])('judges %o without a visitor’s page', async (task, fault) => {
  expect(await faultWith(task, { status: 503, text: 'not asked for' })).toBe(fault)
})

test.each([[{ status: 500, bytes: 10 }], [{ status: 200, bytes: 0 }], [{ status: 302, bytes: 0 }]])(
  'after %o, judges the page that a visitor gets',
  async (task) => {
    expect(await faultWith(task)).toBeUndefined()
    expect(await faultWith(task, { status: 503, text: 'sorry' })).toBe('its homepage responds with status 503')
    expect(await faultWith(task, { status: 200, text: '' })).toBe('its homepage is empty')
  },
)

test.each([PhpBusy, PhpStarved, PhpDisplaced, PhpNotReached])(
  'draws no conclusion about the site from %o',
  async (Kind) => {
    await expect(faultWith(new Kind('no room'))).rejects.toThrow('no room')
  },
)

/** @param answers results or errors of the tasks, one after the other */
function siteWith(answers: readonly object[]) {
  const left = [...answers]
  const runTask = vi.fn(async (_site: unknown, _name: string, _input: unknown) => {
    const answer = left.shift()
    if (answer instanceof Error) throw answer
    return { databaseErrors: [], ...answer }
  })
  return {
    services: { hostedSite: async () => ({ address: 'site.example.com' }), pool: { runTask } } as never,
    runTask,
  }
}

test('requests a page again that was slow once, and does not call it broken', async () => {
  for (const once of [new PhpTimeout('too long'), new PhpCrashed('ended')]) {
    const { services, runTask } = siteWith([once, { status: 200, bytes: 10 }])
    expect(await frontFault(services, 1)).toBeUndefined()
    expect(runTask).toHaveBeenCalledTimes(2)
  }
})

const well = { status: 200, isWhole: true, isRedirect: false }

test('judges each page behind the front page, except those that were already broken', async () => {
  const { services } = siteWith([
    new PhpTaskError('Uncaught Error in a.php'),
    { ...well, isWhole: false },
    { ...well, status: 500 },
  ])
  const faults = await innerFaults(services, 1)
  expect(faults).toEqual({
    admin: 'Uncaught Error in a.php',
    editor: 'the response is incomplete',
    rest: 'it responds with status 500',
  })
  expect(firstFault(faults)).toBe('wp-admin does not respond: Uncaught Error in a.php')
  const { services: same, runTask } = siteWith([well])
  expect(await innerFaults(same, 1, { admin: 'x', rest: 'x' })).toEqual({})
  expect(runTask.mock.calls.map(([, , input]) => input)).toEqual([{ page: 'editor' }])
  expect(firstFault({})).toBeUndefined()
})

test('does not call a page broken that redirects, or turns administrators away', async () => {
  const away = { ...well, isWhole: false, status: 403 }
  const { services } = siteWith([{ ...well, isWhole: false, isRedirect: true }, away, away])
  expect(await innerFaults(services, 1)).toEqual({})
})
