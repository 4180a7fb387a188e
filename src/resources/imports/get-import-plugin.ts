import { createHash } from 'node:crypto'
import Type from 'typebox'
import { movePluginZip } from '../../hosting/site-imports/sources/move-plugin.ts'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findImport } from './import.store.ts'
import { ImportId } from './import.ts'
import { openToken } from './old-site/old-site-source.ts'

export const getImportPlugin = endpoint({
  id: 'getImportPlugin',
  method: 'GET',
  path: '/v1/sites/{site_id}/imports/{import_id}/plugin',
  summary: 'Download the plugin for the old site',
  description:
    'A zip file to upload on the Plugins page of the old site. It answers only this import, until the import expires. It contains only a hash of the token that identifies Stead. Delete it from the old site after the move.',
  access: { site: 'restore the site' },
  params: Type.Object({ site_id: SiteId, import_id: ImportId }),
  style: 'stream',
  etag: true,
  contentType: 'application/zip',
  response: Type.String({ format: 'binary', description: 'The plugin', examples: ['…'] }),

  async handle({ tx, site, response, request, sealer }, { params }) {
    const found = await findImport(tx, site.id, params.import_id)
    if (found?.live?.type !== 'plugin' || !found.liveSecret) throw notFound()
    const zip = await movePluginZip(openToken(found.liveSecret, sealer), found.expiresAt)
    const etag = `"${createHash('sha256').update(zip).digest('hex').slice(0, 32)}"`
    response.header('etag', etag)
    if (request.headers['if-none-match'] === etag) return response.code(304).send(null)
    return response
      .headers({
        'content-type': 'application/zip',
        'content-disposition': 'attachment; filename="stead-move.zip"',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      .send(zip)
  },
})
