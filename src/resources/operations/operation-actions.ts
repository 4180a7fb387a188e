import type { OperationView } from '../../platform/operations/read.ts'
import type { Context } from '../kit/context.ts'
import { sitesWithRights } from '../sites/public.ts'
import { refusalOfChange } from './change-operation.ts'
import type { OperationAction } from './operation.ts'

type Asking = Pick<Context, 'tx' | 'caller' | 'definitions' | 'undoable' | 'now'>

/**
 * Returns the possible actions on operations by ID, and whether the caller may take them, by the same rules that check
 * the action itself.
 */
export async function actionsOf(
  { tx, caller, definitions, undoable, now }: Asking,
  operations: readonly OperationView[],
): Promise<ReadonlyMap<number, readonly OperationAction[]>> {
  const siteIds = [...new Set(operations.flatMap(({ siteId }) => siteId ?? []))]
  const sites = new Map((await sitesWithRights(tx, caller.accountId, siteIds)).map((site) => [site.id, site]))
  const undone = await Promise.all(undoable.map((ask) => ask(tx, operations, now)))
  return new Map(
    operations.map((operation) => {
      const site = operation.siteId === null ? undefined : sites.get(operation.siteId)
      const reason = refusalOfChange(caller, definitions, { operation, site })?.message ?? null
      const isUndoable = site !== undefined && undone.some((ids) => ids.has(operation.id))
      const actions = [...(isUndoable ? (['undo'] as const) : []), ...byState(operation, definitions)]
      return [operation.id, actions.map((action) => ({ action, allowed: reason === null, reason }))]
    }),
  )
}

function byState(
  { type, isCancelable, isRetryable, cancelRequested, pausedAt }: OperationView,
  definitions: Asking['definitions'],
): readonly ('cancel' | 'retry' | 'pause' | 'continue')[] {
  if (isRetryable) return ['retry']
  if (!isCancelable || cancelRequested) return []
  const { mustEnd, pausable } = definitions.get(type) ?? {}
  const pausing = pausedAt === null ? ('pause' as const) : ('continue' as const)
  return [...(pausable ? [pausing] : []), ...(mustEnd ? [] : (['cancel'] as const))]
}
