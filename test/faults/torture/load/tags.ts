import { setTimeout as pause } from 'node:timers/promises'
import type { Write } from '../ledger.ts'
import type { Load } from './load.ts'

/** A site may have 200. */
const MOST_OF_WORKER = 60

/** Adds tags to a site, each name once, and removes some when there are many. */
export const tags: Load = {
  name: 'tags',
  workers: 2,
  async run({ client, baseSites }, { chance, worker, signal }) {
    const put: { path: string; siteId: number; siteName: string; name: string; id: number }[] = []
    // an account may have 2,000
    for (let n = 0; n < 900 && !signal.aborted; n++) {
      const site = chance.pick(baseSites)
      const name = `tag-${worker}-${n}`
      const path = `/v1/sites/${site.id}/tags`
      const added = await client.write({
        what: 'tag',
        method: 'POST',
        path,
        body: { tag_names: [name] },
        keyed: chance.is(0.5),
        entry: { action: 'tag.added', siteId: site.id, message: `Added ${name} to ${site.name}` },
      })
      if (added.outcome === 'acknowledged')
        put.push({ path, siteId: site.id, siteName: site.name, name, id: idOf(added) })
      const oldest = put.length > MOST_OF_WORKER ? put.shift() : undefined
      if (oldest)
        await client.write({
          what: 'tag removed',
          method: 'DELETE',
          path: oldest.path,
          body: { tag_ids: [oldest.id] },
          keyed: chance.is(0.5),
          entry: {
            action: 'tag.removed',
            siteId: oldest.siteId,
            message: `Removed ${oldest.name} from ${oldest.siteName}`,
          },
        })
      await pause(chance.between(100, 400))
    }
  },

  async check({ ledger, records }) {
    const rows = await records('select tags.name, site_tags.site_id from site_tags join tags on tags.id = tag_id')
    const there = new Set(rows.map(({ name, site_id }) => `/v1/sites/${site_id}/tags ${name}`))
    const wordsOf = (write: Write) => `${write.path} ${nameOf(write)}`
    const removals = new Map(
      ledger.writes
        .filter(({ what }) => what === 'tag removed')
        .map((write) => [`${write.path} ${(write.body as { tag_ids: number[] }).tag_ids[0]}`, write]),
    )
    const faults: string[] = []
    for (const write of ledger.writes.filter(({ what }) => what === 'tag')) {
      if (write.outcome === 'refused') faults.push(`refused: ${wordsOf(write)}: ${write.status}`)
      if (write.outcome !== 'acknowledged') continue
      const removal = removals.get(`${write.path} ${idOf(write)}`)
      if (!removal && !there.has(wordsOf(write))) faults.push(`lost: ${wordsOf(write)}`)
      if (removal?.outcome === 'acknowledged' && there.has(wordsOf(write)))
        faults.push(`there though removed: ${wordsOf(write)}`)
    }
    return faults
  },
}

const nameOf = ({ body }: Write): string => (body as { tag_names: string[] }).tag_names[0] as string

/** The response shows the site with its tags. */
const idOf = (write: Write): number =>
  (write.data as { tags: { id: number; name: string }[] }).tags.find(({ name }) => name === nameOf(write))?.id as number
