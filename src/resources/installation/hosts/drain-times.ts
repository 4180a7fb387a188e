import Type from 'typebox'
import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { problems } from '../problems.ts'
import type { Turn } from './move-each.ts'

/** Fields of a request that moves the sites of a host. */
export const moveOptions = {
  at_once: Type.Optional(
    Type.Integer({ description: 'Sites that move at the same time. Default: 2', minimum: 1, maximum: 2 }),
  ),
  window: Type.Optional(
    Type.String({
      description:
        'Times of a day in UTC between which moves begin. The second may be on the next day. Default: the whole day',
      maxLength: 11,
      examples: ['01:00-05:00'],
    }),
  ),
  deadline: Type.Optional(
    Type.String({
      description: 'Time in ISO 8601, UTC, after which no move begins. Sites that are left then stay',
      maxLength: 30,
      examples: ['2100-01-01T05:00:00Z'],
    }),
  ),
}

/** When the moves of a drain may begin. */
export interface DrainTimes {
  /** Times of a day in UTC, such as `01:00-05:00`. The second one may be on the next day. */
  readonly window?: string | undefined
  /** Time in ISO 8601 after which no move begins. */
  readonly deadline?: string | undefined
}

/** Returns a window in minutes of a day, or `undefined` if the text is none. */
export function readWindow(text: string): { readonly from: number; readonly to: number } | undefined {
  const [, ...parts] = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  const [fromHour, fromMinute, toHour, toMinute] = parts.map(Number) as [number, number, number, number]
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute]
  return parts.length === 4 && from !== to ? { from, to } : undefined
}

/** Returns a time in milliseconds UTC, or `undefined` if the text is not ISO 8601 in UTC. */
export function readDeadline(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Decides whether a move may begin at a time, milliseconds UTC. */
export function turnOfDrain({ window, deadline }: DrainTimes, now: number): Turn {
  if (deadline !== undefined && now >= (readDeadline(deadline) ?? Number.POSITIVE_INFINITY)) return 'never'
  const open = window === undefined ? undefined : readWindow(window)
  if (!open) return 'now'
  const minute = Math.floor((now % DAY_MS) / MINUTE_MS)
  const isOpen = open.from < open.to ? minute >= open.from && minute < open.to : minute >= open.from || minute < open.to
  return isOpen ? 'now' : 'later'
}

/** @throws Problem `drain_window`, `drain_deadline` */
export function checkTimes({ window, deadline }: DrainTimes, now: number): void {
  if (window !== undefined && !readWindow(window)) throw new Problem(problems.drain_window, {})
  if (deadline !== undefined && (readDeadline(deadline) ?? 0) <= now) throw new Problem(problems.drain_deadline, {})
}
