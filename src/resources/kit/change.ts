import type { Static, TSchema } from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { cancelYielding } from '../../platform/operations/control.ts'
import type { Definition, FailureContext } from '../../platform/operations/definition.ts'
import { type EnqueueOptions, enqueue } from '../../platform/operations/enqueue.ts'
import { type Actor, recordActivity } from '../activity/record.ts'
import type { EventType } from '../webhooks/event.ts'
import { recordEvent } from '../webhooks/record-event.ts'
import type { Action } from './action.ts'

/** What a change is about: an account, or a site and the account that owns it. */
export interface Subject {
  readonly accountId: number
  readonly siteId?: number | null
  /** Where the site is; needed for work that a host does. */
  readonly hostId?: number | null
}

/** The subject of a change to a site. */
export const aboutSite = (site: { id: number; accountId: number; hostId?: number | null }): Subject => ({
  accountId: site.accountId,
  siteId: site.id,
  hostId: site.hostId ?? null,
})

/** What webhooks tell of a change. */
export interface ChangeEvent {
  readonly type: EventType
  readonly data: object
}

export interface ChangeRecord {
  readonly action: Action
  /** What was done, for people; nothing secret, and no part of a request but names. */
  readonly message: string
  /** What webhooks tell of it, where the change is one of those that they tell of. */
  readonly event?: ChangeEvent | readonly ChangeEvent[]
  /** Unless given: the site of the path, else the account of the caller. */
  readonly about?: Subject
}

/** Who makes a change leaves a record of it, in the transaction of the change. */
export interface Recording {
  /** Writes an entry into the activity log, and the event with it. */
  record(record: ChangeRecord): Promise<void>
  /** What webhooks are told when work has ended whose order is in the log already. @param about as in {@link ChangeRecord} */
  tell(event: ChangeEvent, about?: Subject): Promise<void>
}

/** Who makes a change asks for the background work that it needs. */
export interface Starting {
  /**
   * Asks for work; it begins when the transaction has committed. The first that a request starts is its `Operation-Id`.
   * @returns the operation's id
   * @throws TypeError when the input does not fit, or when a host is to do it and the subject has none
   */
  start<Schema extends TSchema>(
    definition: Definition<Schema, never>,
    input: NoInfer<Static<Schema>>,
    options?: Pick<EnqueueOptions, 'source' | 'afterMs' | 'after'> & { readonly about?: Subject },
  ): Promise<number>
}

/** One change: what it records and what it starts. */
export interface Change extends Recording, Starting {}

/** @param by.started gets the ids of what is started */
export function changeBy(
  tx: Tx,
  by: {
    readonly actor: Actor
    /** Of records and work that name no other. */
    readonly about: Subject
    /** Milliseconds UTC. */
    readonly now: number
    readonly started?: number[]
  },
): Change {
  const { actor, now, started } = by
  const tell = async ({ type, data }: ChangeEvent, { accountId, siteId } = by.about) => {
    if (siteId == null && !type.isOfAccount) throw new TypeError(`the event ${type.name} is about no site`)
    await recordEvent(tx, { type, data, accountId, siteId: type.isOfAccount ? null : (siteId ?? null), now })
  }
  return {
    tell,
    async record({ action, message, event, about = by.about }) {
      const { accountId, siteId } = about
      await recordActivity(tx, actor, { action, message, accountId, siteId, now })
      for (const each of [event ?? []].flat()) await tell(each, about)
    },
    async start(definition, input, { about = by.about, ...options } = {}) {
      const askedById = actor === 'systems' ? null : actor.caller?.accountId
      // Stead's own work has time
      if (actor !== 'systems' && about.siteId != null) await cancelYielding(tx, about.siteId, now)
      const id = await enqueue(tx, definition, input, { ...about, ...options, askedById, now })
      started?.push(id)
      return id
    },
  }
}

/** What a background operation changes by itself is about its account and, where it has one, its site. */
export const changeOfJob = (
  tx: Tx,
  { accountId, siteId, now }: Pick<FailureContext<unknown>, 'accountId' | 'siteId' | 'now'>,
): Change => changeBy(tx, { actor: 'systems', about: { accountId: accountId as number, siteId }, now: now() })
