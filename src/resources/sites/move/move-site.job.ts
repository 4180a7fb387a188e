import Type from 'typebox'
import { faultOfPage, getFrontPage } from '../../../hosting/php/front-page.ts'
import { PhpUnavailable, phpVersions } from '../../../hosting/php/runtime.ts'
import { runtimeKinds, runtimeNames } from '../../../hosting/php/runtime-kinds.ts'
import { type Compared, compareLines, marksOf, otherPage, type PageMarks } from '../../../hosting/php/same-page.ts'
import { contentPlace, withSnapshot } from '../../../hosting/site-database/database-content.ts'
import { type DatabaseKind, databaseKinds, isOnServer } from '../../../hosting/site-database/database-kind.ts'
import { dumpDifference } from '../../../hosting/site-database/dumps/compare-dumps.ts'
import { sumUpApart } from '../../../hosting/site-database/dumps/sum-up-apart.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { actions, events } from '../actions.ts'
import { contentReplacement, openAfterFailure, requireDirectory, type Undoing } from '../content/replace-content.ts'
import { changeSite } from '../site.store.ts'
import type { Site } from '../site.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

const Input = Type.Object({
  siteId: Type.Integer(),
  runtime: oneOf(runtimeNames),
  /** The version that the site has afterwards. */
  phpVersion: oneOf(phpVersions),
})
type Input = Type.Static<typeof Input>
type Results = { check: Checked; page?: PageMarks | null; answer?: Compared | null }
type Context = StepContext<Input, HostServices, Results>

/** Null if there is nothing to do because the site already runs as requested. */
type Checked = { readonly from: DatabaseKind } | null

const replacement = contentReplacement<Input, Results>({
  content: { switch: switchDatabase, switchBack: switchDatabaseBack, cleanUp: dropUnused },
  isNeeded: ({ check }) => check !== null,
})

/**
 * Moves a site between PHP in WebAssembly with a file database, and native PHP with a MariaDB database. The site is
 * closed meanwhile. The new database is created next to the one in use and compared with it. Until `done`, rolling back
 * restores the site. Its files stay in place.
 */
export const moveSiteJob = durableWith<HostServices>()({
  name: 'site.move',
  input: Input,
  on: 'host',
  changeableBy: { site: 'change the PHP version' },
  steps: {
    check: replacement.open<Checked>({ run: check }),
    close: replacement.close,
    page: replacement.closed<PageMarks | null>({ run: lookAtPage }),
    database: replacement.closed(replacement.staged({ run: makeDatabase, weight: 10 })),
    switch: replacement.switchOver(),
    answer: replacement.closed<Compared | null>({ run: seeItAnswer, weight: 2 }),
    done: replacement.reopening(recordMove, { pages: 'all' }),
    settle: replacement.cleaningUp(),
  },
  failed: tellOfFailure,
})

const kindOf = ({ runtime }: Input): DatabaseKind => runtimeKinds[runtime].database

/** Returns the earlier database kind, if the steps have something to do. */
const fromOf = ({ results }: { readonly results: Partial<Results> }): DatabaseKind | undefined => results.check?.from

async function check(context: Context): Promise<Checked> {
  const { services, input } = context
  const { database: from } = await requireDirectory(context)
  if (!(await services.hostedSite(input.siteId))) throw new PermanentFailure('The site is not installed yet')
  if (from === kindOf(input)) return null
  const { runtimes } = services.containment()
  const runtime = runtimes[input.phpVersion]
  const to = kindOf(input)
  if (isOnServer(to) && services.databaseKindFor(input.phpVersion) !== to)
    throw new PermanentFailure(
      `The host of the site does not have PHP ${input.phpVersion} with ${databaseKinds[to].label}`,
    )
  if (!isOnServer(to) && !services.hasWasm)
    throw new PermanentFailure(
      `The host does not run PHP in WebAssembly (STEAD_RUNTIME), and PHP ${input.phpVersion} is ${runtime}`,
    )
  return { from }
}

