import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { forceTls, retryCertificate, wantCertificate } from '../certificates/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { RecordId, ZoneId } from './records/record.ts'
import { recordOf } from './zone.store.ts'
import { managedZone } from './zone-access.ts'
import { hostNameIn } from './zone-name.ts'

const whatOfVisitors: Readonly<Record<string, string>> = {
  true: '; with a certificate, visitors are redirected to https',
  false: '; visitors are not redirected to https',
}

export const retrySsl = endpoint({
  id: 'retrySsl',
  method: 'PUT',
  path: '/v1/zones/{zone_id}/records/{id}/ssl',
  summary: 'Retry the certificate for an A record',
  description:
    'Starts an operation that requests the certificate again. `force_ssl` is an addition of Stead: it redirects visitors of the name to https once it has a certificate. Requires the ' +
    'owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId, id: RecordId }),
  body: Type.Object({ force_ssl: Type.Optional(Type.Boolean({ examples: [false] })) }, { title: 'SslRetry' }),
  response: Nothing,
  starts: true,
  problems: [
    authenticationProblems.forbidden,
    problems.invalid_ssl_record,
    problems.ssl_record_of_no_site,
    problems.ssl_not_certifiable,
  ],

  async handle(context, { params, body }) {
    const { tx, now, started } = context
    const zone = await managedZone(context, params.zone_id)
    const record = await recordOf(tx, zone.id, params.id)
    if (!record) throw notFound()
    if (record.type !== 'A') throw new Problem(problems.invalid_ssl_record, {})
    const { siteId } = record
    const hostName = hostNameIn(zone.name, record.name)
    if (siteId === null) throw new Problem(problems.ssl_record_of_no_site, { hostName })
    if (!(await wantCertificate(tx, { hostName, siteId, now })))
      throw new Problem(problems.ssl_not_certifiable, { hostName })
    if (body.force_ssl !== undefined) await forceTls(tx, hostName, body.force_ssl)
    const operation = await retryCertificate(tx, hostName, now)
    if (operation !== undefined) started.push(operation)
    const ordered = `Requested a retry of the certificate for ${hostName}`
    await context.record({ action: actions.dns, message: `${ordered}${whatOfVisitors[String(body.force_ssl)] ?? ''}` })
    return null
  },
})
