/**
 * For each problem that an endpoint declares, a request that causes it. Problems of single endpoints have a case in the
 * contract of their resource. `commonCases` causes shared problems on every endpoint that declares them.
 */

import type { FastifyInstance } from 'fastify'
import type { InjectOptions, Response } from 'light-my-request'
import { CommitUnknown } from '../../src/platform/db/commit-unknown.ts'
import { announce } from '../../src/platform/db/database.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { ofBrowser, type Person } from '../support/api.ts'
import type { ProblemCase, Stage } from '../support/contract.ts'
import type { Scene } from '../support/samples.ts'
import { fillOperations, friendHas, write } from '../support/scenes.ts'
import { examples } from './contracts.ts'
import type { ProblemCode } from './problems.ts'
import { as, isOfOperator, isOfSession } from './walk.ts'

export async function provokeOwn(one: ProblemCase, endpoint: Endpoint, stage: Stage): Promise<Provoked> {
  const scene = await stage.tour.scene()
  const example = (await (one.example ?? examples[endpoint.id])?.(scene)) ?? {}
  const after = (await one.prepare?.(scene, stage)) as Provoked['after'] | object
  const by = isOfOperator(endpoint) ? stage.tour.stranger : one.by?.(scene)
  const request = withHeader(stage.tour.requestFor(endpoint, scene, example, by), one.headers ?? {})
  return {
    scene,
    request,
    ...(one.on && { app: stage[one.on] }),
    ...(typeof after === 'function' && { after: after as () => Promise<unknown> }),
  }
}

/** A request that the API must refuse. */
export interface Provoked {
  readonly scene: Scene
  readonly request: InjectOptions
  /** Default: the usual instance. */
  readonly app?: FastifyInstance
  readonly after?: () => Promise<unknown>
}

export interface CommonCase {
  readonly code: ProblemCode
  /** Changes its scene. The others share one. */
  readonly isAlone?: true
  provoke(endpoint: Endpoint, scene: Scene, stage: Stage): Promise<Omit<Provoked, 'scene'>>
}

const asked = async (endpoint: Endpoint, scene: Scene, { tour }: Stage) => tour.requestOf(endpoint, scene)

const withHeader = (request: InjectOptions, headers: Record<string, string>): InjectOptions => ({
  ...request,
  headers: { ...(request.headers as Record<string, string>), ...headers },
})

const withBody = (request: InjectOptions, payload: string, type = 'application/json'): InjectOptions => ({
  ...withHeader(request, { 'content-type': type }),
  payload,
})

const body = (payload: string, type?: string): CommonCase['provoke'] => {
  return async (...where) => ({ request: withBody(await asked(...where), payload, type) })
}

const failure = (error: unknown): CommonCase['provoke'] => {
  return async (endpoint, scene, stage) => {
    stage.failure = { error, ofReads: !changes(endpoint) }
    return { request: await asked(endpoint, scene, stage), app: stage.failing }
  }
}

const firstKey = 'once'

