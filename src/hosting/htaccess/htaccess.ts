/** Applies a site's `.htaccess` files to a request. The web server's only entry to this folder. */
import { LRUCache } from 'lru-cache'
import { lookInside } from '../site-files/open-inside.ts'
import { accessOf, lastOf, sectionsFor } from './access-control.ts'
import { type Asked, Dependence, DOCUMENT_ROOT, envOf, type Tree, type Trial } from './asked.ts'
import { editHeaders } from './edit-headers.ts'
import { withExpiry } from './expires.ts'
import { Folders, type FoldersOptions, type RuledSite } from './folders.ts'
import { FolderPasswords, hashOf, isSupported, TooManyPasswords } from './passwords.ts'
import { type StepsLeft, TooMuchWork } from './pattern.ts'
import { escapeUri, originOf, type Rewritten, redirectFor, rewrite } from './rewrite.ts'
import type { Section } from './rules.ts'

/** The place that a target leads to without rules, such as a `Location` of the web server. */
export type TargetPlace =
  | { readonly kind: 'file'; readonly found: { close(): void }; readonly path: string }
  | { readonly kind: 'script'; readonly script: string }
  | { readonly kind: 'redirect' | 'refused' | 'missing' }

/** The content to show for a status, if the site defines any. */
export type ErrorDocument =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'address'; readonly address: string }

/** The changes to make to an answer. */
export interface Edits {
  /**
   * Edits flat raw pairs of an answer from a file or from PHP.
   * @param status by default 200
   * @param type its media type, if no header has it
   */
  headers(raw: readonly string[], status?: number, type?: string): string[]
  readonly type: string | undefined
}

export type Obeyed<P extends TargetPlace> =
  | { readonly kind: 'go'; readonly place: P; readonly edits: Edits | undefined; readonly query: string | undefined }
  /** The request ends here. */
  | {
      readonly kind: 'end'
      readonly status: number
      readonly headers: readonly string[]
      readonly document: ErrorDocument | undefined
    }
// biome-ignore format: a union

export interface HtaccessOptions extends FoldersOptions {}

/** The budget of one request: 6 ms. */
const WORK = 300_000
/** The budget of one site per second. */
const WORK_OF_SITE = 10_000_000
const MOST_ROUNDS = 10
const MOST_USER_FILE = 256 << 10

export class Htaccess {
  readonly folders: Folders
  readonly #options: HtaccessOptions
  readonly #passwords = new FolderPasswords()
  readonly #spent = new LRUCache<number, { work: number }>({ max: 10_000, ttl: 1_000 })

  constructor(options: HtaccessOptions) {
    this.#options = options
    this.folders = new Folders(options)
  }

  /**
   * Applies the rules of all folders on the way.
   * @param locate returns the place that a target leads to without rules. Files it opened are closed here unless they
   * are returned.
   */
  async obey<P extends TargetPlace>(
    site: RuledSite,
    asked: Asked,
    tree: Tree,
    locate: (target: string) => P,
  ): Promise<Obeyed<P>> {
    const place = locate(asked.target)
    // Closed for everyone, whatever rules say.
    if (place.kind === 'refused') return go(place)
    const work = { left: WORK }
    const reading = { left: 0 }
    let held: P | undefined = place
    const relocate = (target: string): P => {
      if (held?.kind === 'file') held.found.close()
      held = undefined
      held = locate(target)
      return held
    }
    try {
      this.#mayWork(site.siteId)
      const { levels, isUnwatched } = this.folders.levelsOf(site, partsOf(pathOf(asked.target)), reading)
      const isElsewhere = isOtherThan(place, pathOf(asked.target))
      if (levels.every(({ rules }) => rules.isUsual) && !isUnwatched && !isElsewhere) {
        held = undefined
        return go(place)
      }
      const attempt = new Attempt({ htaccess: this, site, asked, tree, work, reading, locate: relocate })
      const obeyed = await attempt.run(place)
      if (obeyed.kind === 'go') held = undefined
      return obeyed
    } catch (error) {
      if (!(error instanceof TooMuchWork || error instanceof TooManyPasswords)) throw error
      if (error instanceof TooMuchWork)
        this.#options.log.warn({ siteId: site.siteId }, 'the rules of a site take too much processing time')
      return { kind: 'end', status: 503, headers: ['Retry-After', '5'], document: undefined }
    } finally {
      if (held?.kind === 'file') held.found.close()
      this.#worked(site.siteId, WORK - work.left - reading.left)
    }
  }

