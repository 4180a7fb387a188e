import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { sendPicture } from '../kit/send-picture.ts'
import { SiteId } from '../kit/site-id.ts'
import { findPicture } from './safe-update.store.ts'
import { pictureKinds } from './safe-update.ts'

export const getSafeUpdatePicture = endpoint({
  id: 'getSafeUpdatePicture',
  method: 'GET',
  path: '/v1/sites/{site_id}/safe-updates/{update_id}/pictures/{page}/{width}/{kind}',
  summary: 'Get a picture of a safe update',
  description:
    'An addition of Stead. Returns a page that differs, as a browser showed it before or after the update, or what differs. The report has the paths.',
  access: { site: 'read the site' },
  params: Type.Object({
    site_id: SiteId,
    update_id: Type.Integer({ minimum: 1, examples: [1] }),
    page: Type.Integer({ minimum: 0, maximum: 100, description: 'Place of the page in the report', examples: [0] }),
    width: Type.Integer({ minimum: 1, maximum: 10_000, examples: [1280] }),
    kind: oneOf(pictureKinds, { examples: ['difference'] }),
  }),
  style: 'stream',
  etag: true,
  contentType: 'image/jpeg',
  response: Type.String({ format: 'binary', description: 'Picture', examples: ['…'] }),

  async handle(context, { params }) {
    const { update_id: id, page, width, kind } = params
    const picture = await findPicture(context.tx, context.site.id, { id, page, width, kind })
    if (!picture) throw notFound()
    // A retry of the operation replaces its pictures.
    const version = `${id}-${page}-${width}-${kind}-${picture.length}`
    return sendPicture(context, { picture, version, maxAgeS: 300 })
  },
})
