/** Requests for tests that walk through all endpoints: the `samples` and `examples` of a `Contract`. */
import type { Role } from '../../src/resources/access/roles.ts'
import type { Person, TestApi } from './api.ts'

let count = 0
/** Returns a number that no other call returns. */
export const unique = (): number => ++count

/** An owner with a site, and everything on it that an endpoint can name. */
export interface World {
  readonly owner: Person
  /** The owner through an application without the scope `owner`. */
  readonly plainOwner: Person
  readonly stranger: Person
  readonly strangersSite: number
  /** Collaborator on `site`, with the roles of the case. */
  readonly helper: Person
  readonly plainHelper: Person
  readonly mate: Person
  readonly site: number
  /** The owner's other site, which neither helper nor mate can see. */
  readonly hidden: number
  readonly mateId: number
  readonly note: number
  /** The owner's. */
  readonly muPlugin: number
  /** A zone of the owner, and its only record, which points to `site`. */
  readonly zone: number
  readonly record: number
  /** The owner's. */
  readonly passkey: number
  /** On demand, completed. */
  readonly backup: number
  /** Operations of the site that succeeded: a preview of a restore, and a restore. */
  readonly preview: number
  readonly restored: number
  /** Operations of the site: one that waits, one that failed. */
  readonly waiting: number
  readonly failed: number
}

export interface Sample {
  readonly endpoint: string
  path(world: World): string
  /** @param who the sender, where it is known */
  body?(world: World, who?: { readonly accountId?: number }): object
  /** The status when it is permitted. Default: 200. */
  readonly status?: number
  /**
   * Roles that a collaborator needs on a site; `[]`: access to the site is enough. Without it, the endpoint is about
   * the caller's own things.
   */
  readonly roles?: readonly Role[]
  readonly scope?: true
  /** Only for people in a browser. */
  readonly bySession?: true
  /** About something that only its owner and its subject see: others get 404, including collaborators of the site. */
  readonly isPrivate?: true
  /** Only for the operator of the installation. */
  readonly isOfOperator?: true
  prepare?(world: World, api: TestApi): Promise<unknown>
}

export const at = (path: string) => () => path
export const onSite = (rest: string) => (world: World) => `/v1/sites/${world.site}${rest}`
export const ofMate = (rest: string) => (world: World) => `/v1/collaborators/${world.mateId}${rest}`
export const byEmail = (rest: string) => (world: World) =>
  `/v1/collaborators/${encodeURIComponent(world.mate.email)}/sites${rest.replace('{site}', String(world.site))}`
export const setState = (state: 'disabled') => (world: World, api: TestApi) =>
  api.database.transaction((tx) => tx.updateTable('sites').set({ state }).where('id', '=', world.site).execute())

/** Where an example is used. */
export interface Scene {
  readonly api: TestApi
  /** Owns `siteId`. */
  readonly owner: Person
  /** Collaborates on `siteId` with all roles. */
  readonly friend: Person
  readonly siteId: number
  /** The friend on `siteId`. */
  readonly collaboratorId: number
  /** Different for each scene. */
  readonly number: number
}

export interface Example {
  readonly params?: Record<string, string | number>
  readonly query?: Record<string, string>
  readonly body?: Record<string, unknown>
}

export type Examples = Record<string, (scene: Scene) => Example | Promise<Example>>