  /** @throws TooMuchWork */
  #mayWork(siteId: number): void {
    if ((this.#spent.get(siteId)?.work ?? 0) > WORK_OF_SITE) throw new TooMuchWork('of this site')
  }

  #worked(siteId: number, work: number): void {
    if (work === 0) return
    const spent = this.#spent.get(siteId)
    if (spent) spent.work += work
    else this.#spent.set(siteId, { work })
  }

  /** @returns whether the password is the user's */
  async isUser(site: RuledSite, file: string | undefined, user: string, password: string): Promise<boolean> {
    const text = file === undefined ? undefined : readUserFile(site, file)
    if (text === undefined) {
      this.#options.told(
        site.siteId,
        '.htaccess',
        0,
        `AuthUserFile ${file ?? ''}: there is no such file in the site's folders`,
      )
      return false
    }
    const hash = hashOf(text, user)
    if (hash === undefined) return false
    if (isSupported(hash)) return this.#passwords.isRight(site.siteId, password, hash)
    this.#options.told(site.siteId, '.htaccess', 0, `AuthUserFile ${file}: a password has an unsupported format`)
    return false
  }
}

const go = <P extends TargetPlace>(place: P): Obeyed<P> => ({ kind: 'go', place, edits: undefined, query: undefined })

/**
 * Reads the file at the path that PHP of the site sees: `/wordpress/…` or `/private/…`, or a path from the web root.
 */
function readUserFile({ siteDirectory }: RuledSite, file: string): string | undefined {
  const inside = file.startsWith(`${DOCUMENT_ROOT}/`)
    ? `web/${file.slice(DOCUMENT_ROOT.length + 1)}`
    : file.startsWith('/private/')
      ? file.slice(1)
      : file.startsWith('/')
        ? undefined
        : `web/${file}`
  if (inside === undefined) return undefined
  const path = inside
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  if (path.split('/').includes('..') || path.includes('\0')) return undefined
  const found = lookInside(siteDirectory, path)
  try {
    if (found?.kind !== 'file' || found.stats.size > MOST_USER_FILE) return undefined
    return found.read(0, found.stats.size).toString('utf8')
  } catch {
    return undefined
  } finally {
    found?.close()
  }
}

