import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { findTotp, storeTotpSecret } from '../credentials.store.ts'
import { problems } from '../problems.ts'
import { newTotp } from './totp.ts'

export const beginTotp = endpoint({
  id: 'beginTotp',
  method: 'POST',
  path: '/v1/totp',
  summary: 'Start setting up an authenticator app',
  description:
    'Returns a new secret. Nothing changes until you send a code to `PUT /v1/totp`. Each call replaces the secret of the previous call.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  response: Type.Object(
    {
      secret: Type.String({
        description: 'Base32 secret, for apps that cannot scan a QR code',
        examples: ['JBSWY3DPEHPK3PXP'],
      }),
      uri: Type.String({
        description: 'Content of the QR code for the app',
        examples: ['otpauth://totp/Stead:owner%40example.com?issuer=Stead&secret=JBSWY3DPEHPK3PXP'],
      }),
    },
    { title: 'TotpSecret' },
  ),
  problems: [problems.totp_active],

  async handle({ tx, caller, sealer }) {
    if ((await findTotp(tx, caller.accountId))?.isConfirmed) throw new Problem(problems.totp_active, {})
    const { sealed, secret, uri } = newTotp(sealer, caller.accountEmail)
    await storeTotpSecret(tx, caller.accountId, sealed)
    return { secret, uri }
  },
})
