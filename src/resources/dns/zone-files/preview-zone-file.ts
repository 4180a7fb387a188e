import Type from 'typebox'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { problems } from '../problems.ts'
import { ZoneId } from '../records/record.ts'
import { zoneToChange } from '../reserved.ts'
import { recordsOfZone } from '../zone.store.ts'
import { LeftOutSchema, planImport, TakenSchema, ZoneFileText } from './plan-import.ts'

export const previewZoneFile = endpoint({
  id: 'previewZoneFile',
  method: 'POST',
  path: '/v1/zones/{zone_id}/file/preview',
  summary: 'Preview the import of a zone file',
  description:
    'An addition of Stead. Returns what `PUT /v1/zones/{zone_id}/file` would add from a file, what it would leave out, and why. Nothing changes.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: Type.Object({ file: ZoneFileText }, { title: 'ZoneFileToPreview' }),
  response: Type.Object(
    {
      taken: Type.Array(TakenSchema, { description: 'Lines that become records' }),
      leftOut: Type.Array(LeftOutSchema, { description: 'Lines that would be left out' }),
    },
    { title: 'ZoneFilePreview' },
  ),
  reads: true,
  problems: [authenticationProblems.forbidden, problems.reserved_name, problems.record_limit_reached],

  async handle(context, { params, body }) {
    const zone = await zoneToChange(context, params.zone_id)
    const { taken, leftOut } = planImport(body.file, zone, await recordsOfZone(context.tx, zone.id))
    return { taken: [...taken], leftOut: [...leftOut] }
  },
})
