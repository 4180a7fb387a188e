import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { CertificateState } from '../certificates/public.ts'

const text = (description: string, example: string) =>
  Type.Optional(nullable(Type.String({ description, examples: [example] })))

/** Facts about the certificate of a record's name. Before the first order, only the last two are present. */
export const SslSchema = Type.Object(
  {
    force_ssl: Type.Optional(
      Type.String({
        description: '"true" if visitors are redirected to https, otherwise "false"',
        examples: ['false'],
      }),
    ),
    acme_certificate_id: text('URL of the order at the certificate authority', 'https://ca.example/order/7'),
    validation_expiration: Type.Optional(nullable(Timestamp)),
    authz_uri: text('URL of the authorization at the certificate authority', 'https://ca.example/authz/7'),
    options: Type.Optional(Type.Array(Type.String({ examples: ['http-01'] }))),
    certificate_expiration_date: Type.Optional(nullable(Timestamp)),
    broken_record: nullable(Type.String({ description: 'Name without a certificate', examples: [null] })),
    broken_check: nullable(Type.String({ description: 'Why the name gets no new certificate', examples: [null] })),
  },
  { title: 'SslDetails' },
)

/** Returns the SSL details object of the API. */
export function presentSsl(hostName: string, state: CertificateState): Type.Static<typeof SslSchema> {
  const { reason, orderUrl } = state
  const broken = { broken_record: reason === null ? null : hostName, broken_check: reason }
  if (orderUrl === null) return broken
  const date = (ms: number | null) => (ms === null ? null : timestamp(ms))
  return {
    force_ssl: String(state.forceTls),
    acme_certificate_id: orderUrl,
    validation_expiration: date(state.validationExpiresAt),
    authz_uri: state.authzUrl,
    options: ['http-01'],
    certificate_expiration_date: date(state.expiresAt),
    ...broken,
  }
}
