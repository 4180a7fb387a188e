import { setTimeout as pause } from 'node:timers/promises'
import type { Write } from '../ledger.ts'
import type { Load } from './load.ts'

/** Tags put on a site, each name once. */
export const tags: Load = {
  name: 'tags',
  workers: 2,
  async run({ client, baseSites }, { chance, worker, signal }) {
    for (let n = 0; n < 300 && !signal.aborted; n++) {
      const site = chance.pick(baseSites)
      const name = `tag-${worker}-${n}`
      await client.write({
        what: 'tag',
        method: 'POST',
        path: `/v1/sites/${site.id}/tags`,
        body: { tag_names: [name] },
        keyed: chance.is(0.5),
        entry: { action: 'tag.added', siteId: site.id, message: `Added ${name} to ${site.name}` },
      })
      await pause(chance.between(100, 400))
    }
  },

  async check({ ledger, records }) {
    const rows = await records('select tags.name, site_tags.site_id from site_tags join tags on tags.id = tag_id')
    const there = new Set(rows.map(({ name, site_id }) => `/v1/sites/${site_id}/tags ${name}`))
    const wordsOf = ({ path, body }: Write) => `${path} ${(body as { tag_names: string[] }).tag_names[0]}`
    const all = ledger.writes.filter(({ what }) => what === 'tag')
    return [
      ...all
        .filter((write) => write.outcome === 'acknowledged' && !there.has(wordsOf(write)))
        .map((write) => `lost: ${wordsOf(write)}`),
      ...all
        .filter((write) => write.outcome === 'refused')
        .map((write) => `refused: ${wordsOf(write)}: ${write.status}`),
    ]
  },
}
