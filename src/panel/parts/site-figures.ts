import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { changes } from '../live.ts'
import { person } from '../session.ts'

export type Figures = components['schemas']['SiteFigures']

/** The API's limit for one request. */
const MOST_SITES = 100
/** Visits and disk usage change without an event. */
const FRESH_MS = 60_000

/** One request: what had changed until then, and when. */
interface Asked {
  readonly change: number
  readonly at: number
}

const known = signal<ReadonlyMap<number, Figures>>(new Map())
const asked = new Map<number, Asked>()
let due = new Set<number>()

let account: number | undefined
effect(() => {
  if (person.value?.account_id === account) return
  account = person.value?.account_id
  known.value = new Map()
  asked.clear()
})

/**
 * Visits, disk usage, and pictures of sites, by ID, from one store: all parts of a page share a request. Returns what is
 * known, loads the rest, and loads all again when others change something.
 */
export function useFigures(ids: readonly number[]): ReadonlyMap<number, Figures> {
  useEffect(() => want(ids), [ids.join(), changes.value])
  return known.value
}

function want(ids: readonly number[]): void {
  const oldest = Date.now() - FRESH_MS
  const isFresh = (last: Asked | undefined) => last?.change === changes.peek() && last.at > oldest
  const old = ids.filter((id) => !due.has(id) && !isFresh(asked.get(id)))
  if (old.length === 0) return
  // Effects of one render run together.
  if (due.size === 0) queueMicrotask(readDue)
  for (const id of old) due.add(id)
}

function readDue(): void {
  const ids = [...due]
  due = new Set()
  for (let from = 0; from < ids.length; from += MOST_SITES) void read(ids.slice(from, from + MOST_SITES))
}

async function read(ids: readonly number[]): Promise<void> {
  const mine = { change: changes.peek(), at: Date.now() }
  for (const id of ids) asked.set(id, mine)
  // An overtaken answer is older than the current one.
  const isNewest = (id: number) => asked.get(id) === mine
  try {
    const { data } = await ask(() => api.POST('/v1/sites/statistics', { body: { site_ids: [...ids] } }))
    known.value = new Map([
      ...known.peek(),
      ...data.filter(({ id }) => isNewest(id)).map((one) => [one.id, one] as const),
    ])
  } catch {
    // The next part of a page that needs them tries again.
    for (const id of ids.filter(isNewest)) asked.delete(id)
  }
}
