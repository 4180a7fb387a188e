import Type from 'typebox'
import { faultOfPage, getFrontPage } from '../../../hosting/php/front-page.ts'
import { PhpUnavailable, phpVersions } from '../../../hosting/php/runtime.ts'
import { type Compared, compareLines, marksOf, otherPage, type PageMarks } from '../../../hosting/php/same-page.ts'
import type { SitePlace } from '../../../hosting/site-database/database-content.ts'
import type { DatabaseKind } from '../../../hosting/site-database/database-kind.ts'
import { differenceOf } from '../../../hosting/site-database/dumps/compare-dumps.ts'
import { sumUpApart } from '../../../hosting/site-database/dumps/sum-up-apart.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directories.ts'
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
import { changeSite, findSite, holdSite } from '../site.store.ts'
import { closeForWork, openAfterWork } from '../switches/close-for-work.ts'
import { openSite } from '../switches/closing.store.ts'
import { purgeCaches } from '../switches/purge.store.ts'
import { runSiteTask } from '../wordpress/run-site-task.ts'

const Input = Type.Object({
  siteId: Type.Integer(),
  runtime: oneOf(['native', 'wasm']),
  /** What it has from then on. */
  phpVersion: oneOf(phpVersions),
})
type Input = Type.Static<typeof Input>
type Context = StepContext<Input, HostServices, { check: Checked }>
/** Where the site could not be asked, or was not by the Stead that began, there is no page before. */
type Answering = StepContext<Input, HostServices, { check: Checked; page?: PageMarks | null }>
type Answered = StepContext<Input, HostServices, { check: Checked; answer?: Compared | null }>
/** Of an undo: `done` is there from the moment on from which there is no way back. */
type Undoing = StepContext<Input, HostServices, { check?: Checked; done?: boolean }>

/** Nothing to do: it runs by what was asked for. */
type Checked = { readonly from: DatabaseKind } | null

/**
 * Moves a site between PHP in WebAssembly with its database in a file, and native PHP with its database on MariaDB. It is closed meanwhile. The new database is
 * made beside the one in use and compared with it; until `done` everything is taken back by the undo of the steps. Its files stay where they are.
 */
export const moveSiteJob = durableWith<HostServices>()({
  name: 'site.move',
  input: Input,
  on: 'host',
  changeableBy: { site: 'change the PHP version' },
  steps: {
    check: { run: check },
    close: { run: close, undo: (context: Undoing) => openAfterWork(context, context.input.siteId) },
    page: { run: lookAtPage },
    database: { run: makeDatabase, undo: forgetDatabase, weight: 10 },
    switch: { run: switchOver, undo: switchBack },
    answer: { run: seeItAnswer, weight: 2 },
    done: { commit: openAgain },
    settle: { run: cleanUp },
  },
  failed,
})

const kindOf = ({ runtime }: Input): DatabaseKind => (runtime === 'native' ? 'mariadb' : 'sqlite')

async function directoryOf({ services, input }: Pick<Context, 'services' | 'input'>): Promise<SiteDirectory> {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site was deleted')
  return directory
}

const placeOf = (siteId: number, { path, uid }: SiteDirectory): SitePlace => ({ siteId, siteDirectory: path, uid })

async function check(context: Context): Promise<Checked> {
  const { services, input } = context
  const { database: from } = await directoryOf(context)
  if (!(await services.hostedSite(input.siteId))) throw new PermanentFailure('The site is not installed yet')
  if (from === kindOf(input)) return null
  const { runtimes } = services.containment()
  const runtime = runtimes[input.phpVersion]
  if (input.runtime === 'native' && services.databaseKindFor(input.phpVersion) !== 'mariadb')
    throw new PermanentFailure(`The host of the site does not have PHP ${input.phpVersion} with MariaDB`)
  if (input.runtime === 'wasm' && !services.hasWasm)
    throw new PermanentFailure(
      `The host does not run PHP in WebAssembly (STEAD_RUNTIME), and PHP ${input.phpVersion} is ${runtime}`,
    )
  return { from }
}

async function close(context: Context): Promise<void> {
  if (context.results.check) await closeForWork(context, context.input.siteId)
}

