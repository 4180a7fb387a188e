import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { daysAgo, forgets } from '../../../test/support/job-worlds.ts'
import { at, type Example, type Examples, type Sample, type Scene, type World } from '../../../test/support/samples.ts'
import { insertAside } from './delivery/delivery.store.ts'
import { MOST_ASIDE } from './delivery/delivery-limits.ts'
import { insertWebhook } from './webhook.store.ts'
import { MOST_WEBHOOKS } from './webhook.ts'

const body = () => ({ url: 'https://hooks.example.com/stead' })

const one = (rest: string) => () => `/v1/webhooks/1000000${rest}`

/** The owner's webhook, with the number that the paths use. */
const prepare = async (world: World, api: Parameters<NonNullable<Sample['prepare']>>[1]) => {
  await api.database.transaction(async (tx) => {
    await tx.deleteFrom('webhooks').execute()
    const { id } = await inserted(tx, api, world.owner.accountId)
    await tx.updateTable('webhooks').set({ id: 1_000_000 }).where('id', '=', id).execute()
    await tx
      .insertInto('webhook_deliveries')
      .values({
        id: 1_000_000,
        webhook_id: 1_000_000,
        message_id: 'evt_test_1',
        type: 'test',
        state: 'failed',
        created_at: 1,
        finished_at: 1,
        event_id: null,
        site_id: null,
        line: null,
        due_at: null,
      })
      .execute()
  })
}

type Tx = Parameters<typeof insertWebhook>[0]

const inserted = (tx: Tx, { sealer }: Scene['api'], accountId: number) =>
  insertWebhook(
    tx,
    accountId,
    {
      ...body(),
      description: '',
      eventTypes: null,
      siteIds: null,
      isEnabled: true,
      secretSealed: sealer.seal('whsec_c2VjcmV0', 'webhook secret'),
    },
    1,
  )

/** Adds a webhook of the scene's owner. */
async function withWebhook({ api, owner: { accountId } }: Scene): Promise<number> {
  return (await api.database.transaction((tx) => inserted(tx, api, accountId))).id
}

async function added(scene: Scene): Promise<Example> {
  return { params: { id: await withWebhook(scene) } }
}

const asideOf = (webhookId: number) => ({
  webhookId,
  eventId: null,
  siteId: null,
  messageId: 'evt_test_1',
  type: 'test',
  dueAt: 1,
  now: 1,
})

async function withDelivery(scene: Scene): Promise<Example> {
  const id = await withWebhook(scene)
  const delivery = await scene.api.database.transaction((tx) => insertAside(tx, asideOf(id)))
  return { params: { id, delivery_id: delivery.id } }
}

/** Fills the queue of a webhook. The named delivery has ended. */
async function withFullWebhook(scene: Scene): Promise<Example> {
  const { params } = await withDelivery(scene)
  const { id, delivery_id } = params as { id: number; delivery_id: number }
  await scene.api.database.transaction(async (tx) => {
    for (let count = 0; count < MOST_ASIDE; count++) await insertAside(tx, asideOf(id))
    const ended = { state: 'failed', due_at: null, finished_at: 1 } as const
    await tx.updateTable('webhook_deliveries').set(ended).where('id', '=', delivery_id).execute()
  })
  return { params: { id, delivery_id } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listWebhooks', path: at('/v1/webhooks') },
  { endpoint: 'createWebhook', path: at('/v1/webhooks'), body, prepare },
  { endpoint: 'getWebhook', path: one(''), isPrivate: true, prepare },
  { endpoint: 'updateWebhook', path: one(''), body, isPrivate: true, prepare },
  { endpoint: 'deleteWebhook', path: one(''), isPrivate: true, prepare },
  { endpoint: 'testWebhook', path: one('/test'), isPrivate: true, prepare },
  { endpoint: 'listWebhookDeliveries', path: one('/deliveries'), isPrivate: true, prepare },
  { endpoint: 'redeliver', path: one('/deliveries/1000000/redeliver'), isPrivate: true, prepare },
  { endpoint: 'listEvents', path: at('/v1/events') },
]

const examples: Examples = {
  createWebhook: async () => ({ body: body() }),
  getWebhook: added,
  updateWebhook: async (scene) => ({ ...(await added(scene)), body: { description: 'for the deploy bot' } }),
  deleteWebhook: added,
  testWebhook: added,
  listWebhookDeliveries: added,
  redeliver: withDelivery,
  listEvents: async () => ({}),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createWebhook'], code: 'webhook_limit_reached', prepare: async (scene) => { for (let i = 0; i < MOST_WEBHOOKS; i++) await withWebhook(scene) } },
  { of: ['testWebhook', 'redeliver'], code: 'too_many_deliveries', example: withFullWebhook },
  { of: ['listEvents'], code: 'too_many_streams', on: 'strict', headers: { accept: 'text/event-stream' } },
]

const jobs: Record<string, JobSample> = {
  'events.forget': forgets(
    daysAgo(29),
    ({ api, owner }, at) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('events')
          .values({ account_id: owner.accountId, site_id: null, type: 't', data: '{}', created_at: at })
          .execute(),
      ),
    ({ api, owner }) => {
      const events = api.database.read.selectFrom('events').select('created_at as at')
      return events.where('account_id', '=', owner.accountId).where('type', '=', 't').execute()
    },
  ),
}

export const contract: Contract = { samples, examples, problems, jobs }
