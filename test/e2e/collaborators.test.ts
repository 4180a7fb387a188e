/** Collaborators in the real program: their WordPress users, and what remains after they are removed. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../support/core.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'
import { Browser } from '../support/visit.ts'

const core = await testCore()
const ACCESS = '/v1/collaborators/update-account-level-access'

interface Result {
  siteId: number
  outcome: string
  operationId: number | null
}

describe.skipIf(!core)('collaborators and their WordPress users', () => {
  let stead: Stead
  let id: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    stead = await startStead()
    const team = { email: 'Team@example.com', add_to_all_new: true, roles: ['wp_access'] }
    expect((await stead.api('PUT', ACCESS, team)).status).toBe(200)
    id = await stead.createSite({ name: 'shared' })
  })
  afterAll(() => stead?.remove())

  const mails = async () => {
    const folder = join(stead.dataDir, 'outbox')
    const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.eml'))
    return Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  }
  const collaborator = async (email: string, siteId = id) =>
    (await stead.api('GET', `/v1/sites/${siteId}/collaborators`)).body.data.find(
      (each: { email: string }) => each.email === email,
    )
  const newPassword = async (email: string, siteId = id): Promise<string> => {
    const { id: collaboratorId } = await collaborator(email, siteId)
    const reply = await stead.api('PUT', `/v1/sites/${siteId}/collaborators/${collaboratorId}/wp-password-reset`)
    expect([reply.status, typeof reply.body.data]).toEqual([200, 'string'])
    return reply.body.data
  }
  const browser = (site: string) => new Browser((path, options) => stead.visit(site, path, options))
  const isLoggedIn = (page: { text: string }) => page.text.includes('<body class="wp-admin')
  const settled = async (results: Result[]) =>
    Promise.all(
      results.flatMap(({ operationId }) => operationId ?? []).map(async (each) => (await stead.ended(each)).state),
    )

  test('creates a site with users for the collaborators that its owner adds to all new sites', async () => {
    await until('the user is made', async () => {
      const { body } = await stead.api('GET', `/v1/operations?site_id=${id}&type=collaborator.sync_wp_user`)
      return body.data[0]?.state === 'succeeded'
    })
    const visitor = browser('shared')
    expect(isLoggedIn(await visitor.logIn('team', await newPassword('team@example.com')))).toBe(true)
    expect((await visitor.open('/wp-admin/users.php')).text).toContain('team@example.com')
    const invitations = await until('the invitation', async () => {
      const sent = await mails()
      return sent.filter((mail) => mail.includes('To: team@example.com')).length > 0 && sent
    })
    expect(invitations.filter((mail) => mail.includes('To: team@example.com'))).toHaveLength(1)
  })

  test('keeps a user with the same name but another address, and returns the name that the collaborator got', async () => {
    const added = await stead.api('POST', `/v1/sites/${id}/collaborators`, {
      email: 'team@other.example',
      roles: 'wp_access',
    })
    expect(added.body.data.wpUsername).toBe('team-2')
    expect((await stead.ended(added.headers.get('operation-id') as string)).state).toBe('succeeded')
    const visitor = browser('shared')
    expect(isLoggedIn(await visitor.logIn('team-2', await newPassword('team@other.example')))).toBe(true)
  })

  test('creates the user exactly once when the host is killed meanwhile', async () => {
    const added = await stead.api('POST', `/v1/sites/${id}/collaborators`, {
      email: 'kill@example.com',
      roles: ['wp_access'],
    })
    stead.kill('host')
    expect((await stead.ended(added.headers.get('operation-id') as string)).state).toBe('succeeded')
    // the edge learns the host's new address from its first failure
    await until('the site answers', async () => (await stead.visit('shared')).status === 200)
    const visitor = browser('shared')
    expect(isLoggedIn(await visitor.logIn('kill', await newPassword('kill@example.com')))).toBe(true)
    const users = (await visitor.open('/wp-admin/users.php')).text
    expect(users.match(/>kill@example\.com</g)).toHaveLength(1)
  })

  test('removes a collaborator with their user: the session ends, and the post belongs to the oldest administrator', async () => {
    const visitor = browser('shared')
    await visitor.logIn('kill', await newPassword('kill@example.com'))
    const headers = { 'x-wp-nonce': await visitor.restNonce(), 'content-type': 'application/json' }
    const post = { title: 'Left behind', status: 'publish' }
    const written = await visitor.open('/wp-json/wp/v2/posts', { method: 'POST', headers, body: JSON.stringify(post) })
    const { id: postId, author } = JSON.parse(written.text)
    const member = await collaborator('kill@example.com')
    const removed = await stead.api('DELETE', `/v1/sites/${id}/collaborators/${member.id}?delete_wp_user=true`)
    expect((await stead.ended(removed.headers.get('operation-id') as string)).state).toBe('succeeded')
    const after = JSON.parse((await stead.visit('shared', `/wp-json/wp/v2/posts/${postId}`)).text)
    expect([author === 1, after.author]).toEqual([false, 1])
    expect(isLoggedIn(await visitor.open('/wp-admin/'))).toBe(false)
  })

  test('adds a collaborator to many sites, revokes wp_access, and removes them; the sites still answer', async () => {
    const second = await stead.createSite({ name: 'second' })
    const email = 'many@example.com'
    const run = async (path: string, body: object): Promise<Result[]> => {
      const reply = await stead.api('POST', `/v1/collaborators/${path}`, { email, siteIds: [-1], ...body })
      expect(reply.body.message).toContain('2 sites')
      const operation = await stead.ended(reply.headers.get('operation-id') as string)
      expect(operation.state).toBe('succeeded')
      return operation.results as Result[]
    }
    const added = await run('batch_create', { roles: ['wp_access'] })
    expect(added.map(({ outcome }) => outcome)).toEqual(['added', 'added'])
    expect(await settled(added)).toEqual(['succeeded', 'succeeded'])
    const visitor = browser('second')
    const password = await newPassword(email, second)
    expect(isLoggedIn(await visitor.logIn('many', password))).toBe(true)
    const changed = await run('batch_create', { roles: [] })
    expect(changed.map(({ outcome }) => outcome)).toEqual(['updated', 'updated'])
    expect(await settled(changed)).toEqual(['succeeded', 'succeeded'])
    expect(isLoggedIn(await browser('second').logIn('many', password))).toBe(false)
    const gone = await run('batch_destroy', { delete_wp_user: true })
    expect(gone.map(({ outcome }) => outcome)).toEqual(['removed', 'removed'])
    expect(await settled(gone)).toEqual(['succeeded', 'succeeded'])
    await until('the mails', async () => {
      const sent = (await mails()).filter((mail) => /Subject: Finished (adding|removing) many@example\.com/.test(mail))
      return sent.length === 3
    })
    expect((await stead.visit('second')).status).toBe(200)
  })
})
