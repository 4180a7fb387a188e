/**
 * Tests the permissions of every endpoint of the API with real requests. The callers are an anonymous one, a stranger,
 * a collaborator without the role, one with only the role, and the owner without and with the scope `owner`. The roles
 * are repeated here, so that a mistake in the table of the code is found.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/app.ts'
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { type Role, roles } from '../../src/resources/access/roles.ts'
import { backupIn, storedIn } from '../../src/resources/backups/backups.fixture.ts'
import { previewIn, restoredIn } from '../../src/resources/backups/restore/restore.fixture.ts'
import { syncWpUser } from '../../src/resources/collaborators/sync-wp-user.job.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import { passkeyIn } from '../../src/resources/sign-in/sign-in.fixture.ts'
import { ofBrowser, type Person, type Reply, type TestApi, testApi } from '../support/api.ts'
import { dialects } from '../support/database.ts'
import { idleHost } from '../support/idle-host.ts'
import { type Sample, unique, type World } from '../support/samples.ts'
import { samples } from './contracts.ts'
import { isSelected, walksEndpoint } from './selection.ts'

/** They accept a client ID and secret instead of a token, or no credentials. */
const withoutToken = [
  'getAuthorizationServer',
  'issueToken',
  'revokeToken',
  'signIn',
  'beginPasskeySignIn',
  'signInByPasskey',
  'requestPasswordLink',
  'usePasswordLink',
  'beginPasskeyByLink',
  'createPasskeyByLink',
]

/** A caller's right on a site. */
interface Right {
  readonly operation: string
  readonly field: string | null
  readonly allowed: boolean
  readonly reason: string | null
}

