import { invalidInput } from '../../../platform/http/problem.ts'
import { someOf } from '../../../platform/some-of.ts'
import { describePolicy, type SitePolicy, type UpdatePolicy, type Weekday } from './policy.ts'
import { timeZoneOf } from './slots.ts'

interface PolicyChange<Mode extends string> {
  readonly mode?: Mode
  readonly weekday?: Weekday
  readonly hour?: number
  readonly time_zone?: string
  readonly exclude?: readonly string[]
}

/**
 * Returns a policy with the fields of a request.
 * @throws Problem `invalid_input` when the request changes nothing, or names an unknown time zone
 */
export function changedPolicy<Mode extends string>(
  before: UpdatePolicy<Mode>,
  change: PolicyChange<Mode>,
): UpdatePolicy<Mode> {
  const { mode, weekday, hour, time_zone: zone, exclude } = change
  if ([mode, weekday, hour, zone, exclude].every((each) => each === undefined))
    throw invalidInput(['Send at least one of mode, weekday, hour, time_zone, exclude'])
  const timeZone = zone === undefined ? before.timeZone : timeZoneOf(zone)
  if (timeZone === undefined) throw invalidInput(['time_zone: must be the name of a time zone, such as Europe/Berlin'])
  return {
    ...{ mode: mode ?? before.mode, weekday: weekday ?? before.weekday, hour: hour ?? before.hour, timeZone },
    exclude: exclude === undefined ? before.exclude : [...new Set(exclude)],
  }
}

/** Entries of the activity log name as many plugins and themes. */
const MOST_NAMED = 10

/** Describes a change for the activity log. `undefined`: nothing changes. */
export function changesOf(before: SitePolicy, after: SitePolicy): string | undefined {
  const [from, to] = [describePolicy(before), describePolicy(after)]
  const changes = from === to ? [] : [`Changed the update policy from ${from} to ${to}`]
  if (before.exclude.join() !== after.exclude.join())
    changes.push(`Changed what the update policy leaves out to ${someOf(after.exclude, MOST_NAMED) || 'nothing'}`)
  const isOtherTime = JSON.stringify(before) !== JSON.stringify(after)
  return changes.length > 0 ? changes.join('. ') : isOtherTime ? 'Changed the times of the update policy' : undefined
}
