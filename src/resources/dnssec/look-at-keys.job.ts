import Type from 'typebox'
import { askDs } from '../../dns/ask-ds.ts'
import { dsOf } from '../../dns/signing/signing-key.ts'
import { renewSerial, touchZone } from '../../dns/zones/zone-changes.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { dropIfEmpty, holdZone, type Zone } from '../dns/public.ts'
import { changeBy } from '../kit/change.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { actions } from './actions.ts'
import {
  applySettlement,
  type Key,
  rememberDs,
  rememberFault,
  type Signing,
  setDnssec,
  setDue,
  signingOf,
  takeDueZones,
  zonesWithSerialBefore,
} from './key.store.ts'
import { nextLook, nextState, type Settlement } from './next-state.ts'

type Services = Pick<ControlServices, 'config' | 'database'>

/** Queries the DS records in the parent zone, and advances the keys accordingly. */
export const lookAtKeys = durableWith<Services>()({
  name: 'dnssec.look',
  input: Type.Object({ zoneId: Type.Integer() }),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { look: { run: look } },
})

type Context = StepContext<{ readonly zoneId: number }, Services>

async function look({ services, input: { zoneId }, transaction, now }: Context): Promise<void> {
  const zone = await services.database.read
    .selectFrom('zones')
    .select('name')
    .where('id', '=', zoneId)
    .where('dnssec', '<>', 'off')
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!zone) return
  const seen = await askDs(zone.name, services.config.resolvers).catch((error) => (error as Error).message)
  await transaction(async (tx) => {
    const held = await holdZone(tx, zoneId)
    const before = held && (await signingOf(tx, zoneId))
    if (!before || before.dnssec === 'off') return
    if (typeof seen === 'string') {
      // Without an answer, nothing changes.
      await rememberFault(tx, zoneId, seen)
      return
    }
    const named = before.keys.filter((key) => seen.some((ds) => isOf(ds, zone.name, key)))
    await rememberDs(tx, zoneId, {
      named: new Set(named.map(({ id }) => id)),
      isNamed: named.length > 0,
      now: now(),
    })
    const known = await signingOf(tx, zoneId)
    await follow(tx, held, known, now())
  })
}

/** Compares only tag and algorithm if the digest type differs from ours. */
function isOf(ds: Buffer, zone: string, key: Key): boolean {
  const own = dsOf(zone, key)
  return ds[3] === own[3] ? ds.equals(own) : ds.subarray(0, 3).equals(own.subarray(0, 3))
}

async function follow(tx: Tx, zone: Zone, signing: Signing, now: number): Promise<void> {
  const { dnssec } = signing
  if (dnssec === 'off') return
  const next = nextState({ ...signing, dnssec }, now)
  const { record } = changeBy(tx, { actor: 'systems', about: { accountId: zone.accountId }, now })
  if (next.isOver) {
    await setDnssec(tx, zone.id, 'off', null)
    await touchZone(tx, zone.id, now)
    await dropIfEmpty(tx, zone.id, now)
    await record({ action: actions.dnssec, message: `${zone.name} is no longer signed` })
    return
  }
  await applySettlement(tx, next, now)
  const message = describeStates(next, signing)
  if (message) {
    await touchZone(tx, zone.id, now)
    await record({ action: actions.dnssec, message: `${zone.name}: ${message}` })
  }
  await setDue(tx, zone.id, nextLook({ dnssec, keys: (await signingOf(tx, zone.id)).keys }, now))
}

function describeStates({ states, deleted }: Settlement, { keys }: Signing): string | undefined {
  const tag = (id: number) => keys.find((key) => key.id === id)?.tag
  for (const [id, state] of states) if (state === 'active') return `key ${tag(id)} now signs`
  return deleted.length > 0 ? `key ${deleted.map(tag).join(' and ')} was removed` : undefined
}

/** Zones that are checked in one round. */
const MOST = 200
/** The delay until the next check, if a check sets none. */
const LEASE_MS = 3600_000
/** Secondaries have signatures that expire three weeks after their creation. */
const SIGNED_AGAIN_SECONDS = 4 * 86_400

/** Starts checks of due zones, and gives secondaries new signatures. */
export const planKeys = durableWith<Services>()({
  name: 'dnssec.plan',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { plan: { commit: plan } },
})

async function plan(tx: Tx, { now }: StepContext<unknown, Services>): Promise<void> {
  const time = now()
  for (const { id, accountId } of await takeDueZones(tx, time, time + LEASE_MS, MOST))
    await enqueue(tx, lookAtKeys, { zoneId: id }, { accountId, source: ROUTINE, now: time })
  for (const id of await zonesWithSerialBefore(tx, Math.floor(time / 1000) - SIGNED_AGAIN_SECONDS, MOST))
    await renewSerial(tx, id, time)
}

export const planKeysOften = schedule({
  name: 'dnssec.plan',
  everyMs: 300_000,
  definition: planKeys,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})
