import type { TSchema } from 'typebox'
import type { ProblemKind } from '../../platform/http/problem.ts'
import type { Definition } from '../../platform/operations/definition.ts'
import type { Schedule } from '../../platform/operations/schedule.ts'
import type { EventType } from '../webhooks/event.ts'
import type { AccountHooks } from './account-hooks.ts'
import type { Action } from './action.ts'
import type { ControlServices } from './control-services.ts'
import type { UntaggedEndpoint } from './endpoint.ts'
import type { HostServices } from './host-services.ts'
import type { SiteHooks } from './site-hooks.ts'
import type { Undoable } from './undoable.ts'

/** Everything that a resource adds to Stead. `src/app.ts`, `src/jobs.ts` and `src/schedules.ts` combine these. */
export interface Resource {
  /** Its group in the API description. */
  readonly tag?: { readonly name: string; readonly description: string }
  /** Loaded only where the API is served. Hosts use the rest of a resource without it. */
  readonly endpoints?: () => Promise<{ readonly endpoints: readonly UntaggedEndpoint[] }>
  /** Operations: those of hosts on their sites, and those of the control process without site files. */
  readonly jobs?: {
    readonly host?: readonly Definition<TSchema, HostServices>[]
    readonly control?: readonly Definition<TSchema, ControlServices>[]
  }
  readonly schedules?: readonly Schedule[]
  /** Called when a site is created, goes live, or is purged. */
  readonly siteHooks?: SiteHooks<HostServices>
  /** Called when an account is removed. */
  readonly accountHooks?: AccountHooks
  /** Tells which of its operations can be undone. */
  readonly undoable?: Undoable
  /** Errors that clients get from its rules. */
  readonly problems?: Readonly<Record<string, ProblemKind>>
  /** Its activity log entries and webhook events. */
  readonly actions?: Readonly<Record<string, Action>>
  readonly events?: Readonly<Record<string, EventType>>
}

/** Declares a resource, the interface of its folder to the rest of Stead. */
export const resource = (declared: Resource): Resource => declared
