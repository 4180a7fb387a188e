import type { Datacenter } from '../../../config.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { problems as accountProblems, type Plan, type PlanUsage } from '../../account/public.ts'
import { problems } from '../problems.ts'

/* Decides whether an account may have one more site, and where it goes. */

/** @throws Problem `site_limit_reached` when there are more sites of this kind than the plan allows */
export function checkCapacity(plan: Plan, usage: PlanUsage, isStaging: boolean): void {
  const [used, limit] = isStaging ? [usage.staging, plan.maxStaging] : [usage.billable, plan.maxBillable]
  if (used > limit)
    throw new Problem(problems.site_limit_reached, { plan: plan.name, limit, kind: isStaging ? 'staging' : 'live' })
}

/** Host with the datacenters that it serves (`[]` means all) and its free places. */
export interface HostRoom {
  readonly id: number
  readonly datacenters: readonly string[]
  /** At least this many. Exact when the host is full, or one of several. */
  readonly freeSites: number
}

/**
 * Decides where a site goes: the requested datacenter, else the account's default, else the one with most free places,
 * else the first.
 * @throws Problem `unknown_datacenter`, `no_host`
 */
export function choosePlace(
  asked: string | undefined,
  accountDefault: string | null,
  datacenters: readonly Datacenter[],
  hosts: readonly HostRoom[],
): { datacenterCode: string; hostId: number } {
  const codes = datacenters.map(({ code }) => code)
  if (asked !== undefined && !codes.includes(asked))
    throw new Problem(accountProblems.unknown_datacenter, { codes: codes.join(', ') })
  const preferred = asked ?? (accountDefault && codes.includes(accountDefault) ? accountDefault : undefined)
  const places = (preferred ? [preferred] : codes).flatMap((datacenterCode) =>
    hosts
      .filter((host) => host.datacenters.length === 0 || host.datacenters.includes(datacenterCode))
      .map((host) => ({ datacenterCode, hostId: host.id, free: host.freeSites })),
  )
  const best = places.reduce((left, right) => (right.free > left.free ? right : left), places[0] as (typeof places)[0])
  if (!best || best.free <= 0) throw new Problem(problems.no_host, { datacenter: preferred ?? codes.join(', ') })
  return best
}
