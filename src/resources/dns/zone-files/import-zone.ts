import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { ZoneId } from '../records/record.ts'
import { zoneToChange } from '../reserved.ts'
import { changeValue, findZone, insertRecords, recordsOfZone } from '../zone.store.ts'
import { presentWhole, type Zone, ZoneWithRecords } from '../zone.ts'
import { LeftOutSchema, planImport, ZoneFileText } from './plan-import.ts'

/** How many errors of a file are reported. More would not help. */
const MOST_FAULTS = 50

const ImportedZone = Type.Object(
  {
    ...ZoneWithRecords.properties,
    leftOut: Type.Array(LeftOutSchema, { description: 'Lines that were left out' }),
  },
  { title: 'ImportedZone' },
)

export const importZone = endpoint({
  id: 'importZone',
  method: 'PUT',
  path: '/v1/zones/{zone_id}/file',
  summary: 'Add the records of a zone file',
  description:
    'An addition of Stead. Reads a zone file (RFC 1035 §5, as BIND writes it) and adds the records that the zone does not have yet. It removes nothing. ' +
    'Stead skips lines that it cannot add, and lists them in `leftOut` with the reason. With `strict`, such a line makes it refuse the file. ' +
    'It always skips SOA and NS records of the zone itself, which the name server sets. `POST /v1/zones/{zone_id}/file/preview` shows the same without a change. ' +
    'Requires the owner of the zone, or a collaborator with the role `manage_dns` on all sites that the zone points to.',
  access: { account: 'own' },
  params: Type.Object({ zone_id: ZoneId }),
  body: Type.Object(
    {
      file: ZoneFileText,
      strict: Type.Optional(Type.Boolean({ description: 'Add the complete file or nothing', examples: [false] })),
    },
    { title: 'ZoneFile' },
  ),
  response: ImportedZone,
  problems: [authenticationProblems.forbidden, problems.reserved_name, problems.record_limit_reached],

  async handle(context, { params, body }) {
    const { tx, now } = context
    const zone = await zoneToChange(context, params.zone_id)
    const before = await recordsOfZone(tx, zone.id)
    const { added, changed, taken, leftOut, faults } = planImport(body.file, zone, before)
    if (faults.length > 0 && (body.strict || taken.length === 0)) throw invalidInput(faults.slice(0, MOST_FAULTS))
    for (const [record, value] of changed) await changeValue(tx, record, value, now)
    if (added.length > 0) await insertRecords(tx, zone.id, added, now)
    const without = leftOut.length > 0 ? `, and left ${leftOut.length} lines out` : ''
    const message = `${zone.name}: added ${added.length} records of a zone file${without}`
    await context.record({ action: actions.dns, message })
    const after = (await findZone(tx, zone.id)) as Zone
    return { ...presentWhole(after, await recordsOfZone(tx, zone.id)), leftOut: [...leftOut] }
  },
})
