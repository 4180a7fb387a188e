import type { TestApi } from '../../../test/support/api.ts'
import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample } from '../../../test/support/samples.ts'
import { smallPng } from './branding.fixture.ts'
import { changeBranding, forgetBranding } from './branding.store.ts'

const withLogo = (api: TestApi, accountId: number) =>
  api.database.transaction((tx) => changeBranding(tx, accountId, { logo: smallPng, logo_type: 'image/png' }, 1))

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getBranding', path: at('/v1/account/branding') },
  { endpoint: 'updateBranding', path: at('/v1/account/branding'), body: () => ({ name: 'Northlight' }) },
  { endpoint: 'getBrandingLogo', path: at('/v1/account/branding/logo'), prepare: async ({ owner, helper, stranger }, api) => { for (const each of [owner, helper, stranger]) await withLogo(api, each.accountId) } },
  { endpoint: 'getBrandLogo', path: at('/v1/session/brand/logo'), bySession: true, prepare: async ({ owner, stranger }, api) => { for (const each of [owner, stranger]) await withLogo(api, each.accountId) } },
]

const logoOfOwner: Examples[string] = async ({ api, owner }) => {
  await withLogo(api, owner.accountId)
  return {}
}

const examples: Examples = {
  updateBranding: () => ({ body: { name: 'Northlight', color: '#0f766e', reply_to: 'a@example.com', logo: smallPng } }),
  getBrandingLogo: logoOfOwner,
  getBrandLogo: logoOfOwner,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['getBrandLogo'], code: 'no_brand_logo', example: () => ({}), prepare: ({ api, owner }) => api.database.transaction((tx) => forgetBranding(tx, owner.accountId)) },
  { of: ['getBrandingLogo'], code: 'no_logo', example: () => ({}), prepare: ({ api, owner }) => api.database.transaction((tx) => forgetBranding(tx, owner.accountId)) },
]

export const contract: Contract = { samples, examples, problems }
