import type Type from 'typebox'
import type { TObject, TSchema } from 'typebox'
import type { Operation } from '../platform/http/operation.ts'
import type { Access, AccessContext } from './access.ts'
import type { Context } from './context.ts'

type Static<Schema> = Schema extends TSchema ? Type.Static<Schema> : Record<string, never>

interface Typed<Params, Query, Body, Rule> {
  readonly access: Rule
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  handle(
    context: Context & AccessContext<Extract<Rule, Access>>,
    input: { params: Static<Params>; query: Static<Query>; body: Static<Body> },
  ): Promise<unknown>
}

/** Declares one operation of the API; the handler's arguments have the types of the schemas and of the access rule. */
export function operation<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
  const Rule extends Access = Access,
>(
  contract: Omit<Operation, 'access' | 'params' | 'query' | 'body' | 'handle'> & Typed<Params, Query, Body, Rule>,
): Operation {
  return contract as Operation
}
