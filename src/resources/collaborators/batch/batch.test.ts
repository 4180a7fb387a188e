import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type Reply, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import { recordResults } from '../../../platform/operations/results.ts'
import { mailsTo as allMailsTo, subjectsTo } from '../mails.fixture.ts'
import { batchCreate, batchDestroy } from './batch.job.ts'

const CREATE = '/v1/collaborators/batch_create'
const DESTROY = '/v1/collaborators/batch_destroy'

describe.each(dialects)('collaborators on many sites ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let other: Person
  let sites: number[]
  let round = 0

  beforeAll(async () => {
    api = await testApi(dialect)
  })
  beforeEach(async () => {
    round++
    owner = await api.person(`owner${round}@example.com`)
    other = await api.person(`other${round}@example.com`)
    sites = []
    for (const name of ['one', 'two', 'three']) sites.push(await api.site(owner, `${name}-${round}`))
  })
  afterAll(() => api?.close())

  /**
   * Runs the operation of the reply to its end.
   * @returns outcomes by site, and the operation
   */
  async function finished(reply: Reply, caller = owner) {
    expect([reply.status, reply.body.data]).toEqual([200, null])
    const id = Number(reply.headers['operation-id'])
    const worker = startWorker(api.database, [batchCreate, batchDestroy])
    const { state, error } = await ended(api.database, id)
    await worker.stop(1000)
    expect([state, error]).toEqual(['succeeded', null])
    const operation = (await caller.call('GET', `/v1/operations/${id}`)).body.data
    const outcomes = Object.fromEntries(
      operation.results.map((each: { siteId: number; outcome: string }) => [each.siteId, each.outcome]),
    )
    return { id, operation, outcomes }
  }

  const mailsTo = (email: string) => subjectsTo(api.database, email)

  const rolesOf = async (caller: Person, email: string) =>
    Object.fromEntries(
      (await caller.call('GET', '/v1/collaborators')).body.data
        .filter((each: { email: string }) => each.email === email)
        .map((each: { siteId: number; roles: string[] }) => [each.siteId, each.roles]),
    )

  test('200 adds the account where it is missing, updates it elsewhere, and reports message, outcomes and mails', async () => {
    const email = `new${round}@example.com`
    await owner.call('POST', `/v1/sites/${sites[0]}/collaborators`, { email, roles: ['wp_access', 'manage_dns'] })
    await owner.call('POST', `/v1/sites/${sites[1]}/collaborators`, { email, roles: ['manage_notes'] })
    const reply = await owner.call('POST', CREATE, { email, siteIds: sites.map(String), roles: ['manage_notes'] })
    expect(reply.body).toEqual({
      message: 'Scheduled: add the collaborator to 3 sites.',
      data: null,
      errors: null,
    })
    const { operation, outcomes } = await finished(reply)
    expect(outcomes).toEqual({ [sites[0]!]: 'updated', [sites[1]!]: 'unchanged', [sites[2]!]: 'added' })
    expect(await rolesOf(owner, email)).toEqual(Object.fromEntries(sites.map((id) => [id, ['manage_notes']])))
    // The first site has lost wp_access: its user is deleted, and the next administrator takes over.
    const followUp = operation.results[0].operationId
    const sync = await api.database.read
      .selectFrom('operations')
      .selectAll()
      .where('id', '=', followUp)
      .executeTakeFirstOrThrow()
    expect([sync.type, JSON.parse(sync.input).reassign]).toEqual(['collaborator.sync_wp_user', 'next'])
    const [done] = await allMailsTo(api.database, owner.email)
    expect(done?.text).toContain('updated 1 site, unchanged 1 site, added 1 site')
    const entries = await api.database.read
      .selectFrom('activity')
      .select(['actor_email', 'source', 'message'])
      .where('site_id', '=', sites[2]!)
      .where('action', '=', 'account.collaborator')
      .execute()
    expect(entries).toEqual([
      {
        actor_email: owner.email,
        source: 'api.v1',
        message: `Added ${email} to three-${round} with the roles manage_notes`,
      },
    ])
    const list = await owner.call('GET', '/v1/operations?type=collaborator.batch_create')
    expect(list.body.data.every((each: object) => !('results' in each))).toBe(true)
    expect((await other.call('GET', `/v1/operations/${operation.id}`)).status).toBe(404)
  })

  test('tells the requester when it did not finish, and what was done', async () => {
    const reply = await owner.call('POST', CREATE, { email: other.email, siteIds: sites })
    const id = Number(reply.headers['operation-id'])
    await api.database.transaction((tx) => recordResults(tx, id, [{ siteId: sites[0]!, outcome: 'added' }]))
    expect((await owner.call('POST', `/v1/operations/${id}/cancel`)).status).toBe(200)
    const [told] = await allMailsTo(api.database, owner.email)
    expect(told?.subject).toBe(`Adding ${other.email} stopped before the end`)
    expect(told?.text).toContain('it was canceled')
    expect(told?.text).toContain('added 1 site')
  })

  test('200 an unknown address gets one account and one invitation, a known one gets one notice, and no token is stored', async () => {
    const email = `invited${round}@example.com`
    const reply = await owner.call('POST', CREATE, { email, siteIds: [sites[0], sites[0], sites[1]] })
    expect(reply.body.message).toBe('Scheduled: add the collaborator to 2 sites.')
    const { id } = await finished(reply)
    expect(await mailsTo(email)).toEqual([`${owner.email} invites you to work on 2 sites`])
    await finished(await owner.call('POST', CREATE, { email: other.email, siteIds: sites }))
    expect(await mailsTo(other.email)).toEqual(['You can now work on 3 sites'])
    expect((await other.call('GET', '/v1/sites')).body.data).toHaveLength(3)
    const { source } = await api.database.read
      .selectFrom('operations')
      .select('source')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(source).not.toMatch(/bearer|authorization/i)
  })

  test('200 without roles: existing collaborators keep theirs, and new ones get none', async () => {
    const person = await api.person(`keeps${round}@example.com`)
    await owner.call('POST', `/v1/sites/${sites[0]}/collaborators`, { email: person.email, roles: ['manage_dns'] })
    const { outcomes } = await finished(
      await owner.call('POST', CREATE, { email: person.email, siteIds: sites.slice(0, 2) }),
    )
    expect(outcomes).toEqual({ [sites[0]!]: 'unchanged', [sites[1]!]: 'added' })
    expect(await rolesOf(owner, person.email)).toEqual({ [sites[0]!]: ['manage_dns'], [sites[1]!]: [] })
    await finished(await owner.call('POST', CREATE, { email: person.email, siteIds: [sites[0]], roles: [] }))
    expect((await rolesOf(owner, person.email))[sites[0]!]).toEqual([])
  })

  test('-1: all sites that the caller owns or has the right on, without the account’s own sites', async () => {
    const foreign = [await api.site(other, `foreign-a-${round}`), await api.site(other, `foreign-b-${round}`)]
    const bulk = ['create_collaborator', 'execute_bulk_operations']
    await other.call('POST', `/v1/sites/${foreign[0]}/collaborators`, { email: owner.email, roles: bulk })
    await other.call('POST', `/v1/sites/${foreign[1]}/collaborators`, {
      email: owner.email,
      roles: ['create_collaborator'],
    })
    const person = await api.person(`person${round}@example.com`)
    const all = await owner.call('POST', CREATE, { email: person.email, siteIds: ['-1'], roles: ['delete_site'] })
    expect(all.body.message).toBe('Scheduled: add the collaborator to 4 sites.')
    const { outcomes } = await finished(all)
    expect(Object.keys(outcomes).map(Number)).toEqual([...sites, foreign[0]].sort((a, b) => a! - b!))
    const toOther = await owner.call('POST', CREATE, { email: other.email, siteIds: [-1] })
    expect(toOther.body.message).toBe('Scheduled: add the collaborator to 3 sites.')
    const itself = await owner.call('POST', CREATE, { email: owner.email, siteIds: [-1] })
    expect([itself.body.message, itself.headers['operation-id']]).toEqual([
      'Scheduled: add the collaborator to 0 sites.',
      undefined,
    ])
  })

  test('404 for an invisible site, 403 without one of the roles, whatever else the list contains, and changes nothing', async () => {
    const foreign = await api.site(other, `foreign-${round}`)
    const email = `x${round}@example.com`
    for (const path of [CREATE, DESTROY]) {
      const call = () => owner.call('POST', path, { email, siteIds: [sites[0], foreign] })
      expect((await call()).status).toBe(404)
      for (const held of [[], ['execute_bulk_operations'], ['create_collaborator', 'delete_collaborator']]) {
        await api.database.transaction((tx) => tx.deleteFrom('collaborators').where('site_id', '=', foreign).execute())
        await other.call('POST', `/v1/sites/${foreign}/collaborators`, { email: owner.email, roles: held })
        expect([path, held, (await call()).status]).toEqual([path, held, 403])
      }
      await api.database.transaction((tx) => tx.deleteFrom('collaborators').where('site_id', '=', foreign).execute())
      await api.database.transaction((tx) => tx.deleteFrom('site_access').where('site_id', '=', foreign).execute())
      await api.database.transaction((tx) =>
        tx
          .insertInto('site_access')
          .values({ account_id: other.accountId, site_id: foreign, site_name: 'f', rank: 1, is_deleted: 0 })
          .execute(),
      )
    }
    expect((await owner.call('POST', CREATE, { email, siteIds: [999_999] })).status).toBe(404)
    const accounts = await api.database.read.selectFrom('accounts').select('id').where('email', '=', email).execute()
    expect(accounts).toEqual([])
  })

  test('400 no sites, bad sites, a bad address, bad roles, the owner, oneself', async () => {
    const create = async (body: object) => {
      const { status, body: answer } = await owner.call('POST', CREATE, body)
      return [status, ...answer.errors]
    }
    const email = `y${round}@example.com`
    expect(await create({ email, siteIds: [] })).toEqual([400, 'siteIds: must not be empty'])
    expect(await create({ email })).toEqual([400, 'siteIds: is required'])
    expect(await create({ siteIds: [1] })).toEqual([400, 'email: is required'])
    expect(await create({ email, siteIds: ['x'] })).toEqual([400, 'siteIds[0]: must be an integer'])
    expect(await create({ email: 'y', siteIds: sites })).toEqual([400, 'email: must be a valid email'])
    expect((await create({ email, siteIds: sites, roles: ['nothing'] }))[1]).toMatch(/^roles\[0\]: must be one of /)
    expect((await create({ email: owner.email, siteIds: sites }))[1]).toContain('owns the site')
    const foreign = await api.site(other, `foreign-${round}`)
    const roles = ['create_collaborator', 'execute_bulk_operations']
    await other.call('POST', `/v1/sites/${foreign}/collaborators`, { email: owner.email, roles })
    expect((await create({ email: owner.email, siteIds: [foreign], roles: ['delete_site'] }))[1]).toContain('own roles')
  })

  test('200 destroy: reports removed or absent, and -1 means the sites that the caller owns', async () => {
    const person = await api.person(`gone${round}@example.com`)
    const foreign = await api.site(other, `foreign-${round}`)
    await other.call('POST', `/v1/sites/${foreign}/collaborators`, { email: person.email })
    await other.call('POST', `/v1/sites/${foreign}/collaborators`, {
      email: owner.email,
      roles: ['delete_collaborator', 'execute_bulk_operations'],
    })
    await owner.call('POST', `/v1/sites/${sites[1]}/collaborators`, { email: person.email, roles: ['wp_access'] })
    await owner.call('DELETE', `/v1/sites/${await api.site(owner, `deleted-${round}`)}`)
    const reply = await owner.call('POST', DESTROY, { email: person.email, siteIds: [-1], delete_wp_user: true })
    expect(reply.body.message).toBe('Scheduled: remove the collaborator from 3 sites.')
    const { outcomes, operation } = await finished(reply)
    expect(outcomes).toEqual({ [sites[0]!]: 'absent', [sites[1]!]: 'removed', [sites[2]!]: 'absent' })
    expect(operation.results[1].operationId).toEqual(expect.any(Number))
    expect((await person.call('GET', '/v1/sites')).body.data.map(({ id }: { id: number }) => id)).toEqual([foreign])
    const listed = await finished(await owner.call('POST', DESTROY, { email: person.email, siteIds: [foreign] }))
    expect(listed.outcomes).toEqual({ [foreign]: 'removed' })
    expect(listed.operation.results[0].operationId).toBeNull()
    const unknown = await finished(await owner.call('POST', DESTROY, { email: 'who@example.com', siteIds: sites }))
    expect(Object.values(unknown.outcomes)).toEqual(['absent', 'absent', 'absent'])
  })

  test('skips sites whose rights were lost, and sites that were deleted, before their turn', async () => {
    const foreign = await api.site(other, `foreign-${round}`)
    const roles = ['create_collaborator', 'execute_bulk_operations']
    const { body } = await other.call('POST', `/v1/sites/${foreign}/collaborators`, { email: owner.email, roles })
    const left = await api.site(other, `left-${round}`)
    const leaving = await other.call('POST', `/v1/sites/${left}/collaborators`, { email: owner.email, roles })
    const siteIds = [...sites, foreign, left]
    const reply = await owner.call('POST', CREATE, { email: `late${round}@example.com`, siteIds })
    await other.call('DELETE', `/v1/sites/${left}/collaborators/${leaving.body.data.id}`)
    await api.database.transaction((tx) =>
      tx
        .updateTable('collaborators')
        .set({ roles: '["create_collaborator"]' })
        .where('id', '=', body.data.id)
        .execute(),
    )
    await owner.call('DELETE', `/v1/sites/${sites[0]}`)
    const { outcomes, operation } = await finished(reply)
    expect(outcomes).toEqual({
      [sites[0]!]: 'skipped',
      [sites[1]!]: 'added',
      [sites[2]!]: 'added',
      [foreign]: 'skipped',
      [left]: 'skipped',
    })
    const words = Object.fromEntries(
      operation.results.map((each: { siteId: number; message: string }) => [each.siteId, each.message]),
    )
    expect([words[sites[0]!], words[left]]).toEqual(['The site was deleted', 'The site was deleted'])
    expect(words[foreign]).toContain('no longer have the required roles')
  })

  test('interrupted work continues with the sites without a result, and keeps existing results', async () => {
    const email = `cut${round}@example.com`
    const reply = await owner.call('POST', CREATE, { email, siteIds: sites })
    const id = Number(reply.headers['operation-id'])
    await api.database.transaction((tx) => recordResults(tx, id, [{ siteId: sites[0]!, outcome: 'added' }]))
    const { outcomes } = await finished(reply)
    expect(outcomes).toEqual({ [sites[0]!]: 'added', [sites[1]!]: 'added', [sites[2]!]: 'added' })
    expect(Object.keys(await rolesOf(owner, email)).map(Number)).toEqual([sites[1], sites[2]])
  })
})
