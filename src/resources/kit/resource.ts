import type { TSchema } from 'typebox'
import type { ProblemKind } from '../../platform/http/problem.ts'
import type { Definition } from '../../platform/operations/definition.ts'
import type { Schedule } from '../../platform/operations/schedules.ts'
import type { Undoable } from '../operations/operation-actions.ts'
import type { EventType } from '../webhooks/event.ts'
import type { Action } from './action.ts'
import type { ControlServices } from './control-services.ts'
import type { UntaggedEndpoint } from './endpoint.ts'
import type { HostServices } from './host-services.ts'
import type { SiteHooks } from './site-hooks.ts'

/** All that a resource adds to Stead. What is composed of it is derived: see `src/app.ts`, `src/jobs.ts`, `src/schedules.ts`. */
export interface Resource {
  /** Its group in the description of the API. */
  readonly tag?: { readonly name: string; readonly description: string }
  /** Loaded where the API is served, and nowhere else: hosts know the rest of a resource without it. */
  readonly endpoints?: () => Promise<{ readonly endpoints: readonly UntaggedEndpoint[] }>
  /** Background work: what hosts do for their sites, and what the control does without their files. */
  readonly jobs?: {
    readonly host?: readonly Definition<TSchema, HostServices>[]
    readonly control?: readonly Definition<TSchema, ControlServices>[]
  }
  readonly schedules?: readonly Schedule[]
  /** What it does when a site comes, goes live, or goes for good. */
  readonly siteHooks?: SiteHooks
  /** Which operations it can take back, for who looks at them. */
  readonly undoable?: Undoable
  /** What can go wrong for a client by its rules. */
  readonly problems?: Readonly<Record<string, ProblemKind>>
  /** What the activity log says of its changes, and what webhooks tell of them. */
  readonly actions?: Readonly<Record<string, Action>>
  readonly events?: Readonly<Record<string, EventType>>
}

/** Declares a resource: the face of its folder, and all that others need to know to compose it. */
export const resource = (declared: Resource): Resource => declared
