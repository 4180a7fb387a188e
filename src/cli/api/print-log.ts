import { setTimeout as pause } from 'node:timers/promises'
import type { components, Stead } from '../../sdk/index.ts'
import type { CommandContext } from './command-context.ts'
import { harmless, jsonOf } from './show.ts'

type ServerEntry = components['schemas']['ServerLog']['logs'][number]
type PhpEntry = components['schemas']['PhpLog']['logs'][number]
type Entry = ServerEntry | PhpEntry

const LOOK_EVERY_MS = 2000
/** Limits how many entries between two looks are fetched, to what is useful to a person who watches. */
const MOST_PAGES = 5

export interface LogOptions {
  readonly siteId: number
  readonly isPhp: boolean
  readonly isFollowed: boolean
  readonly asJson: boolean
  /** Ends `--follow`. */
  readonly signal?: AbortSignal
}

/** Runs `stead sites logs`: prints the newest page, oldest line first, and with `--follow` the new entries. */
export async function printLog(
  stead: Stead,
  options: LogOptions,
  { out }: Pick<CommandContext, 'out'>,
): Promise<number> {
  const { isFollowed, asJson, signal } = options
  const tell = (entries: readonly Entry[]) => {
    for (const entry of entries.toReversed()) out.write(`${asJson ? oneLine(entry) : harmless(lineOf(entry))}\n`)
  }
  let last = (await page(stead, options)).logs
  tell(last)
  while (isFollowed && !signal?.aborted) {
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal?.aborted) break
    const { fresh, newest } = await since(stead, options, last)
    tell(fresh)
    last = newest
  }
  return 0
}

async function page(stead: Stead, { siteId, isPhp }: LogOptions, scroll_id?: string) {
  const path = isPhp ? '/v1/sites/{id}/logs/php' : '/v1/sites/{id}/logs/server'
  const { data } = await stead.get(path, { params: { path: { id: siteId }, query: scroll_id ? { scroll_id } : {} } })
  return data as { readonly logs: readonly Entry[]; readonly scroll_id: string }
}

/**
 * Returns entries since the last look. Entries have no number, so it searches for the place where the last page
 * continues in the new ones.
 */
async function since(stead: Stead, options: LogOptions, last: readonly Entry[]) {
  let entries: readonly Entry[] = []
  let scroll: string | undefined
  for (let n = 0; n < MOST_PAGES; n++) {
    const next = await page(stead, options, scroll)
    entries = [...entries, ...next.logs]
    const fresh = newOnes(entries, last)
    if (fresh.length < entries.length || next.logs.length === 0) return { fresh, newest: entries.slice(0, 200) }
    scroll = next.scroll_id
  }
  return { fresh: entries, newest: entries.slice(0, 200) }
}

/** Returns the entries that are not in `last`. Both lists are newest first. */
export function newOnes<Each>(entries: readonly Each[], last: readonly Each[]): readonly Each[] {
  const known = last.map((each) => JSON.stringify(each))
  const texts = entries.map((each) => JSON.stringify(each))
  const at = texts.findIndex((_, n) => texts.slice(n, n + known.length).every((text, m) => text === known[m]))
  return known.length === 0 || at === -1 ? entries : entries.slice(0, at)
}

const oneLine = (entry: Entry): string => JSON.stringify(JSON.parse(jsonOf(entry))).replace(/[\u007f-\u009f]/g, '')

function lineOf(entry: Entry): string {
  if ('severity' in entry)
    return `${entry.timestamp} ${entry.severity}: ${entry.message.replace(/\s+/g, ' ')}${entry.file ? ` (${entry.file}:${entry.line})` : ''}`
  const { date, user_ip, request_type, request_url, status, body_bytes_sent, request_time, cached } = entry
  return [date, user_ip, request_type, request_url, status, body_bytes_sent, `${request_time}s`, cached]
    .join(' ')
    .trim()
}
