import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { createCommandAccess } from './command-access.ts'

describe.each(dialects.filter(({ skip }) => !skip))('commands on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let site: number
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    site = (await owner.call('POST', '/v1/sites', { name: 'commanded' })).body.data.id
  })
  afterAll(() => api?.close())

  const loginOf = async (email: string) => {
    const { body } = await owner.call('GET', `/v1/sites/${site}/ftp`)
    const user = body.data.find((each: { email: string }) => each.email === email)
    return { userId: user.id, siteId: site, username: user.username, epoch: 0, passwordHash: null, publicKeys: [] }
  }

  test('are allowed for the owner, and for collaborators with both roles', async () => {
    const access = createCommandAccess(api.database)
    expect(await access.mayRun(await loginOf(owner.email))).toBe(true)
    const join = async (email: string, roles: string[]) => {
      const { body } = await owner.call('POST', `/v1/sites/${site}/collaborators`, { email, roles })
      return body.data.id as number
    }
    await join('plain@example.com', ['sftp_access'])
    expect(await access.mayRun(await loginOf('plain@example.com'))).toBe(false)
    const id = await join('mate@example.com', ['sftp_access', 'wp_access'])
    const mate = await loginOf('mate@example.com')
    expect(await access.mayRun(mate)).toBe(true)
    await owner.call('DELETE', `/v1/sites/${site}/collaborators/${id}`)
    expect(await access.mayRun(mate)).toBe(false)
    expect(await access.mayRun({ ...(await loginOf(owner.email)), siteId: site + 1 })).toBe(false)
  })

  test('are logged once a minute if a user repeats one', async () => {
    const access = createCommandAccess(api.database)
    const login = await loginOf(owner.email)
    for (const name of ['wp option get', 'wp option get', 'wp plugin list']) await access.started(login, name)
    const { body } = await owner.call('POST', `/v1/sites/${site}/logs/activity`, {})
    const told = JSON.stringify(body.data)
    expect([told.split('ran wp option get').length - 1, told.split('ran wp plugin list').length - 1]).toEqual([1, 1])
  })
})
