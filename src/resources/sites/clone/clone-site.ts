import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { presentSite, SiteSchema } from '../show/present-site.ts'
import { NewSite } from '../site.ts'
import { cloneProblems, requestClone } from './request-clone.ts'

export const cloneSite = endpoint({
  id: 'cloneSite',
  method: 'POST',
  path: '/v1/sites/{site_id}/clone',
  summary: 'Clone a site',
  description:
    "Returns a site in state `cloning`. Its state becomes `live` when it responds to visitors. The source stays open. The clone gets the files, database, PHP version and tags of the source, rewritten to its own address. It does not get domains, DNS records, collaborators, backups or notes. If the host of the source has no room or serves another datacenter, the clone is created on another host, from backups of the source. The clone belongs to the owner of the source and counts against that account's plan.",
  access: { site: 'clone the site' },
  params: Type.Object({ site_id: SiteId }),
  body: Type.Object(
    {
      name: Type.String({ ...NewSite.properties.name, examples: ['my-first-copy'] }),
      staging: NewSite.properties.staging,
      datacenter_code: Type.Optional(
        Type.String({
          description: 'Default: the datacenter of the source',
        }),
      ),
    },
    { title: 'NewClone' },
  ),
  response: SiteSchema,
  starts: true,
  problems: cloneProblems,

  async handle(context, { body }) {
    const { site: source, config, now } = context
    return presentSite(await requestClone(context, source, body), config, now)
  },
})
