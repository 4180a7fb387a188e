import { expect, test } from 'vitest'
import type { OperationView } from '../../platform/operations/read.ts'
import { presentOperation } from './operation.ts'

test('has times only of what has begun or ended', () => {
  const step = { name: 'one', state: 'pending', error: null, warning: null, bytes: null, secondsLeft: null } as const
  const view: OperationView = {
    ...{
      id: 1,
      type: 'site.purge',
      siteId: 2,
      accountId: 3,
      askedById: 3,
      state: 'queued',
      cancelRequested: false,
      pausedAt: null,
      progress: 0,
    },
    ...{ isCancelable: true, isRetryable: false },
    ...{ steps: [{ ...step, startedAt: null, finishedAt: null }], attempts: 0, error: null, isPermanent: false },
    ...{ createdAt: 1000, startedAt: null, finishedAt: null },
  }
  const times = { startedAt: null, finishedAt: null }
  expect(presentOperation(view)).toMatchObject({ createdAt: '1970-01-01T00:00:01.000Z', ...times, steps: [times] })
  const ended = { startedAt: 2000, finishedAt: 3000 }
  const shown = { startedAt: '1970-01-01T00:00:02.000Z', finishedAt: '1970-01-01T00:00:03.000Z' }
  expect(presentOperation({ ...view, ...ended, steps: [{ ...step, ...ended }] })).toMatchObject({
    ...shown,
    steps: [shown],
  })
})
