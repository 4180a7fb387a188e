import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { api, messageOf } from '../../api.ts'
import type { Operation } from '../../parts/work.ts'

export interface Previewing<Report> {
  /** The preview while it runs. */
  readonly operation: Signal<number | undefined>
  readonly got: Signal<Report | undefined>
  readonly fault: Signal<string>
  /** Whether the person has seen the changes, cannot see them, or skipped them. */
  readonly isReady: ReadonlySignal<boolean>
  look(): void
  skip(): void
  /** Discards a preview of another selection. */
  drop(): void
  ended(operation: Operation): void
}

/** Previews the changes of an operation that overwrites a site. */
export function usePreview<Report>(about: {
  /** Starts the preview, and returns its operation. */
  start(): Promise<number | undefined>
  /** Reads the report of a preview that succeeded. */
  read(operationId: number): Promise<Report>
  /** Previews automatically whenever an element of `on` changes. */
  readonly isAsked: boolean
  readonly on: readonly unknown[]
}): Previewing<Report> {
  const operation = useSignal<number | undefined>(undefined)
  const got = useSignal<Report | undefined>(undefined)
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
      const operationId = await about.start()
      if (isCurrent()) operation.value = operationId
    })
  }
  function ended({ id, state, error }: Operation): void {
    if (id !== operation.peek()) return
    operation.value = undefined
    if (state !== 'succeeded') fault.value = error ?? state
    else
      void attempt(async (isCurrent) => {
        const report = await about.read(id)
        if (isCurrent()) got.value = report
      })
  }
  useEffect(() => {
    if (about.isAsked) look()
  }, [about.isAsked, ...about.on])
  useEffect(() => drop, [])
  const isReady = useComputed(() => isSkipped.value || got.value !== undefined || fault.value !== '')
  return { operation, got, fault, isReady, look, drop, ended, skip: () => (isSkipped.value = true) }
}
