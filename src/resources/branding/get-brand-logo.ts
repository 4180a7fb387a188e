import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { logoTypes } from './agency-logo.ts'
import { brandSeenBy, findBranding } from './branding.store.ts'
import { BRAND_LOGO_PATH } from './branding.ts'
import { problems } from './problems.ts'
import { sendLogo } from './send-logo.ts'

export const getBrandLogo = endpoint({
  id: 'getBrandLogo',
  method: 'GET',
  path: BRAND_LOGO_PATH,
  summary: 'Get the logo that the control panel shows you',
  description:
    'An addition of Stead. Returns the logo of your account, or of the only account on whose sites you work.',
  access: { account: 'session' },
  query: Type.Object({
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'As in the session. Another value returns the same logo',
        examples: [1],
      }),
    ),
  }),
  style: 'stream',
  etag: true,
  contentType: logoTypes,
  response: Type.String({ format: 'binary', description: 'Logo', examples: ['…'] }),
  problems: [problems.no_brand_logo],

  async handle({ tx, caller, request, response }) {
    const seen = await brandSeenBy(tx, caller.accountId)
    const row = seen?.brand.logo ? await findBranding(tx, seen.accountId) : undefined
    if (!row?.logo || !row.logo_type) throw new Problem(problems.no_brand_logo, {})
    return sendLogo(row, { request, response })
  },
})
