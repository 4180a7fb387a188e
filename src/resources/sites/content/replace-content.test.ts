/**
 * Tests of the steps of every operation that replaces the content of a site: what they roll back, what they leave, and
 * what a retry does.
 */
import { pino } from 'pino'
import Type from 'typebox'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { type Log, noLog } from '../../../platform/log/log.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { durableWith, PermanentFailure } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, gate, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { contentReplacement, type Failed, openAfterFailure, stagedContent } from './replace-content.ts'

let api: TestApi
let owner: Person
let host: FakeHost
let worker: Worker | undefined
let site: number
let count = 0
/** Records the actions, in order. */
let told: string[]
let failure: Failed | undefined | 'not told'

beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
})
afterAll(() => api.close())
beforeEach(async () => {
  host = await fakeHost(api)
  site = await api.site(owner, `replaced-${++count}`)
  await host.giveDirectory(site)
  told = []
  failure = 'not told'
})
afterEach(async () => {
  await worker?.stop(5000)
  await host.close()
})

const Order = Type.Object({ siteId: Type.Integer() })
type Order = Type.Static<typeof Order>

interface Given {
  readonly adapt?: (attempt: number) => unknown
  readonly switchBack?: () => unknown
  readonly leave?: () => unknown
  readonly log?: Log
}

/** Runs an operation with these steps. */
function work({ adapt, switchBack, leave, log = noLog }: Given = {}) {
  const tell = (what: string, also?: () => unknown) => async () => {
    told.push(what)
    await also?.()
  }
  const replacement = contentReplacement<Order>({
    content: {
      switch: tell('switch'),
      switchBack: tell('switch back', switchBack),
      cleanUp: tell('clean up'),
    },
  })
  const definition = durableWith<HostServices>()({
    name: 'test.replace',
    input: Order,
    on: 'host',
    changeableBy: 'account',
    attempts: 2,
    backoff: { firstMs: 1, mostMs: 1 },
    steps: {
      stage: replacement.staged({ run: tell('stage') }),
      close: replacement.close,
      switch: replacement.switchOver(),
      adapt: replacement.closed({
        async run({ attempt }) {
          told.push(`adapt, ${host.held.has(site) ? 'without PHP' : 'beside PHP'}`)
          await adapt?.(attempt)
        },
      }),
      done: replacement.reopening(tell('record')),
      settle: replacement.cleaningUp(tell('leave', leave), tell('the rest')),
    },
    async failed(tx, context) {
      failure = await openAfterFailure(tx, context)
    },
  })
  const services = host.services
  worker = startWorker(api.database, [definition], {
    ...{ runner: 'host', hostId: host.hostId, services, lookEveryMs: 20, log },
  })
  return definition
}

const order = (definition: ReturnType<typeof work>) =>
  api.database.transaction((tx) =>
    enqueue(tx, definition, { siteId: site }, { siteId: site, accountId: owner.accountId, hostId: host.hostId }),
  )
const isOpen = async () => {
  const row = api.database.read.selectFrom('sites').select('closed_by').where('id', '=', site)
  expect([await row.executeTakeFirst(), host.held.has(site)]).toEqual([{ closed_by: null }, false])
}
const never = () => {
  throw new PermanentFailure('not today.')
}

test('a failure before the commit restores the site and removes the staged content', async () => {
  const id = await order(work({ adapt: never }))
  expect(await ended(api.database, id)).toMatchObject({ state: 'failed' })
  expect(told).toEqual(['stage', 'switch', 'adapt, without PHP', 'switch back', 'clean up'])
  expect(failure).toMatchObject({ site: { id: site }, reason: 'not today', isRolledBack: true })
  await isOpen()
})

test('content that cannot be switched back is kept, because it is the site’s earlier content', async () => {
  const id = await order(work({ adapt: never, switchBack: never }))
  expect(await ended(api.database, id)).toMatchObject({ state: 'failed' })
  expect(told).toEqual(['stage', 'switch', 'adapt, without PHP', 'switch back'])
  expect(failure).toMatchObject({ reason: 'not today', isRolledBack: false })
  await isOpen()
})

test('after a crash, a step closes the site again before it works on it', async () => {
  const crash = () => {
    host.held.clear()
    throw new Error('the process ended')
  }
  const id = await order(work({ adapt: (attempt) => attempt === 1 && crash() }))
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  expect(told.filter((what) => what.startsWith('adapt'))).toEqual(['adapt, without PHP', 'adapt, without PHP'])
})

test('canceling after the commit comes too late, and only the cleanup is left', async () => {
  const begun = gate()
  const leave = async () => {
    begun.open()
    await new Promise(() => {})
  }
  const id = await order(work({ leave }))
  await begun.opened
  await api.database.transaction((tx) => requestCancel(tx, id, Date.now()))
  // The process dies in the last step.
  await worker?.stop(0)
  host.held.clear()
  await api.database.transaction((tx) =>
    tx.updateTable('operations').set({ lease_until: 0 }).where('id', '=', id).execute(),
  )
  told = []
  work()
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  expect(told).toEqual(['clean up', 'leave', 'the rest'])
  await isOpen()
})

test('what cannot be removed is only logged, and does not keep the rest', async () => {
  const lines: { msg: string; siteId: number }[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }) as Log
  const leave = () => {
    throw new Error('the disk is away')
  }
  const id = await order(work({ leave, log }))
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
  expect(told.slice(-3)).toEqual(['clean up', 'leave', 'the rest'])
  // The site reopens even though no earlier step released PHP.
  await isOpen()
  expect(lines).toMatchObject([{ siteId: site, msg: 'could not remove the leftovers of a content change' }])
})

test('files that cannot be removed do not keep the staged database', async () => {
  const cleaned: string[] = []
  const services = {
    siteFiles: { cleanUp: () => Promise.reject(new Error('the files stay')) },
    siteDatabase: { cleanUp: async () => void cleaned.push('database') },
  } as unknown as HostServices
  const directory = { path: '/nowhere', uid: null } as never
  await expect(stagedContent.cleanUp({ services, input: { siteId: 1 } }, directory)).rejects.toThrow('the files stay')
  expect(cleaned).toEqual(['database'])
})
