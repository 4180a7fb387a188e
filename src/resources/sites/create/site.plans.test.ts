import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { fillWithMany } from '../../../../test/support/many.ts'
import { plansOf, wholeTableReads } from '../../../../test/support/plans.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { collaboratorsAround, listCollaboratorsOfSite } from '../../collaborators/collaborator.store.ts'
import { countVisibleSites, listVisibleSites, sortedSites, visibleSite } from '../show/visible-site.store.ts'

const page = { perPage: 50, offset: 100 }

const lists: Record<string, (tx: Tx) => Promise<unknown>> = {
  'a page of the owner’s sites': (tx) => listVisibleSites(tx, 1, {}, page),
  'a page of a collaborator’s sites': (tx) => listVisibleSites(tx, 7, {}, page),
  'a page of sites with a tag': (tx) => listVisibleSites(tx, 1, { tagName: 'shop' }, page),
  'a page of sites by part of the name': (tx) =>
    listVisibleSites(tx, 1, { filters: [{ key: 'name', part: 'ite-77' }] }, page),
  'a page of sites by state': (tx) => listVisibleSites(tx, 1, { filters: [{ key: 'state', value: 'live' }] }, page),
  'a page of sites by name alone': (tx) =>
    sortedSites(tx, 1, {}, { key: 'name', isDescending: true }, { ...page, from: { value: 'site-77', siteId: 77 } }),
  'a page of sites by PHP and a tag': (tx) =>
    sortedSites(tx, 1, { tagName: 'shop' }, { key: 'php_version', isDescending: false }, page),
  'a page of sites by age': (tx) => sortedSites(tx, 1, {}, { key: 'created', isDescending: true }, page),
  'a page of sites by what they use': (tx) => sortedSites(tx, 1, {}, { key: 'disk', isDescending: true }, page),
  'a page of sites by PHP': (tx) => sortedSites(tx, 1, {}, { key: 'php_version', isDescending: false }, page),
  'the number of sites': (tx) => countVisibleSites(tx, 1),
  'one site': (tx) => visibleSite(tx, 7, 505),
  'all collaborators of an account': (tx) => collaboratorsAround(tx, 1),
  'the collaborators of a site': (tx) => listCollaboratorsOfSite(tx, 505),
}

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`lists with 10,000 sites and 50,000 collaborators on ${dialect}`, () => {
    let made: TestDatabase
    beforeAll(async () => {
      made = await testDatabase(dialect)
      await made.database.transaction((tx) =>
        fillWithMany(tx, { sites: 10_000, collaboratorsASite: 5, logEntriesASite: 0 }),
      )
      if (dialect === 'postgres') await sql`vacuum analyze`.execute(made.database.read)
    })
    afterAll(() => made.drop())

    for (const [what, work] of Object.entries(lists)) {
      test(`${what} is answered from an index, in its order`, async () => {
        const plans = await plansOf(made, work)
        expect(plans.length).toBeGreaterThan(0)
        for (const plan of plans) expect(wholeTableReads(plan), `${plan.sql}\n${plan.plan}`).toEqual([])
      })
    }
  })
}