/** Fetches the page that visitors got until now, while nothing changes the site. */
async function lookAtPage(context: Context): Promise<PageMarks | null> {
  const { services, input, signal } = context
  const site = await services.hostedSite(input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  const look = () => getFrontPage(services.pool, site, { signal, whileHeld: true })
  try {
    return marksOf(await look(), await look())
  } catch (error) {
    // php-fpm is gone, and the move solves that. Visitors got no page.
    if (error instanceof PhpUnavailable) return null
    throw error
  }
}

/** Creates the new database next to the one in use, from its dump. Compares what both report. */
async function makeDatabase(context: Context): Promise<{ tables: number }> {
  const { services, input, signal, progressBytes } = context
  const directory = await requireDirectory(context)
  const place = contentPlace(input.siteId, directory)
  const [before, after] = [sumUpApart(), sumUpApart()]
  const source = services.databaseContent(fromOf(context) as DatabaseKind)
  const target = services.databaseContent(kindOf(input))
  if (isOnServer(kindOf(input))) await services.siteDirectories.databases.prepareServer(directory)
  await withSnapshot(source, place, async (snapshot) => {
    const most = (done: number) => 2 * Math.max(done, snapshot.estimatedBytes)
    const onProgress = (done: number) => progressBytes(done, most(done))
    await target.load(place, before.through(snapshot.dump({ signal })), { signal, onProgress })
    await target.switch(place)
    await target.cleanUp(place)
  })
  await withSnapshot(target, place, async (snapshot) => {
    for await (const _piece of after.through(snapshot.dump({ signal })));
  })
  const difference = dumpDifference(before.summary(), after.summary())
  if (difference) throw new PermanentFailure(`The database could not be moved exactly: ${difference}`)
  return { tables: after.summary().size }
}

async function switchDatabase(context: Context, directory: SiteDirectory): Promise<void> {
  await turn(context, directory, kindOf(context.input))
}

async function switchDatabaseBack(context: Undoing<Input, Results>, directory: SiteDirectory): Promise<void> {
  const from = fromOf(context)
  if (from) await turn(context, directory, from)
}

async function turn(
  { services }: Pick<Context, 'services'>,
  directory: SiteDirectory,
  database: DatabaseKind,
): Promise<void> {
  await services.siteDirectories.databases.turnTo({ ...directory, database }, (await services.template()).path)
}

/** Drops the unused database. The record of the site directory tells which one is in use. */
async function dropUnused(context: Undoing<Input, Results>, directory: SiteDirectory): Promise<void> {
  const { services, input } = context
  const from = fromOf(context)
  if (!from) return
  const unused = directory.database === from ? kindOf(input) : from
  await services.databaseContent(unused).drop(contentPlace(input.siteId, directory))
}

/** Checks that a write is stored, and that the front page is the same. */
async function seeItAnswer(context: Context): Promise<Compared | null> {
  const { services, input, signal, results } = context
  const { siteId, phpVersion } = input
  const hosted = await services.hostedSite(siteId)
  if (!hosted) throw new PermanentFailure('The site was deleted')
  const site = { ...hosted, phpVersion }
  const refusal = 'WordPress does not respond in the new runtime'
  const asMoved = { hostedSite: async () => site, pool: services.pool }
  await runSiteTask(asMoved, siteId, 'flush-object-cache', {}, { whileHeld: true, refusal })
  await runSiteTask(asMoved, siteId, 'check-copy', {}, { whileHeld: true, refusal })
  const page = await getFrontPage(services.pool, site, { signal, whileHeld: true })
  const fault = faultOfPage(site, page) ?? (results.page ? otherPage(results.page, page) : undefined)
  if (fault) throw new PermanentFailure(`${refusal}: ${fault}`)
  return results.page ? compareLines(results.page, page) : null
}

async function recordMove(tx: Tx, context: Context, site: Site): Promise<void> {
  const { services, input, now, results } = context
  const { siteId, runtime, phpVersion } = input
  const directory = await services.siteDirectories.ofSite(siteId)
  if (directory) await services.siteDirectories.recordDatabase(tx, directory, kindOf(input))
  const isOther = site.phpVersion !== phpVersion
  if (isOther) await changeSite(tx, siteId, { phpVersion }, now())
  const { label, database } = runtimeKinds[runtime]
  await changeOfJob(tx, context).record({
    action: actions['site.moved'],
    message: `Moved the site to ${label} ${phpVersion} with its database on ${databaseKinds[database].label}.${describeComparison(results.answer)}`,
    ...(isOther && { event: { type: events.php_version_changed, data: { version: phpVersion } } }),
  })
}

/**
 * Describes differences of the page. Lines may differ without an error, such as a plugin that shows its PHP version, or
 * random pictures.
 */
function describeComparison(compared: Compared | null | undefined): string {
  if (!compared) return ''
  const { lines, changed } = compared
  return changed === 0
    ? ' Its homepage is unchanged.'
    : ` On its homepage, ${changed} of ${lines} lines differ. Check the homepage.`
}

async function tellOfFailure(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const failure = await openAfterFailure(tx, context)
  if (!failure.site || context.canceled) return
  const { reason } = failure
  const message = failure.isRolledBack
    ? `The move failed, and the site runs as before: ${reason}.`
    : `The move failed: ${reason}. Stead could not roll back the change: try again, or restore a backup of this site.`
  await changeOfJob(tx, context).record({ action: actions['site.move_failed'], message })
}
