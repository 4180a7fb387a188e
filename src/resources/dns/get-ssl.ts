import Type from 'typebox'
import { notFound, Problem } from '../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../authentication/public.ts'
import { certificateState } from '../certificates/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { problems } from './problems.ts'
import { RecordId, ZoneId } from './records/record.ts'
import { presentSsl, SslSchema } from './ssl.ts'
import { recordOf } from './zone.store.ts'
import { managedZone } from './zone-access.ts'
import { hostNameIn } from './zone-name.ts'

export const getSsl = endpoint({
  id: 'getSsl',
  method: 'GET',
  path: '/v1/zones/{zone_id}/records/{id}/ssl',
  summary: 'Get the SSL details of an A record',
  description:
    'Returns the certificate of the name. If Stead could not request one yet, returns only `broken_record` and `broken_check` with the reason. Requires the ' +
    'owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId, id: RecordId }),
  response: SslSchema,
  etag: true,
  problems: [authenticationProblems.forbidden, problems.ssl_only_a_records, problems.ssl_nothing_found],

  async handle(context, { params }) {
    const { tx } = context
    const zone = await managedZone(context, params.zone_id)
    const record = await recordOf(tx, zone.id, params.id)
    if (!record) throw notFound()
    if (record.type !== 'A') throw new Problem(problems.ssl_only_a_records, {})
    const hostName = hostNameIn(zone.name, record.name)
    const state = await certificateState(tx, hostName)
    if (!state || (state.orderUrl === null && state.reason === null)) throw new Problem(problems.ssl_nothing_found, {})
    return presentSsl(hostName, state)
  },
})
