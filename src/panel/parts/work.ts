import { signal } from '@preact/signals'
import type { paths } from '../../sdk/api.generated.ts'
import { lapseAfter, READ_MS } from './lapse.ts'

type Answered = paths['/v1/operations/{id}']['get']['responses'][200]['content']['application/json']
export type Operation = Answered['data']

export interface Work {
  readonly id: number
  /** The request, in words. */
  readonly about: string
  readonly operation: Operation | undefined
}

/** Operations that this person started, until their message is closed. */
export const works = signal<readonly Work[]>([])

const change = (id: number, to: Partial<Work>): void => {
  works.value = works.value.map((work) => (work.id === id ? { ...work, ...to } : work))
}

export const dropWork = (id: number): void => {
  works.value = works.value.filter((work) => work.id !== id)
}

/** Shows an operation until it ends, on any page. A failure stays until it is closed. */
export function showWork(id: number, about: string, onEnd?: (operation: Operation) => void): void {
  works.value = [...works.value.filter((work) => work.id !== id), { id, about, operation: undefined }]
  followOperation(id, (operation) => {
    change(id, { operation })
    if (!operation.finishedAt) return
    // Success needs only a glance.
    if (operation.state === 'succeeded') lapseAfter(READ_MS, () => dropWork(id))
    onEnd?.(operation)
  })
}

/**
 * Follows an operation until it ends.
 * @returns a function that stops earlier
 */
export function followOperation(id: number, seen: (operation: Operation) => void): () => void {
  const stream = new EventSource(`/v1/operations/${id}/events`)
  stream.addEventListener('operation', ({ data }) => {
    const operation = JSON.parse(data) as Operation
    if (operation.finishedAt) stream.close()
    seen(operation)
  })
  return () => stream.close()
}