/** What visitors got until now, of what the site is now: nobody changes it any more. */
async function lookAtPage(context: Context): Promise<PageMarks | null> {
  const { services, input, signal } = context
  if (!context.results.check) return null
  await closeForWork(context, input.siteId)
  const site = await services.hostedSite(input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  const look = () => getFrontPage(services.pool, site, { signal, whileHeld: true })
  try {
    return marksOf(await look(), await look())
  } catch (error) {
    // php-fpm is not there any more, and the move is the way out: visitors got nothing
    if (error instanceof PhpUnavailable) return null
    throw error
  }
}

/** Beside the one in use, by the text of which it is made; compared by what it says itself. */
async function makeDatabase(context: Context): Promise<{ tables: number } | null> {
  const { services, input, results, signal, progressBytes } = context
  if (!results.check) return null
  await closeForWork(context, input.siteId)
  const directory = await directoryOf(context)
  const place = placeOf(input.siteId, directory)
  const [before, after] = [sumUpApart(), sumUpApart()]
  const [source, target] = [services.databaseContent(results.check.from), services.databaseContent(kindOf(input))]
  if (kindOf(input) === 'mariadb') await services.siteDirectories.databases.prepareServer(directory)
  const snapshot = await source.snapshot(place)
  try {
    const most = (done: number) => 2 * Math.max(done, snapshot.estimatedBytes)
    const onProgress = (done: number) => progressBytes(done, most(done))
    await target.load(place, before.through(snapshot.dump({ signal })), { signal, onProgress })
    await target.switch(place)
    await target.cleanUp(place)
  } finally {
    await snapshot.close()
  }
  const made = await target.snapshot(place)
  try {
    for await (const _piece of after.through(made.dump({ signal })));
  } finally {
    await made.close()
  }
  const difference = differenceOf(before.summary(), after.summary())
  if (difference) throw new PermanentFailure(`The database could not be moved exactly: ${difference}`)
  return { tables: after.summary().size }
}

async function forgetDatabase(context: Undoing): Promise<void> {
  const { services, input, results } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  // what is in use is never dropped, whatever was to become of it
  if (results.done || !results.check || directory?.database !== results.check.from) return
  await services.databaseContent(kindOf(input)).drop(placeOf(input.siteId, directory))
}

async function switchOver(context: Context): Promise<void> {
  if (!context.results.check) return
  await closeForWork(context, context.input.siteId)
  await turn(context, await directoryOf(context), kindOf(context.input))
}

async function switchBack(context: Undoing): Promise<void> {
  const { services, input, results } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (results.done || !results.check || !directory) return
  await closeForWork(context, input.siteId)
  await turn(context, directory, results.check.from)
}

async function turn(
  { services }: Pick<Context, 'services'>,
  directory: SiteDirectory,
  database: DatabaseKind,
): Promise<void> {
  await services.siteDirectories.databases.turnTo({ ...directory, database }, (await services.template()).path)
}

/** A write that is kept, and the front page that the site had. */
async function seeItAnswer(context: Answering): Promise<Compared | null> {
  const { services, input, signal, results } = context
  if (!results.check) return null
  const { siteId, phpVersion } = input
  await closeForWork(context, siteId)
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

async function openAgain(tx: Tx, context: Answered): Promise<true> {
  const { services, input, operationId, now, results } = context
  const { siteId, runtime, phpVersion } = input
  const site = await holdSite(tx, siteId)
  if (!site || !results.check) return true
  const directory = await services.siteDirectories.ofSite(siteId)
  if (directory) await services.siteDirectories.recordDatabase(tx, directory, kindOf(input))
  const isOther = site.phpVersion !== phpVersion
  if (isOther) await changeSite(tx, siteId, { phpVersion }, now())
  const database = runtime === 'native' ? 'MariaDB' : 'SQLite'
  await changeOfJob(tx, context).record({
    action: actions['site.moved'],
    message: `Moved the site to ${runtime === 'native' ? 'native PHP' : 'PHP in WebAssembly'} ${phpVersion} with its database on ${database}.${describeComparison(results.answer)}`,
    ...(isOther && { event: { type: events.php_version_changed, data: { version: phpVersion } } }),
  })
  await openSite(tx, siteId, operationId, now())
  await purgeCaches(tx, siteId, { pages: 'all' })
  return true
}

/** Lines may be others without a fault: a plugin that names its PHP, pictures that are chosen anew. */
function describeComparison(compared: Compared | null | undefined): string {
  if (!compared) return ''
  const { lines, changed } = compared
  return changed === 0
    ? ' Its homepage is unchanged.'
    : ` On its homepage, ${changed} of ${lines} lines differ. Check the homepage.`
}

/** The site is moved and open: what it was is at most a waste of room, and goes with its site directory. */
async function cleanUp(context: Context): Promise<void> {
  const { services, input, results, log } = context
  const { siteId } = input
  const directory = results.check && (await services.siteDirectories.ofSite(siteId))
  try {
    // else it was moved back since, and is in use again
    if (results.check && directory?.database === kindOf(input))
      await services.databaseContent(results.check.from).drop(placeOf(siteId, directory))
  } catch (error) {
    log.warn({ err: error, siteId }, 'could not remove the previous database of a moved site')
  }
  services.pool.release(siteId)
}

async function failed(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const { siteId } = context.input
  await openSite(tx, siteId, context.operationId, context.now())
  if (context.canceled || !(await findSite(tx, siteId))) return
  await changeOfJob(tx, context).record({
    action: actions['site.move_failed'],
    message: `The move failed, and the site runs as before: ${(context.error ?? 'unknown').replace(/\.$/, '')}.`,
  })
}
