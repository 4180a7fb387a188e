import type Type from 'typebox'
import type { TObject, TSchema } from 'typebox'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { Upload } from '../../platform/http/request/uploads.ts'
import type { Access, AccessContext } from '../access/access.ts'
import type { VisibleSite } from '../sites/show/visible-site.store.ts'
import { aboutSite, type Change, changeBy, type Recording } from './change.ts'
import type { Context } from './context.ts'

/** Endpoint as its resource declares it. */
export type UntaggedEndpoint = Omit<Endpoint, 'tag'>

type Static<Schema> = Schema extends TSchema ? Type.Static<Schema> : Record<string, never>

interface Typed<Params, Query, Body, Rule, Starts, Prepared> {
  readonly access: Rule
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Whether the handler gets `start`. */
  readonly starts?: Starts
  /** See `platform/http/endpoint.ts`. */
  prepare?(
    /** `content` exists only with `upload`. */
    context: Context & AccessContext<Extract<Rule, Access>> & { readonly content: Upload },
    input: { params: Static<Params>; query: Static<Query>; body: Static<Body> },
  ): Promise<Prepared>
  handle(
    context: Context &
      AccessContext<Extract<Rule, Access>> &
      (Starts extends true ? Change : Recording) & { readonly prepared: NoInfer<Prepared> },
    input: { params: Static<Params>; query: Static<Query>; body: Static<Body> },
  ): Promise<unknown>
}

/**
 * Declares one endpoint of the API (an operation, in OpenAPI terms). The handler's arguments have the types of the
 * schemas and of the access rule. Its resource supplies the tag.
 */
export function endpoint<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
  const Rule extends Access = Access,
  const Starts extends boolean = false,
  Prepared = undefined,
>(
  contract: Omit<Endpoint, 'tag' | 'access' | 'params' | 'query' | 'body' | 'starts' | 'prepare' | 'handle'> &
    Typed<Params, Query, Body, Rule, Starts, Prepared>,
): UntaggedEndpoint {
  const { handle, ...rest } = contract as UntaggedEndpoint
  return { ...rest, handle: (context, input) => handle(Object.assign(context, changeOf(context)), input) }
}

/** Returns the change of a request, about the site of its path, or else the account of its caller. */
function changeOf(context: Context & { site?: VisibleSite }): Change {
  const { tx, caller, site, now, started } = context
  // A public endpoint has no caller to record.
  const about = site ? aboutSite(site) : { accountId: caller?.accountId }
  return changeBy(tx, { actor: context, about, now, started })
}
