import { closest } from '../../platform/closest.ts'
import type { Stead } from '../../sdk/index.ts'
import { CommandError } from '../output.ts'
import { type ApiCommand, catalogue, type Field, isSiteId } from './catalogue.ts'

type Item = Readonly<Record<string, unknown>>

/** The fields that people use as names. */
const names = ['name', 'domainName', 'email', 'username', 'slug', 'subject'] as const

/**
 * Returns the values of a path's words. Users can write a name instead of a number. This function finds the number in
 * the list of such things.
 * @throws CommandError when a name matches none, or several
 */
export async function resolvePath(
  stead: Stead,
  { path, words }: Pick<ApiCommand, 'path' | 'words'>,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const values: Record<string, string> = { ...given }
  for (const field of words.filter((field) => field.in === 'path')) {
    const text = given[field.name] as string
    if (![field.schema.type].flat().includes('integer') || /^\d+$/.test(text)) continue
    // An environment is a site, too.
    const list = field.name === 'environment_id' ? '/v1/sites' : (path.split(`/{${field.name}}`)[0] as string)
    values[field.name] = await idOf(stead, list, values, field, text)
  }
  return values
}

/** Returns the id of a site by its name. */
export const siteIdOf = async (stead: Stead, text: string): Promise<number> => {
  const path = {
    path: '/v1/sites/{id}',
    words: [{ name: 'id', flag: 'SITE', in: 'path', schema: { type: 'integer' }, isNeeded: true }],
  } as const
  return Number((await resolvePath(stead, path, { id: text })).id)
}

type Values = Readonly<Record<string, unknown>>

/** Returns query and body, with the names of sites replaced by their numbers. */
export async function withSiteIds(
  stead: Stead,
  { flags }: Pick<ApiCommand, 'flags'>,
  { query, body }: { readonly query: Values; readonly body: Values | undefined },
): Promise<{ query: Values; body: Values | undefined }> {
  const names = new Set(flags.filter(isSiteId).map(({ name }) => name))
  const resolved = async (value: unknown): Promise<unknown> =>
    Array.isArray(value) ? Promise.all(value.map(resolved)) : typeof value === 'string' ? siteIdOf(stead, value) : value
  const all = async (values: Values): Promise<Values> =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(values).map(async ([name, value]) => [name, names.has(name) ? await resolved(value) : value]),
      ),
    )
  return { query: await all(query), body: body && (await all(body)) }
}

async function idOf(
  stead: Stead,
  collection: string,
  values: Readonly<Record<string, string>>,
  { flag }: Field,
  text: string,
): Promise<string> {
  const filled = collection.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] as string))
  // The site is {id} in the path of a list, and {site_id} in that of one of its things.
  const shape = (path: string) => path.replace(/\{\w+\}/g, '{}')
  const isListed = catalogue().commands.some(
    (each) => each.method === 'get' && shape(each.path) === shape(collection) && each.answers === 'json',
  )
  if (!isListed) throw new CommandError(`${flag} must be a number, not ${JSON.stringify(text)}`)
  const items: Item[] =
    collection === '/v1/sites'
      ? await Array.fromAsync(stead.search('/v1/sites/search', { body: { filters: [{ key: 'name', value: text }] } }))
      : await Array.fromAsync(stead.list(filled as '/v1/sites') as AsyncIterable<Item>)
  const wanted = text.toLowerCase()
  const found = items.filter((item) => names.some((name) => String(item[name] ?? '').toLowerCase() === wanted))
  const ids = [...new Set(found.map(({ id }) => String(id)))]
  if (ids.length === 1) return ids[0] as string
  const what = flag.toLowerCase()
  if (ids.length > 1)
    throw new CommandError(`More than one ${what} is named ${text}. Use its number, one of ${ids.join(', ')}`)
  const known =
    collection === '/v1/sites'
      ? (await Array.fromAsync(stead.list('/v1/sites'))).map(({ name }) => name)
      : items.flatMap((item) => nameOf(item) ?? [])
  const near = closest(text, known)
  throw new CommandError(`Unknown ${what} ${text}.${near ? `\nDid you mean ${near}?` : ''}`)
}

const nameOf = (item: Item): string | undefined =>
  names.map((name) => item[name]).find((value): value is string => typeof value === 'string')
