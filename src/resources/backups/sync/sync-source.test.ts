import { expect, test } from 'vitest'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { sourceHere } from './sync-source.ts'

test('a source that has no directory here any more ends a sync for good', async () => {
  const services = { siteDirectories: { ofSite: async () => undefined } }
  const source = sourceHere({ services, input: { sourceId: 7 }, signal: new AbortController().signal } as never)
  await expect(source).rejects.toThrow('Site 7 has no site directory on this host')
  await expect(source).rejects.toBeInstanceOf(PermanentFailure)
})
