import { frontPageFault } from '../../hosting/php/front-page.ts'
import type { PooledSite } from '../../hosting/php/pool/pool.ts'
import { isHostsDoing, PhpCrashed, PhpTimeout } from '../../hosting/php/runtime.ts'
import { PhpTaskError } from '../../hosting/php/task-error.ts'
import { type InnerPage, innerPages } from '../../hosting/php/tasks.ts'
import { someOf } from '../../platform/some-of.ts'
import type { HostServices } from '../kit/host-services.ts'

type Services = Pick<HostServices, 'hostedSite' | 'pool'>

/** A page that takes long once may have been the first after a change. */
const TRIES = 2

/**
 * Returns what is wrong with a site's front page, in PHP's own words if it ends in an error, or undefined if visitors
 * see their page. WordPress notifies nobody of these errors.
 * @throws PhpStarved, PhpDisplaced, PhpNotReached, PhpBusy, which say nothing about the site
 */
export async function frontFault(
  services: Services,
  siteId: number,
  { errors, ...options }: { readonly whileHeld?: boolean; readonly errors?: DatabaseErrors } = {},
): Promise<string | undefined> {
  const hosted = await services.hostedSite(siteId)
  if (!hosted) return 'the site is not installed'
  return judged(async () => {
    try {
      const { status, bytes, databaseErrors } = await services.pool.runTask(hosted, 'front-page', {}, options)
      for (const error of databaseErrors) errors?.add(error)
      if (status < 300 ? bytes > 0 : status >= 400 && status < 500) return undefined
    } catch (error) {
      if (!(error instanceof PhpTaskError)) throw error
      return error.message
    }
    // A redirect, or nothing that can be shown.
    return frontPageFault(services.pool, hosted, options)
  })
}

/** Collects the errors of statements that the database refused while pages were created. */
export type DatabaseErrors = Set<string>

/**
 * Returns what the database refuses now, and did not refuse before a change.
 * @param ask requests pages, and adds what the database refused. Called again if that is anything new, because many
 *   plugins create their tables on the first page of wp-admin
 * @param before undefined if an older Stead, which did not collect them, started the operation
 */
export async function newDatabaseErrors(
  ask: (errors: DatabaseErrors) => Promise<unknown>,
  before: readonly string[] | undefined,
): Promise<readonly string[]> {
  const find = async (): Promise<readonly string[]> => {
    const errors: DatabaseErrors = new Set()
    await ask(errors)
    return before ? [...errors].filter((error) => !before.includes(error)) : []
  }
  return (await find()).length > 0 ? find() : []
}

const MOST_ERRORS_SHOWN = 3

/**
 * Describes statements that the database refuses since a change. An empty result instead of an error is dangerous:
 * members-only content may become public.
 * @returns undefined if there are none
 */
export function databaseWarning(errors: readonly string[]): string | undefined {
  if (errors.length === 0) return undefined
  const shown = someOf(errors, MOST_ERRORS_SHOWN, { between: '; ' })
  return `The site's database refuses statements since then: ${shown}. See the PHP log of the site`
}

/** What is wrong with the dashboard, the editor and the REST API, each described for the site's owner. */
export type InnerFaults = Partial<Record<InnerPage, string>>

const NAMES: Readonly<Record<InnerPage, string>> = { admin: 'wp-admin', editor: 'the editor', rest: 'the REST API' }

/**
 * Returns what {@link frontFault} does, for the pages behind the front page.
 * @param known earlier faults, whose pages are skipped
 * @param gathered receives what the database refused
 */
export async function innerFaults(
  services: Services,
  siteId: number,
  known: InnerFaults = {},
  gathered: DatabaseErrors = new Set(),
): Promise<InnerFaults> {
  const hosted = await services.hostedSite(siteId)
  const faults: InnerFaults = {}
  if (!hosted) return faults
  for (const page of innerPages) {
    if (known[page] !== undefined) continue
    const fault = await judged(() => innerFault(services, hosted, page, gathered))
    if (fault !== undefined) faults[page] = fault
  }
  return faults
}

/** Returns the first fault as the end of a sentence. */
export function firstFault(faults: InnerFaults): string | undefined {
  const page = innerPages.find((each) => faults[each] !== undefined)
  return page && `${NAMES[page]} does not respond: ${faults[page]}`
}

async function innerFault(
  { pool }: Services,
  hosted: PooledSite,
  page: InnerPage,
  gathered: DatabaseErrors,
): Promise<string | undefined> {
  try {
    const { status, isWhole, isRedirect, databaseErrors } = await pool.runTask(hosted, 'inner-page', { page })
    for (const error of databaseErrors) gathered.add(error)
    if (status >= 500) return `it responds with status ${status}`
    // A site may turn administrators away, or redirect them.
    return isWhole || isRedirect || status >= 400 ? undefined : 'the response is incomplete'
  } catch (error) {
    if (error instanceof PhpTaskError) return error.message
    throw error
  }
}

/**
 * Requests a page. Slow is not broken, so a timeout leads to one more request, and a busy machine is not the site's
 * fault.
 */
async function judged(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++)
    try {
      return await ask()
    } catch (error) {
      if (isHostsDoing(error) || !(error instanceof PhpCrashed || error instanceof PhpTimeout)) throw error
      if (attempt === TRIES) return error.message
    }
}
