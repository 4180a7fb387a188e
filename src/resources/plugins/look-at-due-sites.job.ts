import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { lookAtPlugins } from './list-plugins.job.ts'
import { lookedAt, sitesDue } from './plugin.store.ts'

/** A change in WordPress shows within a minute: this long, and the listing. */
const EVERY_MS = 30_000
/** Sites of one look, which is enough for 28,000 sites a day. Each listing starts PHP once. */
const AT_ONCE = 10

/**
 * Lists the plugins and themes of the sites that are due: those whose WordPress has reported a change, new ones, and
 * each once a day.
 */
export const lookAtDueSites = durableWith<{ readonly database: Database }>()({
  name: 'plugin.look',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    look: {
      async commit(tx, { now }) {
        for (const site of await sitesDue(tx, now(), AT_ONCE)) {
          await lookedAt(tx, site.id, now())
          await lookAtPlugins(tx, site, now())
        }
      },
    },
  },
})

export const lookAtDueSitesOften = schedule({
  name: 'plugin.look',
  everyMs: EVERY_MS,
  definition: lookAtDueSites,
  input: () => ({}),
})
