import { LRUCache } from 'lru-cache'
import Type, { type TSchema } from 'typebox'
import { declareMemory } from '../process-memory.ts'

/**
 * Returns a schema for a value or null. One schema with two types serializes faster and is shorter to read than a
 * union.
 */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values } = schema as unknown as { type: string; enum?: unknown[] }
  return Type.Unsafe<Type.Static<Schema> | null>({
    ...schema,
    type: [type, 'null'],
    ...(values ? { enum: [...values, null] } : {}),
  })
}

/** Returns a schema for one of some strings, as an `enum`. */
export function oneOf<const Choice extends string>(choices: readonly Choice[], options: Record<string, unknown> = {}) {
  return Type.Unsafe<Choice>({ type: 'string', enum: [...choices], ...options })
}

/** A time in ISO 8601, UTC, with milliseconds. */
export const Timestamp = Type.String({
  description: 'ISO 8601 time in UTC with milliseconds',
  examples: ['2026-01-31T09:30:00.000Z'],
})

/** Converts milliseconds to the timestamp form of the API. */
export function timestamp(ms: number): string {
  const known = timestamps.get(ms)
  if (known !== undefined) return known
  const text = new Date(ms).toISOString()
  timestamps.set(ms, text)
  return text
}

/** Answers repeat the same times, and to format one takes as long as a tenth of a small select. */
const timestamps = new LRUCache<number, string>({ max: 10_000 })
declareMemory(() => timestamps.clear())

/** The `page` object of paginated responses. */
export const Page = Type.Object(
  {
    currentPage: Type.Integer(),
    nextPage: nullable(Type.Integer({ examples: [null] })),
    lastPage: Type.Integer(),
    perPage: Type.Integer({ examples: [20] }),
    totalItems: Type.Integer(),
  },
  { title: 'Page' },
)
export type Page = Type.Static<typeof Page>

export const pageQuery = {
  page: Type.Optional(Type.Integer({ description: 'Page number, starting at 1' })),
  per_page: Type.Optional(Type.Integer({ description: 'Entries per page. Default: 20, maximum: 50' })),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Use it instead of `page`: ID of the last entry that you have seen, 0 to begin. The header `Next-After` has the value for the next request; it is missing on the last one. Sites then come in order of ID. Entries that are added or deleted meanwhile cause no gaps',
    }),
  ),
}

/** The requested rows of a list. */
export interface PageAsked {
  readonly page: number
  readonly perPage: number
  readonly offset: number
  /** Requests the entries after this id, 0 for the first ones. Page and offset then have no effect. */
  readonly after?: number
}

/**
 * Returns the rows to fetch for the requested page, within the API's bounds (default 20, at most 50; below 1 the
 * default).
 */
export function pageOf(query: {
  page?: number | undefined
  per_page?: number | undefined
  after?: number | undefined
}): PageAsked {
  const asked = query.per_page ?? 20
  const perPage = asked < 1 ? 20 : Math.min(asked, 50)
  if (query.after !== undefined) return { page: 1, perPage, offset: 0, after: query.after }
  // Pages beyond the last one are empty. 2^31 pages keep the offset in the range of all databases.
  const page = Math.min(Math.max(query.page ?? 1, 1), 2 ** 31)
  return { page, perPage, offset: (page - 1) * perPage }
}

/**
 * Returns what an answer has in addition to the entries of a list. That is its `page`, or for a list read by ids, the
 * header with the id to continue after.
 * @param entries those of this answer, with their ids
 * @param count returns the number of all entries, called only if it is shown
 */
export async function besidesOf(
  asked: PageAsked,
  entries: readonly { readonly id: number }[],
  count: () => Promise<number> | number,
): Promise<{ page?: Page; headers?: Record<string, string> }> {
  if (asked.after === undefined) return { page: pageInfo(asked, await count()) }
  const last = entries.length === asked.perPage ? entries.at(-1) : undefined
  return last ? { headers: { [NEXT_AFTER]: String(last.id) } } : {}
}

/** The header with the id after which a list read by ids continues. */
export const NEXT_AFTER = 'next-after'
/** The header with the place at which an ordered list of sites continues. */
export const NEXT_PLACE = 'next-place'

/** Returns the `page` object for a page and the number of all items. */
export function pageInfo(asked: { page: number; perPage: number }, totalItems: number): Page {
  const lastPage = Math.max(1, Math.ceil(totalItems / asked.perPage))
  return {
    currentPage: asked.page,
    nextPage: asked.page < lastPage ? asked.page + 1 : null,
    lastPage,
    perPage: asked.perPage,
    totalItems,
  }
}

const errors = Type.Unsafe<null>({ type: 'null' })

/** Returns the envelope around the data of a successful response. */
export function envelope(data: TSchema, paged: boolean) {
  return Type.Object({
    message: Type.String({ examples: ['Success'] }),
    data,
    errors,
    ...(paged ? { page: Type.Optional(Page) } : {}),
  })
}

/** The envelope of every error. Its `code` is specific to Stead. */
export const ProblemEnvelope = Type.Object(
  {
    message: Type.String({ examples: ['There was a problem processing your request.'] }),
    data: Type.Unsafe<null>({ type: 'null' }),
    errors: Type.Array(Type.String(), { minItems: 1, examples: [['name: must be at least 4 characters']] }),
    code: Type.String({
      description: 'Error code for programs. docs/errors.md lists all codes',
      examples: ['invalid_input'],
    }),
  },
  { $id: 'Problem', description: 'What went wrong. `errors` has one entry for each error' },
)

export const Nothing = Type.Unsafe<null>({ type: 'null' })