export const commonCases: readonly CommonCase[] = [
  { code: 'unauthorized', provoke: async (...where) => ({ request: as(undefined, await asked(...where)) }) },
  {
    code: 'wrong_scheme',
    provoke: async (...where) => ({
      request: withHeader(await asked(...where), { authorization: 'Basic aWQ6c2VjcmV0' }),
    }),
  },
  {
    code: 'bare_token',
    provoke: async (...where) => ({
      request: withHeader(await asked(...where), { authorization: where[1].owner.token }),
    }),
  },
  {
    code: 'invalid_token',
    provoke: async (endpoint, scene, stage) => ({
      request: as({ ...scene.owner, token: 'unknown', sessionToken: 'unknown' }, await asked(endpoint, scene, stage)),
    }),
  },
  {
    code: 'cross_site',
    provoke: async (...where) => ({
      request: withHeader(as(undefined, await asked(...where)), {
        ...ofBrowser(where[1].owner.sessionToken),
        'sec-fetch-site': 'same-site',
      }),
    }),
  },
  {
    code: 'no_session',
    provoke: async (...where) => ({
      request: withHeader(as(undefined, await asked(...where)), { authorization: `Bearer ${where[1].owner.token}` }),
    }),
  },
  {
    code: 'proof_needed',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      const request = withHeader(
        as(undefined, await asked(endpoint, scene, stage)),
        ofBrowser(callerOf(endpoint, scene, stage).sessionToken),
      )
      await write(scene, async (tx) => {
        const long = { proven_at: Date.now() - 3_600_000 }
        const { accountId } = callerOf(endpoint, scene, stage)
        await tx.updateTable('sessions').set(long).where('account_id', '=', accountId).execute()
        await announce(tx, 'tokens')
      })
      return { request }
    },
  },
  {
    code: 'rate_limited',
    async provoke(endpoint, scene, stage) {
      const { payload: _, ...request } = await asked(endpoint, scene, stage)
      await stage.strict.inject({ ...request, method: 'GET', url: '/v1/account' })
      return { request: endpoint.rate === 'address' ? await twice(request, stage) : request, app: stage.strict }
    },
  },
  {
    code: 'forbidden',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      await friendHas('[]')(scene)
      return { request: as(scene.friend, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'insufficient_scope',
    async provoke(endpoint, scene, stage) {
      const plain = await scene.api.person(scene.owner.email, { isOwner: false })
      return { request: as(plain, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'operator_only',
    async provoke(endpoint, scene, stage) {
      return { request: as(scene.owner, await asked(endpoint, scene, stage)) }
    },
  },
  {
    code: 'not_found',
    async provoke(endpoint, scene, stage) {
      const request = await asked(endpoint, scene, stage)
      const url = endpoint.path.replace(/\{\w+\}/g, '999999999')
      if (endpoint.params) return { request: { ...request, url } }
      // Accounts and sites that a body names.
      const sent = JSON.parse(request.payload as string)
      const named =
        'siteIds' in sent
          ? { siteIds: [999_999_999] }
          : { [sent.from_site_id ? 'from_site_id' : 'account_id']: 999_999_999 }
      return { request: { ...request, payload: JSON.stringify({ ...sent, ...named }) } }
    },
  },
  { code: 'invalid_json', provoke: body('{') },
  { code: 'unsupported_media_type', provoke: body('<a/>', 'none') },
  {
    code: 'body_too_large',
    async provoke(endpoint, scene, stage) {
      if (!endpoint.upload) return body(JSON.stringify({ filler: 'x'.repeat(1 << 20) }))(endpoint, scene, stage)
      const { payload: _, ...request } = await asked(endpoint, scene, stage)
      return { request: withHeader(request, { 'content-length': String(endpoint.upload.mostBytes + 1) }) }
    },
  },
  { code: 'invalid_form', provoke: body('no part', 'multipart/form-data; boundary=none') },
  {
    code: 'too_many_bodies',
    provoke: async (...where) => ({ request: withBody(await asked(...where), '{}'), app: where[2].strict }),
  },
  {
    code: 'invalid_input',
    async provoke(endpoint, scene, stage) {
      const request = await asked(endpoint, scene, stage)
      // Half of a surrogate pair.
      if (endpoint.anyBody) return { request: withBody(request, '{"name":"\\ud800"}') }
      if (endpoint.body) return { request: withBody(request, '["no object"]') }
      const query = Object.keys(endpoint.query?.properties ?? {}).map((name) => `${name}=%00&${name}=x`)
      return { request: { ...request, url: `${String(request.url).split('?')[0]}?${query.join('&')}` } }
    },
  },
  {
    code: 'invalid_idempotency_key',
    provoke: async (...where) => ({ request: withHeader(await asked(...where), { 'idempotency-key': 'two words' }) }),
  },
  {
    code: 'idempotency_key_reused',
    isAlone: true,
    async provoke(...where) {
      const request = await keyed(...where)
      await changeKey(where, { fingerprint: 'another' })
      return { request }
    },
  },
  {
    code: 'idempotency_in_progress',
    isAlone: true,
    async provoke(...where) {
      const request = await keyed(...where)
      await changeKey(where, { response_sealed: null, locked_until: Date.now() + 30_000 })
      return { request }
    },
  },
  {
    code: 'idempotency_keys_exhausted',
    isAlone: true,
    async provoke(...where) {
      const [endpoint, { api }, { tour }] = where
      // The count of an application's stored keys is cached, and the operator's application has sent keys before.
      const operator = isOfOperator(endpoint) ? await api.person(tour.stranger.email) : undefined
      const request = operator ? as(operator, await asked(...where)) : await asked(...where)
      const row = { fingerprint: '', claim: '', response_sealed: '', status: 200, size_bytes: 256 << 20 }
      const applicationId = operator?.applicationId ?? applicationOf(...where)
      await write(where[1], (tx) =>
        tx
          .insertInto('idempotency_keys')
          .values({ ...row, application_id: applicationId, key: 'large', locked_until: 0, created_at: Date.now() })
          .execute(),
      )
      return { request: withHeader(request, { 'idempotency-key': firstKey }) }
    },
  },
  {
    code: 'operation_limit_reached',
    isAlone: true,
    async provoke(endpoint, scene, stage) {
      const after = await fillOperations(scene)
      return { request: await asked(endpoint, scene, stage), after }
    },
  },
  { code: 'internal', provoke: failure(new Error('anything')) },
  { code: 'unavailable', provoke: failure(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })) },
  { code: 'outcome_unknown', provoke: failure(new CommitUnknown(new Error('lost'))) },
  { code: 'disk_full', provoke: failure(Object.assign(new Error('full'), { code: 'ENOSPC' })) },
]

/** The request, which was sent once before. */
async function twice(request: InjectOptions, { strict }: Stage): Promise<InjectOptions> {
  await strict.inject(request)
  return request
}

/** A request with a used key, whose first answer is stored. */
async function keyed(endpoint: Endpoint, scene: Scene, stage: Stage): Promise<InjectOptions> {
  const request = withHeader(await asked(endpoint, scene, stage), { 'idempotency-key': firstKey })
  await forgetKeys(endpoint, scene, stage)
  const first: Response = await stage.tour.send(endpoint, request)
  if (first.statusCode >= 300) throw new Error(`${first.statusCode}: ${first.body}`)
  // A signed-out caller cannot send a second request.
  await write(scene, (tx) => tx.updateTable('tokens').set({ revoked_at: null }).execute())
  return request
}

const callerOf = (endpoint: Endpoint, { owner }: Scene, { tour }: Stage): Person =>
  isOfOperator(endpoint) ? tour.stranger : owner

/** The operator is the same in all scenes. */
const forgetKeys = (...where: readonly [Endpoint, Scene, Stage]): Promise<unknown> =>
  write(where[1], (tx) =>
    tx
      .deleteFrom('idempotency_keys')
      .where('application_id', '=', applicationOf(...where))
      .execute(),
  )

function applicationOf(endpoint: Endpoint, scene: Scene, stage: Stage): number {
  const { panelApplicationId, applicationId } = callerOf(endpoint, scene, stage)
  return isOfSession(endpoint) ? panelApplicationId : applicationId
}

const changeKey = (
  [endpoint, scene, stage]: readonly [Endpoint, Scene, Stage],
  values: { fingerprint?: string; response_sealed?: null; locked_until?: number },
): Promise<unknown> =>
  write(scene, (tx) =>
    tx
      .updateTable('idempotency_keys')
      .set(values)
      .where('application_id', '=', applicationOf(endpoint, scene, stage))
      .execute(),
  )
