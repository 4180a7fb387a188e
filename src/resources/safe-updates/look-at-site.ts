import {
  answersOtherwise,
  isMuchSlower,
  type SteadyPage,
  steadyPart,
  worseIn,
} from '../../hosting/page-look/compare-looks.ts'
import { lookAtPage, type PageLook } from '../../hosting/page-look/look-at-page.ts'
import {
  endOfLog,
  isErrorMessage,
  isWarningMessage,
  kindsSince,
  type LoggedKind,
  type PhpLogEnd,
} from '../../hosting/page-look/php-log-since.ts'
import type { PooledSite } from '../../hosting/php/pool/pool.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { someOf } from '../../platform/some-of.ts'
import type { HostServices } from '../kit/host-services.ts'
import { requireDirectory, runSiteTask } from '../sites/public.ts'
import {
  MOST_PATHS,
  type NewMessage,
  type PageKind,
  type SafeUpdateOrder,
  type SeenPage,
  type UpdatedItem,
  type UpdatedPage,
} from './safe-update.ts'
import { safeUpdateSettingsOf } from './settings/safe-update-settings.store.ts'

/** A page before the update. */
interface PageBefore {
  readonly kind: PageKind
  readonly path: string
  readonly steady: SteadyPage
  readonly seen: SeenPage
}

export interface BeforeUpdate {
  readonly pages: readonly PageBefore[]
  /** Where the PHP log ended. */
  readonly log: PhpLogEnd | null
  /** Kinds of messages that the site logs anyway. */
  readonly known: readonly string[]
  /** Selectors of elements that pictures leave out, before the update and after it. */
  readonly masks: readonly string[]
}

type Context = Pick<StepContext<SafeUpdateOrder, HostServices>, 'services' | 'input' | 'signal' | 'progress'>

/** How often each page is requested before an update: what differs between the answers changes anyway. */
const LOOKS_BEFORE = 4

/** Looks at each page several times, because pages also change without an update. */
export async function lookBefore(context: Context): Promise<BeforeUpdate> {
  const { services, signal, progress } = context
  const site = await hostedSite(context)
  const { path: siteDirectory } = await requireDirectory(context)
  const { masks, paths } = await safeUpdateSettingsOf(services.database.read, context.input.siteId)
  const wanted = await pagesOf(context, paths)
  const looks = wanted.map((): PageLook[] => [])
  // One page after the other, and then again: so more time passes between two looks at a page.
  for (let time = 0; time < LOOKS_BEFORE; time++)
    for (const [index, { path }] of wanted.entries()) {
      looks[index]?.push(await lookAtPage(services.pool, site, { path, signal }))
      progress((time * wanted.length + index + 1) / (LOOKS_BEFORE * wanted.length))
    }
  const pages = wanted.map(({ kind, path }, index): PageBefore => {
    const [one, ...others] = looks[index] as [PageLook, ...PageLook[]]
    return { kind, path, steady: steadyPart(one, ...others), seen: seenOf(others.at(-1) ?? one) }
  })
  const known = kindsSince(siteDirectory, null).map(({ key }) => key)
  return { pages, log: endOfLog(siteDirectory), known, masks }
}

const seenOf = ({ status, title, ms }: PageLook): SeenPage => ({ status, title, ms })

async function hostedSite({ services, input }: Context): Promise<PooledSite> {
  const site = await services.hostedSite(input.siteId)
  if (!site) throw new PermanentFailure('The site is not installed yet')
  return site
}

/** @param paths the pages of the settings of the site */
async function pagesOf(
  { services, input }: Context,
  paths: readonly string[],
): Promise<{ kind: PageKind; path: string }[]> {
  // A site that is broken cannot say which pages it has. Its update may be the repair.
  const { pages } = await runSiteTask(services, input.siteId, 'newest-pages', {}).catch((error) => {
    if (error instanceof PermanentFailure) return { pages: [] }
    throw error
  })
  // The settings may have more pages than when the update was requested.
  const own = [...new Set([...input.paths, ...paths])].slice(0, MOST_PATHS)
  const all: { kind: PageKind; path: string }[] = [
    { kind: 'front', path: '/' },
    ...pages,
    { kind: 'login', path: '/wp-login.php' },
    ...own.map((path) => ({ kind: 'own' as const, path })),
  ]
  return all.filter(({ path }, index) => all.findIndex((each) => each.path === path) === index)
}

