import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { isPassword } from '../../platform/crypto/password.ts'
import { createSftpAccess } from './sftp-access.ts'
import { listSftpUsers, type SftpUser } from './sftp-user.store.ts'
import { presentWithPort } from './sftp-user.ts'
import { newKey } from './sftp-users.fixture.ts'

describe.each(dialects.filter(({ skip }) => !skip))('SFTP users on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  let hostId: number
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    hostId = (await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id
  })
  afterAll(() => api?.close())

  const usersOf = async (site: number) => (await owner.call('GET', `/v1/sites/${site}/ftp`)).body.data
  const order = async (name: string): Promise<number> => {
    const { body } = await owner.call('POST', '/v1/sites', { name })
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ state: 'live', host_id: hostId }).where('id', '=', body.data.id).execute(),
    )
    return body.data.id
  }
  const join = async (site: number, email: string, roles: string[]): Promise<number> =>
    (await owner.call('POST', `/v1/sites/${site}/collaborators`, { email, roles })).body.data.id
  const access = () => createSftpAccess({ database: api.database, hostId })

  test('exist for the owner from the creation on, and for a collaborator who has the role', async () => {
    const site = await order('with-users')
    const [first] = await usersOf(site)
    expect(first).toMatchObject({
      owner: true,
      email: owner.email,
      siteName: 'with-users',
      siteId: site,
      accessed: first.created,
    })
    expect(first.username).toBe(`with-users_${first.id}`)
    await join(site, 'plain@example.com', ['wp_access'])
    const id = await join(site, 'mate@example.com', ['sftp_access'])
    const [, second, ...others] = await usersOf(site)
    expect([second.owner, second.email, others]).toEqual([false, 'mate@example.com', []])
    const { collaborators } = (await owner.call('GET', `/v1/sites/${site}`)).body.data
    expect(collaborators.map(({ username }: { username: string | null }) => username)).toEqual([null, second.username])
    await owner.call('POST', '/v1/collaborators/batch_create', {
      email: 'mate@example.com',
      siteIds: [site],
      roles: [],
    })
    await owner.call('DELETE', `/v1/sites/${site}/collaborators/${id}`)
    expect(await usersOf(site)).toEqual([first])
  })

  test('have the port of the connection on request, or null while SFTP is off', async () => {
    const site = await order('with-port')
    const portOf = async () => (await owner.call('GET', `/v1/sites/${site}/ftp?include=port`)).body.data[0].sftpPort
    expect((await usersOf(site))[0]).not.toHaveProperty('sftpPort')
    expect(await portOf()).toBe(2222)
    const [user] = await listSftpUsers(api.database.read, site)
    expect(presentWithPort(user as SftpUser, { ...api.config, sftpListen: 'off' }).sftpPort).toBeNull()
  })

  test('show a password once, store its hash, and end open connections', async () => {
    const site = await order('with-password')
    const [{ username }] = await usersOf(site)
    const before = await access().find(username)
    expect(before?.passwordHash).toBeNull()
    const { body } = await owner.call('POST', `/v1/sites/${site}/ftp/password/${username}`)
    const after = await access().find(username)
    expect(after?.passwordHash).not.toContain(body.data)
    expect(await isPassword(body.data, after?.passwordHash ?? '')).toBe(true)
    expect(await isPassword(`${body.data}x`, after?.passwordHash ?? '')).toBe(false)
    expect(after?.epoch).not.toBe(before?.epoch)
    expect((await access().standing([after?.userId ?? 0])).get(after?.userId ?? 0)).toBe(after?.epoch)
  })

  test('lose what a collaborator set up for them when the collaborator loses the role', async () => {
    const site = await order('with-gifts')
    const [{ username }] = await usersOf(site)
    const mate = await api.person('giver@example.com')
    const id = await join(site, mate.email, ['sftp_access'])
    await owner.call('POST', `/v1/sites/${site}/ftp/${username}/keys`, { public_key: newKey() })
    await mate.call('POST', `/v1/sites/${site}/ftp/${username}/keys`, { public_key: newKey() })
    await mate.call('POST', `/v1/sites/${site}/ftp/password/${username}`)
    const before = await access().find(username)
    expect(before?.publicKeys).toHaveLength(2)
    await owner.call('DELETE', `/v1/sites/${site}/collaborators/${id}`)
    const after = await access().find(username)
    expect([after?.passwordHash, after?.publicKeys.length]).toEqual([null, 1])
    expect(after?.epoch).not.toBe(before?.epoch)
  })

  test('end open connections when a key is deleted', async () => {
    const site = await order('with-key')
    const [{ username }] = await usersOf(site)
    const path = `/v1/sites/${site}/ftp/${username}/keys`
    const key = (await owner.call('POST', path, { public_key: newKey('me@laptop') })).body.data
    expect(key).toMatchObject({ name: 'me@laptop', type: 'ssh-ed25519' })
    expect((await owner.call('GET', path)).body.data).toEqual([key])
    const before = await access().find(username)
    expect((await owner.call('DELETE', `${path}/${key.id}`)).status).toBe(200)
    expect((await owner.call('DELETE', `${path}/${key.id}`)).status).toBe(404)
    expect((await access().find(username))?.epoch).not.toBe(before?.epoch)
  })

  test.each([
    ['disabled', { state: 'disabled' as const }],
    ['deleted', { deleted_at: 1 }],
    ['elsewhere', { host_id: null }],
  ])('cannot log in to a site that is %s', async (name, values) => {
    const site = await order(`site-${name}`)
    const [{ username, id }] = await usersOf(site)
    expect(await access().find(username)).toBeDefined()
    await api.database.transaction((tx) => tx.updateTable('sites').set(values).where('id', '=', site).execute())
    expect(await access().find(username)).toBeUndefined()
    expect(await access().standing([id])).toEqual(new Map())
  })

  test('record logins: the time at most once a minute, a log entry at most once a day', async () => {
    const site = await order('with-log-in')
    const [{ username }] = await usersOf(site)
    const login = await access().find(username)
    for (let times = 0; times < 2; times++) await access().loggedIn(login as never, '192.0.2.1')
    const [{ accessed }] = await usersOf(site)
    expect(accessed).toMatch(/^\d{4}-/)
    const entries = async () => {
      const rows = api.database.read.selectFrom('activity').select('message').orderBy('id')
      return (await rows.where('action', '=', 'sftp_user.logged_in').where('site_id', '=', site).execute()).map(
        ({ message }) => message,
      )
    }
    const [one, other] = [1, 2].map((last) => `${username} logged in by SFTP, from 192.0.2.${last}`)
    expect(await entries()).toEqual([one])
    /** Moves the last login back by this time. */
    const again = async (agoMs: number) => {
      const accessed_at = Date.now() - agoMs
      await api.database.transaction((tx) => tx.updateTable('sftp_users').set({ accessed_at }).execute())
      await access().loggedIn(login as never, '192.0.2.2')
    }
    await again(86_300_000)
    expect(await entries()).toEqual([one])
    await again(86_400_000)
    expect(await entries()).toEqual([one, other])
  })
})