/** Returns the path of a target: decoded, without empty parts. A path that does not decode is taken byte by byte. */
function pathOf(target: string): string {
  const at = target.indexOf('?')
  const raw = at < 0 ? target : target.slice(0, at)
  let path: string
  try {
    path = decodeURIComponent(raw)
  } catch {
    path = raw.replace(/%([0-9a-f]{2})/gi, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  const clean = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'))
  return `/${clean.join('/')}${clean.length > 0 && path.endsWith('/') ? '/' : ''}`
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

const queryOf = (target: string): string => {
  const at = target.indexOf('?')
  return at < 0 ? '' : target.slice(at + 1)
}

/** Returns the path of the place, if it is a file or a script other than the front controller. */
const foundPath = (place: TargetPlace): string | undefined =>
  place.kind === 'file'
    ? `/${place.path}`
    : place.kind === 'script' && place.script !== FRONT
      ? place.script
      : undefined

const FRONT = '/index.php'

/** Returns whether the place is at another path. In networks, a site's name may precede the path of a file. */
function isOtherThan(place: TargetPlace, path: string): boolean {
  const found = foundPath(place)
  return found !== undefined && !found.startsWith(path) && !path.startsWith(found)
}

type External = Exclude<Rewritten, { kind: 'inside' | 'same' }>

type Step<P extends TargetPlace> =
  | { readonly end: Obeyed<P> }
  | { readonly sections: readonly Section[]; readonly trial: Trial; readonly rewritten: Rewritten | undefined }

interface AttemptOptions<P extends TargetPlace> {
  readonly htaccess: Htaccess
  readonly site: RuledSite
  readonly asked: Asked
  readonly tree: Tree
  readonly work: StepsLeft
  readonly reading: StepsLeft
  readonly locate: (target: string) => P
}

/** One request that passes through the rules. */
class Attempt<P extends TargetPlace> {
  readonly #options: AttemptOptions<P>
  readonly #depends = new Dependence()
  #user: string | undefined
  #env: Map<string, string> | undefined
  #isUnwatched = false

  constructor(options: AttemptOptions<P>) {
    this.#options = options
  }

  async run(first: P): Promise<Obeyed<P>> {
    const { asked, locate } = this.#options
    let place = first
    let path = pathOf(asked.target)
    let query = queryOf(asked.target)
    let mayRewrite = true
    let type: string | undefined
    for (let round = 0; ; round++) {
      if (round > MOST_ROUNDS) return this.#end([], undefined, 500)
      const step = await this.#step(place, path, query, mayRewrite)
      if ('end' in step) return step.end
      const { sections, trial, rewritten } = step
      type = (rewritten && 'type' in rewritten ? rewritten.type : undefined) ?? type
      if (rewritten?.kind !== 'inside') {
        const last = await this.#atLast(place, path, sections, trial)
        return 'end' in last ? last.end : this.#go(last.place, sections, trial, { type, isInside: round > 0, query })
      }
      path = pathOf(escapePath(rewritten.path))
      query = rewritten.query
      mayRewrite = !rewritten.isEnd
      const target = `${escapePath(rewritten.path)}${query === '' ? '' : `?${query}`}`
      // The front controller of WordPress answers, as it would without rules.
      if (path === FRONT && first.kind === 'missing' && place === first)
        return this.#go(first, sections, trial, { type, isInside: false, query })
      place = locate(target)
      if (place.kind === 'refused') return go(place)
    }
  }

  /** Checks access, and applies rewriting. */
  async #step(place: P, path: string, query: string, mayRewrite: boolean): Promise<Step<P>> {
    const { there, name } = this.#there(place, path)
    const trial = this.#trial(path, query)
    const sections = sectionsFor(trial.levels, name, trial)
    const shut = await this.#shut(sections, trial)
    if (shut) return { end: shut }
    const found = foundPath(place)
    if (found !== undefined && isOtherThan(place, path)) {
      const other = this.#trial(found, query)
      const shutThere = await this.#shut(
        sectionsFor(other.levels, found.slice(found.lastIndexOf('/') + 1), other),
        other,
      )
      if (shutThere) return { end: shutThere }
    }
    const rewritten = mayRewrite ? rewrite(trial, this.#options.tree, there) : undefined
    this.#env = trial.env
    const isExternal = rewritten?.kind === 'redirect' || rewritten?.kind === 'status'
    const external = isExternal ? rewritten : redirectFor(trial)
    if (external?.kind === 'redirect' || external?.kind === 'status')
      return { end: this.#external(external, sections, trial) }
    return { sections, trial, rewritten }
  }

  #trial(path: string, query: string): Trial {
    const { htaccess, site, asked, work, reading } = this.#options
    const { levels, isUnwatched } = htaccess.folders.levelsOf(site, partsOf(path), reading)
    this.#isUnwatched ||= isUnwatched
    return {
      asked,
      levels,
      work,
      depends: this.#depends,
      path,
      query,
      env: this.#env && new Map(this.#env),
      user: this.#user,
    }
  }

  /**
   * Splits a path as Apache does: into the part that exists with the first part that does not, and the name that
   * `<Files>` matches.
   */
  #there(place: P, path: string): { there: string; name: string | undefined } {
    const found = foundPath(place)
    if (found !== undefined && (found === path || path.startsWith(`${found}/`)))
      return { there: found, name: found.slice(found.lastIndexOf('/') + 1) }
    const parts = partsOf(path)
    for (let count = 1; count <= parts.length; count++) {
      const kind = this.#options.tree.kindOf(parts.slice(0, count))?.kind
      if (kind === 'directory') continue
      return { there: `/${parts.slice(0, count).join('/')}`, name: parts[count - 1] }
    }
    return { there: path, name: undefined }
  }

  /** @returns the answer for a visitor without access */
  async #shut(sections: readonly Section[], trial: Trial): Promise<Obeyed<P> | undefined> {
    let access = accessOf(sections, trial)
    const isBasic = lastOf(sections, (section) => section.authType) === 'basic'
    if (access === 'password' && isBasic) {
      this.#user ??= await this.#userBy(sections)
      trial.user = this.#user
      if (this.#user !== undefined) access = accessOf(sections, trial)
      if (access !== 'granted') {
        const realm = (lastOf(sections, (section) => section.authName) ?? '')
          .replace(/[^\x20-\x7e]/g, '')
          .replace(/["\\]/g, '\\$&')
        return this.#end(sections, trial, 401, ['WWW-Authenticate', `Basic realm="${realm}"`])
      }
    }
    this.#env = trial.env
    return access === 'granted' ? undefined : this.#end(sections, trial, 403)
  }

  async #userBy(sections: readonly Section[]): Promise<string | undefined> {
    const { htaccess, site, asked } = this.#options
    const encoded = /^Basic +([A-Za-z0-9+/=_-]+)\s*$/i.exec(asked.headers.authorization ?? '')?.[1]
    if (encoded === undefined || encoded.length > 2_000) return undefined
    const [, user, password] = /^([^:]*):([\s\S]*)$/.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
    if (user === undefined || password === undefined) return undefined
    const file = lastOf(sections, (section) => section.userFile)
    return (await htaccess.isUser(site, file, user, password)) ? user : undefined
  }

  /**
   * Handles a request that no rule redirects: the index of a folder, scripts that must not run, or WordPress' front
   * controller.
   */
  async #atLast(
    place: P,
    path: string,
    sections: readonly Section[],
    trial: Trial,
  ): Promise<{ end: Obeyed<P> } | { place: P }> {
    const { tree, locate } = this.#options
    let last = place
    const isFolder = tree.kindOf.bind(tree, partsOf(path))
    const index = lastOf(sections, (section) => section.index)
    if (index && isFolder()?.kind === 'directory') {
      for (const name of index) {
        const at = `${path.replace(/\/$/, '')}/${name}`
        if (name.includes('/') || tree.kindOf(partsOf(at))?.kind !== 'file') continue
        if (!path.endsWith('/'))
          return {
            end: this.#external(
              { kind: 'redirect', status: 301, location: `${originOf(trial.asked)}${escapePath(path)}/` },
              sections,
              trial,
            ),
          }
        last = locate(escapePath(at))
        break
      }
    }
    const found = foundPath(last) ?? (last.kind === 'script' ? FRONT : undefined)
    if (found !== undefined && found !== path) {
      const inner = this.#trial(found, trial.query)
      const shut = await this.#shut(sectionsFor(inner.levels, found.slice(found.lastIndexOf('/') + 1), inner), inner)
      if (shut) return { end: shut }
    }
    if (last.kind === 'script') {
      const isFront = last.script === FRONT && path !== FRONT
      if (!isFront && lastOf(sections, (section) => section.withoutPhp)) return { end: this.#end(sections, trial, 403) }
      const isListing = isFront && path !== '/' && lastOf(sections, (section) => section.listings) === false
      if (isListing && isFolder()?.kind === 'directory') return { end: this.#end(sections, trial, 403) }
    }
    return { place: last }
  }

  #external(external: External, sections: readonly Section[], trial: Trial): Obeyed<P> {
    return this.#end(
      sections,
      trial,
      external.status,
      external.kind === 'redirect' ? ['Location', external.location] : [],
    )
  }

  #end(sections: readonly Section[], trial: Trial | undefined, status: number, own: readonly string[] = []): Obeyed<P> {
    const edits = sections.flatMap(({ headers }) => headers).filter(({ always }) => always)
    const headers = trial ? editHeaders(own, edits, () => envOf(trial)) : [...own]
    const said = status >= 400 ? lastOf(sections, ({ errors }) => errors.get(status)) : undefined
    const document: ErrorDocument | undefined =
      said === undefined
        ? undefined
        : /^https?:\/\//i.test(said)
          ? { kind: 'address', address: escapeUri(said) }
          : said.startsWith('/')
            ? { kind: 'path', path: said }
            : { kind: 'text', text: said }
    return { kind: 'end', status, headers: this.#marked(headers), document }
  }

  #go(
    place: P,
    sections: readonly Section[],
    trial: Trial,
    more: { type: string | undefined; isInside: boolean; query: string },
  ): Obeyed<P> {
    const edits = sections.flatMap(({ headers }) => headers)
    const name = place.kind === 'file' ? place.path.slice(place.path.lastIndexOf('/') + 1) : ''
    const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
    const type =
      more.type ??
      lastOf(sections, ({ forcedType }) => forcedType) ??
      lastOf(sections, ({ types }) => types.get(extension))
    // Purges name pages by their addresses, and would miss files served for them.
    if (place.kind === 'file' && more.isInside) this.#depends.isPrivate = true
    const env = edits.some((edit) => edit.env) ? envOf(trial) : new Map<string, string>()
    const isChanged = more.query !== queryOf(this.#options.asked.target)
    return {
      kind: 'go',
      place,
      edits: {
        type,
        headers: (raw, status = 200, media) => {
          const isWhole = status < 300 || status === 304
          const lasting = isWhole ? withExpiry(raw, sections, { now: Date.now(), type: media }) : raw
          return this.#marked(editHeaders(lasting, edits, () => env))
        },
      },
      query: isChanged ? more.query : undefined,
    }
  }

  /** Tells the edge for whom the answer is. */
  #marked(headers: string[]): string[] {
    const { headers: by, isPrivate } = this.#depends
    if (by.size > 0) headers.push('Vary', [...by].join(', '))
    if (isPrivate || this.#isUnwatched) headers.push('X-Stead-Cache', 'private')
    return headers
  }
}

const escapePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join('/')
