import { expect, test } from 'vitest'
import { PhpCrashed } from '../../../hosting/php/runtime.ts'
import { PhpTaskError } from '../../../hosting/php/task-error.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { fitNetwork } from './fit-network.ts'

test('fails permanently, with its words, when its own PHP refuses to move a network, and allows a retry of other errors', async () => {
  const fitted = (error: Error) => {
    const pool = { runTask: () => Promise.reject(error), restart: expect.unreachable }
    const site = { siteId: 1, address: 'new.example.com' }
    const options = { isCopy: true, others: [] }
    return fitNetwork({ pool } as never, site as never, { path: '/nowhere', uid: 1 }, options)
  }
  const refused = fitted(new PhpTaskError('two blogs would be at /shop/'))
  await expect(refused).rejects.toThrow('The network cannot be moved to new.example.com: two blogs would be at /shop/')
  await expect(refused).rejects.toBeInstanceOf(PermanentFailure)
  await expect(fitted(new PhpCrashed('killed'))).rejects.toThrow(new PhpCrashed('killed'))
})
