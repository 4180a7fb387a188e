import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { PhpBusy, PhpCrashed, PhpTaskError, PhpTimeout } from '../../hosting/php/runtime.ts'
import { frontFault } from './front-fault.ts'

/** @param task what the task of WordPress answers, or fails with; @param page what a visitor of the front page gets */
const faultWith = (task: object, page = { status: 200, text: 'hello' }) =>
  frontFault(
    {
      hostedSite: async () => ({ address: 'site.example.com' }),
      pool: {
        async runTask() {
          if (task instanceof Error) throw task
          return task
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
])('%o is judged by itself', async (task, fault) => {
  expect(await faultWith(task, { status: 503, text: 'not asked for' })).toBe(fault)
})

test.each([
  [{ status: 500, bytes: 10 }],
  [{ status: 200, bytes: 0 }],
  [new PhpTaskError('the site ended the task (exit)')],
])('after %o the page that a visitor gets says what is wrong, if anything', async (task) => {
  expect(await faultWith(task)).toBeUndefined()
  expect(await faultWith(task, { status: 503, text: 'sorry' })).toBe('its front page answers with status 503')
  expect(await faultWith(task, { status: 200, text: '' })).toBe('its front page is empty')
})

test('a host that has no room says nothing about the site', async () => {
  await expect(faultWith(new PhpBusy('no room'))).rejects.toThrow('no room')
})