describe.each(dialects)('permissions ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let host: Awaited<ReturnType<typeof idleHost>>
  let hostId: number
  let operator: Person

  beforeAll(async () => {
    api = await testApi(dialect)
    operator = await api.person('operator@example.com')
    host = await idleHost(api)
    hostId = host.hostId
  })
  afterAll(async () => {
    await host?.stop(1000)
    await api?.close()
  })

  /** @param isStored whether the backup has content: writing it starts a thread */
  async function world(held: readonly Role[], isStored: boolean): Promise<World> {
    const tag = unique()
    const owner = await api.person(`owner-${tag}@example.com`)
    const helper = await api.person(`helper-${tag}@example.com`)
    const mate = await api.person(`mate+${tag}@example.com`)
    const stranger = await api.person(`stranger-${tag}@example.com`)
    const site = await api.site(owner, `shared-${tag}`)
    const hidden = await api.site(owner, `hidden-${tag}`)
    const join = (where: number, email: string, given: readonly Role[]) =>
      owner.call('POST', `/v1/sites/${where}/collaborators`, { email, roles: given })
    await join(site, helper.email, held)
    const mateId = (await join(site, mate.email, ['wp_access'])).body.data.id
    await join(hidden, `hidden-mate-${tag}@example.com`, ['wp_access'])
    await owner.call('POST', `/v1/sites/${hidden}/notes`, { subject: `hidden-${tag}`, body: 'x' })
    await owner.call('POST', `/v1/sites/${hidden}/tags`, { tag_names: [`hidden-${tag}`] })
    const note = (await owner.call('POST', `/v1/sites/${site}/notes`, { subject: 'x', body: 'y' })).body.data.id
    const file = { path: `https://plugins.example.com/of-${tag}.php`, existing_sites: true, future_sites: true }
    const muPlugin = (await owner.call('POST', '/v1/mu-plugins', file)).body.data.id
    const [waiting, failed] = await api.database.transaction(async (tx) => {
      const input = { siteId: site, accountId: mate.accountId, reassign: 'keep' } as const
      const target = { siteId: site, accountId: owner.accountId, hostId, runAt: Date.now() + 3_600_000 }
      const ids = [await enqueue(tx, syncWpUser, input, target), await enqueue(tx, syncWpUser, input, target)] as const
      const end = { state: 'failed', error: 'x', finished_at: Date.now() } as const
      await tx.updateTable('operations').set(end).where('id', '=', ids[1]).execute()
      return ids
    })
    return {
      owner,
      plainOwner: await api.person(owner.email, { isOwner: false }),
      stranger,
      strangersSite: await api.site(stranger, `strangers-${tag}`),
      helper,
      plainHelper: await api.person(helper.email, { isOwner: false }),
      mate,
      site,
      hidden,
      mateId,
      note,
      muPlugin,
      ...(await zoneIn(api, { accountId: owner.accountId, siteId: site, name: `shared-${tag}.test` })),
      passkey: await passkeyIn(api, owner.accountId),
      backup: await (isStored ? storedIn : backupIn)(api, site),
      preview: await previewIn(api, { siteId: site, accountId: owner.accountId }),
      restored: await restoredIn(api, { siteId: site, accountId: owner.accountId }),
      waiting,
      failed,
    }
  }

  const methodOf = (id: string) => apiEndpoints.find((each) => each.id === id)?.method as string
  type Way = 'token' | 'session'
  const sendBy =
    (way: Way) =>
    (who: Pick<Person, 'call' | 'browse'> & { accountId?: number }, sample: Sample, there: World): Promise<Reply> => {
      const call = way === 'session' || sample.bySession ? who.browse : who.call
      return call(methodOf(sample.endpoint), sample.path(there), sample.body?.(there, who))
    }
  const worlds = new Map<string, Promise<World>>()
  /** For requests that do not change it: a refusal, a read, a change of the caller's own account. */
  const shared = (held: readonly Role[]): Promise<World> => {
    const key = held.join()
    const there = worlds.get(key) ?? world(held, true)
    worlds.set(key, there)
    return there
  }
  /** For requests that may change it. */
  const prepared = async (sample: Sample, held: readonly Role[]): Promise<World> => {
    const { method, reads, writes } = apiEndpoints.find(({ id }) => id === sample.endpoint) ?? {}
    const changesNothing = (method === 'GET' && !writes) || reads || (!sample.roles && !sample.isPrivate)
    if (changesNothing && !sample.prepare) return shared(held)
    const there = await world(held, sample.endpoint.startsWith('download'))
    await sample.prepare?.(there, api)
    return there
  }
  const refused = (reply: Reply) => [reply.status, reply.body.data, reply.body.errors]

  test('every endpoint of the API is here', () => {
    const known = new Set([...samples.map(({ endpoint }) => endpoint), ...withoutToken])
    expect(apiEndpoints.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([])
  })

  const named = samples
    .filter(({ isOfOperator }) => !isOfOperator)
    .map((sample) => {
      const about = sample.roles?.length ? ` (${sample.roles.join(', ')})` : ''
      return { name: `${sample.endpoint}${about}`, sample }
    })

  // The same code checks people in the control panel and programs.
  const bySession = named.filter(({ sample }) => isSelected({ id: sample.endpoint }))
  const walked = [
    ...named.filter(({ sample }) => walksEndpoint(sample.endpoint)).map((each) => ({ ...each, way: 'token' as Way })),
    ...(dialect === 'sqlite' ? bySession : []).map((each) => ({ ...each, way: 'session' as Way })),
  ]

  describe.each(walked)('$name by $way', ({ sample, way }) => {
    const send = sendBy(way)
    const { status = 200, roles: needed, scope, isPrivate } = sample
    const isOnSite = needed !== undefined
    const everythingBut = (role?: Role) => roles.filter((each) => each !== role)

    test('401 without a token, and with an invented one', async () => {
      const there = await shared(roles)
      const bare = await send({ call: api.call, browse: api.call }, sample, there)
      expect([bare.status, bare.headers['www-authenticate']]).toEqual([401, 'Bearer realm="stead"'])
      const asking = (headers: Record<string, string>) => (method: string, path: string, body?: unknown) =>
        api.call(method, path, body, headers)
      const wrong = { call: asking({ authorization: 'Bearer nonsense' }), browse: asking(ofBrowser('nonsense')) }
      expect((await send(wrong, sample, there)).status).toBe(401)
    })

    test(isOnSite || isPrivate ? '404 for a stranger' : 'a stranger does it to what is its own', async () => {
      const there = await (sample.prepare ? prepared(sample, roles) : shared(roles))
      const reply = await send(there.stranger, sample, there)
      if (isOnSite || isPrivate)
        expect(refused(reply)).toEqual([404, null, ['We could not locate the requested resources.']])
      else expect(reply.status).toBe(status)
    })

    if (isPrivate)
      test('404 for a collaborator of another site, with any roles', async () => {
        const there = await shared(roles)
        expect((await send(there.helper, sample, there)).status).toBe(404)
      })

    for (const role of needed ?? [])
      test(`403 for a collaborator with all roles except ${role}`, async () => {
        const there = await shared(everythingBut(role))
        const errors = [`You need the role ${role} on this site for this operation.`]
        expect(refused(await send(there.helper, sample, there))).toEqual([403, null, errors])
      })

    if (isOnSite)
      test(`${status} for a collaborator with ${needed.join(' and ') || 'any role'}`, async () => {
        const there = await prepared(sample, needed)
        if (scope) expect((await sendBy('token')(there.plainHelper, sample, there)).status).toBe(403)
        expect((await send(there.helper, sample, there)).status).toBe(status)
      })

    test.skipIf(way === 'session')(
      scope ? '403 for the owner without the scope owner' : `${status} for the owner without that scope`,
      async () => {
        const there = await (scope ? shared([]) : prepared(sample, []))
        const reply = await send(there.plainOwner, sample, there)
        expect(reply.status).toBe(scope ? 403 : status)
        if (scope)
          expect(reply.headers['www-authenticate']).toBe(
            'Bearer realm="stead", error="insufficient_scope", scope="owner"',
          )
      },
    )

    test(`${status} for the owner`, async () => {
      const there = await prepared(sample, [])
      expect((await send(there.owner, sample, there)).status).toBe(status)
    })

    test('404 for a thing of one site under the path of another', async () => {
      const there = await shared(roles)
      const path = sample.path(there)
      const moved = path.replace(
        new RegExp(`^/v1/sites/${there.site}/(.*/\\d+)(?=/|$)`),
        `/v1/sites/${there.strangersSite}/$1`,
      )
      if (moved === path) return
      const method = methodOf(sample.endpoint)
      expect((await there.stranger.call(method, moved, sample.body?.(there))).status).toBe(404)
    })
  })

  describe.each(samples.filter(({ isOfOperator }) => isOfOperator))('$endpoint', (sample) => {
    test('401 without a token, 403 for everyone else and without the scope owner, and not for the operator', async () => {
      const there = await world(roles, false)
      const send = async (who: Pick<Person, 'call' | 'browse'>, way: Way = 'token') => {
        const { status, body } = await sendBy(way)(who, sample, there)
        return [status, body.code]
      }
      expect((await send({ call: api.call, browse: api.call }))[0]).toBe(401)
      for (const way of ['token', 'session'] as const)
        for (const who of [there.owner, there.helper, there.stranger])
          expect(await send(who, way)).toEqual([403, 'operator_only'])
      const plain = await api.person(operator.email, { isOwner: false })
      expect(await send(plain)).toEqual([403, 'insufficient_scope'])
      for (const way of ['token', 'session'] as const) expect((await send(operator, way))[0]).toBe(sample.status ?? 200)
    })
  })

  describe('GET /v1/sites/{id}/rights predicts', () => {
    const rightsOf = async (who: Person, site: number): Promise<Right[]> =>
      (await who.call('GET', `/v1/sites/${site}/rights`)).body.data
    const nameOf = ({ operation, field }: Pick<Right, 'operation' | 'field'>) =>
      field ? `${operation} ${field}` : operation
    const refusedIn = (rights: Right[]) => rights.filter(({ allowed }) => !allowed).map(nameOf)
    /** The right that a sample needs: of the operation, or of a body field that needs its own role. */
    const asked = (rights: Right[]) => (sample: Sample, there: World) => {
      const fields = Object.keys(sample.body?.(there) ?? {})
      const ofField = rights.find(
        ({ operation, field }) => operation === sample.endpoint && field && fields.includes(field),
      )
      return nameOf(ofField ?? { operation: sample.endpoint, field: null })
    }

    test('everything for the owner, without the scope owner only what does not need it', async () => {
      const there = await shared([])
      expect(refusedIn(await rightsOf(there.owner, there.site))).toEqual([])
      const refusedOperations = new Set(refusedIn(await rightsOf(there.plainOwner, there.site)))
      expect(refusedOperations).toEqual(
        new Set(samples.filter(({ roles: needed, scope }) => needed && scope).map(({ endpoint }) => endpoint)),
      )
    })

    test.each(roles)('for a collaborator without the role %s exactly what is refused', async (role) => {
      const there = await shared(roles.filter((each) => each !== role))
      const rights = await rightsOf(there.helper, there.site)
      const known = new Set(rights.map(nameOf))
      const needing = samples.filter(({ roles: needed }) => needed?.includes(role))
      const refusedOperations = needing.map((sample) => asked(rights)(sample, there)).filter((name) => known.has(name))
      expect(new Set(refusedIn(rights))).toEqual(new Set(refusedOperations))
      for (const { allowed, reason } of rights)
        expect(reason).toBe(allowed ? null : `You need the role ${role} on this site for this operation.`)
    })
  })

  describe('lists', () => {
    const send = sendBy('token')
    const lists = samples.filter(({ endpoint, roles: needed }) => {
      const found = apiEndpoints.find(({ id }) => id === endpoint)
      return (
        ((found?.method === 'GET' && !found.writes) || found?.reads) &&
        found.style !== 'stream' &&
        (!needed || needed.length >= 0)
      )
    })

    test('no reading endpoint shows a collaborator anything of other sites, or a stranger anything', async () => {
      const there = await world(roles, true)
      const tag = there.owner.email.replace(/\D/g, '')
      for (const sample of lists) {
        for (const who of [there.helper, there.mate, there.stranger]) {
          const text = JSON.stringify((await send(who, sample, there)).body)
          const shown = [`hidden-${tag}`, `hidden-mate-${tag}`, `"siteId":${there.hidden},`]
          if (who === there.stranger) shown.push(`shared-${tag}`, `"siteId":${there.site},`, there.owner.email)
          expect([sample.endpoint, who.email, shown.filter((mark) => text.includes(mark))]).toEqual([
            sample.endpoint,
            who.email,
            [],
          ])
        }
        // The owner's answers contain the marks.
        if (sample.endpoint === 'listSites')
          expect(JSON.stringify((await send(there.owner, sample, there)).body)).toContain(`hidden-${tag}`)
      }
    })
  })
})
