import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../../api.ts'
import type { Operation } from '../../../parts/work.ts'

type Order = components['schemas']['NewRestore']
type Preview = components['schemas']['RestorePreview']

export interface Previewing {
  /** The preview while it runs. */
  readonly operation: Signal<number | undefined>
  readonly got: Signal<Preview | undefined>
  readonly fault: Signal<string>
  /** Whether the person has seen the changes, cannot see them, or skipped them. */
  readonly isReady: ReadonlySignal<boolean>
  look(): void
  skip(): void
  /** Discards a preview of another selection. */
  drop(): void
  ended(operation: Operation): void
}

/** Previews the changes of a restore. */
export function usePreview(about: {
  readonly siteId: number
  order(): Order
  /** The site that would be overwritten. */
  targetId(): number
  /** Previews automatically whenever an element of `on` changes. */
  readonly isAsked: boolean
  readonly on: readonly unknown[]
}): Previewing {
  const operation = useSignal<number | undefined>(undefined)
  const got = useSignal<Preview | undefined>(undefined)
  const fault = useSignal('')
  const isSkipped = useSignal(false)
  const turn = useRef(0)
  function drop(): void {
    turn.current += 1
    const running = operation.peek()
    operation.value = undefined
    got.value = undefined
    fault.value = ''
    isSkipped.value = false
    // Nothing waits for the answer, and a finished operation can no longer be canceled.
    if (running !== undefined) void api.POST('/v1/operations/{id}/cancel', { params: { path: { id: running } } })
  }
  async function attempt(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const mine = turn.current
    await work(() => mine === turn.current).catch((error: unknown) => {
      if (mine === turn.current) fault.value = messageOf(error)
    })
  }
  function look(): void {
    drop()
    void attempt(async (isCurrent) => {
      const params = { path: { site_id: about.siteId } }
      const body = { ...about.order(), dry_run: true }
      const { operationId } = await ask(() => api.POST('/v1/sites/{site_id}/restores', { params, body }))
      if (isCurrent()) operation.value = operationId
    })
  }
  function ended({ id, state, error }: Operation): void {
    if (id !== operation.peek()) return
    operation.value = undefined
    if (state !== 'succeeded') fault.value = error ?? state
    else
      void attempt(async (isCurrent) => {
        const params = { path: { site_id: about.targetId(), operation_id: id } }
        const { data } = await ask(() => api.GET('/v1/sites/{site_id}/restores/{operation_id}', { params }))
        if (isCurrent()) got.value = data
      })
  }
  useEffect(() => {
    if (about.isAsked) look()
  }, [about.isAsked, ...about.on])
  useEffect(() => drop, [])
  const isReady = useComputed(() => isSkipped.value || got.value !== undefined || fault.value !== '')
  return { operation, got, fault, isReady, look, drop, ended, skip: () => (isSkipped.value = true) }
}
