import Type from 'typebox'
import type { HostState as State } from '../../../hosting/host-state.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { notFound } from '../../../platform/http/problem.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { setCordoned } from './change-host.ts'
import { findHostNamed } from './host-changes.store.ts'

export const HostName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100, examples: ['host-1'] }) })

export const HostStateSchema = Type.Object(
  {
    name: Type.String({ examples: ['host-1'] }),
    state: oneOf(['active', 'cordoned', 'lost', 'removed'], { description: 'The decision of the operator' }),
  },
  { title: 'HostState' },
)

/**
 * Cordons or uncordons a host for a request of the operator.
 * @throws Problem `not_found`, `host_lost`
 */
export async function cordonByRequest(
  { tx, now }: { readonly tx: Tx; readonly now: number },
  name: string,
  isCordoned: boolean,
): Promise<{ state: State; isChange: boolean }> {
  const before = await findHostNamed(tx, name)
  if (!before) throw notFound()
  const { state } = await setCordoned(tx, name, isCordoned, now)
  return { state, isChange: state !== before.state }
}
