import { expect, test } from 'vitest'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { sourceHere } from './sync-source.ts'

test('ends permanently if the source has no directory on this host any longer', async () => {
  const services = { siteDirectories: { ofSite: async () => undefined } }
  const source = sourceHere({ services, input: { sourceId: 7 }, signal: new AbortController().signal } as never)
  await expect(source).rejects.toThrow('Site 7 has no site directory on this host')
  await expect(source).rejects.toBeInstanceOf(PermanentFailure)
})
