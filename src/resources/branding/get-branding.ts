import { endpoint } from '../kit/endpoint.ts'
import { findBranding } from './branding.store.ts'
import { BrandingSchema, presentBranding } from './branding.ts'

export const getBranding = endpoint({
  id: 'getBranding',
  method: 'GET',
  path: '/v1/account/branding',
  summary: 'Get the branding of your account',
  description:
    'An addition of Stead. Returns the name, color, and logo of the reports for your clients, and of the mails with them.',
  access: { account: 'own' },
  response: BrandingSchema,
  etag: true,

  handle: async ({ tx, caller }) => presentBranding(await findBranding(tx, caller.accountId)),
})
