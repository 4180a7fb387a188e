import type { SiteDraft } from '../../src/resources/sites/site.store.ts'

/** A live site as tests and benchmarks create it. @param given overrides */
export const siteDraft = (name: string, given: Partial<Omit<SiteDraft, 'name'>> = {}): SiteDraft => ({
  accountId: 1,
  name,
  isStaging: false,
  datacenterCode: 'AMS',
  hostId: 1,
  phpVersion: '8.3',
  install: 'wordpress',
  adminUsername: 'admin',
  adminEmail: 'bench@example.com',
  ...given,
})
