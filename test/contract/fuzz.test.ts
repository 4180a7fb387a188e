/**
 * Random requests to every operation: the answer is always one that the document describes, never a failure of ours, and a refusal
 * leaves nothing behind.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import type { InjectOptions } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { dialects } from '../support/database.ts'
import type { Scene } from './examples.ts'
import { operations, type Walk, walk } from './walk.ts'

const RUNS = 25

/** Values that have broken programs before. */
const nasty = fc.constantFrom<unknown>(
  null,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '../../etc/passwd',
  "' or 1=1 --",
  '%',
  '%00',
  '$1',
  '{{7*7}}',
  '<script>',
  'x'.repeat(70_000),
  '\u202e\u{1f4a9}',
  0,
  -1,
  1.5,
  1e300,
  -0,
  2 ** 31,
  2 ** 53,
  '9'.repeat(16),
  '9'.repeat(40),
  true,
  [],
  {},
  [[]],
  [null],
  [-1],
  nested(40),
  { __proto__: null, constructor: { prototype: { isOwned: true } } },
  JSON.parse('{"__proto__":{"isOwned":true}}'),
)

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}

const value = fc.oneof({ weight: 3, arbitrary: nasty }, fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }))
const segment = fc.oneof(
  fc.constantFrom('1', '0', '-1', '%00', '%zz', 'a', '1e9', '9'.repeat(20)),
  // none, or dots, make another path
  fc.webSegment().filter((text) => !/^(\.|%2e)*$/i.test(text)),
)
const token = fc.stringMatching(/^[\x20-\x7e]{0,40}$/)

/** How a good request is spoilt. Without any of it, it stays good. */
const spoiling = fc.record(
  {
    fields: fc.dictionary(fc.string({ maxLength: 8 }), value, { maxKeys: 3 }),
    changes: fc.array(fc.tuple(fc.nat(20), value), { maxLength: 3 }),
    body: fc.oneof(
      value,
      fc.string().map((text) => ({ raw: text })),
    ),
    type: fc.oneof(
      fc.constantFrom(
        'application/json',
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        '',
      ),
      token,
    ),
    query: fc.webQueryParameters(),
    segments: fc.array(segment, { minLength: 1, maxLength: 3 }),
    headers: fc.dictionary(
      fc.constantFrom(
        'user-agent',
        'accept',
        'if-none-match',
        'x-request-id',
        'x-forwarded-for',
        'cookie',
        'origin',
        'range',
      ),
      token,
    ),
  },
  { requiredKeys: [] },
)
type Spoiling = typeof spoiling extends fc.Arbitrary<infer Value> ? Value : never

function spoilt(operation: Operation, request: InjectOptions, how: Spoiling): InjectOptions {
  const headers: Record<string, string> = { ...(request.headers as Record<string, string>), ...how.headers }
  let url = request.url as string
  if (how.segments) {
    let next = 0
    const path = operation.path.replace(
      /\{\w+\}/g,
      () => (how.segments?.[next++ % how.segments.length] ?? '1') as string,
    )
    url = path
  }
  if (how.query) url = `${url.split('?', 1)[0]}?${how.query}`
  const payload = spoiltBody(operation, request.payload as string | undefined, how)
  if (payload !== undefined) headers['content-type'] = how.type ?? 'application/json'
  return { ...request, url, headers, ...(payload !== undefined && { payload }) }
}

function spoiltBody(operation: Operation, given: string | undefined, how: Spoiling): string | undefined {
  if ('body' in how) {
    const raw = (how.body as { raw?: unknown } | null)?.raw
    return typeof raw === 'string' ? raw : JSON.stringify(how.body)
  }
  if (!how.fields && !how.changes) return given
  const body: Record<string, unknown> = { ...JSON.parse(given ?? '{}'), ...how.fields }
  const names = Object.keys({ ...operation.body?.properties, ...operation.query?.properties })
  if (names.length > 0)
    for (const [index, spoil] of how.changes ?? []) body[names[index % names.length] as string] = spoil
  return JSON.stringify(body)
}

/** Changes when anything is committed. */
async function mark(database: Database, tables: readonly string[]): Promise<string> {
  // on SQLite the database itself says so
  if (database.dialect === 'sqlite') return String(database.changes.version('tokens'))
  // every change of a row makes a new version of it
  const marks = tables.map(
    (name) =>
      sql`select ${name} as name, concat(count(*), ' ', max(xmin::text::bigint)) as mark from ${sql.table(name)}`,
  )
  const { rows } = await sql`${sql.join(marks, sql` union all `)}`.execute(database.read)
  return JSON.stringify(rows)
}

describe.each(dialects.filter(({ skip }) => !skip))('spoilt requests on $dialect', ({ dialect }) => {
  let tour: Walk
  let tables: string[]
  beforeAll(async () => {
    tour = await walk(dialect)
    tables = (await tour.api.database.read.introspection.getTables()).map(({ name }) => name)
  })
  afterAll(() => tour.close())

  it.each(operations.map((operation) => [operation.id, operation] as const))('%s', async (_id, operation) => {
    let scene: Scene = await tour.scene()
    let good = await tour.requestOf(operation, scene)
    const property = fc.asyncProperty(spoiling, async (how) => {
      const before = await mark(tour.api.database, tables)
      const response = await tour.send(operation, spoilt(operation, good, how))
      expect(response.statusCode, response.body).toBeLessThan(500)
      if (response.statusCode >= 400) expect(await mark(tour.api.database, tables)).toBe(before)
      else if (operation.method !== 'GET' && !operation.reads) {
        scene = await tour.scene()
        good = await tour.requestOf(operation, scene)
        await tour.settled()
      }
    })
    await fc.assert(property, { numRuns: RUNS })
  })
})
