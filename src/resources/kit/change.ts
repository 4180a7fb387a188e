import type { Static, TSchema } from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { cancelYielding } from '../../platform/operations/control.ts'
import type { Definition, FailureContext } from '../../platform/operations/definition.ts'
import { type EnqueueOptions, enqueue } from '../../platform/operations/enqueue.ts'
import { type Actor, recordActivity } from '../activity/record.ts'
import type { EventType } from '../webhooks/event.ts'
import { recordEvent } from '../webhooks/record-event.ts'
import type { Action } from './action.ts'

/** The object of a change: an account, or a site and the account that owns it. */
export interface Subject {
  readonly accountId: number
  readonly siteId?: number | null
  /** The host of the site, required for operations on a host. */
  readonly hostId?: number | null
}

/** Returns the subject of a change to a site. */
export const aboutSite = (site: { id: number; accountId: number; hostId?: number | null }): Subject => ({
  accountId: site.accountId,
  siteId: site.id,
  hostId: site.hostId ?? null,
})

/** Webhook event of a change. */
export interface ChangeEvent {
  readonly type: EventType
  readonly data: object
}

export interface ChangeRecord {
  readonly action: Action
  /** Description for users. Contains nothing secret, and no parts of a request except names. */
  readonly message: string
  /** Webhook event, if the change has one. */
  readonly event?: ChangeEvent | readonly ChangeEvent[]
  /** Default: the site of the path, else the account of the caller. */
  readonly about?: Subject
}

/** Records a change in its own transaction. */
export interface Recording {
  /** Adds an entry to the activity log, with its event. */
  record(record: ChangeRecord): Promise<void>
  /**
   * Sends an event when an operation has ended whose request is already in the log.
   * @param about as in {@link ChangeRecord}
   */
  tell(event: ChangeEvent, about?: Subject): Promise<void>
}

/** Starts the operations that a change needs. */
export interface Starting {
  /**
   * Starts an operation, which runs after the transaction has committed. The first one that a request starts is its
   * `Operation-Id`.
   * @returns the operation's id
   * @throws TypeError when the input is invalid, or when it needs a host and the subject has none
   */
  start<Schema extends TSchema>(
    definition: Definition<Schema, never>,
    input: NoInfer<Static<Schema>>,
    options?: Pick<EnqueueOptions, 'source' | 'afterMs' | 'after'> & { readonly about?: Subject },
  ): Promise<number>
}

/** One change: what it records and what it starts. */
export interface Change extends Recording, Starting {}

/**
 * Creates the change of an actor.
 * @param by.started receives the ids of started operations
 */
export function changeBy(
  tx: Tx,
  by: {
    readonly actor: Actor
    /** Default subject of entries and operations. */
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
      const id = await enqueue(tx, definition, input, { ...about, ...options, askedById, now })
      // Stead's own operations can wait.
      if (actor !== 'systems' && about.siteId != null) await cancelYielding(tx, { siteId: about.siteId, to: id, now })
      started?.push(id)
      return id
    },
  }
}

/** Returns the change of a background operation, about its account and, if any, its site. */
export const changeOfJob = (
  tx: Tx,
  { accountId, siteId, now }: Pick<FailureContext<unknown>, 'accountId' | 'siteId' | 'now'>,
): Change => changeBy(tx, { actor: 'systems', about: { accountId: accountId as number, siteId }, now: now() })
