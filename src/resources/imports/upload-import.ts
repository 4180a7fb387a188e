import Type from 'typebox'
import { hostAddress } from '../../hosting/host.store.ts'
import { HostAway } from '../../hosting/site-imports/send-part.ts'
import type { Taken } from '../../hosting/site-imports/upload-parts.ts'
import type { Tx } from '../../platform/db/database.ts'
import { httpProblems, notFound, Problem } from '../../platform/http/problem.ts'
import type { Services } from '../kit/context.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { changeImport, findImport } from './import.store.ts'
import {
  ImportId,
  ImportSchema,
  type ImportUpload,
  MOST_PART_BYTES,
  MOST_SOURCES,
  presentImport,
  type StoredImport,
} from './import.ts'
import { inspectImport } from './inspect-import.job.ts'
import { problems } from './problems.ts'

export const uploadImport = endpoint({
  id: 'uploadImport',
  method: 'PUT',
  path: '/v1/sites/{site_id}/imports/{import_id}/uploads/{number}',
  summary: 'Upload a part of a file of an import',
  description:
    `Adds the bytes of the request body to the end of the file. A part has at most ${MOST_PART_BYTES >> 20} MB and must arrive within a minute. ` +
    'Stead accepts the complete part or nothing. After an interruption, continue at `received` of `GET /v1/sites/{site_id}/imports/{import_id}`. ' +
    'When all files are complete, Stead inspects them: that answer has an `Operation-Id`.',
  access: { site: 'restore the site' },
  params: Type.Object({
    site_id: SiteId,
    import_id: ImportId,
    number: Type.Integer({ minimum: 1, maximum: MOST_SOURCES }),
  }),
  query: Type.Object({
    offset: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Where the part begins in the file',
      examples: [0],
    }),
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Checksum of the part, in hex. Stead refuses a part that does not match',
      }),
    ),
  }),
  upload: { mostBytes: MOST_PART_BYTES },
  response: ImportSchema,
  starts: true,
  problems: [
    problems.import_not_ready,
    problems.import_part_elsewhere,
    problems.import_part_too_long,
    problems.import_part_damaged,
    problems.import_host_away,
  ],

  async prepare(context, { params, query }) {
    const { tx, site, content } = context
    const { found, upload } = await waitingUpload(tx, site.id, params)
    const { offset, sha256 = null } = query
    const missing = upload.bytes - upload.received
    if (offset !== upload.received) throw new Problem(problems.import_part_elsewhere, { received: upload.received })
    if ((content.bytes ?? 0) > missing) throw new Problem(problems.import_part_too_long, { missing })
    const host = site.hostId === null ? undefined : await hostAddress(tx, site.hostId)
    if (!host || !context.sendPart) throw away()
    const part = { importId: found.id, file: upload.number, offset, mostBytes: missing, sha256 }
    const taken = await context.sendPart(host, part, content).catch((error) => {
      throw error instanceof HostAway ? away(error) : error
    })
    return received(context, found.id, upload, taken)
  },

  async handle(context, { params }) {
    const { tx, site, caller, prepared } = context
    const { found, upload } = await waitingUpload(tx, site.id, params)
    const uploads = withReceived(found, upload.number, Math.max(prepared, upload.received))
    if (uploads.some((each) => each.received < each.bytes)) {
      await changeImport(tx, found.id, { uploads })
      return presentImport({ ...found, uploads }, [])
    }
    const order = { siteId: site.id, importId: found.id, askedById: caller.accountId }
    const operationId = await context.start(inspectImport, order)
    await changeImport(tx, found.id, { uploads, state: 'inspecting', operationId })
    await context.record({
      action: actions['import.uploaded'],
      message: `Uploaded ${uploads.map(({ name }) => name).join(', ')} for import ${found.id}`,
    })
    return presentImport({ ...found, uploads, state: 'inspecting', operationId }, [])
  },
})

const away = (cause?: Error) =>
  new Problem(problems.import_host_away, {}, { headers: { 'retry-after': '5' }, ...(cause && { cause }) })

/** @throws Problem when the file does not exist, or Stead does not wait for it */
async function waitingUpload(
  tx: Tx,
  siteId: number,
  params: { import_id: number; number: number },
): Promise<{ found: StoredImport; upload: ImportUpload }> {
  const found = await findImport(tx, siteId, params.import_id)
  const upload = found?.uploads?.find(({ number }) => number === params.number)
  if (!found || !upload) throw notFound()
  if (found.state !== 'uploading') throw new Problem(problems.import_not_ready, { state: found.state })
  return { found, upload }
}

const withReceived = ({ uploads }: StoredImport, number: number, received: number): ImportUpload[] =>
  (uploads ?? []).map((each) => (each.number === number ? { ...each, received } : each))

/**
 * @returns how many bytes the file has now
 * @throws Problem when none of this part was stored
 */
async function received(
  { database, site }: Pick<Services, 'database'> & { site: { id: number } },
  importId: number,
  upload: ImportUpload,
  taken: Taken,
): Promise<number> {
  switch (taken.kind) {
    case 'taken':
      return taken.bytes
    case 'damaged':
      throw new Problem(problems.import_part_damaged, {})
    case 'too-long':
      throw new Problem(problems.import_part_too_long, { missing: upload.bytes - upload.received })
    case 'full':
      throw new Problem(httpProblems.disk_full, {}, { headers: { 'retry-after': '60' } })
    case 'busy':
      throw away()
    case 'elsewhere':
      // The host's response was lost, or the host has lost the file. The content on the host counts.
      await database.transaction(async (tx) => {
        const found = await findImport(tx, site.id, importId)
        if (found?.state === 'uploading' && taken.bytes <= upload.bytes)
          await changeImport(tx, importId, { uploads: withReceived(found, upload.number, taken.bytes) })
      })
      throw new Problem(problems.import_part_elsewhere, { received: taken.bytes })
  }
}
