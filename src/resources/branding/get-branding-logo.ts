import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { logoTypes } from './agency-logo.ts'
import { findBranding } from './branding.store.ts'
import { LOGO_PATH } from './branding.ts'
import { problems } from './problems.ts'
import { sendLogo } from './send-logo.ts'

export const getBrandingLogo = endpoint({
  id: 'getBrandingLogo',
  method: 'GET',
  path: LOGO_PATH,
  summary: 'Get the logo of your account',
  description: 'An addition of Stead. Returns the picture as it was uploaded.',
  access: { account: 'own' },
  style: 'stream',
  etag: true,
  contentType: logoTypes,
  response: Type.String({ format: 'binary', description: 'Logo', examples: ['…'] }),
  problems: [problems.no_logo],

  async handle({ tx, caller, request, response }) {
    const row = await findBranding(tx, caller.accountId)
    if (!row?.logo || !row.logo_type) throw new Problem(problems.no_logo, {})
    return sendLogo(row, { request, response })
  },
})