export interface AfterUpdate {
  readonly pages: readonly UpdatedPage[]
  readonly logged: readonly NewMessage[]
}

/** How often a page is requested after an update, at most. A page that answers in another way has two chances. */
const MOST_LOOKS = 4

/** Compares each page with itself before the update. A page that is worse gets other chances. */
export async function lookAfter(
  context: Context,
  before: BeforeUpdate,
  items: readonly UpdatedItem[],
): Promise<AfterUpdate> {
  const { services, signal, progress } = context
  const site = await hostedSite(context)
  const { path: siteDirectory } = await requireDirectory(context)
  const updated = endOfLog(siteDirectory)
  const pages: UpdatedPage[] = []
  for (const page of before.pages) {
    const { kind, path, seen, steady } = page
    const look = () => lookAtPage(services.pool, site, { path, signal })
    const looks: [PageLook, ...PageLook[]] = [await look()]
    // The first page after an update may do its work on the database.
    if (worseIn(steady, ...looks).length > 0 || isMuchSlower(steady, looks[0])) looks.push(await look())
    let after = looks.at(-1) as PageLook
    while (looks.length < MOST_LOOKS && !answersOtherwise(steady, after) && worseIn(steady, ...looks).length > 0) {
      after = await look()
      looks.push(after)
    }
    const differences = worseIn(steady, ...looks)
    const notes = isMuchSlower(steady, after) ? [`it took ${after.ms} ms instead of ${steady.ms}`] : []
    pages.push({ kind, path, before: seen, after: seenOf(after), differences, notes, pictures: [] })
    progress(pages.length / before.pages.length)
  }
  const known = new Set(before.known)
  const fresh = kindsSince(siteDirectory, before.log).filter(({ key }) => !known.has(key))
  const later = new Set(kindsSince(siteDirectory, updated).map(({ key }) => key))
  return { pages, logged: fresh.map((message) => newMessage(message, items, later.has(message.key))) }
}

/**
 * Errors of any code count, because an update can break other code. Warnings count only for what was updated.
 * Notices never count, and neither does what was logged only while files were replaced: a visitor may have come then.
 */
function newMessage(message: LoggedKind, items: readonly UpdatedItem[], isLater: boolean): NewMessage {
  const { severity, message: text, kind, name } = message
  const isUpdated = items.some(
    (item) => item.outcome === 'updated' && item.kind === kind && (kind === 'core' || item.name === name),
  )
  return {
    severity,
    message: text,
    kind,
    name,
    counts: isLater && (isErrorMessage(message) || (isWarningMessage(message) && isUpdated)),
  }
}

/** Errors of operations hide paths, because most are those of a machine. So pages have names there. */
const pageNames: Readonly<Record<Exclude<PageKind, 'own'>, string>> = {
  front: 'homepage',
  post: 'newest post',
  page: 'newest page',
  product: 'newest product',
  cart: 'cart',
  login: 'log-in page',
}

const pageName = ({ kind, path }: Pick<UpdatedPage, 'kind' | 'path'>): string =>
  kind === 'own' ? `page “${path.slice(1)}”` : pageNames[kind]

const MOST_REASONS = 5

/** Returns why an update must be undone, for its owner. Undefined: nothing speaks against it. */
export function verdict({ pages, logged }: AfterUpdate): string | undefined {
  const reasons = [
    ...pages.flatMap((page) => page.differences.map((each) => `${pageName(page)}: ${each}`)),
    ...logged
      .filter(({ counts }) => counts)
      .map(
        ({ severity, kind, name, message }) =>
          `PHP log (${[kind, name].join(' ').trim() || 'site'}): ${severity}: ${message}`,
      ),
  ]
  return someOf(reasons, MOST_REASONS, { between: '; ' }) || undefined
}
