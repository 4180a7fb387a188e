/**
 * Requests for the tests that walk all endpoints. Each resource has its own, in `samples.fixture.ts` of its folder:
 *
 * samples   one request for each of its endpoints, with the roles that the API's rules ask for: what `permissions.test.ts` walks
 * examples  what the contract tests cannot think of from a schema. An endpoint needs one only when its required fields have a pattern or a
 *           meaning, when its path names more than a site, or when the sample of its schema would change nothing. Each one succeeds for the
 *           owner of `siteId`
 */
import type { Role } from '../../src/resources/access/roles.ts'
import type { Person, TestApi } from './api.ts'

let count = 0
/** A number that no other call gets. */
export const unique = (): number => ++count

/** An owner with a site, and everything on it that an endpoint can name. */
export interface World {
  readonly owner: Person
  /** The owner through an application without the scope `owner`. */
  readonly plainOwner: Person
  readonly stranger: Person
  readonly strangersSite: number
  /** Collaborator on `site`, with the roles that the case is about. */
  readonly helper: Person
  readonly plainHelper: Person
  readonly mate: Person
  readonly site: number
  /** The owner's other site, which neither helper nor mate see. */
  readonly hidden: number
  readonly mateId: number
  readonly note: number
  /** Of the owner. */
  readonly muPlugin: number
  /** A zone of the owner, and its one record, which leads to `site`. */
  readonly zone: number
  readonly record: number
  /** Of the owner. */
  readonly passkey: number
  /** On demand, completed. */
  readonly backup: number
  /** Operations: a look at a restore, and a restore, of the site, which have ended well. */
  readonly preview: number
  readonly restored: number
  /** Of the site: one that waits, one that has failed. */
  readonly waiting: number
  readonly failed: number
}

export interface Sample {
  readonly endpoint: string
  path(world: World): string
  /** @param who sends it, where that is known */
  body?(world: World, who?: { readonly accountId?: number }): object
  /** When it may be done; 200 unless given. */
  readonly status?: number
  /** On a site: what a collaborator needs there; `[]`: to see it is enough. Without: the endpoint is about what the caller has. */
  readonly roles?: readonly Role[]
  readonly scope?: true
  /** For people in a browser alone. */
  readonly bySession?: true
  /** Of something that only its owner (and whom it is about) sees: others get 404, collaborators of the site too. */
  readonly isPrivate?: true
  /** For the operator of the installation alone. */
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
  /** Collaborates on `siteId`, with all roles. */
  readonly friend: Person
  readonly siteId: number
  /** Of the friend, on `siteId`. */
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
