/** What samples and refusals of jobs of several resources prepare, and look at. */

import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { loadRoute } from '../../src/edge/routing/routes.store.ts'
import { CoreUnavailable } from '../../src/hosting/core-library/core-library.ts'
import { PhpTaskError } from '../../src/hosting/php/task-error.ts'
import type { TaskInput, TaskName } from '../../src/hosting/php/tasks.ts'
import { siteOwner } from '../../src/resources/backups/backup.ts'
import { markDeleted } from '../../src/resources/sites/site.store.ts'
import type { TestApi } from './api.ts'
import type { JobSample, JobWorld } from './contract.ts'

export const SECRET = 'correct horse battery'

export const OLD = 1_000_000

export const rows = async (
  { api }: JobWorld,
  table: 'activity' | 'events' | 'operations',
  column: 'action' | 'type',
  value: string,
  site: number,
) => {
  const found = await api.database.read.selectFrom(table).selectAll().where('site_id', '=', site).execute()
  return found.filter((row) => (row as unknown as Record<string, unknown>)[column] === value).length
}

/** The stored pages are from before the change. */
export const isPurged = async ({ api, site }: JobWorld): Promise<boolean> => {
  const purges = api.database.read.selectFrom('cache_purges').select('page_epoch').where('site_id', '=', site)
  return (await purges.execute()).length === 1
}

export const aboutSite = async ({ site }: JobWorld) => ({ input: { siteId: site } })

export const change = (world: JobWorld, work: Parameters<TestApi['database']['transaction']>[0]) =>
  world.api.database.transaction(work)

export const directoryOf = ({ host, site }: JobWorld) => host.services.siteDirectories.ofSite(site)

export const closedBy = async ({ api, site }: JobWorld) => {
  const row = api.database.read.selectFrom('sites').select('closed_by').where('id', '=', site)
  return (await row.executeTakeFirstOrThrow()).closed_by
}

/**
 * Work that deletes old rows and keeps new ones.
 * @param young a time at which a row must stay
 * @param insert inserts a row with a time
 * @param left returns the times of the remaining rows
 */
export const forgets = (
  young: () => number,
  insert: (world: JobWorld, at: number) => Promise<unknown>,
  left: (world: JobWorld) => Promise<{ at: number }[]>,
): JobSample => {
  const times = async (world: JobWorld) => [...new Set((await left(world)).map(({ at }) => at))].sort((a, b) => a - b)
  let kept: number
  return {
    async prepare(world) {
      kept = young()
      await insert(world, OLD)
      await insert(world, kept)
      expect(await times(world)).toEqual([OLD, kept])
      return { input: {} }
    },
    async done(world) {
      expect(await times(world)).toEqual([kept])
    },
  }
}

export const DAY_MS = 86_400_000

export const daysAgo = (days: number) => () => Date.now() - days * DAY_MS

export const inAnHour = () => Date.now() + 3_600_000

/** What a change of a complete site left beside it. */
export async function besideSite({ host, site }: JobWorld): Promise<string[]> {
  const directory = await host.services.siteDirectories.ofSite(site)
  if (!directory) return ['no home']
  const known = ['home.json', 'private', 'web', 'database']
  const content = { siteId: site, siteDirectory: directory.path, uid: directory.uid }
  const { hasNext, hasPrevious } = await host.services.siteDatabase.state(content)
  const left = readdirSync(directory.path).filter((name) => !known.includes(name))
  return [...left, ...(hasNext ? ['next database'] : []), ...(hasPrevious ? ['previous database'] : [])]
}

export const isClosed = async ({ database }: TestApi, site: number) => {
  const route = await loadRoute(database.read, `restored-${site}.test`)
  return route?.isClosed
}

export const deleteSite = (world: JobWorld, id = world.site) => change(world, (tx) => markDeleted(tx, id, Date.now()))

export const deleteDirectory = (world: JobWorld, id = world.site) =>
  change(world, (tx) => tx.deleteFrom('site_homes').where('site_id', '=', id).execute())

/** Moves the site to a host that does not exist. */
export const sendAway = (world: JobWorld, id = world.site) =>
  change(world, (tx) => tx.updateTable('sites').set({ host_id: null }).where('id', '=', id).execute())

/** Removes the requester's rights on all sites. */
export const loseRights = ({ api, owner, mate }: JobWorld) =>
  api.database.transaction((tx) =>
    tx
      .updateTable('operations')
      .set({ asked_by_id: mate.accountId })
      .where('account_id', '=', owner.accountId)
      .where('finished_at', 'is', null)
      .execute(),
  )

export const give = ({ host }: JobWorld, services: object) => Object.assign(host.services, services)

export const unavailable = async () => {
  throw new CoreUnavailable('6.9', [])
}

/** Makes its WordPress answer a task differently. */
export function answer<Name extends TaskName>(
  world: JobWorld,
  name: Name,
  how: (input: TaskInput<Name>) => unknown,
): void {
  const { pool } = world.host.services
  const runTask = async (...[site, asked, input, options]: Parameters<typeof pool.runTask>) =>
    asked === name ? how(input as never) : pool.runTask(site, asked, input, options)
  give(world, { pool: { ...pool, runTask } })
}

export const refuse = () => {
  throw new PhpTaskError('not today')
}

export const loseBackups = async ({ api, site }: JobWorld) => {
  const names = await api.backups.repository(siteOwner(site)).list()
  for (const { name } of names) await api.backups.repository(siteOwner(site)).remove(name)
}

export const breakPage = (world: JobWorld) =>
  give(world, {
    pool: { ...world.host.services.pool, handle: async () => ({ status: 500, headers: [], body: [] }) },
  })
