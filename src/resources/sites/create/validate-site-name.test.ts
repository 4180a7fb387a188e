import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'

let api: TestApi
let owner: Person
beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
  await api.site(owner, 'taken-name')
})
afterAll(() => api.close())

const ask = (payload: string | undefined, type = 'application/json') =>
  api.app.inject({
    method: 'POST',
    url: '/v1/sites/validate',
    headers: { authorization: `Bearer ${owner.token}`, ...(payload !== undefined && { 'content-type': type }) },
    ...(payload !== undefined && { payload }),
  })
const answerOf = async (name: unknown) => {
  const { valid, message } = await ask(JSON.stringify({ name })).then((response) => {
    const { data, message: text } = response.json()
    expect(response.statusCode).toBe(200)
    return { valid: data.valid as boolean, message: text as string }
  })
  return [valid, message]
}

test('200: for a name that is available, and one that is taken', async () => {
  expect(await answerOf('free-name')).toEqual([true, 'Name is valid'])
  expect(await answerOf('Taken-Name')).toEqual([false, 'Name is already taken'])
  // Names of the installation are taken.
  for (const name of ['panel', 'WWW', 'sftp']) expect(await answerOf(name)).toEqual([false, 'Name is already taken'])
})

test('200: reports a badly formed name with the text for too short names, followed by what else is wrong', async () => {
  expect(await answerOf('ab')).toEqual([false, 'Name must be at least 3 characters'])
  for (const name of ['with space', '-dash', 'dot.ted', 'a'.repeat(64)])
    expect(await answerOf(name)).toEqual([false, expect.stringMatching(/^Name must be at least 3 characters; it m/)])
  for (const name of [undefined, null, 7, ['x'], { a: 1 }]) expect((await answerOf(name))[0]).toBe(false)
})

test.each([
  ['broken JSON', '{"name":', 'application/json'],
  ['another content type', 'name=free-name', 'text/plain'],
  ['a form', 'name=free-name', 'application/x-www-form-urlencoded'],
  ['a list', '["free-name"]', 'application/json'],
  ['a bare string', '"free-name"', 'application/json'],
  ['a number', '7', 'application/json'],
  ['no body', undefined, ''],
])('200: %s is not a valid name', async (_what, payload, type) => {
  const response = await ask(payload, type)
  expect([response.statusCode, response.json().data]).toEqual([200, { valid: false }])
})

test('401: without a token, whatever the request contains', async () => {
  const response = await api.app.inject({ method: 'POST', url: '/v1/sites/validate', payload: '{' })
  expect(response.statusCode).toBe(401)
})
